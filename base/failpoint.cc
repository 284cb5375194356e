#include "base/failpoint.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/strings.h"

namespace varve {
namespace {

constexpr const char* kVariable = "VARVE_FAILPOINT";

std::atomic<uint64_t> passes_left = 0;

// A misspelt name must not look like a run that survived it, so the program does not start.
bool ArmFromEnvironment() {
  const char* text = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): before main
  if (text == nullptr || *text == '\0') {
    return false;
  }
  if (const absl::Status status = ArmFailpointFromText(text); !status.ok()) {
    std::fprintf(stderr, "%s: %s\n", kVariable, std::string(MessageOf(status)).c_str());
    std::_Exit(EXIT_FAILURE);
  }
  return true;
}

// Read before main, so that every process that passes a failpoint has read it.
const bool kArmedFromEnvironment = ArmFromEnvironment();

}  // namespace

void failpoint_internal::Pass(size_t index) {
  if (armed.load(std::memory_order_acquire) == index && passes_left.fetch_sub(1) == 1) {
    kill(getpid(), SIGKILL);
  }
}

absl::Status ArmFailpoint(std::string_view name, uint64_t pass) {
  const auto* const found =
      std::find_if(kFailpoints.begin(), kFailpoints.end(),
                   [&](const Failpoint& failpoint) { return failpoint.name == name; });
  if (found == kFailpoints.end()) {
    return absl::NotFoundError(
        StrCat("there is no failpoint '", name, "'; base/failpoint.h lists them"));
  }
  if (pass == 0) {
    return absl::InvalidArgumentError(
        StrCat("failpoint ", name, ": passes are counted from 1, not from 0"));
  }
  passes_left.store(pass);
  failpoint_internal::armed.store(static_cast<size_t>(found - kFailpoints.begin()),
                                  std::memory_order_release);
  return absl::OkStatus();
}

absl::Status ArmFailpointFromText(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return ArmFailpoint(text);
  }
  const std::optional<uint64_t> pass = ParseNumber<uint64_t>(text.substr(colon + 1));
  if (!pass.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("'", text, "': expected name or name:n, n being the pass to be killed at"));
  }
  return ArmFailpoint(text.substr(0, colon), *pass);
}

void DisarmFailpoint() {
  failpoint_internal::armed.store(failpoint_internal::kNone, std::memory_order_release);
}

}  // namespace varve

#include "tools/stdout.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/strings.h"
#include "tools/exit_codes.h"

namespace varve {
namespace {

constexpr size_t kBufferSize = size_t{64} << 10;

}  // namespace

absl::Status Stdout::Write(std::string_view text) {
  buffer_.append(text);
  return buffer_.size() < kBufferSize ? absl::OkStatus() : Flush();
}

absl::Status Stdout::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return OutputClosed();
    } else if (errno != EINTR) {
      return absl::UnknownError(
          StrCat("cannot write to standard output: ", std::generic_category().message(errno)));
    }
  }
  buffer_.clear();
  return absl::OkStatus();
}

}  // namespace varve

#include "tools/exit_codes.h"

#include "absl/strings/cord.h"
#include "base/strings.h"

namespace varve {
namespace {

// Marks set on statuses that the codes of abseil do not tell apart.
constexpr char kUsageMark[] = "varve.usage";
constexpr char kClosedMark[] = "varve.output-closed";
constexpr char kRefusedMark[] = "varve.refused";

absl::Status Marked(absl::Status status, const char* mark) {
  status.SetPayload(mark, absl::Cord());
  return status;
}

}  // namespace

absl::Status UsageError(std::string_view message) {
  return Marked(absl::InvalidArgumentError(ToAbsl(message)), kUsageMark);
}

absl::Status AsUsageError(const absl::Status& status) {
  return UsageError(MessageOf(status));
}

absl::Status AsRefusal(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) ? Marked(status, kRefusedMark) : status;
}

absl::Status OutputClosed() {
  return Marked(absl::CancelledError("standard output is closed"), kClosedMark);
}

bool IsOutputClosed(const absl::Status& status) {
  return status.GetPayload(kClosedMark).has_value();
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.GetPayload(kUsageMark).has_value()) {
    return kExitUsage;
  }
  if (status.GetPayload(kRefusedMark).has_value()) {
    return kExitRefused;
  }
  switch (status.code()) {
    case absl::StatusCode::kOk: return kExitOk;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange: return kExitNotFound;
    case absl::StatusCode::kInvalidArgument: return kExitBadInput;
    case absl::StatusCode::kUnavailable: return kExitBusy;
    case absl::StatusCode::kDataLoss: return kExitDamaged;
    case absl::StatusCode::kAlreadyExists: return kExitExists;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented: return kExitUnsupported;
    default: return kExitFailure;
  }
}

}  // namespace varve

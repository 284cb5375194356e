// What verifying a catalog finds, printed.
//
// Thread-safety: one thread.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "catalog/verify/verify.h"
#include "tools/exit_codes.h"

namespace varve {

// Runs `verify`, prints its findings in the format --format names and how many there were, and
// shows the progress. The exit code is kExitFindings when there are errors.
absl::StatusOr<ExitCode> PrintFindings(
    const std::function<absl::StatusOr<VerifySummary>(
        const VerifyOptions& options, const std::function<void(const Finding&)>& report)>& verify);

}  // namespace varve

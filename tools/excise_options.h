// How excise and expire choose the steps of an excision, and what they print of it.
//
// Thread-safety: one thread, after the command line was parsed.
#pragma once

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/retention/excise.h"
#include "tools/command.h"
#include "tools/interruption.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace varve {

inline constexpr CommandFlag kStepRowsFlag = {
    "step_rows", "N", "remove at most N rows in one commit; default: 10000"};
inline constexpr CommandFlag kCompactFlag = {
    "compact", "", "at the end rewrite the store's files, so that the bytes are gone, too"};

// The options keep both.
absl::StatusOr<ExciseOptions> ChosenExciseOptions(const Catalog& catalog,
                                                  const Interruption& interruption,
                                                  Progress* progress);

absl::Status PrintExciseResult(const ExciseResult& result, OutputFormat format, Stdout* out);

}  // namespace varve

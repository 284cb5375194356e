// Files that wait to be removed, and which of them may be.
//
// A row of ducklake_files_scheduled_for_deletion says that no snapshot shows the file any more. A
// reader that took its view, or its lease, before the commit that scheduled the file may still read
// it. So a row may be removed, and its file before it, only when no view, pin or lease from before
// that commit is left. The csn stored with the row is that of the commit.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/row_store.h"

namespace varve {

struct ScheduledFile {
  int64_t id = 0;
  std::string path;  // whole
  absl::Time scheduled;
  Csn csn = 0;
};

// OK when the row that the commit `scheduled` wrote may be removed; else FailedPrecondition, with
// what holds it back.
absl::Status MayRemoveScheduled(const StoreState& state, const ViewRegistry& views, Csn scheduled,
                                absl::Time now);

// The files that were scheduled before `older_than` and may be removed, by id.
absl::StatusOr<std::vector<ScheduledFile>> ScheduledFilesToRemove(
    const std::shared_ptr<const StoreState>& state, const ViewRegistry& views,
    absl::Time older_than, absl::Time now = absl::Now());

}  // namespace varve

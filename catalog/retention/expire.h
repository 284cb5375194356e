// Expiry of snapshots by name, as DuckLake does it: their rows go, then all that no retained
// snapshot shows any more.
//
// Unlike DuckLake's, it asks who needs them: pins and leases are respected, and what a reader of
// this process still holds stays reachable for it until it is done (view_registry.h).
//
// Thread-safety: free functions, from any thread.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/retention/excise.h"

namespace varve {

// What an expiry would do.
struct ExpirePlan {
  std::vector<SnapshotId> snapshots;  // ascending, each once
  // What is reclaimable afterwards.
  ReclaimableCounts reclaimable;
};

// Errors: InvalidArgument (no snapshot named), NotFound (a snapshot that does not exist),
// FailedPrecondition (the last snapshot, or one that a pin or lease holds: the message names it).
absl::StatusOr<ExpirePlan> PlanExpire(
    const Catalog& catalog, std::span<const SnapshotId> snapshots,
    const std::function<void(uint64_t versions)>& on_progress = nullptr);

// Removes the rows of the snapshots in one audited commit, then excises; the result counts both. An
// error of the excision leaves the snapshots expired; another excision goes on. Errors: as
// PlanExpire, and those of Excise.
absl::StatusOr<ExciseResult> Expire(Catalog* catalog, std::span<const SnapshotId> snapshots,
                                    const ExciseOptions& options = {});

}  // namespace varve

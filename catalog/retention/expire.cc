#include "catalog/retention/expire.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/commit_queue.h"

namespace varve {
namespace {

absl::StatusOr<std::vector<SnapshotId>> Sorted(std::span<const SnapshotId> snapshots) {
  if (snapshots.empty()) {
    return absl::InvalidArgumentError("no snapshot is named; 'varve log' lists them");
  }
  std::vector<SnapshotId> sorted(snapshots.begin(), snapshots.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

// Whether the snapshots may go, in a state with these pins.
absl::Status CheckMayExpire(const StoreState& state, std::span<const SnapshotId> snapshots,
                            absl::Time now) {
  for (const SnapshotId snapshot : snapshots) {
    if (snapshot == state.last_snapshot) {
      return absl::FailedPreconditionError(
          StrCat("snapshot ", snapshot, " is the last one and cannot expire"));
    }
    VARVE_ASSIGN_OR_RETURN(const bool exists, SnapshotExists(state, snapshot));
    if (!exists) {
      return absl::NotFoundError(StrCat("snapshot ", snapshot, " does not exist",
                                        snapshot > state.last_snapshot
                                            ? StrCat(": the last one is ", state.last_snapshot)
                                            : " (expired, or never made)"));
    }
    const std::string_view holder = HolderOf(*state.pins, snapshot, now);
    if (!holder.empty()) {
      const bool is_lease = state.pins->find(holder)->second.expires.has_value();
      return absl::FailedPreconditionError(StrCat("snapshot ", snapshot, " is held by ",
                                                  is_lease ? "lease '" : "pin '", holder,
                                                  "' and cannot expire; remove it first"));
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareExpire(const std::vector<SnapshotId>& snapshots, absl::Time now, Commit* commit,
                           RowCounts* erased_rows) {
  VARVE_RETURN_IF_ERROR(CheckMayExpire(commit->base(), snapshots, now));
  AuditEntry entry{.time = now,
                   .actor = ThisActor(),
                   .action = "expire",
                   .first_snapshot = snapshots.front(),
                   .last_snapshot = snapshots.back()};
  for (const RelationId id : {kSnapshotChanges, kSnapshot}) {
    const RelationRef relation = commit->directory().FindById(id);
    for (const SnapshotId snapshot : snapshots) {
      std::string handle;
      AppendIntHandle(static_cast<int64_t>(snapshot), &handle);
      VARVE_ASSIGN_OR_RETURN(const bool erased,
                             commit->EraseStored(relation, handle, snapshot, kNoEnd));
      entry.rows[relation->name] += erased ? 1 : 0;
    }
  }
  constexpr size_t kMostNamed = 20;
  const std::vector<SnapshotId> named(
      snapshots.begin(),
      snapshots.begin() + static_cast<std::ptrdiff_t>(std::min(snapshots.size(), kMostNamed)));
  entry.detail = StrCat("snapshots ", StrJoin(named, ", "),
                        named.size() < snapshots.size()
                            ? StrCat(" and ", snapshots.size() - named.size(), " more")
                            : "");
  *erased_rows = entry.rows;
  return AppendAudit(commit, entry);
}

}  // namespace

absl::StatusOr<ExpirePlan> PlanExpire(const Catalog& catalog, std::span<const SnapshotId> snapshots,
                                      const std::function<void(uint64_t versions)>& on_progress) {
  const absl::Time now = absl::Now();
  const std::shared_ptr<const StoreState> state = catalog.LatestState();
  const std::vector<SnapshotId> held = catalog.views().HeldSnapshots();
  ExpirePlan plan;
  VARVE_ASSIGN_OR_RETURN(plan.snapshots, Sorted(snapshots));
  VARVE_RETURN_IF_ERROR(CheckMayExpire(*state, plan.snapshots, now));
  VARVE_ASSIGN_OR_RETURN(const RetainedSnapshots before, FindRetained(*state, held, now));
  std::vector<SnapshotId> remaining;
  for (const SnapshotId snapshot : before.snapshots()) {
    if (!std::binary_search(plan.snapshots.begin(), plan.snapshots.end(), snapshot) ||
        std::binary_search(held.begin(), held.end(), snapshot)) {
      remaining.push_back(snapshot);
    }
  }
  const RetainedSnapshots after(std::move(remaining));
  VARVE_ASSIGN_OR_RETURN(
      std::vector<ReclaimableCounts> counts,
      CountReclaimable({.state = state, .sets = {&after, 1}, .on_progress = on_progress}));
  plan.reclaimable = std::move(counts.front());
  // The rows of the snapshots go though a reader holds them.
  for (const SnapshotId snapshot : plan.snapshots) {
    if (after.Contains(snapshot)) {
      for (const RelationId id : {kSnapshot, kSnapshotChanges}) {
        ++plan.reclaimable.rows[state->directory->FindById(id)->name];
      }
    }
  }
  return plan;
}

absl::StatusOr<ExciseResult> Expire(Catalog* catalog, std::span<const SnapshotId> snapshots,
                                    const ExciseOptions& options) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<SnapshotId> sorted, Sorted(snapshots));
  RowCounts erased;
  const CommitRequest request{
      .prepare =
          [&](Commit& commit) { return PrepareExpire(sorted, absl::Now(), &commit, &erased); },
      .reads_widely = true};
  VARVE_RETURN_IF_ERROR(catalog->Commit(request));
  VARVE_FAILPOINT("expire/after_snapshots");
  VARVE_ASSIGN_OR_RETURN(ExciseResult result, Excise(catalog, options));
  for (const auto& [relation, rows] : erased) {
    result.rows[relation] += rows;
  }
  return result;
}

}  // namespace varve

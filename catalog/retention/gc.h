// Raising the floor of retention: giving up snapshots without deleting a byte.
//
// Snapshots below the floor can no longer be read, except those that pins and leases hold; views
// taken before stay as they are. What only they showed is reclaimable from then on, and excision
// (excise.h) removes it. The floor never goes down.
//
// Thread-safety: free functions, from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/catalog.h"
#include "catalog/retention/reclaimable.h"

namespace varve {

// Which changes the feed keeps (feed/change_feed.h). At most one; neither: all of them.
struct ChangesRetention {
  std::optional<uint64_t> commits;         // those of the last so many commits
  std::optional<absl::Duration> duration;  // those made since the last snapshot before that time
  bool keeps_all() const { return !commits.has_value() && !duration.has_value(); }
};

// At most one of the first three; none leaves the floor.
struct GcRequest {
  std::optional<uint64_t> keep_last;         // the newest so many snapshots; at least 1
  std::optional<absl::Duration> older_than;  // give up those older than this; the last one stays
  std::optional<SnapshotId> retain_from;
  ChangesRetention changes;
  absl::Time now = absl::Now();
};

// Something that holds snapshots below the new floor.
struct HeldBack {
  std::string what;  // "pin 'q3'", "lease 'export'", "a reader of this process"
  SnapshotId snapshot = 0;
  std::optional<absl::Time> expires;
};

struct GcPlan {
  SnapshotId floor_before = 0;
  SnapshotId floor = 0;  // equal: nothing to give up
  // Those that can be read before and no longer after.
  std::vector<SnapshotId> given_up;
  std::vector<HeldBack> held_back;
  // What becomes reclaimable by it, and what is already.
  ReclaimableCounts becoming;
  ReclaimableCounts already;
  // Where the change feed begins, before and after.
  Csn changes_before = 0;
  Csn changes_from = 0;

  bool changes_nothing() const { return floor == floor_before && changes_from == changes_before; }
};

// Errors: InvalidArgument (more than one way to say it, nothing to keep, a floor below the present
// one), NotFound (a floor beyond the last snapshot).
absl::StatusOr<GcPlan> PlanGc(const Catalog& catalog, const GcRequest& request,
                              const std::function<void(uint64_t versions)>& on_progress = nullptr);

// Raises the floor and truncates the feed, in one audited commit; `becoming` and `already` are not
// counted. If there is nothing to do, nothing is committed.
absl::StatusOr<GcPlan> ApplyGc(Catalog* catalog, const GcRequest& request);

}  // namespace varve

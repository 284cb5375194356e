// Keeping up with a writer in another process.
//
// A reader stands still on one instance of the database, so that its views never change; to see
// what was committed since, it moves on to another instance. Which kind:
//
//   opened read-only  always right: every file is checked, and an opening during which the
//                     manifest changed is repeated. Replays the writer's whole log.
//   follower          a RocksDB secondary instance. Catching up reads only what the log has got
//                     since, but is right only while the manifest stays as it is: RocksDB 7.8 keeps
//                     rows in memory that were flushed and superseded meanwhile, and passes over
//                     files and logs it cannot find (docs/decisions/0009).
//
// So two followers take turns: one serves, the other waits until no view is on it, catches up, and
// takes over. When the manifest has changed, which is when the writer has flushed or compacted, the
// next instance is opened read-only, and followers are opened again from there. An instance that
// can be seen is never touched.
//
// Thread-safety: one thread at a time. Ownership: holds the two instances; states hold theirs on
// their own, and may be used and let go by any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "catalog/store/row_store.h"

namespace varve {

// How often each way was taken.
struct FollowStats {
  uint64_t unchanged = 0;         // nothing was written since
  uint64_t caught_up = 0;         // the waiting follower
  uint64_t followers_opened = 0;  // none was waiting
  uint64_t reopened = 0;          // the manifest had changed, or a follower was no good
};

class StoreFollower {
 public:
  // `state`: of a store that is open read-only.
  explicit StoreFollower(std::shared_ptr<const StoreState> state);

  // The state the writer has acknowledged by now, or a later one; the same as last time when
  // nothing was written. Errors: FailedPrecondition when another catalog stands at the path now,
  // and those of RowStore::Open; the last state is as good as before then.
  absl::StatusOr<std::shared_ptr<const StoreState>> Refresh();

  const FollowStats& stats() const { return stats_; }

 private:
  // The next state by a follower; null when only a new opening tells.
  std::shared_ptr<const StoreState> Follow();
  absl::Status CheckSameCatalog(const StoreState& next) const;

  std::shared_ptr<const StoreState> state_;
  std::shared_ptr<RowStore> waiting_;  // a follower, or null
  FollowStats stats_;
};

}  // namespace varve

// Excision: physically removing what no retained snapshot shows (reclaimable.h), audited.
//
// It runs in steps. Each is a commit of a bounded number of rows, so that other commits go in
// between; each leaves the catalog whole. An excision may end after any step, by an error, a signal
// or a power cut: what was reclaimable stays so, and the next excision goes on with the rest. The
// state key "excise" counts with every step, so that the one audit entry, written at the end, is
// right for all of it.
//
// A file whose row goes is put into ducklake_files_scheduled_for_deletion by the same commit, under
// the path DuckLake composes; unless a file that stays has the same path (file_paths.h).
//
// Rows erased leave erase records in the change feed. The images that earlier changes hold of them
// go when the feed is truncated, and the bytes on disk when RocksDB compacts (`compact`).
//
// Thread-safety: free functions, from any thread, also several at once: every step removes what is
// still there.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/retention/reclaimable.h"

namespace varve {

inline constexpr uint32_t kMaxRowsPerStep = 1'000'000;

struct ExciseOptions {
  // Rows a step erases at most, or one more to keep two together. Range: 1 … kMaxRowsPerStep.
  // 10,000 keep the commit lock for some 30 ms.
  uint32_t rows_per_step = 10'000;
  // Asked after each step; true ends the excision with Cancelled.
  std::function<bool()> stop;
  // Called now and then: rows erased by this call, versions looked at.
  std::function<void(uint64_t rows, uint64_t versions)> on_progress;
  // Rewrites the store's files at the end, so that what was erased is gone from the disk, too.
  bool compact = false;
};

// What an excision did, with what was done before it was interrupted.
struct ExciseResult {
  RowCounts rows;
  uint64_t steps = 0;
  uint64_t scheduled_files = 0;
  // Files that were not scheduled: a file that stays has the path, or the path cannot be composed
  // because the table is not there.
  uint64_t shared_files = 0;
  uint64_t lost_files = 0;
  bool resumed = false;  // went on with one that was interrupted
};

// Removes everything that is reclaimable when it begins. Nothing to remove: a result without steps,
// no commit. Errors: InvalidArgument (rows_per_step), FailedPrecondition (read-only), Cancelled
// (stopped; the message says how far it came), those of commits.
absl::StatusOr<ExciseResult> Excise(Catalog* catalog, const ExciseOptions& options = {});

// What Excise would remove. Works on catalogs that are open read-only, too.
struct ExcisePlan {
  SnapshotId retain_from = 0;
  size_t retained_snapshots = 0;
  ReclaimableCounts reclaimable;
  // An excision was interrupted and has done this much.
  std::optional<ExciseResult> interrupted;
};
absl::StatusOr<ExcisePlan> PlanExcise(const Catalog& catalog,
                                      const std::function<void(uint64_t versions)>& on_progress);

// The retained snapshots of the catalog as it stands, readers of this process included.
absl::StatusOr<RetainedSnapshots> RetainedOf(const Catalog& catalog, const StoreState& state,
                                             absl::Time now);

}  // namespace varve

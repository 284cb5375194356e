// What a catalog holds that no retained snapshot shows: what excision removes, and plans count.
//
// Reclaimable by the one rule (mvcc/retention.h) is a version whose interval holds no retained
// snapshot. What has no interval of its own goes with what it belongs to:
//
//   rows of files (statistics, partition values, inlined deletes)    with their data file
//   delete files                                                     with their data file, or
//   before keys of partitionings and sort orders, parts of macros           with the last version
//   of it what hangs on a table: columns, statistics, schema versions,     with the last version of
//   the
//     mappings, inlined rows, files                                  table, with or without an end
//   rows of ducklake_snapshot and its changes                        when the snapshot is not
//                                                                    retained
//
// (DuckLake's own expiry removes the same with a table.) Parts of macros and names of mappings
// whose macro or mapping is not there at all go as well.
//
// Three things stay although nothing shows them, because rows that stay need them; their newest
// version only:
//
//   the column with the highest id of a table    its id must never be given out again, and clients
//                                                count on from the highest there is
//   a column that statistics of files name       they would speak of nothing
//   a partitioning that a data file names        the file's partition values belong to it
//
// Snapshots come first: one whose row is there can still be shown whole. Then children come before
// what they belong to, so removing in this order, in any number of steps, never leaves a child
// without its parent.
//
// Thread-safety: free functions. Ownership: rows borrow from the walk, until it goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/relation.h"
#include "catalog/retention/audit.h"
#include "catalog/store/row_store.h"
#include "mvcc/retention.h"

namespace varve {

// Several retained sets can be asked about in one walk (before and after a floor is raised, say):
// bit i stands for the i-th.
using ReclaimMask = uint8_t;
inline constexpr size_t kMaxReclaimSets = 8;

struct ReclaimRequest {
  std::shared_ptr<const StoreState> state;
  std::span<const RetainedSnapshots> sets;  // 1 to kMaxReclaimSets
  // Only data files and delete files, not what belongs to them.
  bool only_files = false;
  // Called now and then with the number of versions looked at.
  std::function<void(uint64_t versions)> on_progress;
  // Asked now and then; true ends the walk with Cancelled.
  std::function<bool()> stop;
};

struct ReclaimableRow {
  RelationRef relation;
  // A stored version: handle with ordinal, begin, end.
  std::string_view handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  std::string_view payload;
  // Instead of one version: the whole dynamic relation goes, with this many.
  bool whole_relation = false;
  uint64_t rows = 1;
  ReclaimMask by = 0;  // never 0
  // It goes in one commit with the next row, or neither.
  bool with_next = false;
};

absl::Status ForEachReclaimable(const ReclaimRequest& request,
                                const std::function<absl::Status(const ReclaimableRow&)>& visit);

// The rows of each relation, and the data and delete files among them.
struct ReclaimableCounts {
  RowCounts rows;
  uint64_t files = 0;
};
// One for each set.
absl::StatusOr<std::vector<ReclaimableCounts>> CountReclaimable(const ReclaimRequest& request);

}  // namespace varve

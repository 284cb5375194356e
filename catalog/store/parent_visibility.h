// The intervals that rows without begin and end of their own inherit from their parents.
//
// A file's statistics, partition values, a macro's implementations and the like are visible exactly
// while their parent is. Children of one group (one table's files) are asked for together, so the
// group's parents are read once into a sorted list and looked up there: 8 bytes a parent when only
// visibility is asked for, 24 when intervals are.
//
// Thread-safety: one thread. Ownership: shares the view's state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/handle.h"
#include "catalog/read_view.h"

namespace varve {

class ParentVisibility {
 public:
  // `all_versions`: give intervals of parents whatever they are, else only of those visible at the
  // view's snapshot.
  ParentVisibility(ReadView view, const RelationRef& child, bool all_versions);

  // The interval of the parent of the row with this handle: from the first begin to the last end of
  // the parent's versions; without all_versions simply everything. Empty when there is no (visible)
  // parent.
  absl::StatusOr<SnapshotInterval> Find(const DecodedHandle& child_handle);

  // Sets `visible` to those of `rows` that Find has an interval for. `key`: the columns that make
  // up the parent's handle, in the order of the child's parent_handle. For whole packs; requires:
  // not all_versions.
  absl::Status FindVisible(std::span<const ColumnVector* const> key, std::span<const uint32_t> rows,
                           std::vector<uint32_t>* visible);

 private:
  // Loads the group of group_, unless it is loaded.
  absl::Status LoadGroup();
  absl::Status ReadGroup();
  // Moves hint_ to the parent; false if the group has none with this id.
  bool MoveTo(int64_t id);

  ReadView view_;
  RelationRef parent_;
  bool all_versions_;
  std::vector<size_t> key_positions_;  // where the parent's key stands in the child's handle
  std::vector<size_t> load_columns_;
  std::vector<Datum> group_;  // leading key of the loaded group: integers, never borrowed bytes
  std::vector<Datum> loaded_group_;
  bool loaded_ = false;
  std::vector<int64_t> ids_;                 // last key column of the group's parents, ascending
  std::vector<SnapshotInterval> intervals_;  // beside ids_, all_versions only
  size_t hint_ = 0;  // where the last look-up ended; children mostly come in parent order
};

}  // namespace varve

// Reads a MemRowSet in key order, block by block, as it stood at a timestamp or over a window.
//
// Windows are (snap_to_exclude, snap_to_include]; without snap_to_exclude the window is open. What
// a row looks like in one:
//
//   inserted | changed in the window | dead at start | dead at end | the row is
//   ---------+-----------------------+---------------+-------------+---------------------------
//   too new  | -                     | -             | -           | hidden
//   before   | no                    | -             | -           | hidden (nothing happened)
//   any      | -                     | yes           | yes         | hidden (unobservable)
//   any      | yes                   | no            | yes         | deleted: returned, when asked
//   else     |                       |               |             | returned
//
// "Dead at start" counts in a closed window only: an open one shows every ghost whose deletion it
// holds, because a merge with lower tiers needs them. Changes before the window are applied to the
// cells and count for nothing else.
//
// Rows enter a block leaf by leaf of the tree; each column is then filled in one loop. Rows with
// changes are first resolved into scratch rows of the same layout, all rows of a block abreast: one
// step of every chain, then the next step of every chain, so that the cache misses of different
// chains overlap.
//
// Thread-safety: an iterator belongs to one thread; writers may work beside it. It sees all changes
// at or before snap_to_include that were complete when it was made; what is newer it never shows.
// Ownership: an iterator keeps the memory of its row set alive; a block's columns are its own, its
// keys point into the row set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column_batch.h"
#include "mvcc/mrs_row.h"
#include "mvcc/mutation.h"

namespace varve {

class MemRowSet;

// In a projection: the virtual boolean column that says whether the row is deleted.
inline constexpr size_t kIsDeletedColumn = std::numeric_limits<size_t>::max();

struct MemRowSetScan {
  // Column indexes of the row set's schema or kIsDeletedColumn, in any order, with repetitions;
  // may be empty.
  std::vector<size_t> projection;
  std::string lower;  // first key, inclusive; empty: from the start
  std::string upper;  // last key, exclusive; empty: to the end
  std::optional<Timestamp> snap_to_exclude;
  Timestamp snap_to_include = kMaxTimestamp;  // at or after snap_to_exclude
  bool include_deleted_rows = false;
  bool want_keys = false;
  bool want_timestamps = false;
  size_t batch_rows = 1024;  // rows of a block, hidden ones included; at least 1
};

// One block of rows. Reuse it: filling it again keeps its memory.
struct RowBlock {
  ColumnBatch columns;  // in projection order
  // Per row 1, or 0 when the row is hidden; hidden rows hold any values.
  std::vector<uint8_t> selected;
  std::vector<std::string_view> keys;  // when asked for; valid while the iterator lives
  // When asked for: the timestamp of the row's base image, and of the newest change in its cells
  // (the same where there is none).
  std::vector<Timestamp> inserted_at;
  std::vector<Timestamp> written_at;
  size_t num_rows = 0;
  size_t num_selected = 0;
};

class MemRowSetIterator {
 public:
  ~MemRowSetIterator();
  MemRowSetIterator(const MemRowSetIterator&) = delete;
  MemRowSetIterator& operator=(const MemRowSetIterator&) = delete;

  // Fills the block with the next rows. false: there are none, and the block is empty. A block can
  // consist of hidden rows only.
  bool Next(RowBlock* block);

 private:
  friend class MemRowSet;

  // A row on its way through its redo list.
  struct Replay {
    const Mutation* next;
    uint32_t row;      // its place in the block
    uint32_t scratch;  // its scratch row, or kNotPatched
    bool insert_excluded;
    bool changed;  // by a change inside the window
    bool dead_at_start;
    bool dead_at_end;
  };

  MemRowSetIterator(std::shared_ptr<const MemRowSet> rows, MemRowSetScan scan);

  void CollectRows();
  void JudgeInserts(RowBlock* block);
  void ReplayRedos(RowBlock* block);
  bool ReplayOne(Replay* replay, RowBlock* block);
  void Judge(const Replay& replay, RowBlock* block);
  void Patch(RowChangeList list, Replay* replay);
  void MakeScratchRow(Replay* replay);
  void FillColumn(size_t i, ColumnVector* out) const;

  bool Excluded(Timestamp at) const {
    return scan_.snap_to_exclude.has_value() && at <= *scan_.snap_to_exclude;
  }

  std::shared_ptr<const MemRowSet> row_set_;
  const RowLayout& layout_;
  MemRowSetScan scan_;
  RowTree::Iterator tree_;
  std::vector<PhysicalType> types_;  // of the projection
  std::vector<uint8_t> projected_;   // per column of the schema, 1 when it is asked for
  bool finished_ = false;            // the upper bound was met

  // Of the block under way; all of them keep their memory from block to block.
  std::vector<const MrsRow*> rows_;
  std::vector<const char*> cells_;  // of the row, or of its scratch row
  std::vector<uint32_t> patched_;   // the scratch row, or kNotPatched
  std::vector<uint8_t> deleted_;
  std::vector<Replay> replays_;
  uint32_t num_patched_ = 0;
  // Made for the first block with changed rows: batch_rows times the cells of a row, and times its
  // kBytes columns.
  std::unique_ptr<char[]> scratch_cells_;
  std::unique_ptr<std::string_view[]> scratch_bytes_;
};

}  // namespace varve

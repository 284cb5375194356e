// What a flush takes out of a MemRowSet: each row as it was inserted, and the chain of its changes,
// not rolled forward. A consumer rolls forward to the timestamp it wants (RollForward), or keeps
// the changes (the change feed).
//
// The flush has a timestamp: rows inserted later and changes made later are not part of it. A row
// that one operation inserted and deleted again, and that nothing changed afterwards, is left out:
// nobody ever saw it.
//
// Rows and chains can be given in the columns of another schema, of which the table has meanwhile
// become. Columns are matched by id. A column that is new is NULL; changes of a column that is gone
// are dropped, and so is a list that becomes empty by that, except a DELETE and a REINSERT: an
// empty REINSERT still revives its row.
//
// Thread-safety: an iterator belongs to one thread; writers may work beside it.
// Ownership: an iterator keeps the memory of its row set alive. Bytes of cells and unprojected
// lists are not copied: they point into the row set.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "base/datum.h"
#include "base/schema.h"
#include "mvcc/mrs_row.h"
#include "mvcc/mutation.h"
#include "mvcc/row_change_list.h"

namespace varve {

class MemRowSet;

// A change as a flush gives it.
struct Redo {
  Timestamp at = 0;
  RowChangeList list;
};

struct FlushedRow {
  std::string_view key;
  Timestamp inserted_at = 0;
  std::span<const Datum> base;  // the cells it was inserted with
  std::span<const Redo> redos;  // in the order they were made
};

struct MemRowSetFlushOptions {
  Timestamp flush_at = kMaxTimestamp;
  // The columns wanted. Null: those of the row set.
  std::shared_ptr<const Schema> schema;
};

// What takes lists from one schema to another.
class RowChangeListProjector {
 public:
  // InvalidArgument: a column has not the same physical type in both.
  static absl::StatusOr<RowChangeListProjector> Create(const Schema& from, const Schema& to);

  // Where the columns of `to` are in `from`: RowLayout::kNoColumn for new ones.
  std::span<const size_t> sources() const { return sources_; }
  // Whether every list is its own projection.
  bool is_identity() const { return is_identity_; }

  // Writes the projection to `out`. false: nothing is left of the list. Requires: well-formed.
  bool Project(RowChangeList list, std::string* out) const;

 private:
  RowChangeListProjector() = default;

  std::vector<size_t> sources_;
  absl::flat_hash_set<uint32_t> kept_ids_;
  bool is_identity_ = false;
};

class MemRowSetFlushIterator {
 public:
  ~MemRowSetFlushIterator();
  MemRowSetFlushIterator(const MemRowSetFlushIterator&) = delete;
  MemRowSetFlushIterator& operator=(const MemRowSetFlushIterator&) = delete;

  // The next row in key order; nullptr: there is none. Its spans and projected lists are valid
  // until the next call, its key and other bytes as long as the iterator.
  const FlushedRow* Next();

 private:
  friend class MemRowSet;

  struct ProjectedRedo {
    Timestamp at;
    size_t size;  // of its list in projected_
  };

  MemRowSetFlushIterator(std::shared_ptr<const MemRowSet> rows, Timestamp flush_at,
                         RowChangeListProjector projector);

  bool IsPartOfFlush(const MrsRow& row) const;
  void Take(const MrsRow& row);
  void TakeProjectedRedos(const MrsRow& row);

  const std::shared_ptr<const MemRowSet> row_set_;
  const Timestamp flush_at_;
  const RowChangeListProjector projector_;
  RowTree::Iterator tree_;

  // Of the row given last.
  FlushedRow row_;
  std::vector<Datum> base_;
  std::vector<Redo> redos_;
  // Where redos_ point when lists are projected: they are set when the buffer no longer moves.
  std::string projected_;
  std::string projected_list_;
  std::vector<ProjectedRedo> projected_redos_;
};

// Applies to `cells`, a copy of row.base, the changes up to and including `at`. Bytes of the result
// point into the lists. Requires: `layout` is that of the columns the row was given in, and the row
// was not inserted after `at`.
RowState RollForward(const RowLayout& layout, const FlushedRow& row, Timestamp at,
                     std::span<Datum> cells);

}  // namespace varve

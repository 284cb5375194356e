// The changes since the last flush, in memory: rows in key order, each with the chain of its
// changes.
//
//   tree leaf      key -> row
//   MrsRow         inserted at 7 | redo head | redo tail | cells | nulls | key | bytes
//                                     |          |
//   Mutation          at 9, UPDATE c3=5 --> at 12, DELETE
//
// A row is written once and never moved; every later change is appended to its redo list. A deleted
// row stays as a *ghost*, which a later insert revives (REINSERT). So any number of readers can see
// the rows as they stood at any timestamp, beside writers.
//
// A row whose life began before this row set is given as a pre-image: a base row at its old
// timestamp, no change of this row set. The change that made it necessary follows.
//
// Thread-safety: every function may be called from any thread at any time, Freeze alone asks for
// more. Writers of one row are ordered by the lock of its leaf. A row's changes must come in
// timestamp order; that is the caller's (the commit lock gives it), and what comes late is refused.
// A reader at a timestamp sees all of it when the writes up to there had returned before it began.
// Ownership: shared; iterators keep the row set alive. All memory is one arena's and is freed as a
// whole.
// Invariants: keys are unique; a chain is in timestamp order, nothing in it is older than its row;
// a change that returned an error left no trace; every stored list is well-formed and fits the
// schema.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "base/row.h"
#include "base/schema.h"
#include "mvcc/memrowset_flush.h"
#include "mvcc/memrowset_iterator.h"
#include "mvcc/mrs_row.h"
#include "mvcc/mutation.h"
#include "mvcc/row_change_list.h"
#include "mvcc/row_key_probe.h"

namespace varve {

enum class RowPresence : uint8_t {
  kAbsent,  // no image of the row
  kGhost,   // its newest change is a DELETE
  kLive,
};

// A row as it stood at a timestamp.
struct RowImage {
  Row cells;  // owned; of a deleted row: its last ones
  bool deleted = false;
  Timestamp inserted_at = 0;  // of the base image
  Timestamp written_at = 0;   // of the newest change in it
};

class MemRowSet : public std::enable_shared_from_this<MemRowSet> {
 public:
  struct Options {
    ArenaOptions arena;
  };

  // `schema`: the columns that are cells; those of the key are not among them.
  static std::shared_ptr<MemRowSet> Create(std::shared_ptr<const Schema> schema);
  static std::shared_ptr<MemRowSet> Create(std::shared_ptr<const Schema> schema, Options options);
  MemRowSet(const MemRowSet&) = delete;
  MemRowSet& operator=(const MemRowSet&) = delete;

  const Schema& schema() const { return *schema_; }
  const RowLayout& layout() const { return layout_; }

  // Errors of all writes: InvalidArgument for a key that is too long, cells or a list that do not
  // fit the schema, or a timestamp older than the newest change of the row; DataLoss for a list
  // that is malformed; FailedPrecondition once frozen. Bytes are copied.

  // Adds a row, or revives its ghost. `cells`: one per column of the schema. AlreadyExists: the row
  // is live.
  absl::Status Insert(Timestamp at, const RowKeyProbe& key, std::span<const Datum> cells);

  // The image a row had before its first change here, and the timestamp of that image. No change:
  // it sets no anchor. AlreadyExists: there is an image, live or not.
  absl::Status InsertPreImage(Timestamp written_at, const RowKeyProbe& key,
                              std::span<const Datum> cells);

  // Appends an UPDATE or a DELETE. NotFound: the row is absent or a ghost.
  absl::Status Mutate(Timestamp at, const RowKeyProbe& key, RowChangeList list);

  // Dirties nothing.
  RowPresence CheckRowPresent(const RowKeyProbe& key) const;

  // The row as of `at`, by default the newest; nullopt when it has no image as old.
  std::optional<RowImage> ImageAt(const RowKeyProbe& key, Timestamp at = kMaxTimestamp) const;

  // Counters; exact when no write is under way.
  size_t num_rows() const { return tree_.size(); }  // ghosts included
  size_t live_row_count() const { return live_rows_.load(std::memory_order_relaxed); }
  size_t num_pre_images() const { return pre_images_.load(std::memory_order_relaxed); }
  // UPDATEs, DELETEs and REINSERTs.
  size_t num_mutations() const { return mutations_.load(std::memory_order_relaxed); }
  size_t memory_footprint() const { return arena_.footprint(); }

  // The anchor: every change at or after oldest_change() must stay in the log until this row set is
  // flushed. nullopt: nothing was changed.
  std::optional<Timestamp> oldest_change() const;
  std::optional<Timestamp> newest_change() const;

  // No write afterwards; iterators made afterwards are faster. Requires: no write is under way.
  void Freeze();
  bool frozen() const { return tree_.frozen(); }

  // Requires: the scan's projection names columns of the schema, and its window does not end before
  // it begins.
  std::unique_ptr<MemRowSetIterator> NewIterator(MemRowSetScan scan) const;

  // For a flush: base rows and chains, not rolled forward. InvalidArgument: a column has another
  // physical type in options.schema.
  absl::StatusOr<std::unique_ptr<MemRowSetFlushIterator>> NewFlushIterator(
      MemRowSetFlushOptions options) const;

 private:
  friend class MemRowSetIterator;
  friend class MemRowSetFlushIterator;

  MemRowSet(std::shared_ptr<const Schema> schema, const Options& options);

  absl::Status CheckWrite(const RowKeyProbe& key) const;
  void Revive(Timestamp at, MrsRow* ghost, std::span<const Datum> cells);
  void AppendMutation(Timestamp at, MrsRow* row, RowChangeList list);
  void Anchor(Timestamp at);

  const std::shared_ptr<const Schema> schema_;
  const RowLayout layout_;
  Arena arena_;
  RowTree tree_;
  std::atomic<size_t> live_rows_ = 0;
  std::atomic<size_t> pre_images_ = 0;
  std::atomic<size_t> mutations_ = 0;
  // kMaxTimestamp and 0 while nothing was changed.
  std::atomic<Timestamp> oldest_change_ = kMaxTimestamp;
  std::atomic<Timestamp> newest_change_ = 0;
};

}  // namespace varve

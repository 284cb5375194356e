// A tier's versions of one relation, as scans and compactions merge them.
//
// Thread-safety: a source belongs to one thread. Ownership: a source keeps what it reads alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/tiers/clean_read.h"
#include "columnar/columnar_table_reader.h"
#include "mvcc/visibility.h"

namespace varve {

// Consecutive versions, in the order of their keys.
struct VersionBlock {
  ColumnBatch columns;                 // the columns asked for, in that order
  std::vector<std::string_view> keys;  // version keys (memory_format.h), until the next block
  std::vector<SnapshotId> begins;
  std::vector<SnapshotId> ends;
  std::vector<uint8_t> erased;  // 1: the version was erased, older images of it count no more;
                                // empty: none was
  size_t num_rows() const { return begins.size(); }
  bool is_erased(size_t row) const { return !erased.empty() && erased[row] != 0; }
};

class VersionSource {
 public:
  virtual ~VersionSource() = default;
  // Fills the block with the next versions; false at the end (the block is then empty).
  virtual absl::StatusOr<bool> Next(VersionBlock* block) = 0;
};

// What is known of a pack before anything of it is read.
struct PackBounds {
  std::string first;            // the first handle, encoded
  std::string last;             // a handle that none of the pack lies behind …
  bool last_is_in_pack = true;  // … and false if the pack does not reach it
  size_t rows = 0;
  uint64_t mvcc_bytes = 0;  // of its handle, version and end columns in the file
};

// A source whose versions lie in packs that may be read in part: some columns, some rows.
class PackSource {
 public:
  virtual ~PackSource() = default;
  // Goes on to the next pack that may have rows of the answer; false: there is none.
  virtual absl::StatusOr<bool> NextPack(PackBounds* bounds) = 0;

  // Of the pack it stands on:

  // Why it cannot be read clean; nullopt: every row of it is a row of the answer, as far as
  // snapshot and range go.
  virtual std::optional<CleanReadRejection> rejection() const = 0;
  // Reads it whole: the rows in the range, every column of them, their keys and intervals.
  virtual absl::Status ReadPack(VersionBlock* block) = 0;

  // For whoever reads columns, not blocks of rows. Requires of a caller that no newer image of a
  // row of the pack is anywhere. What is read of a pack is kept until the next one.

  // The rows that are rows of the answer as far as snapshot and range go: ascending numbers.
  virtual absl::StatusOr<std::span<const uint32_t>> VisibleRows() = 0;
  // The begins and ends of all rows. An end counts where has_no_end is 0.
  struct Intervals {
    std::span<const int64_t> begins;
    std::span<const int64_t> ends;
    std::span<const uint8_t> has_no_end;
    SnapshotId begin(size_t row) const { return static_cast<SnapshotId>(begins[row]); }
    SnapshotId end(size_t row) const {
      return has_no_end[row] != 0 ? kNoEnd : static_cast<SnapshotId>(ends[row]);
    }
  };
  virtual absl::StatusOr<Intervals> ReadIntervals() = 0;
  // Reads what keys are made of; then they can be asked for, row by row.
  virtual absl::Status ReadKeys() = 0;
  virtual void AppendKey(size_t row, std::string* key) const = 0;  // requires: ReadKeys
  // Reads a column, by its place among those asked for: the rows named by `rows`, ascending; or all
  // rows, shared with the cache.
  virtual absl::Status ReadColumn(size_t column, std::span<const uint32_t> rows,
                                  ColumnVector* values) = 0;
  virtual absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadWholeColumn(size_t column) = 0;

  // Its rows that lie in the range: [from, to).
  struct Rows {
    size_t from = 0;
    size_t to = 0;
  };
  virtual absl::StatusOr<Rows> RowsInRange() = 0;
  // A column of the file, all rows of it, shared with the cache; NULLs where the file has it not.
  virtual absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadShared(ColumnSlot slot,
                                                                         PhysicalType type) = 0;
  // … one of 128-bit integers, as 64-bit ones. Requires: MinMax says that all of it fit.
  virtual absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadNarrowed(ColumnSlot slot) = 0;
  // The smallest and largest value of a column in it; nullopt: not known.
  virtual std::optional<PackMinMax> MinMax(uint32_t column_id) const = 0;
};

}  // namespace varve

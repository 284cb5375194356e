// What is known of one table of an opened columnar file: its meta, decoded.
//
// Statistics are optional, each by itself; what is absent was not in the file, was of a later
// version or did not fit the number of packs. Nothing here reads the file.
//
// Thread-safety: immutable once made. Ownership: owns all it holds; datums borrow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "columnar/bloom_filter.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/columnar_schema.h"
#include "columnar/min_max_index.h"
#include "columnar/pack_mvcc_stats.h"
#include "columnar/table_meta.h"

namespace varve {

class ColumnarTable {
 public:
  // One column of the file.
  struct Column {
    ColumnarColumn info;
    std::vector<PackLocation> packs;
    std::optional<MinMaxIndex> min_max;
  };

  // DataLoss, in one line without the file's name, if the meta does not fit the properties or its
  // handle index is malformed.
  static absl::StatusOr<ColumnarTable> Make(const ColumnarTableProperties& properties,
                                            TableMeta meta);

  const ColumnarTableSchema& schema() const { return properties_.schema; }
  const ColumnarTableProperties& properties() const { return properties_; }

  size_t num_packs() const { return row_offsets_.size() - 1; }
  uint64_t num_rows() const { return row_offsets_.back(); }
  // num_packs() + 1 numbers: pack p holds the rows [row_offsets[p], row_offsets[p + 1]).
  const std::vector<uint64_t>& row_offsets() const { return row_offsets_; }
  size_t rows_of_pack(size_t pack) const { return row_offsets_[pack + 1] - row_offsets_[pack]; }

  // The first handle of each pack, strictly ascending: versions of one handle are never split.
  const ColumnVector& first_handles() const { return first_handles_; }
  Datum first_handle(size_t pack) const { return first_handles_.at(pack); }
  // The last handle of each pack, if the file says so.
  const std::optional<ColumnVector>& last_handles() const { return last_handles_; }
  // A handle that no row of the pack lies behind: its last one where that is known, else the first
  // one of the next pack (which the pack does not reach) or the table's largest.
  struct HandleBound {
    Datum handle;
    bool inclusive = true;
  };
  HandleBound last_handle_bound(size_t pack) const;

  // The first pack that can hold a handle at or behind `handle`; num_packs() if there is none.
  // Requires: `handle` is of the table's handle type, not NULL.
  size_t SeekPack(const Datum& handle) const;
  // False: no row of the table has the handle.
  bool MayContain(const Datum& handle) const;
  // Whether the table has a filter of its handles that MayContain can use.
  bool has_handle_filter() const { return bloom_.valid(); }

  const std::optional<PackMvccStats>& mvcc_stats() const { return mvcc_stats_; }
  const std::optional<std::vector<PackSnapshotBounds>>& snapshot_bounds() const {
    return snapshot_bounds_;
  }
  // The largest begin of all rows, ended and erased ones included.
  std::optional<SnapshotId> max_version() const { return max_version_; }

  const Column& handle_column() const { return handle_; }
  const Column& version_column() const { return version_; }
  const Column& end_column() const { return end_; }
  const std::vector<Column>& columns() const { return columns_; }
  // Null if the file does not have the column.
  const Column* FindColumn(uint32_t id) const;

 private:
  ColumnarTable() = default;
  // Requires: first_handles_ is set.
  void ReadProperties(const TableMeta& meta);

  ColumnarTableProperties properties_;
  std::vector<uint64_t> row_offsets_;
  Column handle_;
  Column version_;
  Column end_;
  std::vector<Column> columns_;
  ColumnVector first_handles_{PhysicalType::kInt64};
  std::optional<ColumnVector> last_handles_;
  std::optional<PackMvccStats> mvcc_stats_;
  std::optional<std::vector<PackSnapshotBounds>> snapshot_bounds_;
  std::optional<SnapshotId> max_version_;
  BloomFilter bloom_;
};

}  // namespace varve

// Builds one table of a columnar file from rows in order.
//
// Rows are gathered until a pack is full and the next handle differs: the versions of one handle
// are never split, wherever one Append ends and the next begins. A finished pack is encoded, column
// by column. Encoded packs are handed on a group at a time, column after column, so that packs of
// one column that follow each other lie side by side in the file and are read in one piece.
//
// Memory: the rows of one pack, one group of encoded packs (group_bytes), the table meta, and for
// the bloom filter eight bytes for each handle.
//
// Thread-safety: none. Ownership: borrows the sink.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "columnar/bloom_filter.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/columnar_rows.h"
#include "columnar/columnar_schema.h"
#include "columnar/format.h"
#include "columnar/min_max_index.h"
#include "columnar/pack_codec.h"
#include "columnar/pack_mvcc_stats.h"
#include "columnar/table_meta.h"

namespace varve {

// Where the bytes of a file under construction go.
class ColumnarSink {
 public:
  virtual ~ColumnarSink() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Where the next byte goes.
  virtual uint64_t offset() const = 0;
};

struct ColumnarTableBuilderOptions {
  size_t rows_per_pack = kRowsPerPack;   // at least 1
  size_t group_bytes = size_t{4} << 20;  // 0: every pack is a group
  bool handle_bloom = true;
  PackCodecOptions codec;
  // Sees the table's properties before they are written: a seam for tests of files that lack a
  // property or have one that does not fit.
  std::function<void(std::vector<Property>*)> edit_properties;
};

class ColumnarTableBuilder {
 public:
  ColumnarTableBuilder(ColumnarTableSchema schema, ColumnarTableBuilderOptions options,
                       ColumnarSink* sink);
  ColumnarTableBuilder(const ColumnarTableBuilder&) = delete;
  ColumnarTableBuilder& operator=(const ColumnarTableBuilder&) = delete;

  // Adds rows, which must lie behind all added before. InvalidArgument if they do not, or if their
  // columns are not those of the schema; an error of the sink. After an error only destruction is
  // allowed.
  absl::Status Append(const ColumnarRows& rows) { return Append(rows, 0, rows.num_rows()); }
  absl::Status Append(const ColumnarRows& rows, size_t from, size_t to);

  // Writes what is left of the packs, then the table meta with its checksum.
  absl::StatusOr<ColumnarTableProperties> Finish();

  const ColumnarTableSchema& schema() const { return schema_; }
  uint64_t num_rows() const { return row_offsets_.back() + pack_.num_rows(); }
  // The largest begin of all rows in finished packs and the one under way; nullopt without rows.
  std::optional<SnapshotId> max_version() const { return stats_.max_version(); }

 private:
  // A column of the file: the handle, the version and the end come first.
  struct Column {
    ColumnarColumn info;
    std::vector<PackLocation> packs;            // of groups that were written
    std::optional<MinMaxIndexBuilder> min_max;  // none of the version and the end
    // Of the group under way: the packs with their checksums, and how long each is.
    std::string encoded;
    std::vector<uint32_t> lengths;
  };

  absl::Status CheckShape(const ColumnarRows& rows) const;
  void AddToPack(const ColumnarRows& rows, size_t from, size_t to);
  absl::Status FinishPack();
  absl::Status WriteGroup();
  absl::Status EncodePack(const ColumnVector& values, std::span<const uint8_t> left_out,
                          Column* column);
  TableMeta MakeMeta();

  const ColumnarTableSchema schema_;
  const ColumnarTableBuilderOptions options_;
  ColumnarSink* const sink_;
  PackEncoder encoder_;

  std::vector<Column> columns_;
  size_t group_size_ = 0;  // bytes of encoded packs that wait in columns_
  ColumnarRows pack_;      // the rows of the pack under way
  bool has_last_row_ = false;
  OwnedHandle last_handle_;  // of the row added last
  SnapshotId last_begin_ = 0;
  PackMvccStatsBuilder stats_;
  BloomFilterBuilder bloom_;
  ColumnVector first_handles_;  // of each finished pack
  ColumnVector last_handles_;
  std::vector<uint64_t> row_offsets_ = {0};
  ColumnVector versions_{PhysicalType::kInt64};  // scratch of FinishPack
  ColumnVector ends_{PhysicalType::kInt64};
};

}  // namespace varve

// Writes data files of one table: checks them, writes their rows with statistics and partition
// values, and widens the bounds of the table's columns. Private to catalog/transaction.
//
//   Open;  Check each file;  Add each with its place;  Write
//
// Thread-safety: one thread. Ownership: borrows the state, and the files until Write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/transaction/bounds_collector.h"
#include "catalog/transaction/table_shape.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// What a data file gets beside what its writer says of it.
struct DataFilePlace {
  int64_t file_id = 0;
  std::optional<SnapshotId> begin;  // nullopt: it begins with the transaction
  std::optional<SnapshotId> partial_max;
  std::optional<int64_t> row_id_start;
  std::optional<int64_t> partition_id;
  std::span<const NullableText> partition_values;  // none without a partition_id
};

// What a file's rows are to the statistics of the table.
enum class RowsAre : uint8_t {
  kNew,    // what is unknown of them is unknown of the table
  kMoved,  // the statistics cover them already; bounds of the file may still lie further out
};

class DataFileWriter {
 public:
  // NotFound: there is no such table.
  static absl::StatusOr<DataFileWriter> Open(Transaction::State* state, int64_t table_id,
                                             RowsAre rows_are);

  const LiveObject& table() const { return shape_->table; }
  const TableColumns& columns() const { return shape_->columns; }
  // The table's live partitioning; nullopt: it is not partitioned.
  std::optional<int64_t> partition_id() const { return shape_->partition_id; }

  // Everything that can be said of the file by itself, except its path being taken and its
  // row_id_start. Errors: InvalidArgument, NotFound (its mapping).
  absl::Status Check(const DataFile& file);
  // As many values as the live partitioning has keys.
  absl::Status CheckPartitionValues(const DataFile& file) const;

  // Requires: the file is checked; further statistics may have been added since, which are written
  // but do not widen the table's.
  void Add(const DataFile& file, const DataFilePlace& place);
  // Writes all that was added.
  absl::Status Write();

 private:
  // A live column.
  struct Slot {
    const TableColumn* column;
    const TableShape::ColumnFacts* facts;
    size_t last_file = 0;  // the file, counted from 1, whose statistics named it last
    BoundsCollector bounds;

    Slot(const TableColumn& its_column, const TableShape::ColumnFacts& its_facts)
        : column(&its_column), facts(&its_facts), bounds(its_facts.type) {}
  };
  struct FileToWrite {
    const DataFile* file = nullptr;
    DataFilePlace place;
  };

  DataFileWriter(Transaction::State* state, std::shared_ptr<const TableShape> shape,
                 RowsAre rows_are);

  Slot* FindSlot(int64_t column_id, size_t likely);
  absl::Status CheckContent(const DataFile& file);
  absl::Status CheckMapping(const DataFile& file);
  absl::Status CheckColumns(const DataFile& file);
  absl::Status CheckStatistics(const DataFile& file, const ColumnStatistics& statistics,
                               Slot* slot);
  absl::Status CheckVariants(const DataFile& file);
  void Collect(const DataFile& file, const ColumnStatistics& statistics,
               const std::optional<BoundsCollector::Bound>& min,
               const std::optional<BoundsCollector::Bound>& max, Slot* slot) const;

  absl::Status WriteFiles();
  absl::Status WriteColumnStatistics();
  absl::Status WriteVariantStatistics();
  absl::Status WritePartitionValues();
  absl::Status AddTableStatistics();

  Transaction::State* state_;
  std::shared_ptr<const TableShape> shape_;
  RowsAre rows_are_;
  std::vector<Slot> slots_;                      // as shape_->columns.all()
  absl::flat_hash_map<int64_t, bool> mappings_;  // those found to be there
  size_t files_checked_ = 0;
  std::vector<FileToWrite> files_;
  std::string min_scratch_;
  std::string max_scratch_;
};

// `data file "a.parquet"`, for messages.
std::string FileText(std::string_view kind, std::string_view path);

// What data files and delete files have in common. `kind`: "data file".
struct FileFacts {
  std::string_view kind;
  const std::string& path;
  const std::string& format;
  int64_t file_size_bytes = 0;
  int64_t footer_size = 0;
  const NullableText& encryption_key;
};
absl::Status CheckFileFacts(const FileFacts& facts);

}  // namespace varve

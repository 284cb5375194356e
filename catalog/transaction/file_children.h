// What hangs on a committed data file: statistics of its columns and variants, partition values.
// Reading, erasing and combining it. Private to catalog/transaction.
//
// Statistics are kept in the order of (column, file), so those of one file are found by asking for
// each column that the table has ever had.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// A column of the table with the snapshots between which it was so.
struct TableColumnVersion {
  TableColumn column;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  SnapshotId begin_snapshot() const { return begin; }
  SnapshotId end_snapshot() const { return end; }
};

// All versions of the table's columns that the transaction's base has, by column id and begin.
absl::StatusOr<std::vector<TableColumnVersion>> AllColumnVersions(const Transaction::State& state,
                                                                  int64_t table_id);

struct FileChildren {
  std::map<int64_t, VersionedRow> columns;  // rows of ducklake_file_column_stats, by column id
  std::vector<VersionedRow> variants;
  std::vector<VersionedRow> partition_values;
};

class ChildrenReader {
 public:
  // Borrows the state.
  static absl::StatusOr<ChildrenReader> Open(const Transaction::State& state, int64_t table_id);

  // Requires: a file that the transaction sees.
  absl::StatusOr<FileChildren> Read(int64_t file_id) const;

 private:
  ChildrenReader(const Transaction::State& state, int64_t table_id)
      : state_(&state), table_id_(table_id) {}

  const Transaction::State* state_;
  int64_t table_id_;
  std::vector<int64_t> columns_;   // ever
  std::vector<int64_t> variants_;  // those of them that were variants
};

absl::Status EraseChildren(Transaction::State* state, const FileChildren& children);

// The values of a data file in the order of its partitioning's keys; none if it lies in no
// partition.
absl::StatusOr<std::vector<NullableText>> PartitionValuesOf(const Transaction::State& state,
                                                            int64_t table_id, int64_t file_id);

// A row of ducklake_file_column_stats, with the number of rows of its file.
struct StatisticsOfFile {
  const VersionedRow* row = nullptr;
  int64_t record_count = 0;
};
// Of a file that holds the rows of all: counts added, bounds widened; what one does not say, the
// whole does not either.
ColumnStatistics CombineStatistics(const TableColumn& column,
                                   std::span<const StatisticsOfFile> parts);

}  // namespace varve

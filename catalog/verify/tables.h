// What the checks of one table hand to each other.
//
// CheckTables walks the relations that are ordered by table side by side, so that at any time only
// one table's columns and files are in memory.
//
// Thread-safety: one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "catalog/verify/object_lifetimes.h"
#include "catalog/verify/run.h"

namespace varve {

struct ColumnVersion {
  int64_t id = 0;
  std::optional<int64_t> parent;
  std::string name;
  std::string type;
  Lifetime lifetime;
};

struct FileVersion {
  int64_t id = 0;
  Lifetime lifetime;
  std::optional<int64_t> record_count;
};

// What holds for the whole catalog.
struct CatalogContext {
  ObjectLifetimes tables;
  absl::flat_hash_map<int64_t, int64_t> table_of_partitioning;
  ObjectLifetimes mappings;
};

struct TableContext {
  int64_t table = 0;
  const CatalogContext* catalog = nullptr;
  std::vector<ColumnVersion> columns;  // by (id, begin)
  std::vector<FileVersion> files;      // by id
  bool has_stats = false;
  std::optional<int64_t> next_row_id;

  std::span<const ColumnVersion> ColumnVersions(int64_t id) const;
  const FileVersion* File(int64_t id) const;
};

// Whether the cursor stands on a row of this table. Column 0 of these cursors is table_id.
inline bool IsOf(const RowCursor& rows, int64_t table) {
  return rows.valid() && rows.Int(0) == table;
}

// Each takes the rows of one table off its cursor. The columns the cursors read are said where they
// are opened, in verify_tables.cc.
absl::Status CheckColumns(VerifyRun* run, RowCursor* rows, TableContext* table);
absl::Status CheckColumnTags(VerifyRun* run, RowCursor* rows, const TableContext& table);
absl::Status CheckDataFiles(VerifyRun* run, RowCursor* rows, TableContext* table);
absl::Status CheckDeleteFiles(VerifyRun* run, RowCursor* rows, const TableContext& table);
absl::Status CheckPartitionValues(VerifyRun* run, RowCursor* rows, const TableContext& table);
absl::Status CheckVariantStats(VerifyRun* run, RowCursor* rows, const TableContext& table);
// `of_table` is ducklake_table_column_stats, `of_files` is ducklake_file_column_stats.
absl::Status CheckColumnStats(VerifyRun* run, RowCursor* of_table, RowCursor* of_files,
                              const TableContext& table);

}  // namespace varve

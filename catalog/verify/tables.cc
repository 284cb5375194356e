#include "catalog/verify/tables.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

absl::Status ReadCatalogContext(const VerifyRun& run, CatalogContext* context) {
  VARVE_RETURN_IF_ERROR(ReadLifetimes(run, kTable, "table_id", &context->tables));
  context->tables.Normalize();
  VARVE_RETURN_IF_ERROR(ReadLifetimes(run, kColumnMapping, "mapping_id", &context->mappings));
  VARVE_ASSIGN_OR_RETURN(RowCursor rows,
                         OpenBuiltin(run, kPartitionInfo, {"partition_id", "table_id"}));
  while (rows.valid()) {
    if (rows.Int(0).has_value() && rows.Int(1).has_value()) {
      context->table_of_partitioning[*rows.Int(0)] = *rows.Int(1);
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

// The relations of the walk, each in table order.
struct TableCursors {
  RowCursor tables;
  RowCursor columns;
  RowCursor column_tags;
  RowCursor data_files;
  RowCursor delete_files;
  RowCursor column_stats;
  RowCursor file_stats;
  RowCursor variant_stats;
  RowCursor partition_values;
  RowCursor table_stats;

  std::array<RowCursor*, 10> All() {
    return {&tables,       &columns,    &column_tags,   &data_files,       &delete_files,
            &column_stats, &file_stats, &variant_stats, &partition_values, &table_stats};
  }
};

absl::StatusOr<TableCursors> OpenCursors(const VerifyRun& run) {
  VARVE_ASSIGN_OR_RETURN(RowCursor tables, OpenBuiltin(run, kTable, {"table_id"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor columns,
                         OpenBuiltin(run, kColumn,
                                     {"table_id", "column_id", "column_order", "column_name",
                                      "column_type", "parent_column"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor column_tags,
                         OpenBuiltin(run, kColumnTag, {"table_id", "column_id"}));
  VARVE_ASSIGN_OR_RETURN(
      RowCursor data_files,
      OpenBuiltin(run, kDataFile,
                  {"table_id", "data_file_id", "record_count", "row_id_start", "partition_id",
                   "mapping_id", "partial_max", "file_order", "file_format"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor delete_files,
                         OpenBuiltin(run, kDeleteFile,
                                     {"table_id", "delete_file_id", "data_file_id", "delete_count",
                                      "partial_max", "format"}));
  VARVE_ASSIGN_OR_RETURN(
      RowCursor column_stats,
      OpenBuiltin(run, kTableColumnStats, {"table_id", "column_id", "min_value", "max_value"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor file_stats,
                         OpenBuiltin(run, kFileColumnStats,
                                     {"table_id", "column_id", "data_file_id", "min_value",
                                      "max_value", "value_count", "null_count"}));
  VARVE_ASSIGN_OR_RETURN(
      RowCursor variant_stats,
      OpenBuiltin(run, kFileVariantStats, {"table_id", "column_id", "data_file_id"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor partition_values,
                         OpenBuiltin(run, kFilePartitionValue, {"table_id", "data_file_id"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor table_stats,
                         OpenBuiltin(run, kTableStats, {"table_id", "next_row_id"}));
  return TableCursors{std::move(tables),     std::move(columns),       std::move(column_tags),
                      std::move(data_files), std::move(delete_files),  std::move(column_stats),
                      std::move(file_stats), std::move(variant_stats), std::move(partition_values),
                      std::move(table_stats)};
}

// The lowest table any cursor stands on; passes rows without a table, which are missing values.
absl::StatusOr<std::optional<int64_t>> NextTable(TableCursors* cursors) {
  std::optional<int64_t> lowest;
  for (RowCursor* rows : cursors->All()) {
    while (rows->valid() && !rows->Int(0).has_value()) {
      VARVE_RETURN_IF_ERROR(rows->Next());
    }
    if (rows->valid() && (!lowest.has_value() || *rows->Int(0) < *lowest)) {
      lowest = rows->Int(0);
    }
  }
  return lowest;
}

absl::Status TakeTableStats(VerifyRun* run, RowCursor* rows, TableContext* table) {
  while (IsOf(*rows, table->table)) {
    table->has_stats = true;
    table->next_row_id = rows->Int(1);
    if (!table->catalog->tables.Contains(table->table)) {
      run->Report(Rule::kOrphan, rows->relation_name(), rows->Key(),
                  StrCat("table ", table->table, " does not exist"));
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  return absl::OkStatus();
}

absl::Status CheckTable(VerifyRun* run, TableCursors* cursors, TableContext* table) {
  while (IsOf(cursors->tables, table->table)) {
    VARVE_RETURN_IF_ERROR(cursors->tables.Next());
  }
  VARVE_RETURN_IF_ERROR(TakeTableStats(run, &cursors->table_stats, table));
  VARVE_RETURN_IF_ERROR(CheckColumns(run, &cursors->columns, table));
  VARVE_RETURN_IF_ERROR(CheckColumnTags(run, &cursors->column_tags, *table));
  VARVE_RETURN_IF_ERROR(CheckDataFiles(run, &cursors->data_files, table));
  VARVE_RETURN_IF_ERROR(CheckDeleteFiles(run, &cursors->delete_files, *table));
  VARVE_RETURN_IF_ERROR(
      CheckColumnStats(run, &cursors->column_stats, &cursors->file_stats, *table));
  VARVE_RETURN_IF_ERROR(CheckVariantStats(run, &cursors->variant_stats, *table));
  return CheckPartitionValues(run, &cursors->partition_values, *table);
}

}  // namespace

std::span<const ColumnVersion> TableContext::ColumnVersions(int64_t id) const {
  const auto range =
      std::equal_range(columns.begin(), columns.end(), ColumnVersion{.id = id},
                       [](const ColumnVersion& a, const ColumnVersion& b) { return a.id < b.id; });
  return {range.first, range.second};
}

const FileVersion* TableContext::File(int64_t id) const {
  const auto it =
      std::lower_bound(files.begin(), files.end(), id,
                       [](const FileVersion& file, int64_t wanted) { return file.id < wanted; });
  return it == files.end() || it->id != id ? nullptr : &*it;
}

absl::Status CheckTables(VerifyRun* run) {
  CatalogContext catalog;
  VARVE_RETURN_IF_ERROR(ReadCatalogContext(*run, &catalog));
  VARVE_ASSIGN_OR_RETURN(TableCursors cursors, OpenCursors(*run));
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, NextTable(&cursors));
    if (!id.has_value()) {
      return absl::OkStatus();
    }
    TableContext table{.table = *id, .catalog = &catalog};
    VARVE_RETURN_IF_ERROR(CheckTable(run, &cursors, &table));
  }
}

}  // namespace varve

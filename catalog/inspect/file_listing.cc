// ListFiles of catalog/listing.h.

#include <map>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/listing.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"

namespace varve {
namespace {

struct PartitionKey {
  int64_t column_id = 0;
  std::string transform;
};

// What file listings need of one table beside the files themselves.
struct FileContext {
  absl::flat_hash_map<int64_t, int64_t> deletes;             // by data file
  std::map<std::pair<int64_t, int64_t>, PartitionKey> keys;  // by partition and key index
  absl::flat_hash_map<int64_t, std::string> column_names;
  std::map<int64_t, std::map<int64_t, std::string>> values;  // by data file and key index
};

absl::StatusOr<FileContext> ReadFileContext(const ReadView& view, int64_t table_id) {
  FileContext context;
  const RowReaderOptions of_table{.key_prefix = {Datum::Int64(table_id)}};
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kDeleteFile, {"data_file_id", "delete_count"}, of_table,
                 [&](const RowReader& row) { context.deletes[row.Int(0)] += row.Int(1); }));
  if (const RelationRef relation =
          view.relations().FindByName(StrCat("ducklake_inlined_delete_", table_id));
      relation != nullptr) {
    VARVE_RETURN_IF_ERROR(ForEachRow(view, relation, {"file_id"}, {},
                                     [&](const RowReader& row) { ++context.deletes[row.Int(0)]; }));
  }
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kFilePartitionValue, {"data_file_id", "partition_key_index", "partition_value"},
      of_table, [&](const RowReader& row) {
        context.values[row.Int(0)][row.Int(1)] = row.IsNull(2) ? "NULL" : std::string(row.Text(2));
      }));
  if (context.values.empty()) {
    return context;
  }
  // A file keeps the partitioning it was written with, which may have been replaced since.
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kPartitionColumn,
                 {"partition_id", "partition_key_index", "column_id", "transform", "table_id"},
                 {.rows = ScanRows::kAllVersions}, [&](const RowReader& row) {
                   if (row.Int(4) == table_id) {
                     context.keys[{row.Int(0), row.Int(1)}] = {
                         .column_id = row.Int(2), .transform = std::string(row.Text(3))};
                   }
                 }));
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kColumn, {"column_id", "column_name"}, of_table,
                 [&](const RowReader& row) { context.column_names[row.Int(0)] = row.Text(1); }));
  return context;
}

// "region=eu, year(ts)=2023"
std::string PartitionText(const FileContext& context, int64_t data_file_id, int64_t partition_id) {
  const auto values = context.values.find(data_file_id);
  if (values == context.values.end()) {
    return "";
  }
  std::vector<std::string> parts;
  for (const auto& [index, value] : values->second) {
    std::string key = StrCat("key ", index);
    const auto it = context.keys.find({partition_id, index});
    if (it != context.keys.end()) {
      const auto name = context.column_names.find(it->second.column_id);
      key = name == context.column_names.end() ? StrCat("column ", it->second.column_id)
                                               : QuotedIfNeeded(name->second);
      if (const std::string& transform = it->second.transform; transform != "identity") {
        // bucket(4) of column v reads bucket(4, v).
        key = transform.ends_with(')')
                  ? StrCat(std::string_view(transform).substr(0, transform.size() - 1), ", ", key,
                           ")")
                  : StrCat(transform, "(", key, ")");
      }
    }
    parts.push_back(StrCat(key, "=", value));
  }
  return StrJoin(parts, ", ");
}

}  // namespace

absl::Status ListFiles(const ReadView& view, std::string_view name,
                       const std::function<absl::Status(const FileListing&)>& visit) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::vector<const TableName*> tables, names.SelectTables(name));
  for (const TableName* table : tables) {
    VARVE_ASSIGN_OR_RETURN(const FileContext context, ReadFileContext(view, table->id));
    VARVE_ASSIGN_OR_RETURN(RowReader files,
                           RowReader::Open(view, view.relations().FindById(kDataFile),
                                           {"data_file_id", "path", "path_is_relative",
                                            "record_count", "file_size_bytes", "partition_id"},
                                           {.key_prefix = {Datum::Int64(table->id)}}));
    for (;;) {
      VARVE_ASSIGN_OR_RETURN(const bool more, files.Next());
      if (!more) {
        break;
      }
      const auto deletes = context.deletes.find(files.Int(0));
      VARVE_RETURN_IF_ERROR(
          visit({.schema = table->schema,
                 .table = table->name,
                 .path = ResolvePath(table->path, files.Text(1), files.Bool(2, true)),
                 .rows = files.Int(3),
                 .bytes = files.Int(4),
                 .deletes = deletes == context.deletes.end() ? 0 : deletes->second,
                 .begin = files.begin(),
                 .partition = PartitionText(context, files.Int(0), files.Int(5, -1))}));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

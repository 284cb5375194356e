#include "golden/data_statements.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "golden/lake_names.h"
#include "golden/table_statistics.h"

namespace varve::golden {
namespace {

// The columns of a table, nested fields left out, in their order.
std::vector<LakeRow> TopColumns(const LakeEdit& lake, int64_t table_id) {
  std::vector<LakeRow> columns =
      lake.Live("ducklake_column", {{"table_id", Num(table_id)}, {"parent_column", std::nullopt}});
  std::sort(columns.begin(), columns.end(), [](const LakeRow& a, const LakeRow& b) {
    return a.Id("column_order") < b.Id("column_order");
  });
  return columns;
}

bool IsNested(const LakeRow& column) {
  const Literal type = column.Text("column_type");
  return type == "struct" || type == "list" || type == "map";
}

ColumnSchema SystemColumn(std::string_view name) {
  return {.name = std::string(name), .type = TypeKind::kInt64};
}

// The relation that new inlined rows of the table go to: one for each version of its schema, made
// when first needed.
absl::StatusOr<std::string> InlinedRelation(int64_t table_id, LakeEdit* lake) {
  int64_t schema_version = 0;
  for (const LakeRow& version :
       lake->All("ducklake_schema_versions", {{"table_id", Num(table_id)}})) {
    schema_version = std::max(schema_version, version.Id("schema_version"));
  }
  const std::string name = StrCat("ducklake_inlined_data_", table_id, "_", schema_version);
  if (lake->lake().Find(name) != nullptr) {
    return name;
  }
  std::vector<ColumnSchema> columns = {SystemColumn("row_id"), SystemColumn("begin_snapshot"),
                                       SystemColumn("end_snapshot")};
  for (const LakeRow& column : TopColumns(*lake, table_id)) {
    columns.push_back(
        {.name = *column.Text("column_name"), .type = TypeOfColumn(*column.Text("column_type"))});
  }
  VARVE_ASSIGN_OR_RETURN(RelationSchema relation, MakeDynamicRelation(name, columns, {}));
  VARVE_RETURN_IF_ERROR(lake->CreateRelation(std::move(relation)));
  VARVE_RETURN_IF_ERROR(
      lake->Put("ducklake_inlined_data_tables", {{"table_id", Num(table_id)},
                                                 {"table_name", name},
                                                 {"schema_version", Num(schema_version)}}));
  return name;
}

// The live inlined row of a table, in whichever version of its schema it was written.
absl::StatusOr<LakeRow> FindInlinedRow(const LakeEdit& lake, int64_t table_id, int64_t row_id) {
  for (const LakeRow& inlined :
       lake.Live("ducklake_inlined_data_tables", {{"table_id", Num(table_id)}})) {
    const std::vector<LakeRow> rows =
        lake.Live(*inlined.Text("table_name"), {{"row_id", Num(row_id)}});
    if (!rows.empty()) {
      return rows.front();
    }
  }
  return absl::NotFoundError(StrCat("table ", table_id, " has no inlined row ", row_id));
}

// Inserts an inlined row and widens the statistics by it. `values` are those of TopColumns.
absl::Status InsertInlined(int64_t table_id, int64_t row_id, const std::vector<Literal>& values,
                           LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(const std::string relation, InlinedRelation(table_id, lake));
  const std::vector<LakeRow> columns = TopColumns(*lake, table_id);
  std::vector<std::string> names;
  names.reserve(columns.size());
  std::vector<NamedText> row = {{"row_id", Num(row_id)}};
  for (size_t i = 0; i < columns.size(); ++i) {
    names.push_back(*columns[i].Text("column_name"));
    row.push_back({.column = names.back(), .text = values[i]});
    if (!IsNested(columns[i])) {
      VARVE_RETURN_IF_ERROR(WidenColumn(
          columns[i], {.has_null = !values[i].has_value(), .min = values[i], .max = values[i]},
          lake));
    }
  }
  return lake->Insert(relation, row);
}

std::string PathOf(const std::string& label) {
  return label + ".parquet";
}

}  // namespace

absl::Status Execute(const InsertRows& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  const size_t num_columns = TopColumns(*lake, table_id).size();
  for (const std::vector<Literal>& row : statement.rows) {
    if (row.size() != num_columns) {
      return absl::InvalidArgumentError(StrCat("table ", QuoteName(statement.table), " has ",
                                               num_columns, " columns, the row has ", row.size()));
    }
    const int64_t row_id = NextRowId(*lake, table_id);
    VARVE_RETURN_IF_ERROR(CountRows(table_id, 1, 0, lake));
    VARVE_RETURN_IF_ERROR(InsertInlined(table_id, row_id, row, lake));
  }
  lake->Note(StrCat("inlined_insert:", table_id));
  return absl::OkStatus();
}

absl::Status Execute(const UpdateRow& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  VARVE_ASSIGN_OR_RETURN(LakeRow old, FindInlinedRow(*lake, table_id, statement.row_id));
  std::vector<Literal> values;
  for (const LakeRow& column : TopColumns(*lake, table_id)) {
    const std::string name = *column.Text("column_name");
    const auto set = std::find_if(statement.values.begin(), statement.values.end(),
                                  [&](const Assignment& term) { return term.column == name; });
    // A column that came after the row was written reads as its initial default.
    values.push_back(set != statement.values.end() ? set->value
                     : old.relation->schema->columns.Find(name).has_value()
                         ? old.Text(name)
                         : column.Text("initial_default"));
  }
  lake->End(old);
  lake->Note(StrCat("inlined_insert:", table_id));
  lake->Note(StrCat("inlined_delete:", table_id));
  return InsertInlined(table_id, statement.row_id, values, lake);
}

absl::Status Execute(const DeleteRows& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  for (const int64_t row_id : statement.row_ids) {
    VARVE_ASSIGN_OR_RETURN(LakeRow row, FindInlinedRow(*lake, table_id, row_id));
    lake->End(row);
  }
  lake->Note(StrCat("inlined_delete:", table_id));
  return absl::OkStatus();
}

absl::Status Execute(const AddFile& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  const std::string file_id = Num(lake->NewFileId());
  const std::vector<NamedText> of_file = {{"data_file_id", file_id}, {"table_id", Num(table_id)}};
  Literal partition_id;
  if (!statement.partition.empty()) {
    VARVE_ASSIGN_OR_RETURN(LakeRow partition,
                           lake->One("ducklake_partition_info", {{"table_id", Num(table_id)}},
                                     StrCat("partitioning of ", QuoteName(statement.table))));
    partition_id = partition.Text("partition_id");
  }
  std::vector<NamedText> file = {{"data_file_id", file_id},
                                 {"table_id", Num(table_id)},
                                 {"path", PathOf(statement.label)},
                                 {"path_is_relative", "true"},
                                 {"file_format", "parquet"},
                                 {"record_count", Num(statement.rows)},
                                 {"file_size_bytes", Num(statement.bytes)},
                                 {"footer_size", "200"},
                                 {"row_id_start", Num(NextRowId(*lake, table_id))},
                                 {"partition_id", partition_id}};
  if (statement.begin.has_value()) {
    file.push_back({.column = "begin_snapshot", .text = std::to_string(*statement.begin)});
  }
  if (statement.partial_max.has_value()) {
    file.push_back({.column = "partial_max", .text = std::to_string(*statement.partial_max)});
  }
  VARVE_RETURN_IF_ERROR(lake->Insert("ducklake_data_file", file));
  VARVE_RETURN_IF_ERROR(CountRows(table_id, statement.rows, statement.bytes, lake));
  for (const FileStatistics& statistics : statement.statistics) {
    VARVE_ASSIGN_OR_RETURN(
        LakeRow column, FindColumn(*lake, {.table = statement.table, .path = {statistics.column}}));
    VARVE_RETURN_IF_ERROR(
        lake->Insert("ducklake_file_column_stats", {of_file[0],
                                                    of_file[1],
                                                    {"column_id", column.Text("column_id")},
                                                    {"value_count", Num(statement.rows)},
                                                    {"null_count", Num(statistics.nulls)},
                                                    {"min_value", statistics.min},
                                                    {"max_value", statistics.max},
                                                    {"contains_nan", ContainsNan(column)}}));
    VARVE_RETURN_IF_ERROR(WidenColumn(
        column, {.has_null = statistics.nulls > 0, .min = statistics.min, .max = statistics.max},
        lake));
  }
  for (size_t i = 0; i < statement.partition.size(); ++i) {
    VARVE_RETURN_IF_ERROR(lake->Insert("ducklake_file_partition_value",
                                       {of_file[0],
                                        of_file[1],
                                        {"partition_key_index", std::to_string(i)},
                                        {"partition_value", statement.partition[i]}}));
  }
  lake->Note(StrCat("inserted_into_table:", table_id));
  return absl::OkStatus();
}

absl::Status Execute(const AddDeleteFile& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow file, FindDataFile(*lake, statement.data_file));
  const Literal file_id = file.Text("data_file_id");
  // At most one delete file of a data file is live.
  lake->EndAll("ducklake_delete_file", {{"data_file_id", file_id}});
  lake->Note(StrCat("deleted_from_table:", file.Id("table_id")));
  return lake->Insert("ducklake_delete_file", {{"delete_file_id", Num(lake->NewFileId())},
                                               {"table_id", file.Text("table_id")},
                                               {"data_file_id", file_id},
                                               {"path", PathOf(statement.label)},
                                               {"path_is_relative", "true"},
                                               {"format", "parquet"},
                                               {"delete_count", Num(statement.deletes)},
                                               {"file_size_bytes", Num(statement.bytes)},
                                               {"footer_size", "150"}});
}

absl::Status Execute(const DeleteInFile& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow file, FindDataFile(*lake, statement.data_file));
  const std::string name = StrCat("ducklake_inlined_delete_", file.Id("table_id"));
  if (lake->lake().Find(name) == nullptr) {
    VARVE_ASSIGN_OR_RETURN(
        RelationSchema relation,
        MakeDynamicRelation(
            name, {SystemColumn("file_id"), SystemColumn("row_id"), SystemColumn("begin_snapshot")},
            {}));
    VARVE_RETURN_IF_ERROR(lake->CreateRelation(std::move(relation)));
  }
  for (const int64_t row_id : statement.row_ids) {
    VARVE_RETURN_IF_ERROR(
        lake->Insert(name, {{"file_id", file.Text("data_file_id")}, {"row_id", Num(row_id)}}));
  }
  lake->Note(StrCat("inlined_delete:", file.Id("table_id")));
  return absl::OkStatus();
}

absl::Status Execute(const RemoveFile& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow file, FindDataFile(*lake, statement.label));
  lake->Note(StrCat("deleted_from_table:", file.Id("table_id")));
  lake->EndAll("ducklake_delete_file", {{"data_file_id", file.Text("data_file_id")}});
  lake->End(file);
  return absl::OkStatus();
}

absl::Status Execute(const SetOption& statement, LakeEdit* lake) {
  std::vector<NamedText> option = {{"key", statement.key}, {"value", statement.value}};
  if (statement.table.has_value()) {
    VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, *statement.table));
    option.push_back({.column = "scope", .text = "table"});
    option.push_back({.column = "scope_id", .text = Num(table_id)});
  }
  return lake->Put("ducklake_metadata", option);
}

}  // namespace varve::golden

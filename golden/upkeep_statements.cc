// Merging files, expiring snapshots, and statements on single rows: the part of data_statements.h
// that rewrites history.

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "golden/data_statements.h"
#include "golden/lake_names.h"
#include "golden/table_statistics.h"

namespace varve::golden {
namespace {

// The path of a file of a table from the lake's data path on: the queue of files to be removed does
// not say whose they were.
std::string PathInLake(const LakeRow& file, const LakeEdit& lake) {
  std::string path = *file.Text("path");
  if (file.Text("path_is_relative") != "true") {
    return path;
  }
  const LakeRow table = lake.All("ducklake_table", {{"table_id", file.Text("table_id")}}).back();
  const LakeRow schema =
      lake.All("ducklake_schema", {{"schema_id", table.Text("schema_id")}}).back();
  return StrCat(*schema.Text("path"), *table.Text("path"), path);
}

// Notes a data or delete file that no snapshot needs, to be removed later.
absl::Status Schedule(const LakeRow& file, std::string_view id_column, LakeEdit* lake) {
  return lake->Put("ducklake_files_scheduled_for_deletion",
                   {{"data_file_id", file.Text(id_column)},
                    {"path", PathInLake(file, *lake)},
                    {"path_is_relative", file.Text("path_is_relative")},
                    {"schedule_start", lake->snapshot_time()}});
}

absl::Status EraseDataFile(const LakeRow& file, LakeEdit* lake) {
  VARVE_RETURN_IF_ERROR(Schedule(file, "data_file_id", lake));
  const std::vector<NamedText> of_file = {{"data_file_id", file.Text("data_file_id")}};
  for (const std::string_view relation :
       {"ducklake_file_column_stats", "ducklake_file_variant_stats",
        "ducklake_file_partition_value"}) {
    lake->EraseAll(relation, of_file);
  }
  lake->Erase(file);
  return absl::OkStatus();
}

// The statistics of the merged file: those of its sources, counts added and bounds widened.
absl::Status MergeStatistics(const std::vector<LakeRow>& sources, const std::string& file_id,
                             LakeEdit* lake) {
  const Literal table_id = sources.front().Text("table_id");
  for (const LakeRow& column : lake->Live("ducklake_column", {{"table_id", table_id}})) {
    ColumnBounds bounds;
    int64_t values = 0;
    int64_t nulls = 0;
    size_t known = 0;
    for (const LakeRow& source : sources) {
      for (const LakeRow& old :
           lake->Live("ducklake_file_column_stats", {{"data_file_id", source.Text("data_file_id")},
                                                     {"column_id", column.Text("column_id")}})) {
        values += old.Id("value_count");
        nulls += old.Id("null_count");
        ++known;
        VARVE_RETURN_IF_ERROR(Widen(TypeOfColumn(*column.Text("column_type")),
                                    {.min = old.Text("min_value"), .max = old.Text("max_value")},
                                    &bounds));
      }
    }
    if (known != sources.size()) {
      continue;  // unknown for one is unknown for all
    }
    VARVE_RETURN_IF_ERROR(
        lake->Insert("ducklake_file_column_stats", {{"data_file_id", file_id},
                                                    {"table_id", table_id},
                                                    {"column_id", column.Text("column_id")},
                                                    {"value_count", Num(values)},
                                                    {"null_count", Num(nulls)},
                                                    {"min_value", bounds.min},
                                                    {"max_value", bounds.max},
                                                    {"contains_nan", ContainsNan(column)}}));
  }
  return absl::OkStatus();
}

// Whether some snapshot that exists sees a row with this interval.
bool IsSeen(const std::vector<SnapshotId>& snapshots, const ModelRow& row) {
  return std::any_of(snapshots.begin(), snapshots.end(), [&](SnapshotId snapshot) {
    return row.begin <= snapshot && snapshot < row.end;
  });
}

// Erases child rows whose parent is not there in any version.
void EraseOrphans(const RelationSchema& child, LakeEdit* lake) {
  const RelationSchema& parent = *BuiltinRelationById(child.parent);
  for (const LakeRow& row : lake->All(child.name)) {
    std::vector<NamedText> key;
    for (size_t i = 0; i < child.parent_handle.size(); ++i) {
      key.push_back({.column = parent.columns.column(parent.handle[i]).name,
                     .text = row.Text(child.columns.column(child.parent_handle[i]).name)});
    }
    if (lake->All(parent.name, key).empty()) {
      lake->Erase(row);
    }
  }
}

std::string FullName(const std::string& relation, const LakeEdit& lake) {
  return lake.lake().Find(relation) != nullptr ? relation : "ducklake_" + relation;
}

// The row a single-row statement names by its handle.
absl::StatusOr<LakeRow> FindByKey(const RowStatement& statement, const LakeEdit& lake) {
  const std::string name = FullName(statement.relation, lake);
  const ModelRelation* relation = lake.lake().Find(name);
  if (relation == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", statement.relation));
  }
  const RelationSchema& schema = *relation->schema;
  if (statement.key.size() != schema.handle.size()) {
    return absl::InvalidArgumentError(StrCat("the key of ", name, " has ", schema.handle.size(),
                                             " columns, found ", statement.key.size()));
  }
  std::vector<NamedText> key;
  for (size_t i = 0; i < statement.key.size(); ++i) {
    key.push_back(
        {.column = schema.columns.column(schema.handle[i]).name, .text = statement.key[i]});
  }
  const bool erase = statement.kind == RowStatement::Kind::kErase;
  for (const LakeRow& row : erase ? lake.All(name, key) : lake.Live(name, key)) {
    if (!erase || !statement.snapshot.has_value() || row.row().begin == *statement.snapshot) {
      return row;
    }
  }
  return absl::NotFoundError(StrCat("there is no such row of ", name));
}

}  // namespace

absl::Status Execute(const MergeFiles& statement, LakeEdit* lake) {
  std::vector<LakeRow> sources;
  SnapshotId first = kNoEnd;
  SnapshotId last = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
  for (const std::string& label : statement.labels) {
    VARVE_ASSIGN_OR_RETURN(LakeRow file, FindDataFile(*lake, label));
    sources.push_back(file);
    first = std::min(first, file.row().begin);
    last = std::max(last, file.row().begin);
    rows += file.Id("record_count");
    bytes += file.Id("file_size_bytes");
  }
  const std::string file_id = Num(lake->NewFileId());
  const LakeRow& front = sources.front();
  VARVE_RETURN_IF_ERROR(
      lake->Insert("ducklake_data_file", {{"data_file_id", file_id},
                                          {"table_id", front.Text("table_id")},
                                          {"begin_snapshot", std::to_string(first)},
                                          {"path", statement.into + ".parquet"},
                                          {"path_is_relative", "true"},
                                          {"file_format", "parquet"},
                                          {"record_count", Num(rows)},
                                          {"file_size_bytes", Num(bytes)},
                                          {"footer_size", "200"},
                                          {"row_id_start", front.Text("row_id_start")},
                                          {"partition_id", front.Text("partition_id")},
                                          {"partial_max", std::to_string(last)}}));
  VARVE_RETURN_IF_ERROR(MergeStatistics(sources, file_id, lake));
  for (const LakeRow& value : lake->Live("ducklake_file_partition_value",
                                         {{"data_file_id", front.Text("data_file_id")}})) {
    VARVE_RETURN_IF_ERROR(lake->Insert("ducklake_file_partition_value",
                                       {{"data_file_id", file_id},
                                        {"table_id", value.Text("table_id")},
                                        {"partition_key_index", value.Text("partition_key_index")},
                                        {"partition_value", value.Text("partition_value")}}));
  }
  lake->Note(StrCat("merge_adjacent:", front.Id("table_id")));
  for (const LakeRow& source : sources) {
    VARVE_RETURN_IF_ERROR(EraseDataFile(source, lake));
  }
  return absl::OkStatus();
}

absl::Status Execute(const ExpireSnapshots& statement, LakeEdit* lake) {
  for (const SnapshotId snapshot : statement.snapshots) {
    const std::vector<NamedText> id = {{"snapshot_id", std::to_string(snapshot)}};
    if (snapshot == lake->snapshot() || lake->All("ducklake_snapshot", id).empty()) {
      return absl::InvalidArgumentError(
          StrCat("snapshot ", snapshot, " cannot expire: it is the last one or not there"));
    }
    lake->EraseAll("ducklake_snapshot", id);
    lake->EraseAll("ducklake_snapshot_changes", id);
  }
  const std::vector<SnapshotId> snapshots = lake->lake().Snapshots();
  std::vector<LakeRow> unseen;
  for (const RelationRef& relation : BuiltinRelations()) {
    if (relation->versioning != Versioning::kInterval) {
      continue;
    }
    for (const LakeRow& row : lake->All(relation->name)) {
      if (!IsSeen(snapshots, row.row())) {
        unseen.push_back(row);
      }
    }
  }
  // First the files: the path of one is told by its table and schema.
  for (const LakeRow& row : unseen) {
    const RelationSchema& relation = *row.relation->schema;
    if (relation.unique_column.has_value()) {  // a data or delete file
      const ColumnSchema& id = relation.columns.column(*relation.unique_column);
      VARVE_RETURN_IF_ERROR(Schedule(row, id.name, lake));
    }
  }
  for (const LakeRow& row : unseen) {
    lake->Erase(row);
  }
  for (const RelationRef& relation : BuiltinRelations()) {
    if (relation->versioning == Versioning::kViaParent) {
      EraseOrphans(*relation, lake);
    }
  }
  return absl::OkStatus();
}

absl::Status Execute(const RowStatement& statement, LakeEdit* lake) {
  if (statement.kind == RowStatement::Kind::kInsert || statement.kind == RowStatement::Kind::kPut) {
    std::vector<NamedText> columns;
    for (const Assignment& assignment : statement.values) {
      columns.push_back({.column = assignment.column, .text = assignment.value});
    }
    const std::string relation = FullName(statement.relation, *lake);
    return statement.kind == RowStatement::Kind::kPut ? lake->Put(relation, columns)
                                                      : lake->Insert(relation, columns);
  }
  VARVE_ASSIGN_OR_RETURN(LakeRow row, FindByKey(statement, *lake));
  if (statement.kind == RowStatement::Kind::kErase) {
    lake->Erase(row);
    return absl::OkStatus();
  }
  if (!row.relation->schema->end_column.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("rows of ", row.relation->schema->name, " have no end"));
  }
  lake->EndAt(row, statement.snapshot.value_or(lake->snapshot()));
  return absl::OkStatus();
}

absl::Status Execute(const CreateRelation& statement, LakeEdit* lake) {
  std::vector<ColumnSchema> columns;
  for (const ColumnSpec& column : statement.columns) {
    columns.push_back(
        {.name = column.name, .type = TypeOfColumn(column.type), .nullable = !column.not_null});
  }
  VARVE_ASSIGN_OR_RETURN(RelationSchema relation,
                         MakeDynamicRelation(statement.name, std::move(columns), statement.key));
  return lake->CreateRelation(std::move(relation));
}

absl::Status Execute(const DropRelation& statement, LakeEdit* lake) {
  return lake->DropRelation(statement.name);
}

}  // namespace varve::golden

#include "tests/catalog/lake_operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

using Kind = LakeOperation::Kind;

constexpr std::array<std::string_view, 35> kNames = {
    "CreateSchema",      "DropSchema",          "CreateTable",
    "RenameTable",       "MoveTable",           "DropTable",
    "AddColumn",         "DropColumn",          "RenameColumn",
    "ReorderColumns",    "SetColumnType",       "SetColumnDefault",
    "SetColumnNullable", "SetPartitioning",     "SetSortOrder",
    "CreateView",        "RenameView",          "DropView",
    "CreateMacro",       "DropMacro",           "SetTag",
    "SetColumnTag",      "SetOption",           "CreateNameMapping",
    "RegisterDataFiles", "RegisterDeleteFiles", "EndDataFiles",
    "MergeFiles",        "RewriteFile",         "RemoveScheduledFiles",
    "InsertInlined",     "DeleteInlined",       "UpdateInlined",
    "DeleteFromFile",    "FlushInlined"};

void AppendRows(const RelationSchema& relation, RowScan* scan, std::vector<LakeRow>* rows) {
  ScanBatch batch;
  while (true) {
    const absl::StatusOr<bool> more = scan->Next(&batch);
    if (!more.ok()) {
      ADD_FAILURE() << relation.name << ": " << more.status();
      return;
    }
    if (!*more) {
      return;
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      LakeRow& row = rows->emplace_back();
      for (size_t column = 0; column < relation.columns.num_columns(); ++column) {
        const Datum value = batch.columns.column(column).at(i);
        if (!value.is_null()) {
          const ColumnSchema& schema = relation.columns.column(column);
          row[schema.name] = ToText(schema.type, value);
        }
      }
    }
  }
}

// The column of the one row of a built-in relation that the transaction sees under this id.
std::string Seen(const Transaction& transaction, RelationId relation, int64_t id,
                 const std::string& column) {
  const RelationRef schema = BuiltinRelationById(relation);
  const Datum key[] = {Datum::Int64(id)};
  const absl::StatusOr<std::optional<VersionedRow>> row = transaction.Get(*schema, key);
  if (!row.ok() || !row->has_value()) {
    ADD_FAILURE() << "the transaction does not see " << id << " in " << schema->name << ": "
                  << row.status();
    return "";
  }
  const size_t position = *schema->columns.Find(column);
  return ToText(schema->columns.column(position).type, (*row)->values[position]);
}

// The live layout of the table: its partitioning or its sort order.
std::optional<int64_t> LayoutSeen(const Transaction& transaction, RelationId relation,
                                  const std::string& id_column, int64_t table_id) {
  std::optional<int64_t> id;
  for (const LakeRow& row : ReadRows(transaction, BuiltinRelationById(relation))) {
    if (NumberOf(row, "table_id") == table_id) {
      EXPECT_FALSE(id.has_value()) << "table " << table_id << " has two layouts";
      id = NumberOf(row, id_column);
    }
  }
  return id;
}

// The sort order of the table as the transaction sees it, into the operation.
void NoteSortOrder(const Transaction& transaction, LakeOperation* operation) {
  const std::optional<int64_t> id =
      LayoutSeen(transaction, kSortInfo, "sort_id", operation->object);
  operation->sort_keys.clear();
  if (!id.has_value()) {
    return;
  }
  operation->made = {*id};
  for (const LakeRow& row : ReadRows(transaction, BuiltinRelationById(kSortExpression))) {
    if (NumberOf(row, "sort_id") == *id) {
      operation->sort_keys.push_back({.expression = TextOf(row, "expression"),
                                      .dialect = TextOf(row, "dialect"),
                                      .ascending = TextOf(row, "sort_direction") == "ASC",
                                      .nulls_first = TextOf(row, "null_order") == "NULLS_FIRST"});
    }
  }
}

absl::Status Keep(const absl::StatusOr<int64_t>& id, LakeOperation* operation) {
  if (id.ok()) {
    operation->made = {*id};
  }
  return id.status();
}
absl::Status Keep(absl::StatusOr<std::vector<int64_t>> ids, LakeOperation* operation) {
  if (ids.ok()) {
    operation->made = *std::move(ids);
    return absl::OkStatus();
  }
  return ids.status();
}

absl::Status PerformOnObjects(LakeOperation* o, Transaction* t) {
  switch (o->kind) {
    case Kind::kCreateSchema: return Keep(t->CreateSchema(o->name, o->place), o);
    case Kind::kDropSchema: return t->DropSchema(o->object);
    case Kind::kCreateTable: return Keep(t->CreateTable(o->into, o->name, o->columns, o->place), o);
    case Kind::kRenameTable: return t->RenameTable(o->object, o->name);
    case Kind::kMoveTable: return t->MoveTable(o->object, o->into);
    case Kind::kDropTable: return t->DropTable(o->object);
    case Kind::kCreateView: return Keep(t->CreateView(o->into, o->name, o->view), o);
    case Kind::kRenameView: return t->RenameView(o->object, o->name);
    case Kind::kDropView: return t->DropView(o->object);
    case Kind::kCreateMacro:
      return Keep(t->CreateMacro(o->into, o->name, o->flag ? MacroKind::kTable : MacroKind::kScalar,
                                 o->implementations),
                  o);
    case Kind::kDropMacro: return t->DropMacro(o->object);
    case Kind::kSetTag: return t->SetTag(o->object, o->name, o->value);
    case Kind::kSetColumnTag: return t->SetColumnTag(o->object, o->column, o->name, o->value);
    case Kind::kSetOption: return t->SetOption(o->scope, o->object, o->name, o->value);
    default: return absl::InternalError("no operation on objects");
  }
}

absl::Status PerformOnColumns(LakeOperation* o, Transaction* t) {
  switch (o->kind) {
    case Kind::kAddColumn: return Keep(t->AddColumn(o->object, o->columns[0], o->parent), o);
    case Kind::kDropColumn: return t->DropColumn(o->object, o->column);
    case Kind::kRenameColumn: return t->RenameColumn(o->object, o->column, o->name);
    case Kind::kReorderColumns: return t->ReorderColumns(o->object, o->ids);
    case Kind::kSetColumnType: return t->SetColumnType(o->object, o->column, o->name);
    case Kind::kSetColumnDefault: return t->SetColumnDefault(o->object, o->column, o->value);
    case Kind::kSetColumnNullable: return t->SetColumnNullable(o->object, o->column, o->flag);
    case Kind::kSetPartitioning: return t->SetPartitioning(o->object, o->partition_keys);
    case Kind::kSetSortOrder: return t->SetSortOrder(o->object, o->sort_keys);
    default: return absl::InternalError("no operation on columns");
  }
}

absl::Status PerformOnFiles(LakeOperation* o, Transaction* t) {
  switch (o->kind) {
    case Kind::kCreateNameMapping: return Keep(t->CreateNameMapping(o->object, o->mappings), o);
    case Kind::kRegisterDataFiles: return Keep(t->RegisterDataFiles(o->object, o->files), o);
    case Kind::kRegisterDeleteFiles:
      return Keep(t->RegisterDeleteFiles(o->object, o->delete_files), o);
    case Kind::kEndDataFiles: return t->EndDataFiles(o->object, o->ids);
    case Kind::kMergeFiles: return Keep(t->MergeFiles(o->object, o->ids, o->files[0]), o);
    case Kind::kRewriteFile: return Keep(t->RewriteFile(o->object, o->ids[0], o->files[0]), o);
    case Kind::kRemoveScheduledFiles: return t->RemoveScheduledFiles(o->ids);
    case Kind::kInsertInlined: return Keep(t->InsertInlined(o->object, o->rows), o);
    case Kind::kDeleteInlined: return t->DeleteInlined(o->object, o->ids);
    case Kind::kUpdateInlined: return t->UpdateInlined(o->object, o->ids[0], o->rows[0]);
    case Kind::kDeleteFromFile: return t->DeleteFromFile(o->object, o->column, o->ids);
    case Kind::kFlushInlined:
      return Keep(t->FlushInlined(
                      o->object, o->files[0],
                      o->delete_files.empty() ? std::nullopt : std::optional(o->delete_files[0])),
                  o);
    default: return absl::InternalError("no operation on files");
  }
}

// The statistics of the file that was made: those given, and those it combined.
void NoteStatistics(const Transaction& transaction, LakeOperation* operation) {
  DataFile& file = operation->files[0];
  for (const LakeRow& row : ReadRows(transaction, BuiltinRelationById(kFileColumnStats))) {
    const int64_t column = NumberOf(row, "column_id");
    const bool given = std::any_of(
        file.columns.begin(), file.columns.end(),
        [&](const ColumnStatistics& statistics) { return statistics.column_id == column; });
    if (given || NumberOf(row, "data_file_id") != operation->made[0]) {
      continue;
    }
    ColumnStatistics& combined = file.columns.emplace_back();
    combined.column_id = column;
    const auto number = [&](const std::string& name, std::optional<int64_t>* to) {
      if (row.contains(name)) {
        *to = NumberOf(row, name);
      }
    };
    const auto text = [&](const std::string& name, NullableText* to) {
      if (row.contains(name)) {
        *to = row.at(name);
      }
    };
    number("column_size_bytes", &combined.column_size_bytes);
    number("value_count", &combined.value_count);
    number("null_count", &combined.null_count);
    text("min_value", &combined.min_value);
    text("max_value", &combined.max_value);
    text("extra_stats", &combined.extra_stats);
    if (row.contains("contains_nan")) {
      combined.contains_nan = row.at("contains_nan") == "true";
    }
  }
}

// The delete file that came with a flush.
void NoteDeleteFile(const Transaction& transaction, LakeOperation* operation) {
  for (const LakeRow& row : ReadRows(transaction, BuiltinRelationById(kDeleteFile))) {
    if (NumberOf(row, "data_file_id") == operation->made[0]) {
      operation->made.push_back(NumberOf(row, "delete_file_id"));
      return;
    }
  }
  ADD_FAILURE() << "the flush made no delete file: " << ToText(*operation);
}

// What the catalog chose.
void NoteChoices(const Transaction& transaction, LakeOperation* operation) {
  switch (operation->kind) {
    case Kind::kCreateSchema:
      operation->place.uuid = Seen(transaction, kSchema, operation->made[0], "schema_uuid");
      return;
    case Kind::kCreateTable:
      operation->place.uuid = Seen(transaction, kTable, operation->made[0], "table_uuid");
      return;
    case Kind::kCreateView:
      operation->view.uuid = Seen(transaction, kView, operation->made[0], "view_uuid");
      return;
    case Kind::kSetPartitioning:
      if (const auto id =
              LayoutSeen(transaction, kPartitionInfo, "partition_id", operation->object);
          id.has_value()) {
        operation->made = {*id};
      }
      return;
    case Kind::kSetSortOrder:
    case Kind::kRenameColumn: NoteSortOrder(transaction, operation); return;
    case Kind::kRegisterDataFiles:
    case Kind::kMergeFiles:
    case Kind::kRewriteFile:
    case Kind::kFlushInlined:
      operation->partition_id =
          LayoutSeen(transaction, kPartitionInfo, "partition_id", operation->object);
      if (operation->kind == Kind::kMergeFiles) {
        NoteStatistics(transaction, operation);
      }
      if (!operation->delete_files.empty()) {
        NoteDeleteFile(transaction, operation);
      }
      return;
    default: return;
  }
}

}  // namespace

absl::Status Perform(LakeOperation* operation, Transaction* transaction) {
  const bool on_columns =
      operation->kind >= Kind::kAddColumn && operation->kind <= Kind::kSetSortOrder;
  VARVE_RETURN_IF_ERROR(on_columns ? PerformOnColumns(operation, transaction)
                        : operation->kind >= Kind::kCreateNameMapping
                            ? PerformOnFiles(operation, transaction)
                            : PerformOnObjects(operation, transaction));
  NoteChoices(*transaction, operation);
  return absl::OkStatus();
}

void ResolveIds(const CommitResult& result, LakeOperation* operation) {
  const int64_t table = operation->object;
  const auto resolve = [&](int64_t* id) { *id = result.Resolve(*id, table); };
  const auto resolve_all = [&](std::vector<int64_t>* ids) {
    std::for_each(ids->begin(), ids->end(), [&](int64_t& id) { resolve(&id); });
  };
  resolve_all(&operation->ids);
  resolve_all(&operation->made);
  for (DataFile& file : operation->files) {
    if (file.mapping_id.has_value()) {
      resolve(&*file.mapping_id);
    }
  }
  for (DeleteFile& file : operation->delete_files) {
    resolve(&file.data_file_id);
  }
  for (InlinedVersion& version : operation->versions) {
    resolve(&version.row_id);
  }
  if (operation->partition_id.has_value()) {
    resolve(&*operation->partition_id);
  }
  resolve(&operation->into);
  resolve(&operation->column);
  resolve(&operation->object);
}

std::string ToText(const LakeOperation& o) {
  std::string text(kNames[static_cast<size_t>(o.kind)]);
  const auto add = [&](std::string_view what, const auto& value) {
    StrAppend(&text, " ", what, "=", value);
  };
  add("object", o.object);
  if (o.into != 0) {
    add("into", o.into);
  }
  if (o.column != 0) {
    add("column", o.column);
  }
  if (o.parent.has_value()) {
    add("parent", *o.parent);
  }
  if (!o.name.empty()) {
    add("name", o.name);
  }
  if (o.value.has_value()) {
    add("value", *o.value);
  }
  if (!o.ids.empty()) {
    add("ids", StrJoin(o.ids, ","));
  }
  for (const ColumnDefinition& column : o.columns) {
    add("column", StrCat(column.name, " ", column.type, column.nullable ? "" : " not null"));
  }
  for (const PartitionKey& key : o.partition_keys) {
    add("by", StrCat(key.column_id, " ", key.transform));
  }
  for (const SortKey& key : o.sort_keys) {
    add("sort", key.expression);
  }
  for (const DataFile& file : o.files) {
    add("file", StrCat(file.path, " rows ", file.record_count));
  }
  for (const DeleteFile& file : o.delete_files) {
    add("deletes", StrCat(file.path, " of ", file.data_file_id));
  }
  for (const std::vector<NullableText>& row : o.rows) {
    std::vector<std::string> values;
    for (const NullableText& value : row) {
      values.push_back(value.value_or("NULL"));
    }
    add("row", StrCat("(", StrJoin(values, ", "), ")"));
  }
  if (!o.made.empty()) {
    add("made", StrJoin(o.made, ","));
  }
  return text;
}

std::vector<LakeRow> ReadRows(const ReadView& view, const RelationRef& relation, ScanRows which) {
  std::vector<LakeRow> rows;
  const auto scan = view.Scan(relation, {.rows = which});
  if (!scan.ok()) {
    ADD_FAILURE() << relation->name << ": " << scan.status();
    return rows;
  }
  AppendRows(*relation, scan->get(), &rows);
  return rows;
}

std::vector<LakeRow> ReadRows(const Transaction& transaction, const RelationRef& relation) {
  std::vector<LakeRow> rows;
  const auto scan = transaction.Scan(relation, {});
  if (!scan.ok()) {
    ADD_FAILURE() << relation->name << ": " << scan.status();
    return rows;
  }
  AppendRows(*relation, scan->get(), &rows);
  return rows;
}

std::string LineOf(const LakeRow& row) {
  std::string line;
  for (const auto& [column, value] : row) {
    StrAppend(&line, line.empty() ? "" : " ", column, "=", value);
  }
  return line;
}

int64_t NumberOf(const LakeRow& row, const std::string& column) {
  const auto found = row.find(column);
  return found == row.end() ? -1 : ParseNumber<int64_t>(found->second).value_or(-1);
}

std::string TextOf(const LakeRow& row, const std::string& column) {
  const auto found = row.find(column);
  return found == row.end() ? "" : found->second;
}

}  // namespace varve

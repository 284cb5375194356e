#include "golden/definition_statements.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "golden/lake_names.h"

namespace varve::golden {
namespace {

// UUIDs come from the catalog ids, which are counted.
std::string UuidOf(int64_t id) {
  return absl::StrFormat("00000000-0000-4000-8000-%012x", id);
}

// A name of letters, digits, - and _ is its own directory; any other object lives under its UUID.
std::string DirectoryOf(std::string_view name, std::string_view uuid) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '-' || c == '_');
  });
  return StrCat(plain ? name : uuid, "/");
}

absl::Status ExpectFree(const LakeEdit& lake, ObjectKind kind, const LakeRow& schema,
                        const ObjectName& name) {
  const ObjectTerms terms = TermsOf(kind);
  if (!lake.Live(terms.relation,
                 {{"schema_id", schema.Text("schema_id")}, {terms.name_column, name.name}})
           .empty()) {
    return absl::AlreadyExistsError(StrCat(terms.word, " ", QuoteName(name), " exists"));
  }
  return absl::OkStatus();
}

// Inserts a column and, after it, its fields. Ids and order count up in that order.
absl::Status InsertColumn(const ColumnSpec& column, int64_t table_id, const Literal& parent,
                          int64_t* next_column, LakeEdit* lake) {
  const std::string id = Num((*next_column)++);
  const bool nested = !column.fields.empty();
  Literal default_value = column.default_value;
  if (!default_value.has_value() && !nested) {
    default_value = "NULL";
  }
  VARVE_RETURN_IF_ERROR(
      lake->Insert("ducklake_column", {{"column_id", id},
                                       {"table_id", Num(table_id)},
                                       {"column_order", id},
                                       {"column_name", column.name},
                                       {"column_type", column.type},
                                       {"initial_default", column.default_value},
                                       {"default_value", default_value},
                                       {"nulls_allowed", column.not_null ? "false" : "true"},
                                       {"parent_column", parent},
                                       {"default_value_type", nested ? "" : "literal"},
                                       {"default_value_dialect", "duckdb"}}));
  for (const ColumnSpec& field : column.fields) {
    VARVE_RETURN_IF_ERROR(InsertColumn(field, table_id, id, next_column, lake));
  }
  return absl::OkStatus();
}

absl::Status Altered(int64_t table_id, LakeEdit* lake) {
  lake->Note(StrCat("altered_table:", table_id));
  return lake->ChangesSchemaOf(table_id);
}

bool IsTableMacro(const LakeRow& macro, const LakeEdit& lake) {
  const std::vector<LakeRow> implementations =
      lake.Live("ducklake_macro_impl", {{"macro_id", macro.Text("macro_id")}});
  return !implementations.empty() && implementations.front().Text("type") == "table";
}

// "created_table_macro"
std::string TokenOf(std::string_view done, ObjectKind kind, const LakeRow& object,
                    const LakeEdit& lake) {
  const std::string_view flavour = kind != ObjectKind::kMacro   ? ""
                                   : IsTableMacro(object, lake) ? "table_"
                                                                : "scalar_";
  return StrCat(done, "_", flavour, TermsOf(kind).word);
}

}  // namespace

absl::Status Execute(const CreateSchema& statement, LakeEdit* lake) {
  if (FindSchema(*lake, statement.name).ok()) {
    return absl::AlreadyExistsError(StrCat("schema ", QuoteName(statement.name), " exists"));
  }
  const int64_t id = lake->NewCatalogId();
  lake->Note(StrCat("created_schema:", QuoteName(statement.name)));
  lake->ChangesSchema();
  return lake->Insert("ducklake_schema", {{"schema_id", Num(id)},
                                          {"schema_uuid", UuidOf(id)},
                                          {"schema_name", statement.name},
                                          {"path", DirectoryOf(statement.name, UuidOf(id))},
                                          {"path_is_relative", "true"}});
}

absl::Status Execute(const DropSchema& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, statement.name));
  for (const ObjectKind kind : {ObjectKind::kTable, ObjectKind::kView, ObjectKind::kMacro}) {
    if (!lake->Live(TermsOf(kind).relation, {{"schema_id", schema.Text("schema_id")}}).empty()) {
      return absl::FailedPreconditionError(
          StrCat("schema ", QuoteName(statement.name), " still has a ", TermsOf(kind).word));
    }
  }
  lake->Note(StrCat("dropped_schema:", schema.Id("schema_id")));
  lake->ChangesSchema();
  lake->End(schema);
  return absl::OkStatus();
}

absl::Status Execute(const CreateTable& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, statement.table.schema));
  VARVE_RETURN_IF_ERROR(ExpectFree(*lake, ObjectKind::kTable, schema, statement.table));
  const int64_t id = lake->NewCatalogId();
  VARVE_RETURN_IF_ERROR(
      lake->Insert("ducklake_table", {{"table_id", Num(id)},
                                      {"table_uuid", UuidOf(id)},
                                      {"schema_id", schema.Text("schema_id")},
                                      {"table_name", statement.table.name},
                                      {"path", DirectoryOf(statement.table.name, UuidOf(id))},
                                      {"path_is_relative", "true"}}));
  int64_t next_column = 1;
  for (const ColumnSpec& column : statement.columns) {
    VARVE_RETURN_IF_ERROR(InsertColumn(column, id, std::nullopt, &next_column, lake));
  }
  lake->Note(StrCat("created_table:", QuoteName(statement.table)));
  return lake->ChangesSchemaOf(id);
}

absl::Status Execute(const CreateView& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, statement.view.schema));
  VARVE_RETURN_IF_ERROR(ExpectFree(*lake, ObjectKind::kView, schema, statement.view));
  std::vector<std::string> aliases;
  for (const std::string& alias : statement.aliases) {
    aliases.push_back(QuoteName(alias));
  }
  const int64_t id = lake->NewCatalogId();
  lake->Note(StrCat("created_view:", QuoteName(statement.view)));
  lake->ChangesSchema();
  return lake->Insert("ducklake_view", {{"view_id", Num(id)},
                                        {"view_uuid", UuidOf(id)},
                                        {"schema_id", schema.Text("schema_id")},
                                        {"view_name", statement.view.name},
                                        {"dialect", "duckdb"},
                                        {"sql", statement.sql},
                                        {"column_aliases", StrJoin(aliases, ",")}});
}

absl::Status Execute(const CreateMacro& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, statement.macro.schema));
  VARVE_RETURN_IF_ERROR(ExpectFree(*lake, ObjectKind::kMacro, schema, statement.macro));
  const std::string id = Num(lake->NewCatalogId());
  VARVE_RETURN_IF_ERROR(lake->Insert("ducklake_macro", {{"schema_id", schema.Text("schema_id")},
                                                        {"macro_id", id},
                                                        {"macro_name", statement.macro.name}}));
  for (size_t i = 0; i < statement.implementations.size(); ++i) {
    const MacroImplementation& implementation = statement.implementations[i];
    VARVE_RETURN_IF_ERROR(lake->Insert("ducklake_macro_impl",
                                       {{"macro_id", id},
                                        {"impl_id", std::to_string(i)},
                                        {"dialect", "duckdb"},
                                        {"sql", implementation.sql},
                                        {"type", statement.table_macro ? "table" : "scalar"}}));
    for (size_t j = 0; j < implementation.parameters.size(); ++j) {
      const MacroParameter& parameter = implementation.parameters[j];
      const bool has_default = parameter.default_value.has_value();
      VARVE_RETURN_IF_ERROR(
          lake->Insert("ducklake_macro_parameters",
                       {{"macro_id", id},
                        {"impl_id", std::to_string(i)},
                        {"column_id", std::to_string(j)},
                        {"parameter_name", parameter.name},
                        {"parameter_type", "unknown"},
                        {"default_value", has_default ? *parameter.default_value : Literal("NULL")},
                        {"default_value_type", has_default ? "int32" : "unknown"}}));
    }
  }
  lake->Note(StrCat("created_", statement.table_macro ? "table" : "scalar",
                    "_macro:", QuoteName(statement.macro)));
  lake->ChangesSchema();
  return absl::OkStatus();
}

absl::Status Execute(const DropObject& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow object, FindObject(*lake, statement.kind, statement.object));
  const int64_t id = object.Id(TermsOf(statement.kind).id_column);
  lake->Note(StrCat(TokenOf("dropped", statement.kind, object, *lake), ":", id));
  lake->ChangesSchema();
  lake->EndAll("ducklake_tag", {{"object_id", Num(id)}});
  if (statement.kind == ObjectKind::kTable) {
    // Inlined rows and statistics stay as they are: without the table nothing leads to them.
    for (const std::string_view relation :
         {"ducklake_partition_info", "ducklake_sort_info", "ducklake_column", "ducklake_column_tag",
          "ducklake_data_file", "ducklake_delete_file"}) {
      lake->EndAll(relation, {{"table_id", Num(id)}});
    }
  }
  lake->End(object);
  return absl::OkStatus();
}

absl::Status Execute(const RenameObject& statement, LakeEdit* lake) {
  const ObjectTerms terms = TermsOf(statement.kind);
  const ObjectName to = {.schema = statement.object.schema, .name = statement.to};
  VARVE_ASSIGN_OR_RETURN(LakeRow object, FindObject(*lake, statement.kind, statement.object));
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, to.schema));
  VARVE_RETURN_IF_ERROR(ExpectFree(*lake, statement.kind, schema, to));
  // As DuckLake's client writes it: a new name is a thing created.
  lake->Note(StrCat(TokenOf("created", statement.kind, object, *lake), ":", QuoteName(to)));
  const int64_t id = object.Id(terms.id_column);
  VARVE_RETURN_IF_ERROR(lake->Replace(object, {{terms.name_column, statement.to}}));
  if (statement.kind == ObjectKind::kTable) {
    return lake->ChangesSchemaOf(id);
  }
  lake->ChangesSchema();
  return absl::OkStatus();
}

absl::Status Execute(const MoveTable& statement, LakeEdit* lake) {
  const ObjectName to = {.schema = statement.to_schema, .name = statement.table.name};
  VARVE_ASSIGN_OR_RETURN(LakeRow table, FindObject(*lake, ObjectKind::kTable, statement.table));
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(*lake, to.schema));
  VARVE_RETURN_IF_ERROR(ExpectFree(*lake, ObjectKind::kTable, schema, to));
  const int64_t id = table.Id("table_id");
  lake->Note(StrCat("created_table:", QuoteName(to)));
  std::vector<NamedText> changes = {{"schema_id", schema.Text("schema_id")}};
  if (table.Text("path_is_relative") == "true") {
    // Its files stay where they are, which a path relative to the new schema would not say.
    VARVE_ASSIGN_OR_RETURN(LakeRow from, FindSchema(*lake, statement.table.schema));
    VARVE_ASSIGN_OR_RETURN(LakeRow data_path,
                           lake->One("ducklake_metadata",
                                     {{"key", "data_path"}, {"scope", std::nullopt}}, "data path"));
    changes.push_back(
        {.column = "path",
         .text = StrCat(*data_path.Text("value"), *from.Text("path"), *table.Text("path"))});
    changes.push_back({.column = "path_is_relative", .text = "false"});
  }
  VARVE_RETURN_IF_ERROR(lake->Replace(table, changes));
  return lake->ChangesSchemaOf(id);
}

absl::Status Execute(const AddColumn& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.parent.table));
  Literal parent;
  if (!statement.parent.path.empty()) {
    VARVE_ASSIGN_OR_RETURN(LakeRow column, FindColumn(*lake, statement.parent));
    parent = column.Text("column_id");
  }
  int64_t next_column = 1;  // ids of dropped columns are not used again
  for (const LakeRow& column : lake->All("ducklake_column", {{"table_id", Num(table_id)}})) {
    next_column = std::max(next_column, column.Id("column_id") + 1);
  }
  VARVE_RETURN_IF_ERROR(InsertColumn(statement.column, table_id, parent, &next_column, lake));
  return Altered(table_id, lake);
}

namespace {

void EndColumn(const LakeRow& column, LakeEdit* lake) {
  const Literal table_id = column.Text("table_id");
  const Literal column_id = column.Text("column_id");
  for (const LakeRow& field :
       lake->Live("ducklake_column", {{"table_id", table_id}, {"parent_column", column_id}})) {
    EndColumn(field, lake);
  }
  lake->EndAll("ducklake_column_tag", {{"table_id", table_id}, {"column_id", column_id}});
  lake->End(column);
}

absl::Status ReplaceColumn(const ColumnPath& path, const std::vector<NamedText>& changes,
                           LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow column, FindColumn(*lake, path));
  const int64_t table_id = column.Id("table_id");
  VARVE_RETURN_IF_ERROR(lake->Replace(column, changes));
  return Altered(table_id, lake);
}

}  // namespace

absl::Status Execute(const DropColumn& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(LakeRow column, FindColumn(*lake, statement.column));
  const int64_t table_id = column.Id("table_id");
  EndColumn(column, lake);
  return Altered(table_id, lake);
}

absl::Status Execute(const RenameColumn& statement, LakeEdit* lake) {
  return ReplaceColumn(statement.column, {{"column_name", statement.to}}, lake);
}

absl::Status Execute(const AlterColumn& statement, LakeEdit* lake) {
  std::vector<NamedText> changes;
  if (statement.type.has_value()) {
    changes.push_back({.column = "column_type", .text = *statement.type});
  }
  if (statement.default_value.has_value()) {
    changes.push_back(
        {.column = "default_value", .text = statement.default_value->value_or("NULL")});
  }
  if (statement.not_null.has_value()) {
    changes.push_back({.column = "nulls_allowed", .text = *statement.not_null ? "false" : "true"});
  }
  return ReplaceColumn(statement.column, changes, lake);
}

absl::Status Execute(const SetTag& statement, LakeEdit* lake) {
  std::string_view relation = "ducklake_tag";
  std::vector<NamedText> key;
  if (statement.kind == ObjectKind::kColumn) {
    VARVE_ASSIGN_OR_RETURN(LakeRow column, FindColumn(*lake, statement.target));
    relation = "ducklake_column_tag";
    key = {{"table_id", column.Text("table_id")}, {"column_id", column.Text("column_id")}};
    lake->Note(StrCat("altered_table:", column.Id("table_id")));
  } else if (statement.kind == ObjectKind::kMacro) {
    return absl::InvalidArgumentError("DuckLake has no tags of macros");
  } else {
    const ObjectTerms terms = TermsOf(statement.kind);
    VARVE_ASSIGN_OR_RETURN(LakeRow object,
                           FindObject(*lake, statement.kind, statement.target.table));
    key = {{"object_id", object.Text(terms.id_column)}};
    lake->Note(StrCat("altered_", terms.word, ":", object.Id(terms.id_column)));
  }
  lake->ChangesSchema();
  key.push_back({.column = "key", .text = statement.key});
  const std::vector<LakeRow> old = lake->Live(relation, key);
  if (!statement.value.has_value()) {
    lake->EndAll(relation, key);
    return old.empty() ? absl::NotFoundError(StrCat("there is no tag ", statement.key))
                       : absl::OkStatus();
  }
  if (!old.empty()) {
    return lake->Replace(old.front(), {{"value", *statement.value}});
  }
  key.push_back({.column = "value", .text = *statement.value});
  return lake->Insert(relation, key);
}

absl::Status Execute(const PartitionBy& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  lake->EndAll("ducklake_partition_info", {{"table_id", Num(table_id)}});
  const std::string id = Num(lake->NewCatalogId());
  VARVE_RETURN_IF_ERROR(
      lake->Insert("ducklake_partition_info", {{"partition_id", id}, {"table_id", Num(table_id)}}));
  for (size_t i = 0; i < statement.keys.size(); ++i) {
    VARVE_ASSIGN_OR_RETURN(LakeRow column, FindColumn(*lake, {.table = statement.table,
                                                              .path = {statement.keys[i].column}}));
    VARVE_RETURN_IF_ERROR(
        lake->Insert("ducklake_partition_column", {{"partition_id", id},
                                                   {"table_id", Num(table_id)},
                                                   {"partition_key_index", std::to_string(i)},
                                                   {"column_id", column.Text("column_id")},
                                                   {"transform", statement.keys[i].transform}}));
  }
  return Altered(table_id, lake);
}

absl::Status Execute(const SortBy& statement, LakeEdit* lake) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(*lake, statement.table));
  lake->EndAll("ducklake_sort_info", {{"table_id", Num(table_id)}});
  lake->Note(StrCat("altered_table:", table_id));
  lake->ChangesSchema();
  if (statement.keys.empty()) {
    return absl::OkStatus();
  }
  const std::string id = Num(lake->NewCatalogId());
  VARVE_RETURN_IF_ERROR(
      lake->Insert("ducklake_sort_info", {{"sort_id", id}, {"table_id", Num(table_id)}}));
  for (size_t i = 0; i < statement.keys.size(); ++i) {
    const SortKey& key = statement.keys[i];
    VARVE_RETURN_IF_ERROR(
        lake->Insert("ducklake_sort_expression", {{"sort_id", id},
                                                  {"table_id", Num(table_id)},
                                                  {"sort_key_index", std::to_string(i)},
                                                  {"expression", key.expression},
                                                  {"dialect", "duckdb"},
                                                  {"sort_direction", key.direction},
                                                  {"null_order", key.null_order}}));
  }
  return absl::OkStatus();
}

}  // namespace varve::golden

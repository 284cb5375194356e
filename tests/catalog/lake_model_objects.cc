// Schemas, tables, views, macros, tags and options of the model.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_values.h"

namespace varve {
namespace {

bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

// --- Names and ids ---

std::string LakeModel::QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

std::string LakeModel::QualifiedName(int64_t schema, const std::string& name) const {
  const auto found = Live("ducklake_schema", {{"schema_id", StrCat(schema)}});
  return StrCat(found.empty() ? "?" : QuotedName(found.front()->row.at("schema_name")), ".",
                QuotedName(name));
}

void LakeModel::CheckNameIsFree(int64_t schema, const std::string& name, bool is_macro) {
  struct Names {
    const char* relation;
    const char* column;
    bool of_macros;
  };
  for (const Names& names :
       {Names{"ducklake_table", "table_name", false}, Names{"ducklake_view", "view_name", false},
        Names{"ducklake_macro", "macro_name", true}}) {
    for (const Version* version : Live(names.relation, {{"schema_id", StrCat(schema)}})) {
      if (names.of_macros == is_macro && EqualsIgnoreCase(version->row.at(names.column), name)) {
        Problem(StrCat("the name ", name, " is taken by ", LineOf(version->row)));
      }
    }
  }
}

void LakeModel::GiveCatalogId(int64_t id) {
  if (!catalog_ids_.insert(id).second) {
    Problem(StrCat("catalog id ", id, " was given before"));
  }
  if (!provisional_) {
    next_catalog_id_ = std::max(next_catalog_id_, id + 1);
  }
}

std::string LakeModel::PathOf(const LakeOperation& operation) const {
  if (!operation.place.path.has_value()) {
    return StrCat(IsPlain(operation.name) ? operation.name : operation.place.uuid, "/");
  }
  const std::string& path = *operation.place.path;
  return path.ends_with('/') ? path : path + "/";
}

void LakeModel::NoteAltered(int64_t table, bool schema_version) {
  if (!made_.contains(table)) {
    words_.insert(StrCat("altered_table:", table));
  }
  if (schema_version) {
    altered_.insert(table);
  }
}

// --- Objects ---

void LakeModel::ApplyToObjects(const LakeOperation& o) {
  const std::string id = StrCat(o.made.empty() ? o.object : o.made[0]);
  const std::string into = StrCat(o.into);
  const auto forget_words = [&] {
    std::erase_if(words_,
                  [&](const std::string& word) { return word.substr(word.find(':') + 1) == id; });
  };
  const auto give_id = [&] {
    GiveCatalogId(o.made[0]);
    made_.insert(o.made[0]);
  };
  const auto drop = [&](const std::string& word) {
    forget_words();
    renamed_.erase(o.object);
    if (made_.erase(o.object) == 0) {
      words_.insert(StrCat(word, ":", id));
    }
  };
  switch (o.kind) {
    case Kind::kCreateSchema: {
      for (const Version* other : Live("ducklake_schema", {})) {
        if (EqualsIgnoreCase(other->row.at("schema_name"), o.name)) {
          Problem("the name is taken by another schema");
        }
      }
      give_id();
      Insert("ducklake_schema", {{"schema_id", id},
                                 {"schema_uuid", o.place.uuid},
                                 {"schema_name", o.name},
                                 {"path", PathOf(o)},
                                 {"path_is_relative", TextOfBool(o.place.path_is_relative)}});
      return;
    }
    case Kind::kDropSchema: {
      for (const char* relation : {"ducklake_table", "ducklake_view", "ducklake_macro"}) {
        if (!Live(relation, {{"schema_id", id}}).empty()) {
          Problem(StrCat("the schema holds something of ", relation));
        }
      }
      if (Version* schema = Find("ducklake_schema", {{"schema_id", id}}); schema != nullptr) {
        End(schema);
      }
      if (made_.contains(o.object)) {
        Erase("ducklake_metadata", {{"scope", "schema"}, {"scope_id", id}});
      }
      drop("dropped_schema");
      return;
    }
    case Kind::kCreateTable: {
      Find("ducklake_schema", {{"schema_id", into}});
      CheckNameIsFree(o.into, o.name, false);
      give_id();
      Insert("ducklake_table", {{"table_id", id},
                                {"table_uuid", o.place.uuid},
                                {"schema_id", into},
                                {"table_name", o.name},
                                {"path", PathOf(o)},
                                {"path_is_relative", TextOfBool(o.place.path_is_relative)}});
      altered_.insert(o.made[0]);
      for (const ColumnDefinition& column : o.columns) {
        AddColumns(o, column, std::nullopt);
      }
      return;
    }
    case Kind::kRenameTable:
    case Kind::kMoveTable: {
      Version* const table = Find("ducklake_table", {{"table_id", id}});
      if (table == nullptr) {
        return;
      }
      const bool move = o.kind == Kind::kMoveTable;
      const int64_t schema = move ? o.into : NumberOf(table->row, "schema_id");
      const std::string name = move ? table->row.at("table_name") : o.name;
      Find("ducklake_schema", {{"schema_id", StrCat(schema)}});
      if (move || !EqualsIgnoreCase(table->row.at("table_name"), name)) {
        CheckNameIsFree(schema, name, false);
      }
      LakeRow changes = {{"schema_id", StrCat(schema)}, {"table_name", name}};
      if (move) {
        const std::string path = PathAfterMove(*table, o.into);
        if (!path.empty()) {
          changes["path"] = path;
          changes["path_is_relative"] = "false";
        }
      }
      Replace("ducklake_table", table, changes);
      altered_.insert(o.object);
      renamed_.insert(o.object);
      return;
    }
    case Kind::kDropTable:
      DropTable(o.object);
      drop("dropped_table");
      return;
    case Kind::kCreateView: {
      Find("ducklake_schema", {{"schema_id", into}});
      CheckNameIsFree(o.into, o.name, false);
      give_id();
      std::string aliases;
      for (const std::string& alias : o.view.column_aliases) {
        StrAppend(&aliases, aliases.empty() ? "" : ",", QuotedName(alias));
      }
      Insert("ducklake_view", {{"view_id", id},
                               {"view_uuid", o.view.uuid},
                               {"schema_id", into},
                               {"view_name", o.name},
                               {"dialect", o.view.dialect},
                               {"sql", o.view.sql},
                               {"column_aliases", aliases}});
      return;
    }
    case Kind::kRenameView: {
      Version* const view = Find("ducklake_view", {{"view_id", id}});
      if (view == nullptr) {
        return;
      }
      const int64_t schema = NumberOf(view->row, "schema_id");
      if (!EqualsIgnoreCase(view->row.at("view_name"), o.name)) {
        CheckNameIsFree(schema, o.name, false);
      }
      Replace("ducklake_view", view, {{"view_name", o.name}});
      renamed_.insert(o.object);
      return;
    }
    case Kind::kDropView:
      Find("ducklake_view", {{"view_id", id}});
      EndAll("ducklake_view", {{"view_id", id}});
      EndAll("ducklake_tag", {{"object_id", id}});
      drop("dropped_view");
      return;
    case Kind::kCreateMacro: {
      Find("ducklake_schema", {{"schema_id", into}});
      CheckNameIsFree(o.into, o.name, true);
      give_id();
      Insert("ducklake_macro", {{"schema_id", into}, {"macro_id", id}, {"macro_name", o.name}});
      for (size_t i = 0; i < o.implementations.size(); ++i) {
        const MacroImplementation& implementation = o.implementations[i];
        Insert("ducklake_macro_impl", {{"macro_id", id},
                                       {"impl_id", StrCat(i)},
                                       {"dialect", implementation.dialect},
                                       {"sql", implementation.sql},
                                       {"type", o.flag ? "table" : "scalar"}});
        for (size_t j = 0; j < implementation.parameters.size(); ++j) {
          const MacroParameter& parameter = implementation.parameters[j];
          Insert("ducklake_macro_parameters",
                 {{"macro_id", id},
                  {"impl_id", StrCat(i)},
                  {"column_id", StrCat(j)},
                  {"parameter_name", parameter.name},
                  {"parameter_type", parameter.type},
                  {"default_value", parameter.default_value.value_or("NULL")},
                  {"default_value_type", parameter.default_value_type}});
        }
      }
      return;
    }
    case Kind::kDropMacro: {
      Find("ducklake_macro", {{"macro_id", id}});
      const bool is_table =
          !Live("ducklake_macro_impl", {{"macro_id", id}, {"type", "table"}}).empty();
      for (const char* relation :
           {"ducklake_macro", "ducklake_macro_impl", "ducklake_macro_parameters"}) {
        EndAll(relation, {{"macro_id", id}});
      }
      drop(is_table ? "dropped_table_macro" : "dropped_scalar_macro");
      return;
    }
    case Kind::kSetTag:
    case Kind::kSetColumnTag: {
      const bool of_column = o.kind == Kind::kSetColumnTag;
      const std::string relation = of_column ? "ducklake_column_tag" : "ducklake_tag";
      LakeRow key = {{"key", o.name}};
      key[of_column ? "table_id" : "object_id"] = id;
      if (of_column) {
        key["column_id"] = StrCat(o.column);
        Find("ducklake_column", {{"table_id", id}, {"column_id", StrCat(o.column)}});
      }
      const std::vector<Version*> old = Live(relation, Where(key.begin(), key.end()));
      if (!o.value.has_value()) {
        EndAll(relation, Where(key.begin(), key.end()));
      } else if (!old.empty()) {
        Replace(relation, old.front(), {{"value", *o.value}});
      } else {
        key["value"] = *o.value;
        Insert(relation, std::move(key));
      }
      if (!Live("ducklake_table", {{"table_id", id}}).empty()) {
        NoteAltered(o.object, false);
      } else {
        Find("ducklake_view", {{"view_id", id}});
        if (!made_.contains(o.object)) {
          words_.insert(StrCat("altered_view:", id));
        }
      }
      return;
    }
    case Kind::kSetOption: {
      LakeRow row = {{"key", o.name}};
      if (o.scope != OptionScope::kGlobal) {
        row["scope"] = o.scope == OptionScope::kSchema ? "schema" : "table";
        row["scope_id"] = id;
      }
      for (Version& version : relations_["ducklake_metadata"]) {
        LakeRow key = version.row;
        key.erase("value");
        version.gone |= key == row;
      }
      if (o.value.has_value()) {
        row["value"] = *o.value;
        Insert("ducklake_metadata", std::move(row));
      }
      return;
    }
    default: Problem("no such operation"); return;
  }
}

// Where the table's files lie now, if the path would mean another place in the other schema.
std::string LakeModel::PathAfterMove(const Version& table, int64_t schema) const {
  const auto from = Live("ducklake_schema", {{"schema_id", table.row.at("schema_id")}});
  const auto to = Live("ducklake_schema", {{"schema_id", StrCat(schema)}});
  if (from.empty() || to.empty() || table.row.at("path_is_relative") == "false") {
    return "";
  }
  const std::string& path = from.front()->row.at("path");
  const std::string& relative = from.front()->row.at("path_is_relative");
  if (path == to.front()->row.at("path") && relative == to.front()->row.at("path_is_relative")) {
    return "";
  }
  return StrCat(relative == "true" ? "/lake/" : "", path, table.row.at("path"));
}

void LakeModel::DropTable(int64_t table) {
  // A drop also follows what others did to the table meanwhile; then it does not matter that the
  // transaction could not have done the rest after them.
  problems_.erase(table);
  const std::string id = StrCat(table);
  Find("ducklake_table", {{"table_id", id}});
  for (const Version* layout : Live("ducklake_partition_info", {{"table_id", id}})) {
    EndAll("ducklake_partition_column", {{"partition_id", layout->row.at("partition_id")}});
  }
  for (const Version* layout : Live("ducklake_sort_info", {{"table_id", id}})) {
    EndAll("ducklake_sort_expression", {{"sort_id", layout->row.at("sort_id")}});
  }
  for (const char* relation :
       {"ducklake_table", "ducklake_column", "ducklake_column_tag", "ducklake_data_file",
        "ducklake_delete_file", "ducklake_file_column_stats", "ducklake_file_variant_stats",
        "ducklake_file_partition_value", "ducklake_partition_info", "ducklake_sort_info"}) {
    EndAll(relation, {{"table_id", id}});
  }
  EndAll("ducklake_tag", {{"object_id", id}});
  // Nothing of what the transaction itself added to it remains.
  for (Version& row : relations_[StrCat("inlined rows ", id)]) {
    row.gone |= row.begin == now_;
  }
  if (made_.contains(table)) {
    for (const Version* mapping : Live("ducklake_column_mapping", {{"table_id", id}})) {
      Erase("ducklake_name_mapping", {{"mapping_id", mapping->row.at("mapping_id")}});
    }
    Erase("ducklake_column_mapping", {{"table_id", id}});
    Erase("ducklake_metadata", {{"scope", "table"}, {"scope_id", id}});
  }
  Erase("ducklake_table_stats", {{"table_id", id}});
  for (const Version& before : stats_before_) {
    if (before.row.at("table_id") == id) {
      relations_["ducklake_table_stats"].push_back(before);
    }
  }
  std::erase_if(values_, [&](const auto& entry) { return entry.first.first == table; });
  for (const auto& [column, values] : values_before_) {
    if (column.first == table) {
      values_[column] = values;
    }
  }
  altered_.erase(table);
}

}  // namespace varve

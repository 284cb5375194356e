// Columns, partitionings and sort orders of the model.
#include <algorithm>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_values.h"

namespace varve {
namespace {

std::string StoredType(std::string type) {
  type = AsciiStrToLower(type);
  std::erase(type, ' ');
  return type;
}

}  // namespace

LakeRow LakeModel::ColumnRow(const LakeOperation& o, const ColumnDefinition& column, int64_t id,
                             std::optional<int64_t> parent) const {
  const bool nested = !column.fields.empty();
  LakeRow row = {{"column_id", StrCat(id)},
                 {"table_id", StrCat(o.kind == Kind::kCreateTable ? o.made[0] : o.object)},
                 {"column_order", StrCat(id)},
                 {"column_name", column.name},
                 {"column_type", StoredType(column.type)},
                 {"nulls_allowed", TextOfBool(column.nullable)},
                 {"default_value_type", nested ? "" : column.default_value_type},
                 {"default_value_dialect", column.default_value_dialect}};
  PutText("initial_default", column.initial_default, &row);
  if (!nested) {
    row["default_value"] = column.default_value.value_or("NULL");
  }
  if (parent.has_value()) {
    row["parent_column"] = StrCat(*parent);
  }
  return row;
}

// Ids count up, a column before its fields; so does the order.
void LakeModel::AddColumns(const LakeOperation& o, const ColumnDefinition& column,
                           std::optional<int64_t> parent) {
  const int64_t table = o.kind == Kind::kCreateTable ? o.made[0] : o.object;
  const int64_t id = ++last_column_id_[table];
  Insert("ducklake_column", ColumnRow(o, column, id, parent));
  for (size_t i = 0; i < column.fields.size(); ++i) {
    ColumnDefinition field = column.fields[i];
    const std::string type = StoredType(column.type);
    if (type != "struct") {
      field.name = type == "list" ? "element" : (i == 0 ? "key" : "value");
    }
    AddColumns(o, field, id);
  }
}

void LakeModel::SetSortOrder(const LakeOperation& o) {
  const std::string table = StrCat(o.object);
  for (Version* old : Live("ducklake_sort_info", {{"table_id", table}})) {
    EndAll("ducklake_sort_expression", {{"sort_id", old->row.at("sort_id")}});
    End(old);
  }
  if (o.sort_keys.empty()) {
    return;
  }
  GiveCatalogId(o.made[0]);
  const std::string id = StrCat(o.made[0]);
  Insert("ducklake_sort_info", {{"sort_id", id}, {"table_id", table}});
  for (size_t i = 0; i < o.sort_keys.size(); ++i) {
    const SortKey& key = o.sort_keys[i];
    Insert("ducklake_sort_expression",
           {{"sort_id", id},
            {"table_id", table},
            {"sort_key_index", StrCat(i)},
            {"expression", key.expression},
            {"dialect", key.dialect},
            {"sort_direction", key.ascending ? "ASC" : "DESC"},
            {"null_order", key.nulls_first ? "NULLS_FIRST" : "NULLS_LAST"}});
  }
}

void LakeModel::ApplyToColumns(const LakeOperation& o) {
  const std::string table = StrCat(o.object);
  Find("ducklake_table", {{"table_id", table}});
  const auto column = [&] {
    return Find("ducklake_column", {{"table_id", table}, {"column_id", StrCat(o.column)}});
  };
  const auto change = [&](const LakeRow& changes) {
    Replace("ducklake_column", column(), changes);
    NoteAltered(o.object);
  };
  const std::string inlined = StrCat("inlined rows ", table);
  switch (o.kind) {
    case Kind::kAddColumn: {
      const int64_t expected = last_column_id_[o.object] + 1;
      if (o.made[0] != expected) {
        Problem(StrCat("the new column has id ", o.made[0], "; the ids below ", expected,
                       " were used before, so ", expected, " was to be expected"));
        last_column_id_[o.object] = o.made[0] - 1;
      }
      for (const Version* other : Live("ducklake_column", {{"table_id", table}})) {
        if (EqualsIgnoreCase(other->row.at("column_name"), o.columns[0].name) &&
            NumberOf(other->row, "parent_column") == o.parent.value_or(-1)) {
          Problem("the name is taken by another column");
        }
      }
      AddColumns(o, o.columns[0], o.parent);
      NoteAltered(o.object);
      if (!o.parent.has_value() && o.columns[0].initial_default.has_value()) {
        for (Version& row : relations_[inlined]) {
          if (row.follows_columns) {
            row.row[o.columns[0].name] = *o.columns[0].initial_default;
          }
        }
      }
      return;
    }
    case Kind::kDropColumn: {
      std::vector<std::string> ids = {StrCat(o.column)};
      const Version* const dropped = column();
      if (dropped == nullptr) {
        return;
      }
      if (!dropped->row.contains("parent_column")) {
        for (Version& row : relations_[inlined]) {
          if (row.follows_columns) {
            row.row.erase(dropped->row.at("column_name"));
          }
        }
      }
      for (size_t i = 0; i < ids.size(); ++i) {
        for (const Version* field :
             Live("ducklake_column", {{"table_id", table}, {"parent_column", ids[i]}})) {
          ids.push_back(field->row.at("column_id"));
        }
      }
      for (const std::string& id : ids) {
        EndAll("ducklake_column", {{"table_id", table}, {"column_id", id}});
        EndAll("ducklake_column_tag", {{"table_id", table}, {"column_id", id}});
      }
      NoteAltered(o.object);
      return;
    }
    case Kind::kRenameColumn: {
      const Version* const renamed = column();
      if (renamed == nullptr) {
        return;
      }
      const std::string before = renamed->row.at("column_name");
      if (!renamed->row.contains("parent_column")) {
        for (Version& row : relations_[inlined]) {
          if (row.follows_columns && row.row.contains(before)) {
            auto value = row.row.extract(before);
            value.key() = o.name;
            row.row.insert(std::move(value));
          }
        }
      }
      change({{"column_name", o.name}});
      // A sort order by the column goes with it, as another one.
      const auto old = Live("ducklake_sort_info", {{"table_id", table}});
      if (!o.made.empty() && (old.empty() || old.front()->row.at("sort_id") != StrCat(o.made[0]))) {
        SetSortOrder(o);
      }
      return;
    }
    case Kind::kReorderColumns: {
      std::vector<int64_t> places;
      for (const int64_t id : o.ids) {
        const Version* const placed =
            Find("ducklake_column", {{"table_id", table}, {"column_id", StrCat(id)}});
        if (placed == nullptr) {
          return;
        }
        places.push_back(NumberOf(placed->row, "column_order"));
      }
      std::sort(places.begin(), places.end());
      for (size_t i = 0; i < places.size(); ++i) {
        Version* const placed =
            Find("ducklake_column", {{"table_id", table}, {"column_id", StrCat(o.ids[i])}});
        if (NumberOf(placed->row, "column_order") != places[i]) {
          Replace("ducklake_column", placed, {{"column_order", StrCat(places[i])}});
          NoteAltered(o.object);
        }
      }
      return;
    }
    case Kind::kSetColumnType: change({{"column_type", StoredType(o.name)}}); return;
    case Kind::kSetColumnDefault:
      change({{"default_value", o.value.value_or("NULL")}, {"default_value_type", "literal"}});
      return;
    case Kind::kSetColumnNullable: change({{"nulls_allowed", TextOfBool(o.flag)}}); return;
    case Kind::kSetPartitioning: {
      const auto old = Live("ducklake_partition_info", {{"table_id", table}});
      if (o.made.empty() ||
          (!old.empty() && old.front()->row.at("partition_id") == StrCat(o.made[0]))) {
        return;  // it was so before
      }
      for (Version* info : old) {
        EndAll("ducklake_partition_column", {{"partition_id", info->row.at("partition_id")}});
        End(info);
      }
      GiveCatalogId(o.made[0]);
      const std::string id = StrCat(o.made[0]);
      Insert("ducklake_partition_info", {{"partition_id", id}, {"table_id", table}});
      for (size_t i = 0; i < o.partition_keys.size(); ++i) {
        Insert("ducklake_partition_column", {{"partition_id", id},
                                             {"table_id", table},
                                             {"partition_key_index", StrCat(i)},
                                             {"column_id", StrCat(o.partition_keys[i].column_id)},
                                             {"transform", o.partition_keys[i].transform}});
      }
      NoteAltered(o.object);
      return;
    }
    case Kind::kSetSortOrder: {
      const auto old = Live("ducklake_sort_info", {{"table_id", table}});
      const bool same = o.made.empty()
                            ? old.empty()
                            : !old.empty() && old.front()->row.at("sort_id") == StrCat(o.made[0]);
      if (!same) {
        SetSortOrder(o);
        NoteAltered(o.object, false);
      }
      return;
    }
    default: Problem("no such operation"); return;
  }
}

}  // namespace varve

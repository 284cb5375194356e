// What every draw needs: reading the transaction, names, values; and the operations on schemas,
// tables, views and macros. Columns are in random_lake_columns.cc, files in random_lake_files.cc,
// mistakes in random_lake_mistakes.cc.
#include "tests/catalog/random_lake.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace varve {
namespace {

using Kind = LakeOperation::Kind;

constexpr std::array<std::string_view, 12> kTypes = {
    "int32",   "int64", "varchar",       "float64", "date", "boolean",
    "varchar", "int32", "decimal(12,2)", "struct",  "list", "map"};

}  // namespace

void RandomLake::Begin() {
  own_rows_.clear();
  inlined_touched_.clear();
  past_touched_.clear();
}

void RandomLake::Performed(const LakeOperation& o) {
  switch (o.kind) {
    case Kind::kInsertInlined:
      for (size_t i = 0; i < o.rows.size(); ++i) {
        own_rows_[o.object].insert(o.made[0] + static_cast<int64_t>(i));
      }
      inlined_touched_.insert(o.object);
      return;
    case Kind::kUpdateInlined:
      own_rows_[o.object].insert(o.ids[0]);
      inlined_touched_.insert(o.object);
      return;
    case Kind::kDeleteInlined:
      for (const int64_t id : o.ids) {
        own_rows_[o.object].erase(id);
      }
      inlined_touched_.insert(o.object);
      return;
    case Kind::kDropTable: own_rows_.erase(o.object); return;
    case Kind::kFlushInlined:
      inlined_touched_.insert(o.object);
      past_touched_.insert(o.object);
      return;
    case Kind::kMergeFiles: past_touched_.insert(o.object); return;
    case Kind::kRegisterDeleteFiles:
      if (o.delete_files[0].begin_snapshot.has_value()) {
        past_touched_.insert(o.object);
      }
      return;
    default: return;
  }
}

RandomLake::Operation RandomLake::Draw(const Transaction& transaction) {
  transaction_ = &transaction;
  switch (Below(20)) {
    case 0: return DrawOnSchemas();
    case 1:
    case 2:
    case 3: return DrawOnTables();
    case 4: return DrawOnViews();
    case 5:
    case 6:
    case 7: return DrawOnColumns();
    case 8: return DrawLayout();
    case 9: return DrawTag();
    case 10: return DrawOption();
    case 11:
    case 12:
    case 13: return DrawInlined();
    default: return DrawOnFiles();
  }
}

// --- What the transaction sees ---

RandomLake::Rows RandomLake::Read(RelationId relation) const {
  return ReadRows(*transaction_, BuiltinRelationById(relation));
}

RandomLake::Rows RandomLake::ReadOf(RelationId relation, int64_t table) const {
  Rows rows = Read(relation);
  std::erase_if(rows, [&](const LakeRow& row) { return NumberOf(row, "table_id") != table; });
  return rows;
}

RandomLake::Rows RandomLake::History(RelationId relation, int64_t table) const {
  Rows rows = ReadRows(transaction_->base(), BuiltinRelationById(relation), ScanRows::kAllVersions);
  std::erase_if(rows, [&](const LakeRow& row) { return NumberOf(row, "table_id") != table; });
  return rows;
}

std::optional<LakeRow> RandomLake::Pick(const Rows& rows) {
  return rows.empty() ? std::nullopt : std::optional(rows[Below(rows.size())]);
}

std::optional<int64_t> RandomLake::PickTable() {
  const std::optional<LakeRow> table = Pick(Read(kTable));
  return table.has_value() ? std::optional(NumberOf(*table, "table_id")) : std::nullopt;
}

RandomLake::Rows RandomLake::TopLevel(const Rows& columns) {
  Rows top;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(top),
               [](const LakeRow& row) { return !row.contains("parent_column"); });
  std::sort(top.begin(), top.end(), [](const LakeRow& a, const LakeRow& b) {
    return NumberOf(a, "column_order") < NumberOf(b, "column_order");
  });
  return top;
}

bool RandomLake::HasVariant(const Rows& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const LakeRow& row) { return TextOf(row, "column_type") == "variant"; });
}

// --- Parts ---

// A name among few that none of the rows has in its column, in any case.
std::string RandomLake::NewName(char kind, const Rows& taken, const std::string& column) {
  while (true) {
    std::string name = OneIn(12) ? StrCat("We\"ird, ", std::string(1, kind), "ä", Below(40))
                                 : StrCat(std::string(1, kind), Below(40));
    if (OneIn(6)) {
      name[0] = static_cast<char>(name[0] >= 'a' ? name[0] - 'a' + 'A' : name[0]);
    }
    if (std::none_of(taken.begin(), taken.end(), [&](const LakeRow& row) {
          return EqualsIgnoreCase(TextOf(row, column), name);
        })) {
      return name;
    }
  }
}

// Tables and views of a schema share their names.
std::string RandomLake::FreeName(int64_t schema, bool is_macro) {
  Rows taken;
  const auto add = [&](RelationId relation, const std::string& column) {
    for (const LakeRow& row : Read(relation)) {
      if (NumberOf(row, "schema_id") == schema) {
        taken.push_back({{"name", TextOf(row, column)}});
      }
    }
  };
  if (is_macro) {
    add(kMacro, "macro_name");
  } else {
    add(kTable, "table_name");
    add(kView, "view_name");
  }
  return NewName(is_macro ? 'm' : 't', taken, "name");
}

std::string RandomLake::NewPath(std::string_view kind) {
  return StrCat(kind, "-", writer_, "-", ++files_, ".parquet");
}

// Canonical text of the type; some values come often.
std::string RandomLake::ValueOf(std::string_view type) {
  const uint64_t number = Below(OneIn(10) ? 100'000 : 20);
  if (type == "date") {
    return StrCat("2026-01-", number % 28 + 1 < 10 ? "0" : "", number % 28 + 1);
  }
  if (type == "boolean") {
    return number % 2 == 0 ? "true" : "false";
  }
  if (type == "float64") {
    return StrCat(number, ".5");
  }
  if (type.starts_with("decimal")) {
    return StrCat(number, ".25");
  }
  if (type == "varchar") {
    return StrCat(number % 3 == 0 ? "ä" : "x", number);
  }
  if (type.starts_with("int")) {
    return StrCat(OneIn(4) ? "-" : "", number + 1);
  }
  return StrCat("[", number, "]");  // nested: kept as text
}

ColumnDefinition RandomLake::RandomColumn(const std::string& name, int depth) {
  ColumnDefinition column = {.name = name};
  column.type = kTypes[Below(depth < 2 ? kTypes.size() : kTypes.size() - 3)];
  if (depth == 0 && OneIn(25)) {
    column.type = "variant";
  }
  if (column.type == "struct") {
    for (uint64_t i = 0; i <= Below(3); ++i) {
      column.fields.push_back(RandomColumn(StrCat("f", i), depth + 1));
    }
  } else if (column.type == "list") {
    column.fields.push_back(RandomColumn("", depth + 1));
  } else if (column.type == "map") {
    column.fields.push_back({.name = OneIn(2) ? "key" : "", .type = "varchar"});
    column.fields.push_back(RandomColumn("", depth + 1));
  } else if (column.type != "variant") {
    if (OneIn(4)) {
      column.initial_default = ValueOf(column.type);
    }
    if (OneIn(4)) {
      column.default_value = ValueOf(column.type);
    }
    column.nullable = depth > 0 || !OneIn(6);
    if (OneIn(5)) {
      column.type = OneIn(2) ? AsciiStrToLower(column.type) : absl::AsciiStrToUpper(column.type);
    }
  }
  return column;
}

// --- Schemas, tables, views ---

RandomLake::Operation RandomLake::DrawOnSchemas() {
  const Rows schemas = Read(kSchema);
  if (schemas.size() < 2 || (schemas.size() < 5 && OneIn(2))) {
    LakeOperation o{.kind = Kind::kCreateSchema};
    o.name = NewName('s', schemas, "schema_name");
    if (OneIn(3)) {
      o.place = {.path = StrCat("/elsewhere/", o.name, OneIn(2) ? "/" : ""),
                 .path_is_relative = false};
    }
    return o;
  }
  LakeOperation o{.kind = Kind::kDropSchema};
  o.object = NumberOf(*Pick(schemas), "schema_id");
  for (const RelationId relation : {kTable, kView, kMacro}) {
    for (const LakeRow& row : Read(relation)) {
      if (NumberOf(row, "schema_id") == o.object) {
        return std::nullopt;
      }
    }
  }
  return o;
}

RandomLake::Operation RandomLake::DrawOnTables() {
  const Rows tables = Read(kTable);
  const Rows schemas = Read(kSchema);
  if (schemas.empty()) {
    return std::nullopt;
  }
  const int64_t schema = NumberOf(*Pick(schemas), "schema_id");
  if (tables.size() < 3 || (tables.size() < 8 && OneIn(4))) {
    LakeOperation o{.kind = Kind::kCreateTable};
    o.into = schema;
    o.name = FreeName(schema, false);
    for (uint64_t i = 0; i <= Below(4); ++i) {
      o.columns.push_back(RandomColumn(StrCat("c", i), 0));
    }
    if (OneIn(5)) {
      o.place.path = StrCat("place of ", o.name);
    }
    return o;
  }
  const LakeRow table = *Pick(tables);
  LakeOperation o;
  o.object = NumberOf(table, "table_id");
  switch (Below(4)) {
    case 0:
      if (!OneIn(3) || past_touched_.contains(o.object)) {
        return std::nullopt;
      }
      o.kind = Kind::kDropTable;
      return o;
    case 1: {
      o.kind = Kind::kMoveTable;
      o.into = schema;
      // The name must be free there.
      for (const RelationId relation : {kTable, kView}) {
        for (const LakeRow& row : Read(relation)) {
          if (NumberOf(row, "schema_id") == schema &&
              EqualsIgnoreCase(TextOf(row, relation == kTable ? "table_name" : "view_name"),
                               TextOf(table, "table_name"))) {
            return std::nullopt;
          }
        }
      }
      return o;
    }
    default:
      o.kind = Kind::kRenameTable;
      o.name = FreeName(NumberOf(table, "schema_id"), false);
      return o;
  }
}

RandomLake::Operation RandomLake::DrawOnViews() {
  const Rows schemas = Read(kSchema);
  const Rows views = Read(kView);
  const Rows macros = Read(kMacro);
  if (schemas.empty()) {
    return std::nullopt;
  }
  LakeOperation o;
  o.into = NumberOf(*Pick(schemas), "schema_id");
  switch (Below(6)) {
    case 0:
    case 1:
      o.kind = Kind::kCreateView;
      o.name = FreeName(o.into, false);
      o.view.sql = StrCat("SELECT ", Below(100), "; -- \"a\", 'ä'");
      if (OneIn(2)) {
        o.view.column_aliases = {"a", "b \"quoted\", too"};
      }
      return o;
    case 2:
      if (const auto view = Pick(views); view.has_value()) {
        o.kind = Kind::kRenameView;
        o.object = NumberOf(*view, "view_id");
        o.into = 0;
        o.name = FreeName(NumberOf(*view, "schema_id"), false);
        return o;
      }
      return std::nullopt;
    case 3:
      if (const auto view = Pick(views); view.has_value()) {
        return LakeOperation{.kind = Kind::kDropView, .object = NumberOf(*view, "view_id")};
      }
      return std::nullopt;
    case 4:
      if (const auto macro = Pick(macros); macro.has_value() && OneIn(2)) {
        return LakeOperation{.kind = Kind::kDropMacro, .object = NumberOf(*macro, "macro_id")};
      }
      return std::nullopt;
    default:
      o.kind = Kind::kCreateMacro;
      o.flag = OneIn(2);
      o.name = FreeName(o.into, true);
      for (uint64_t i = 0; i <= Below(2); ++i) {
        MacroImplementation& implementation = o.implementations.emplace_back();
        implementation.sql = StrCat("a + ", i);
        for (uint64_t j = 0; j < Below(3); ++j) {
          implementation.parameters.push_back({.name = StrCat("p", j), .type = "int64"});
        }
        if (OneIn(2)) {
          implementation.parameters.push_back({.name = "last",
                                               .type = "varchar",
                                               .default_value = "x",
                                               .default_value_type = "varchar"});
        }
      }
      return o;
  }
}

RandomLake::Operation RandomLake::DrawTag() {
  LakeOperation o;
  Rows tags;
  if (OneIn(2)) {
    const std::optional<int64_t> table = PickTable();
    if (!table.has_value()) {
      return std::nullopt;
    }
    o.kind = Kind::kSetColumnTag;
    o.object = *table;
    o.column = NumberOf(*Pick(ReadOf(kColumn, *table)), "column_id");
    tags = ReadOf(kColumnTag, *table);
    std::erase_if(tags, [&](const LakeRow& tag) { return NumberOf(tag, "column_id") != o.column; });
  } else {
    const bool of_view = OneIn(3);
    const std::optional<LakeRow> object = Pick(Read(of_view ? kView : kTable));
    if (!object.has_value()) {
      return std::nullopt;
    }
    o.kind = Kind::kSetTag;
    o.object = NumberOf(*object, of_view ? "view_id" : "table_id");
    tags = Read(kTag);
    std::erase_if(tags, [&](const LakeRow& tag) { return NumberOf(tag, "object_id") != o.object; });
  }
  o.name = StrCat("k", Below(3));
  if (!tags.empty() && OneIn(3)) {
    o.name = TextOf(*Pick(tags), "key");
    return o;  // removes it
  }
  o.value = StrCat("value ", Below(5));
  return o;
}

RandomLake::Operation RandomLake::DrawOption() {
  constexpr std::array<std::pair<const char*, const char*>, 4> kOptions = {
      std::pair("target_file_size", "1000000"), std::pair("target_file_size", "2000000"),
      std::pair("parquet_compression", "zstd"), std::pair("auto_compact", "false")};
  const auto& [key, value] = kOptions[Below(kOptions.size())];
  LakeOperation o{.kind = Kind::kSetOption};
  o.name = key;
  const uint64_t scope = Below(3);
  if (scope > 0) {
    const std::optional<LakeRow> object = Pick(Read(scope == 1 ? kSchema : kTable));
    if (!object.has_value()) {
      return std::nullopt;
    }
    o.scope = scope == 1 ? OptionScope::kSchema : OptionScope::kTable;
    o.object = NumberOf(*object, scope == 1 ? "schema_id" : "table_id");
  }
  for (const LakeRow& row : Read(kMetadata)) {
    const std::string row_scope = TextOf(row, "scope");
    const bool same = TextOf(row, "key") == key &&
                      row_scope == (scope == 0   ? ""
                                    : scope == 1 ? "schema"
                                                 : "table") &&
                      (scope == 0 || NumberOf(row, "scope_id") == o.object);
    if (same && OneIn(3)) {
      return o;  // removes it
    }
  }
  o.value = value;
  return o;
}

}  // namespace varve

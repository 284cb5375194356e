#include "catalog/transaction/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr auto kOperations = std::to_array<Operation>(
    {Operation::kDropSchema,       Operation::kDropTable,       Operation::kDropView,
     Operation::kCreateSchema,     Operation::kCreateTable,     Operation::kRenameTable,
     Operation::kCreateView,       Operation::kRenameView,      Operation::kCreateScalarMacro,
     Operation::kCreateTableMacro, Operation::kDropScalarMacro, Operation::kDropTableMacro,
     Operation::kInsert,           Operation::kDelete,          Operation::kAlterTable,
     Operation::kAlterView,        Operation::kInlinedInsert,   Operation::kInlinedDelete,
     Operation::kFlushInlined,     Operation::kMergeAdjacent,   Operation::kRewriteDelete,
     Operation::kCompactTable});
static_assert(kOperations.size() == kNumOperations);

// What the two must have in common for mine (the row) to fail after theirs (the column):
//   .  nothing makes them conflict
//   o  the object            f  a data file of the same table, or its inlined rows
//   n  the name              e  the object or the name
//   s  the schema: one drops it, the other drops it too or puts something in it
//
// From the list of conflicts in the DuckLake documentation and its extension's checks, with the
// stricter and finer rules that docs/transactions.md lists.
constexpr std::string_view kExpected = R"(
                  drop      create              mac ro  drop    rows    alter   inlined       files
                  sch t  v  sch t  ren v  ren   s   t   s   t   ins del t   v   ins del flu   mer rew cmp
drop_schema       s   .  .  .   s  s   s  s     s   s   .   .   .   .   .   .   .   .   .     .   .   .
drop_table        .   o  .  .   .  o   .  .     .   .   .   .   .   .   .   .   .   .   .     .   .   .
drop_view         .   .  o  .   .  .   .  o     .   .   .   .   .   .   .   .   .   .   .     .   .   .
create_schema     .   .  .  n   .  .   .  .     .   .   .   .   .   .   .   .   .   .   .     .   .   .
create_table      s   .  .  .   n  n   n  n     .   .   .   .   .   .   .   .   .   .   .     .   .   .
rename_table      s   o  .  .   n  e   n  n     .   .   .   .   .   .   o   .   .   .   .     .   .   .
create_view       s   .  .  .   n  n   n  n     .   .   .   .   .   .   .   .   .   .   .     .   .   .
rename_view       s   .  o  .   n  n   n  e     .   .   .   .   .   .   .   o   .   .   .     .   .   .
create_macro      s   .  .  .   .  .   .  .     n   n   .   .   .   .   .   .   .   .   .     .   .   .
create_tmacro     s   .  .  .   .  .   .  .     n   n   .   .   .   .   .   .   .   .   .     .   .   .
drop_macro        .   .  .  .   .  .   .  .     .   .   o   .   .   .   .   .   .   .   .     .   .   .
drop_tmacro       .   .  .  .   .  .   .  .     .   .   .   o   .   .   .   .   .   .   .     .   .   .
insert            .   o  .  .   .  o   .  .     .   .   .   .   .   o   o   .   .   o   .     .   .   .
delete            .   o  .  .   .  o   .  .     .   .   .   .   o   f   o   .   o   f   f     f   f   f
alter_table       .   o  .  .   .  o   .  .     .   .   .   .   .   .   o   .   .   .   .     .   .   .
alter_view        .   .  o  .   .  .   .  o     .   .   .   .   .   .   .   o   .   .   .     .   .   .
inlined_insert    .   o  .  .   .  o   .  .     .   .   .   .   .   o   o   .   .   o   .     .   .   .
inlined_delete    .   o  .  .   .  o   .  .     .   .   .   .   o   f   o   .   o   f   f     f   f   f
flush_inlined     .   o  .  .   .  .   .  .     .   .   .   .   .   f   .   .   .   f   f     f   f   f
merge             .   o  .  .   .  .   .  .     .   .   .   .   .   f   .   .   .   f   f     f   f   f
rewrite           .   o  .  .   .  .   .  .     .   .   .   .   .   f   .   .   .   f   f     f   f   f
compact           .   o  .  .   .  .   .  .     .   .   .   .   .   f   .   .   .   f   f     f   f   f
)";

struct Row {
  std::string name;
  std::vector<char> cells;
};

std::vector<Row> ExpectedRows() {
  std::istringstream lines{std::string(kExpected)};
  std::vector<Row> rows;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.front() == ' ') {
      continue;
    }
    std::istringstream words(line);
    Row row;
    words >> row.name;
    for (std::string cell; words >> cell;) {
      EXPECT_EQ(cell.size(), 1U) << row.name;
      row.cells.push_back(cell.front());
    }
    rows.push_back(row);
  }
  return rows;
}

// Objects of different kinds never have the same id.
int64_t ObjectIdOf(Operation operation, int number) {
  switch (operation) {
    case Operation::kDropSchema: return 1 + number;
    case Operation::kDropView:
    case Operation::kRenameView:
    case Operation::kAlterView: return 20 + number;
    case Operation::kDropScalarMacro: return 30 + number;
    case Operation::kDropTableMacro: return 40 + number;
    default: return 10 + number;
  }
}

// The files of the two, and how one calls that.
struct FileSituation {
  std::string_view text;
  std::vector<int64_t> mine;
  std::vector<int64_t> theirs;
};
const std::vector<FileSituation>& FileSituations() {
  static const std::vector<FileSituation> situations = {
      {"a file in common", {101, 102}, {102, 103}},
      {"other files", {101, 102}, {103, 104}},
      {"mine not known", {}, {103}},
      {"theirs not known", {101}, {}},
      {"neither known", {}, {}},
      {"both inlined rows", {kInlinedRows}, {kInlinedRows}},
      {"inlined rows against a file", {kInlinedRows}, {101}},
      {"a file against inlined rows and that file", {101}, {kInlinedRows, 101}},
      {"inlined rows and a file against another", {kInlinedRows, 101}, {102}},
  };
  return situations;
}

struct NameSituation {
  std::string_view text;
  std::string_view theirs;  // mine is "Orders"
  bool same = false;
};
constexpr auto kNameSituations =
    std::to_array<NameSituation>({{"same name", "Orders", true},
                                  {"same name in other case", "oRDERS", true},
                                  {"other name", "Orders2", false}});

struct SchemaSituation {
  std::string_view text;
  int64_t their_id = 0;  // mine is 1, "Sales"
  std::string_view their_name;
  bool same = false;
};
constexpr auto kSchemaSituations =
    std::to_array<SchemaSituation>({{"same schema", 1, "Sales", true},
                                    {"other schema", 2, "Hr", false},
                                    // Another schema had the name before: the ids tell.
                                    {"other schema of that name", 2, "Sales", false},
                                    {"same schema by name", -1, "sALES", true},
                                    {"other schema by name", -1, "Hr", false},
                                    {"schema not known", -1, "", true}});

Action MakeAction(Operation operation, int object, const std::vector<int64_t>& files,
                  std::string_view name, int64_t schema_id, std::string_view schema_name) {
  Action action = {.operation = operation, .files = files};
  if (!IsCreation(operation)) {
    action.id = ObjectIdOf(operation, object);
  }
  if (operation == Operation::kDropSchema) {
    action.id = schema_id;
    action.name = schema_name;
  } else if (operation == Operation::kCreateSchema) {
    action.name = name;
  } else if (IsCreation(operation) || IsRename(operation)) {
    action.name = name;
    action.schema_id = schema_id;
    action.schema_name = schema_name;
  }
  return action;
}

Footprint FootprintOf(const std::vector<Action>& actions) {
  Footprint footprint;
  for (const Action& action : actions) {
    footprint.Add(action);
  }
  return footprint;
}

// What the action may touch of a table whose files are 101 to 105.
std::set<int64_t> TouchedFiles(Operation operation, const std::vector<int64_t>& files) {
  std::set<int64_t> touched(files.begin(), files.end());
  if (operation == Operation::kFlushInlined) {
    touched.insert(kInlinedRows);
  } else if (files.empty()) {
    touched = {101, 102, 103, 104, 105};
    if (operation == Operation::kInlinedDelete) {
      touched.insert(kInlinedRows);
    }
  }
  return touched;
}

bool FilesMeet(Operation mine, Operation theirs, const FileSituation& situation) {
  const std::set<int64_t> a = TouchedFiles(mine, situation.mine);
  const std::set<int64_t> b = TouchedFiles(theirs, situation.theirs);
  return std::any_of(a.begin(), a.end(), [&](int64_t file) { return b.contains(file); });
}

TEST(Footprint, EveryCellOfTheMatrixInEverySituation) {
  const std::vector<Row> rows = ExpectedRows();
  ASSERT_EQ(rows.size(), kNumOperations);
  std::map<char, int> conflicts;
  for (size_t i = 0; i < kNumOperations; ++i) {
    ASSERT_EQ(rows[i].cells.size(), kNumOperations) << rows[i].name;
    for (size_t j = 0; j < kNumOperations; ++j) {
      const Operation mine = kOperations[i];
      const Operation theirs = kOperations[j];
      for (const int object : {0, 1}) {
        for (const FileSituation& files : FileSituations()) {
          for (const NameSituation& name : kNameSituations) {
            for (const SchemaSituation& schema : kSchemaSituations) {
              if (theirs == Operation::kDropSchema && schema.their_id < 0) {
                continue;  // a drop names the id
              }
              const bool same_object = object == 0 && ObjectIdOf(mine, 0) == ObjectIdOf(theirs, 0);
              const bool same_name = name.same && (mine == Operation::kCreateSchema || schema.same);
              bool expected = false;
              switch (rows[i].cells[j]) {
                case 'o': expected = same_object; break;
                case 'f': expected = same_object && FilesMeet(mine, theirs, files); break;
                case 'n': expected = same_name; break;
                case 'e': expected = same_object || same_name; break;
                case 's': expected = schema.same; break;
                default: ASSERT_EQ(rows[i].cells[j], '.');
              }
              const Footprint a =
                  FootprintOf({MakeAction(mine, 0, files.mine, "Orders", 1, "Sales")});
              const Footprint b = FootprintOf({MakeAction(theirs, object, files.theirs, name.theirs,
                                                          schema.their_id, schema.their_name)});
              const std::optional<Conflict> conflict = a.ConflictWith(b);
              ASSERT_EQ(conflict.has_value(), expected)
                  << rows[i].name << " after " << rows[j].name << ", "
                  << (object == 0 ? "same object, " : "other object, ") << files.text << ", "
                  << name.text << ", " << schema.text;
              if (conflict.has_value()) {
                ++conflicts[rows[i].cells[j]];
                ASSERT_EQ(conflict->mine, a.actions().front());
                ASSERT_EQ(conflict->theirs, b.actions().front());
                ASSERT_NE(conflict->text.find(" conflicts with the "), std::string::npos)
                    << conflict->text;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(conflicts.size(), 5U) << "a kind of cell was never met";
}

// The rules as DuckLake has them, for commits known by their changes_made alone: whatever its
// clients refuse is refused here.
TEST(Footprint, RefusesWhatDuckLakeRefuses) {
  struct Rule {
    std::string_view mine;
    std::vector<std::string_view> theirs;
  };
  const std::vector<Rule> rules = {
      {R"(created_schema:"s")", {R"(created_schema:"S")"}},
      {"dropped_schema:1", {"dropped_schema:1"}},
      {R"(created_table:"s"."t")", {R"(created_table:"s"."t")", R"(created_view:"S"."T")"}},
      {R"(created_view:"s"."t")", {R"(created_table:"s"."t")", R"(created_view:"S"."T")"}},
      {R"(created_scalar_macro:"s"."m")", {R"(created_scalar_macro:"s"."M")"}},
      {R"(created_table_macro:"s"."m")", {R"(created_table_macro:"s"."M")"}},
      {"dropped_table:4", {"dropped_table:4"}},
      {"dropped_view:4", {"dropped_view:4"}},
      {"dropped_scalar_macro:4", {"dropped_scalar_macro:4"}},
      {"dropped_table_macro:4", {"dropped_table_macro:4"}},
      {"inserted_into_table:4",
       {"dropped_table:4", "altered_table:4", "deleted_from_table:4", "inlined_delete:4"}},
      {"inlined_insert:4",
       {"dropped_table:4", "altered_table:4", "deleted_from_table:4", "inlined_delete:4"}},
      {"deleted_from_table:4",
       {"dropped_table:4", "altered_table:4", "merge_adjacent:4", "rewrite_delete:4",
        "inserted_into_table:4", "inlined_insert:4", "deleted_from_table:4"}},
      {"inlined_delete:4",
       {"dropped_table:4", "altered_table:4", "inlined_delete:4", "inline_flush:4",
        "inserted_into_table:4", "inlined_insert:4"}},
      {"inline_flush:4", {"dropped_table:4", "inlined_delete:4", "inline_flush:4"}},
      {"merge_adjacent:4",
       {"dropped_table:4", "deleted_from_table:4", "merge_adjacent:4", "rewrite_delete:4"}},
      {"rewrite_delete:4",
       {"dropped_table:4", "deleted_from_table:4", "merge_adjacent:4", "rewrite_delete:4"}},
      {"altered_table:4", {"dropped_table:4", "altered_table:4"}},
      {"altered_view:4", {"dropped_view:4", "altered_view:4"}},
  };
  for (const Rule& rule : rules) {
    for (const std::string_view their_text : rule.theirs) {
      const auto mine = Footprint::FromChangesMade(rule.mine);
      const auto theirs = Footprint::FromChangesMade(their_text);
      ASSERT_TRUE(mine.ok() && theirs.ok());
      EXPECT_TRUE(mine->ConflictWith(*theirs).has_value()) << rule.mine << " after " << their_text;
    }
  }
  // A schema is dropped by its id, so the text alone leaves open which one that is.
  const Footprint drop = FootprintOf({{.operation = Operation::kDropSchema, .id = 1, .name = "s"}});
  for (const std::string_view their_text :
       {R"(created_table:"S"."t")", R"(created_view:"s"."t")", R"(created_scalar_macro:"s"."m")",
        R"(created_table_macro:"s"."m")"}) {
    const auto theirs = Footprint::FromChangesMade(their_text);
    ASSERT_TRUE(theirs.ok());
    EXPECT_TRUE(drop.ConflictWith(*theirs).has_value()) << their_text;
    EXPECT_TRUE(theirs->ConflictWith(drop).has_value()) << their_text;
  }
}

TEST(Footprint, WhatATransactionMadeMeetsNobody) {
  const int64_t schema = kFirstProvisionalCatalogId;
  const int64_t table = schema + 1;
  const int64_t file = kFirstProvisionalFileId;
  const std::vector<Action> made = {
      {.operation = Operation::kCreateSchema, .id = schema, .name = "s"},
      {.operation = Operation::kCreateTable,
       .id = table,
       .schema_id = schema,
       .schema_name = "s",
       .name = "t"},
      {.operation = Operation::kAlterTable, .id = table},
      {.operation = Operation::kInsert, .id = table},
      {.operation = Operation::kDelete, .id = table, .files = {file}},
  };
  std::vector<Action> others = made;
  others[0].name = "other";
  others[1].schema_name = "other";
  EXPECT_FALSE(FootprintOf(made).ConflictWith(FootprintOf(others)).has_value());
  // But two schemas of one name do meet.
  EXPECT_EQ(FootprintOf(made).ConflictWith(FootprintOf(made))->text,
            R"(creation of schema "s" conflicts with the creation of schema "s")");

  // A delete in a file of one's own, of a table that was there.
  const Footprint own = FootprintOf({{.operation = Operation::kDelete, .id = 4, .files = {file}}});
  const Footprint any =
      FootprintOf({{.operation = Operation::kMergeAdjacent, .id = 4, .all_files = true}});
  EXPECT_FALSE(own.ConflictWith(own).has_value());
  EXPECT_FALSE(own.ConflictWith(any).has_value());
  EXPECT_FALSE(any.ConflictWith(own).has_value());
}

TEST(Footprint, TheSameOperationOnOneObjectIsOneAction) {
  Footprint footprint;
  footprint.Add({.operation = Operation::kDelete, .id = 4, .files = {9, 3}});
  footprint.Add({.operation = Operation::kInsert, .id = 4});
  footprint.Add({.operation = Operation::kDelete, .id = 4, .files = {5, 3}});
  footprint.Add({.operation = Operation::kInsert, .id = 4});
  footprint.Add({.operation = Operation::kDelete, .id = 7, .files = {3}});
  ASSERT_EQ(footprint.actions().size(), 3U);
  EXPECT_EQ(footprint.actions()[0],
            (Action{.operation = Operation::kDelete, .id = 4, .files = {3, 5, 9}}));
  // Once not all files are known, any may be meant.
  footprint.Add({.operation = Operation::kDelete, .id = 4});
  EXPECT_TRUE(footprint.actions()[0].all_files);
  EXPECT_EQ(footprint.actions()[0].files, (std::vector<int64_t>{3, 5, 9}));
}

TEST(Footprint, ADropTakesThePlaceOfWhatWasDoneBefore) {
  Footprint footprint;
  footprint.Add({.operation = Operation::kInsert, .id = 4});
  footprint.Add({.operation = Operation::kInsert, .id = 5});
  footprint.Add({.operation = Operation::kRenameTable, .id = 4, .schema_id = 1, .name = "passing"});
  footprint.Add({.operation = Operation::kDropTable, .id = 4});
  EXPECT_EQ(footprint.ChangesMade(), "dropped_table:4,inserted_into_table:5");
  const Footprint other =
      FootprintOf({{.operation = Operation::kCreateView, .schema_id = 1, .name = "passing"},
                   {.operation = Operation::kDelete, .id = 4, .files = {1}}});
  EXPECT_FALSE(footprint.ConflictWith(other).has_value());
}

TEST(Footprint, NothingRemainsOfAnObjectMadeAndDropped) {
  const int64_t schema = kFirstProvisionalCatalogId;
  const int64_t table = schema + 1;
  Footprint footprint;
  footprint.Add({.operation = Operation::kCreateSchema, .id = schema, .name = "s"});
  footprint.Add({.operation = Operation::kCreateTable,
                 .id = table,
                 .schema_id = schema,
                 .schema_name = "s",
                 .name = "t"});
  footprint.Add({.operation = Operation::kInsert, .id = table});
  footprint.Add({.operation = Operation::kAlterTable, .id = 4});
  footprint.Add({.operation = Operation::kDropTable, .id = table});
  EXPECT_EQ(footprint.ChangesMade(), R"(created_schema:"s",altered_table:4)");
  footprint.Add({.operation = Operation::kDropSchema, .id = schema});
  EXPECT_EQ(footprint.ChangesMade(), "altered_table:4");
  // The names are free: made again, they are in the way of others again.
  const Footprint same_name = FootprintOf({{.operation = Operation::kCreateSchema, .name = "S"}});
  EXPECT_FALSE(footprint.ConflictWith(same_name).has_value());
  footprint.Add({.operation = Operation::kCreateSchema, .id = schema + 2, .name = "s"});
  EXPECT_TRUE(footprint.ConflictWith(same_name).has_value());
}

TEST(Footprint, DroppingTheMainSchemaForgetsNoCreation) {
  // Its id is 0, which is also what creations have whose id is not known.
  auto footprint = Footprint::FromChangesMade(R"(created_table:"s"."t",created_schema:"s")");
  ASSERT_TRUE(footprint.ok());
  footprint->Add({.operation = Operation::kDropSchema, .id = 0, .name = "main"});
  EXPECT_EQ(footprint->ChangesMade(),
            R"(dropped_schema:0,created_schema:"s",created_table:"s"."t")");
}

TEST(Footprint, OnlyChangesOfObjectsRaiseTheSchemaVersion) {
  for (const Operation operation : kOperations) {
    const std::string_view token = TokenOf(operation);
    const bool of_objects = token.starts_with("created") || token.starts_with("dropped") ||
                            token.starts_with("altered");
    Footprint footprint = FootprintOf({{.operation = Operation::kInsert, .id = 3}});
    EXPECT_FALSE(footprint.ChangesSchema());
    footprint.Add({.operation = operation, .id = 4, .name = "t"});
    EXPECT_EQ(footprint.ChangesSchema(), of_objects) << token;
  }
}

TEST(Footprint, TakesTheIdsOfTheCommit) {
  const int64_t table = kFirstProvisionalCatalogId + 3;
  const int64_t file = kFirstProvisionalFileId + 1;
  Footprint footprint;
  footprint.Add({.operation = Operation::kCreateTable,
                 .id = table,
                 .schema_id = kFirstProvisionalCatalogId,
                 .schema_name = "s",
                 .name = "t"});
  footprint.Add({.operation = Operation::kInsert, .id = table});
  footprint.Add({.operation = Operation::kInsert, .id = 4});
  footprint.Add({.operation = Operation::kDelete, .id = 4, .files = {file, 17, kInlinedRows}});
  const Footprint resolved = footprint.Resolved({.next_catalog_id = 30, .next_file_id = 50});
  EXPECT_EQ(resolved.ChangesMade(),
            R"(created_table:"s"."t",inserted_into_table:4,inserted_into_table:33,)"
            R"(deleted_from_table:4)");
  EXPECT_EQ(resolved.actions()[0].schema_id, 30);
  EXPECT_EQ(resolved.actions()[3].files, (std::vector<int64_t>{kInlinedRows, 17, 51}));
  // It is found by the new ids.
  EXPECT_TRUE(FootprintOf({{.operation = Operation::kDropSchema, .id = 30}})
                  .ConflictWith(resolved)
                  .has_value());
  EXPECT_TRUE(FootprintOf({{.operation = Operation::kDelete, .id = 33, .files = {1}}})
                  .ConflictWith(resolved)
                  .has_value());
}

TEST(Footprint, ConflictsSayWhatMetWhat) {
  const auto text = [](const Action& mine, const Action& theirs) {
    const auto conflict = FootprintOf({mine}).ConflictWith(FootprintOf({theirs}));
    return conflict.has_value() ? conflict->text : "";
  };
  const Action named_insert = {
      .operation = Operation::kInsert, .id = 4, .schema_name = "sales", .name = "orders"};
  const Action drop = {.operation = Operation::kDropTable, .id = 4};
  EXPECT_EQ(text({.operation = Operation::kInsert, .id = 4}, drop),
            "insert into table 4 conflicts with the drop of it");
  EXPECT_EQ(text(named_insert, drop),
            R"(insert into table "sales"."orders" conflicts with the drop of it)");
  // Whoever knows the name.
  EXPECT_EQ(text({.operation = Operation::kDelete, .id = 4, .files = {1}}, named_insert),
            R"(delete from table "sales"."orders" conflicts with the insert into it)");
  const Action rename = {.operation = Operation::kRenameTable,
                         .id = 4,
                         .schema_id = 1,
                         .schema_name = "sales",
                         .name = "old orders"};
  EXPECT_EQ(text(named_insert, rename),
            R"(insert into table "sales"."orders" conflicts with the rename of it to )"
            R"("sales"."old orders")");
  EXPECT_EQ(text(rename, drop),
            R"(rename of table 4 to "sales"."old orders" conflicts with the drop of it)");
  Action known_rename = rename;
  known_rename.old_schema_name = "sales";
  known_rename.old_name = "orders";
  EXPECT_EQ(text(known_rename, drop),
            R"(rename of table "sales"."orders" to "sales"."old orders" conflicts with the drop )"
            R"(of it)");
  EXPECT_EQ(text(drop, known_rename),
            R"(drop of table "sales"."orders" conflicts with the rename of it to )"
            R"("sales"."old orders")");
  const Action merge = {.operation = Operation::kMergeAdjacent, .id = 4, .files = {7, 8, 9}};
  EXPECT_EQ(text({.operation = Operation::kDelete, .id = 4, .files = {2, 8, 9}}, merge),
            "delete from table 4 conflicts with the merge of its files (data file 8)");
  EXPECT_EQ(text(merge, {.operation = Operation::kRewriteDelete, .id = 4}),
            "merge of files of table 4 conflicts with the rewrite of its files (which data files "
            "is not known)");
  EXPECT_EQ(text({.operation = Operation::kInlinedDelete, .id = 4, .files = {kInlinedRows}},
                 {.operation = Operation::kFlushInlined, .id = 4}),
            "delete from table 4 conflicts with the flush of its inlined rows (inlined rows)");
  const Action view = {.operation = Operation::kCreateView,
                       .schema_id = 1,
                       .schema_name = "sales",
                       .name = "Old Orders"};
  EXPECT_EQ(text(view, rename),
            R"(creation of view "sales"."Old Orders" conflicts with the rename of table 4 to )"
            R"("sales"."old orders")");
  EXPECT_EQ(text({.operation = Operation::kDropSchema, .id = 1, .name = "sales"}, view),
            R"(drop of schema "sales" conflicts with the creation of view "sales"."Old Orders")");
  EXPECT_EQ(text(view, {.operation = Operation::kDropSchema, .id = 1}),
            R"(creation of view "sales"."Old Orders" conflicts with the drop of schema 1)");
}

TEST(Footprint, TheTextOfAConflictIsOneShortLine) {
  const auto text = [](const std::string& name) {
    const Footprint footprint =
        FootprintOf({{.operation = Operation::kCreateSchema, .name = name}});
    return footprint.ConflictWith(footprint)->text;
  };
  EXPECT_EQ(text("a\nb\x7f\"c"), R"(creation of schema "a\x0ab\x7f""c" conflicts with the )"
                                 R"(creation of schema "a\x0ab\x7f""c")");
  EXPECT_EQ(text("na\xc3\xafve"),
            "creation of schema \"na\xc3\xafve\" conflicts with the "
            "creation of schema \"na\xc3\xafve\"");
  EXPECT_EQ(text("na\xffve"), R"(creation of schema "na\xffve" conflicts with the )"
                              R"(creation of schema "na\xffve")");
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) {
    umlauts += "\xc3\xbc";
  }
  EXPECT_LT(text("x" + umlauts).size(), 300U);
  EXPECT_NE(text("x" + umlauts).find("\xc3\xbc\"..."), std::string::npos);
}

// The first of mine that meets anything, with the first of theirs it meets: as if each pair were
// compared in turn.
TEST(Footprint, FindsTheFirstConflictAmongMany) {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const auto random_footprint = [&] {
    Footprint footprint;
    const int64_t count = below(8);
    for (int64_t i = 0; i < count; ++i) {
      const Operation operation = kOperations[static_cast<size_t>(below(kNumOperations))];
      const std::string schema_name = StrCat("s", below(3));
      Action action = MakeAction(operation, static_cast<int>(below(4)), {}, StrCat("T", below(3)),
                                 below(3) - 1, below(4) == 0 ? "" : schema_name);
      if (operation == Operation::kDropSchema) {
        action.id = below(2);
      }
      const int64_t files = below(4);
      for (int64_t j = 0; j < files; ++j) {
        action.files.push_back(below(6) - 1);
      }
      footprint.Add(action);
    }
    return footprint;
  };
  int with_conflict = 0;
  int without = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Footprint mine = random_footprint();
    const Footprint theirs = random_footprint();
    std::optional<Conflict> expected;
    for (const Action& a : mine.actions()) {
      for (const Action& b : theirs.actions()) {
        if (!expected.has_value()) {
          expected = FootprintOf({a}).ConflictWith(FootprintOf({b}));
        }
      }
    }
    const std::optional<Conflict> found = mine.ConflictWith(theirs);
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (found.has_value()) {
      ASSERT_EQ(found->mine, expected->mine);
      ASSERT_EQ(found->theirs, expected->theirs);
      ASSERT_EQ(found->text, expected->text);
    }
    ++(found.has_value() ? with_conflict : without);
  }
  EXPECT_GT(with_conflict, 1000);
  EXPECT_GT(without, 1000);
}

}  // namespace
}  // namespace varve

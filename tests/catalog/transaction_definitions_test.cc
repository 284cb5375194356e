// The operations of a transaction that define schemas and tables: the rows they write, the names
// they keep apart, what they refuse.

#include "tests/catalog/transaction_text.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kExists = absl::StatusCode::kAlreadyExists;
constexpr absl::StatusCode kNotNow = absl::StatusCode::kFailedPrecondition;

constexpr std::string_view kUuid = "00000000-0000-4000-8000-00000000abcd";
constexpr int64_t kMainSchema = 0;
const std::string kMainRow = StrCat("0 | ", kMainUuid, " | 0 | - | main | main/ | true");

class TransactionDefinitions : public TransactionFixture {
 protected:
  int64_t MakeTable(std::string_view name, std::string_view columns = "id int64",
                    int64_t schema = kMainSchema) {
    return Must(tx().CreateTable(schema, name, ColumnsOf(columns), {.uuid = std::string(kUuid)}));
  }
};

// --- Schemas ---

TEST_F(TransactionDefinitions, ASchemaIsWritten) {
  const int64_t id = Must(tx().CreateSchema("sales", {.uuid = std::string(kUuid)}));
  EXPECT_EQ(id, kFirstProvisionalCatalogId);
  EXPECT_EQ(Must(tx().FindSchema("SALES")), id);
  const std::string rest = StrCat(kUuid, " | 1 | - | sales | sales/ | true");
  EXPECT_THAT(Seen("schema"), ElementsAre(kMainRow, StrCat("c0 | ", rest)));
  EXPECT_EQ(Commit().Resolve(id), 1);
  EXPECT_THAT(Rows("schema"), ElementsAre(kMainRow, StrCat("1 | ", rest)));
  EXPECT_EQ(ChangesMade(1), "1 | created_schema:\"sales\" | - | - | -");
}

TEST_F(TransactionDefinitions, NamesThatAreNoDirectoryLiveUnderTheirUuid) {
  for (const std::string_view name : {"a b", "ünï", "a.b/c", "quote\"d"}) {
    Must(tx().CreateSchema(name, {.uuid = std::string(kUuid)}));
    EXPECT_THAT(Seen("schema").back(), HasSubstr(StrCat("| ", kUuid, "/ |"))) << name;
  }
  Must(tx().CreateSchema(std::string(300, 'n'), {.uuid = std::string(kUuid)}));
  EXPECT_THAT(Seen("schema").back(), HasSubstr(StrCat("| ", kUuid, "/ |")));
  Must(tx().CreateSchema("given", {.path = "/elsewhere", .path_is_relative = false}));
  EXPECT_THAT(Seen("schema").back(), HasSubstr("| given | /elsewhere/ | false"));
}

TEST_F(TransactionDefinitions, SchemasThatCannotBeAreRefused) {
  const auto create = [&](std::string_view name, const ObjectOptions& options = {}) {
    return [&, name, options] { return tx().CreateSchema(name, options).status(); };
  };
  ExpectRefused(kInvalid, "the name of a schema is empty", create(""));
  ExpectRefused(kInvalid, "the name of a schema, \"a\\x00b\", holds a NUL byte",
                create(std::string_view("a\0b", 3)));
  ExpectRefused(kInvalid, "the name of a schema, \"\\xff\", is not valid UTF-8", create("\xff"));
  ExpectRefused(kInvalid,
                StrCat("the name of a schema, \"", std::string(80, 'n'),
                       "\"..., is 1001 bytes long; at most 1000 are allowed"),
                create(std::string(1001, 'n')));
  ExpectRefused(kExists, "schema \"main\" exists already", create("Main"));
  ExpectRefused(kInvalid, "'x' is not a uuid", create("s", {.uuid = "x"}));
  ExpectRefused(kInvalid, "the path is empty; leave it unset to have one made from the name",
                create("s", {.path = ""}));
  ExpectRefused(kInvalid, "the path is not valid UTF-8", create("s", {.path = "\xc0"}));
  EXPECT_EQ(Commit().snapshot, 0U);  // nothing was done
}

TEST_F(TransactionDefinitions, ADroppedSchemaEndsAndItsNameIsFree) {
  const int64_t first = Must(tx().CreateSchema("s", {.uuid = std::string(kUuid)}));
  const int64_t old = Commit().Resolve(first);
  Must(tx().DropSchema(old));
  EXPECT_THAT(Seen("schema"), ElementsAre(kMainRow));
  Must(tx().CreateSchema("S", {.uuid = std::string(kUuid)}));
  Commit();
  EXPECT_THAT(History("schema"),
              ElementsAre(StrCat(kMainRow, " @ [0, …)"),
                          StrCat("1 | ", kUuid, " | 1 | 2 | s | s/ | true @ [1, 2)"),
                          StrCat("2 | ", kUuid, " | 2 | - | S | S/ | true @ [2, …)")));
  EXPECT_EQ(ChangesMade(2), "2 | dropped_schema:1,created_schema:\"S\" | - | - | -");
  ExpectRefused(kNotFound, "schema \"s\" (id 1) has been dropped",
                [&] { return tx().DropSchema(old); });
  ExpectRefused(kNotFound, "there is no schema with id 77", [&] { return tx().DropSchema(77); });
}

TEST_F(TransactionDefinitions, ASchemaThatIsNotEmptyStays) {
  const int64_t schema = Must(tx().CreateSchema("s"));
  const int64_t table = MakeTable("t", "id int64", schema);
  ExpectRefused(kNotNow,
                "schema \"s\" is not empty: it holds table \"s\".\"t\"; drop or move what is in it "
                "first",
                [&] { return tx().DropSchema(schema); });
  const CommitResult result = Commit();
  const int64_t view = Must(tx().CreateView(result.Resolve(schema), "v", {.sql = "SELECT 1"}));
  ExpectRefused(kNotNow,
                "schema \"s\" is not empty: it holds table \"s\".\"t\" and 1 more; drop or move "
                "what is in it first",
                [&] { return tx().DropSchema(result.Resolve(schema)); });
  Must(tx().DropTable(result.Resolve(table)));
  ExpectRefused(kNotNow,
                "schema \"s\" is not empty: it holds view \"s\".\"v\"; drop or move what is in it "
                "first",
                [&] { return tx().DropSchema(result.Resolve(schema)); });
  Must(tx().DropView(view));
  Must(tx().DropSchema(result.Resolve(schema)));
  Commit();
  EXPECT_EQ(ChangesMade(2), "2 | dropped_schema:1,dropped_table:2 | - | - | -");
}

// --- Tables ---

TEST_F(TransactionDefinitions, ATableIsWrittenWithItsColumns) {
  const int64_t id = MakeTable("people",
                               "id int64 not null, name varchar default 'nobody', addr "
                               "struct(street varchar, geo struct(lat "
                               "float64)), tags list(varchar), attrs map(varchar, decimal(12,2))");
  EXPECT_THAT(Seen("table"),
              ElementsAre(StrCat("c0 | ", kUuid, " | 1 | - | 0 | people | people/ | true")));
  EXPECT_THAT(
      Seen("column"),
      ElementsAre("1 | 1 | - | c0 | 1 | id | int64 | - | NULL | false | - | literal | duckdb",
                  "2 | 1 | - | c0 | 2 | name | varchar | nobody | nobody | true | - | literal | "
                  "duckdb",
                  "3 | 1 | - | c0 | 3 | addr | struct | - | - | true | - |  | duckdb",
                  "4 | 1 | - | c0 | 4 | street | varchar | - | NULL | true | 3 | literal | duckdb",
                  "5 | 1 | - | c0 | 5 | geo | struct | - | - | true | 3 |  | duckdb",
                  "6 | 1 | - | c0 | 6 | lat | float64 | - | NULL | true | 5 | literal | duckdb",
                  "7 | 1 | - | c0 | 7 | tags | list | - | - | true | - |  | duckdb",
                  "8 | 1 | - | c0 | 8 | element | varchar | - | NULL | true | 7 | literal | duckdb",
                  "9 | 1 | - | c0 | 9 | attrs | map | - | - | true | - |  | duckdb",
                  "10 | 1 | - | c0 | 10 | key | varchar | - | NULL | true | 9 | literal | duckdb",
                  "11 | 1 | - | c0 | 11 | value | decimal(12,2) | - | NULL | true | 9 | literal | "
                  "duckdb"));
  const std::vector<std::string> path = {"ADDR", "geo", "Lat"};
  EXPECT_EQ(Must(tx().FindColumn(id, path)), 6);
  EXPECT_EQ(Commit().Resolve(id), 1);
  EXPECT_EQ(ChangesMade(1), "1 | created_table:\"main\".\"people\" | - | - | -");
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1"));
}

TEST_F(TransactionDefinitions, TypesAreStoredInOneSpelling) {
  std::vector<ColumnDefinition> columns = ColumnsOf("a INT64, b varchar");
  columns[1].type = "Decimal(12, 2)";
  Must(tx().CreateTable(kMainSchema, "t", columns));
  EXPECT_THAT(Seen("column"),
              ElementsAre(HasSubstr("| a | int64 |"), HasSubstr("| b | decimal(12,2) |")));
}

TEST_F(TransactionDefinitions, TablesThatCannotBeAreRefused) {
  MakeTable("t");
  Must(tx().CreateView(kMainSchema, "v", {.sql = "SELECT 1"}));
  const auto create = [&](std::string_view columns, std::string_view name = "new",
                          int64_t schema = kMainSchema) {
    return [&, columns, name, schema] {
      return tx().CreateTable(schema, name, ColumnsOf(columns)).status();
    };
  };
  ExpectRefused(kNotFound, "there is no schema with id 9", create("a int64", "new", 9));
  ExpectRefused(kInvalid, "the name of a table is empty", create("a int64", ""));
  ExpectRefused(kExists, "table \"main\".\"t\" exists already", create("a int64", "T"));
  ExpectRefused(kExists, "view \"main\".\"v\" exists already", create("a int64", "V"));
  ExpectRefused(kInvalid, "table \"main\".\"new\" needs a column",
                [&] { return tx().CreateTable(kMainSchema, "new", {}).status(); });
  ExpectRefused(kInvalid, "table \"main\".\"new\" would have two columns \"A\"",
                create("a int64, b int64, A varchar"));
  ExpectRefused(kInvalid, "the name of a column is empty", create("\"\" int64"));
  ExpectRefused(kInvalid,
                "column \"a\": \"int65\" is no type of DuckLake; int64, decimal(12,2), varchar, "
                "list, … are",
                create("a int65"));
  ExpectRefused(kInvalid,
                "column \"a\": \"decimal(40,2)\" is no type of DuckLake; int64, decimal(12,2), "
                "varchar, list, … are",
                create("a decimal(40,2)"));
  ExpectRefused(kInvalid, "column \"a\": a list has one field, its element, found 2",
                create("a list(int64, int64)"));
  ExpectRefused(kInvalid, "column \"a\": a list has one field, its element, found 0",
                create("a list"));
  ExpectRefused(kInvalid, "column \"a\": a map has two fields, key and value, found 1",
                create("a map(int64)"));
  ExpectRefused(kInvalid, "column \"a\": a struct has at least one field, found 0",
                create("a struct"));
  ExpectRefused(kInvalid, "column \"a\": a int64 has no fields, found 1", create("a int64(int64)"));
  ExpectRefused(kInvalid, "column \"a\" has two fields \"X\"",
                create("a struct(x int64, X int64)"));
  ExpectRefused(kInvalid,
                "column \"a\".\"x\": \"no\" is no type of DuckLake; int64, decimal(12,2), varchar, "
                "list, … are",
                create("a struct(x no)"));
  ExpectRefused(kInvalid, "the default of column \"a\": 'one' is not a bigint",
                create("a int64 default 'one'"));
  ExpectRefused(kInvalid, "column \"a\": a list cannot have a default value",
                create("a list(int64) default '[]'"));
  std::vector<ColumnDefinition> renamed_element = ColumnsOf("a list(int64)");
  renamed_element[0].fields[0].name = "item";
  ExpectRefused(kInvalid, "column \"a\": field 1 of a list is called element, found \"item\"",
                [&] { return tx().CreateTable(kMainSchema, "new", renamed_element).status(); });
  ColumnDefinition deep = {.name = "x", .type = "int64"};
  for (int i = 0; i < 70; ++i) {
    deep = {.name = "x", .type = "struct", .fields = {deep}};
  }
  EXPECT_THAT(tx().CreateTable(kMainSchema, "new", {&deep, 1}).status().ToString(),
              HasSubstr("is nested more than 64 levels deep"));
}

TEST_F(TransactionDefinitions, NamesOfDuckLakesOwnColumnsAreRefused) {
  const auto create = [&](std::string_view column) {
    return [&, column] { return tx().CreateTable(kMainSchema, "t", ColumnsOf(column)).status(); };
  };
  ExpectRefused(kInvalid,
                "a column cannot be called \"Row_Id\": DuckLake uses the name in tables of inlined "
                "rows; turn inlining off first (option data_inlining_row_limit = 0), or choose "
                "another",
                create("Row_Id int64"));
  ExpectRefused(kInvalid,
                "a column cannot be called \"_ducklake_internal_row_id\": names that begin with "
                "_ducklake_ are DuckLake's own",
                create("_ducklake_internal_row_id int64"));
  // Only whole columns are DuckLake's; and without inlining there is nothing to keep apart.
  Must(create("s struct(row_id int64)")());
  Must(tx().SetOption(OptionScope::kSchema, kMainSchema, "data_inlining_row_limit", "0"));
  Must(tx().CreateTable(kMainSchema, "u", ColumnsOf("end_snapshot int64")).status());
}

TEST_F(TransactionDefinitions, RenamingEndsTheOldVersion) {
  const int64_t made = MakeTable("t");
  const int64_t table = Commit().Resolve(made);
  Must(tx().RenameTable(table, "u"));
  EXPECT_EQ(Must(tx().FindTable(kMainSchema, "U")), table);
  EXPECT_THAT(tx().FindTable(kMainSchema, "t").status().ToString(),
              HasSubstr("there is no table \"t\" in schema \"main\""));
  // The old name is free, and the new one taken.
  MakeTable("T");
  ExpectRefused(kExists, "table \"main\".\"u\" exists already",
                [&] { return tx().CreateTable(0, "U", ColumnsOf("a int64")).status(); });
  Commit();
  EXPECT_THAT(History("table"),
              ElementsAre(StrCat("1 | ", kUuid, " | 1 | 2 | 0 | t | t/ | true @ [1, 2)"),
                          StrCat("1 | ", kUuid, " | 2 | - | 0 | u | t/ | true @ [2, …)"),
                          StrCat("2 | ", kUuid, " | 2 | - | 0 | T | T/ | true @ [2, …)")));
  EXPECT_EQ(ChangesMade(2),
            "2 | created_table:\"main\".\"u\",created_table:\"main\".\"T\" | - | - | -");
  EXPECT_THAT(Rows("schema_versions"), UnorderedElementsAre("1 | 1 | 1", "2 | 2 | 1", "2 | 2 | 2"));
}

TEST_F(TransactionDefinitions, RenamesThatCannotBeAreRefused) {
  const int64_t t = MakeTable("t");
  MakeTable("u");
  ExpectRefused(kInvalid, "table \"main\".\"t\" has this name already",
                [&] { return tx().RenameTable(t, "t"); });
  ExpectRefused(kExists, "table \"main\".\"u\" exists already",
                [&] { return tx().RenameTable(t, "U"); });
  ExpectRefused(kInvalid, "the name of a table is empty", [&] { return tx().RenameTable(t, ""); });
  ExpectRefused(kNotFound, "there is no table with id 5", [&] { return tx().RenameTable(5, "x"); });
  Must(tx().RenameTable(t, "T"));  // only its spelling
  EXPECT_EQ(Must(tx().FindTable(kMainSchema, "t")), t);
}

TEST_F(TransactionDefinitions, NamesCanBeSwappedInOneTransaction) {
  const int64_t t = MakeTable("t");
  const int64_t u = MakeTable("u");
  const CommitResult made = Commit();
  Must(tx().RenameTable(made.Resolve(t), "tmp"));
  Must(tx().RenameTable(made.Resolve(u), "t"));
  Must(tx().RenameTable(made.Resolve(t), "u"));
  Commit();
  EXPECT_THAT(Rows("table"), ElementsAre(StrCat("1 | ", kUuid, " | 2 | - | 0 | u | t/ | true"),
                                         StrCat("2 | ", kUuid, " | 2 | - | 0 | t | u/ | true")));
}

TEST_F(TransactionDefinitions, ATableMovesToAnotherSchema) {
  const int64_t raw = Must(tx().CreateSchema("raw"));
  const int64_t table = MakeTable("events", "id int64", raw);
  const CommitResult made = Commit();
  Must(tx().MoveTable(made.Resolve(table), kMainSchema));
  EXPECT_THAT(
      Seen("table"),
      ElementsAre(StrCat("2 | ", kUuid, " | 2 | - | 0 | events | /lake/raw/events/ | false")));
  ExpectRefused(kInvalid, "table \"main\".\"events\" is in schema \"main\" already",
                [&] { return tx().MoveTable(made.Resolve(table), kMainSchema); });
  ExpectRefused(kNotFound, "there is no schema with id 8",
                [&] { return tx().MoveTable(made.Resolve(table), 8); });
  MakeTable("events", "id int64", made.Resolve(raw));
  ExpectRefused(kExists, "table \"raw\".\"events\" exists already",
                [&] { return tx().MoveTable(made.Resolve(table), made.Resolve(raw)); });
  Commit();
  EXPECT_EQ(ChangesMade(2),
            "2 | created_table:\"main\".\"events\",created_table:\"raw\".\"events\" | - | - | -");
}

TEST_F(TransactionDefinitions, TheFilesOfAMovedTableStayWhereTheyAre) {
  const int64_t raw = Must(tx().CreateSchema("raw"));
  const int64_t table = MakeTable("events", "id int64", raw);
  Must(tx().RegisterDataFiles(table, std::vector<DataFile>{{.path = "a.parquet"}}).status());
  Must(tx().MoveTable(table, kMainSchema));
  EXPECT_THAT(
      Seen("table"),
      ElementsAre(StrCat("c1 | ", kUuid, " | 1 | - | 0 | events | /lake/raw/events/ | false")));
}

TEST_F(TransactionDefinitions, ADroppedTableEndsWithAllThatIsInIt) {
  const int64_t table = MakeTable("t", "id int64, day date");
  const int64_t kept = MakeTable("kept");
  Must(tx().SetTag(table, "comment", "gone"));
  Must(tx().SetTag(kept, "comment", "stays"));
  Must(tx().SetColumnTag(table, 1, "comment", "gone"));
  const std::vector<PartitionKey> by_year = {{.column_id = 2, .transform = "year"}};
  const std::vector<SortKey> by_id = {{.expression = "id"}};
  Must(tx().SetPartitioning(table, by_year));
  Must(tx().SetSortOrder(table, by_id));
  const CommitResult made = Commit();
  const std::vector<DataFile> files = {{.path = "a.parquet",
                                        .record_count = 10,
                                        .columns = {{.column_id = 1, .value_count = 10}},
                                        .partition_values = {"2026"}}};
  const std::vector<DataFile> others = {{.path = "b.parquet", .record_count = 5}};
  const absl::StatusOr<std::vector<int64_t>> ids =
      tx().RegisterDataFiles(made.Resolve(table), files);
  Must(ids.status());
  Must(tx().RegisterDataFiles(made.Resolve(kept), others).status());
  const std::vector<DeleteFile> deletes = {
      {.data_file_id = ids->front(), .path = "d.parquet", .delete_count = 1}};
  Must(tx().RegisterDeleteFiles(made.Resolve(table), deletes).status());
  Commit();
  Must(tx().DropTable(made.Resolve(table)));
  const auto expect_only_kept = [&](const std::vector<std::string>& tables, const auto& rows_of) {
    EXPECT_EQ(tables.size(), 1U);
    for (const std::string_view relation : {"column", "tag", "data_file"}) {
      EXPECT_THAT(rows_of(relation), ElementsAre(testing::_)) << relation;
    }
    for (const std::string_view relation :
         {"column_tag", "partition_info", "partition_column", "sort_info", "sort_expression",
          "delete_file", "file_column_stats", "file_partition_value"}) {
      EXPECT_THAT(rows_of(relation), IsEmpty()) << relation;
    }
  };
  expect_only_kept(Seen("table"), [&](std::string_view name) { return Seen(name); });
  Commit();
  expect_only_kept(Rows("table"), [&](std::string_view name) { return Rows(name); });
  EXPECT_EQ(ChangesMade(3), "3 | dropped_table:1 | - | - | -");
  EXPECT_THAT(RowsAt(2, "file_column_stats"), ElementsAre(testing::_));
  ExpectRefused(kNotFound, "table \"t\" (id 1) has been dropped",
                [&] { return tx().DropTable(made.Resolve(table)); });
}

TEST_F(TransactionDefinitions, ATableMadeAndDroppedAtOnceLeavesNothing) {
  const std::vector<std::string> before = EverythingSeen(tx());
  const int64_t table = MakeTable("t", "id int64, day date");
  Must(tx().SetTag(table, "comment", "x"));
  Must(tx().SetColumnTag(table, 1, "comment", "x"));
  Must(tx().SetOption(OptionScope::kTable, table, "auto_compact", "false"));
  Must(tx().SetPartitioning(table, std::vector<PartitionKey>{{.column_id = 2}}));
  Must(tx().SetSortOrder(table, std::vector<SortKey>{{.expression = "id"}}));
  const std::vector<DataFile> files = {{.path = "a.parquet",
                                        .record_count = 10,
                                        .columns = {{.column_id = 1, .value_count = 10}},
                                        .partition_values = {"x"}}};
  Must(tx().RegisterDataFiles(table, files).status());
  Must(tx().InsertInlined(table, std::vector<std::vector<NullableText>>{{"1", std::nullopt}})
           .status());
  Must(tx().DropTable(table));
  EXPECT_EQ(EverythingSeen(tx()), before);
  EXPECT_EQ(Commit().snapshot, 0U);
  EXPECT_EQ(EverythingSeen(tx()), before);
}

TEST_F(TransactionDefinitions, WhatWasAddedToADroppedTableInTheSameTransactionIsGoneToo) {
  const int64_t table = MakeTable("t");
  const int64_t id = Commit().Resolve(table);
  const std::vector<DataFile> files = {
      {.path = "a.parquet", .record_count = 10, .columns = {{.column_id = 1, .value_count = 10}}}};
  Must(tx().RegisterDataFiles(id, files).status());
  Must(tx().AddColumn(id, ColumnOf("b int64")).status());
  Must(tx().DropTable(id));
  Commit();
  EXPECT_EQ(ChangesMade(2), "2 | dropped_table:1 | - | - | -");
  EXPECT_THAT(History("data_file"), IsEmpty());
  EXPECT_THAT(History("file_column_stats"), IsEmpty());
  EXPECT_THAT(History("table_stats"), IsEmpty());
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1"));
  EXPECT_THAT(History("column"), ElementsAre(HasSubstr("@ [1, 2)")));
}

// --- Finding ---

TEST_F(TransactionDefinitions, WhatIsNotThereIsAnsweredWithTheNearestName) {
  const int64_t sales = Must(tx().CreateSchema("sales"));
  MakeTable("orders", "order_id int64, s struct(street varchar)", sales);
  Must(tx().CreateView(sales, "report", {.sql = "SELECT 1"}));
  const CommitResult made = Commit();
  const int64_t schema = made.Resolve(sales);
  const auto message = [](const absl::StatusOr<int64_t>& id) {
    return id.ok() ? "found" : std::string(MessageOf(id.status()));
  };
  EXPECT_EQ(message(tx().FindSchema("slaes")),
            "there is no schema \"slaes\"; did you mean \"sales\"?");
  EXPECT_EQ(message(tx().FindTable(schema, "ordres")),
            "there is no table \"ordres\" in schema \"sales\"; did you mean \"orders\"?");
  EXPECT_EQ(message(tx().FindTable(schema, "xyz")),
            "there is no table \"xyz\" in schema \"sales\"");
  EXPECT_EQ(message(tx().FindTable(schema, "Report")), "view \"sales\".\"report\" is no table");
  EXPECT_EQ(message(tx().FindView(schema, "orders")), "table \"sales\".\"orders\" is no view");
  EXPECT_EQ(message(tx().FindMacro(schema, "orders")),
            "there is no macro \"orders\" in schema \"sales\"");
  EXPECT_EQ(message(tx().FindTable(55, "orders")), "there is no schema with id 55");
  const int64_t table = Must(tx().FindTable(schema, "ORDERS"));
  const auto column = [&](std::vector<std::string> path) {
    return message(tx().FindColumn(table, path));
  };
  EXPECT_EQ(column({"order"}), "table \"sales\".\"orders\" has no column \"order\"");
  EXPECT_EQ(column({"order_di"}),
            "table \"sales\".\"orders\" has no column \"order_di\"; did you mean \"order_id\"?");
  EXPECT_EQ(column({"s", "streat"}),
            "column \"s\" of table \"sales\".\"orders\" has no field \"streat\"; did you mean "
            "\"street\"?");
  EXPECT_EQ(column({}), "the path of a column names at least the column");
  // A name the transaction has changed is no suggestion.
  Must(tx().RenameTable(table, "purchases"));
  EXPECT_EQ(message(tx().FindTable(schema, "ordres")),
            "there is no table \"ordres\" in schema \"sales\"");
}

TEST_F(TransactionDefinitions, AnEndedTransactionRefusesOperations) {
  tx().Abort();
  EXPECT_THAT(tx().CreateSchema("s").status().ToString(), HasSubstr("transaction has ended"));
  EXPECT_THAT(tx().DropTable(1).ToString(), HasSubstr("transaction has ended"));
  EXPECT_THAT(tx().FindSchema("main").status().ToString(), HasSubstr("transaction has ended"));
}

}  // namespace
}  // namespace varve

// The operations of a transaction that change the columns of a table.

#include "tests/catalog/transaction_text.h"

namespace varve {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kExists = absl::StatusCode::kAlreadyExists;
constexpr absl::StatusCode kNotNow = absl::StatusCode::kFailedPrecondition;

class TransactionColumns : public TransactionFixture {
 protected:
  // A committed table; the next transaction is open.
  int64_t CommittedTable(std::string_view columns) {
    const int64_t made = Must(tx().CreateTable(0, "t", ColumnsOf(columns)));
    return Commit().Resolve(made);
  }

  int64_t Column(int64_t table, const std::vector<std::string>& path) {
    return Must(tx().FindColumn(table, path));
  }

  // A file of ten rows, with a statistic of nulls for each column given.
  void AddFile(int64_t table, const std::vector<std::pair<int64_t, int64_t>>& nulls) {
    DataFile file = {.path = StrCat("f", next_file_++, ".parquet"), .record_count = 10};
    for (const auto& [column, count] : nulls) {
      file.columns.push_back({.column_id = column, .value_count = 10, .null_count = count});
    }
    Must(tx().RegisterDataFiles(table, {&file, 1}).status());
  }

  int next_file_ = 0;
};

// --- Adding ---

TEST_F(TransactionColumns, AnAddedColumnGetsAnIdThatWasNeverUsed) {
  const int64_t table = CommittedTable("a int64, b varchar");
  Must(tx().DropColumn(table, 2));
  Commit();
  EXPECT_EQ(Must(tx().AddColumn(table, ColumnOf("b int32 default '7'"))), 3);
  EXPECT_THAT(Seen("column"),
              ElementsAre("1 | 1 | - | 1 | 1 | a | int64 | - | NULL | true | - | literal | duckdb",
                          "3 | 3 | - | 1 | 3 | b | int32 | 7 | 7 | true | - | literal | duckdb"));
  Commit();
  EXPECT_EQ(ChangesMade(3), "3 | altered_table:1 | - | - | -");
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1", "2 | 2 | 1", "3 | 3 | 1"));
}

TEST_F(TransactionColumns, AFieldIsAddedToAStruct) {
  const int64_t table = CommittedTable("id int64, s struct(x int64)");
  EXPECT_EQ(Must(tx().AddColumn(table, ColumnOf("y struct(z list(date))"), 2)), 4);
  EXPECT_THAT(Seen("column"),
              Contains("4 | 2 | - | 1 | 4 | y | struct | - | - | true | 2 |  | duckdb"));
  EXPECT_THAT(
      Seen("column"),
      Contains("6 | 2 | - | 1 | 6 | element | date | - | NULL | true | 5 | literal | duckdb"));
}

TEST_F(TransactionColumns, ColumnsAreAddedAtTheEndWhateverTheirOrder) {
  const int64_t table = CommittedTable("a int64, b int64");
  MustApply("snapshot 2\nend column 1 | 2 @ 2\ninsert column 2 | 2 | - | 1 | 90 | b | int64");
  Begin();
  Must(tx().AddColumn(table, ColumnOf("c int64")).status());
  EXPECT_THAT(Seen("column"), Contains(HasSubstr("3 | 3 | - | 1 | 91 | c |")));
}

TEST_F(TransactionColumns, ColumnsThatCannotBeAddedAreRefused) {
  const int64_t table = CommittedTable("id int64, s struct(x int64), l list(int64)");
  const auto add = [&](std::string_view column, std::optional<int64_t> parent = std::nullopt) {
    return [&, column, parent] { return tx().AddColumn(table, ColumnOf(column), parent).status(); };
  };
  ExpectRefused(kExists, "column \"id\" of table \"main\".\"t\" exists already", add("ID int64"));
  ExpectRefused(kExists, "column \"s\".\"x\" of table \"main\".\"t\" exists already",
                add("X int64", 2));
  ExpectRefused(kInvalid,
                "column \"l\" of table \"main\".\"t\" is a list: only fields of a struct can be "
                "added",
                add("y int64", 4));
  ExpectRefused(kInvalid,
                "column \"id\" of table \"main\".\"t\" is a int64: only fields of a struct can be "
                "added",
                add("y int64", 1));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no column with id 9", add("y int64", 9));
  ExpectRefused(kInvalid,
                "column \"s\".\"y\": \"text\" is no type of DuckLake; int64, decimal(12,2), "
                "varchar, list, … are",
                add("y text", 2));
  ExpectRefused(kInvalid,
                "a column cannot be called \"begin_snapshot\": DuckLake uses the name in tables of "
                "inlined rows; turn inlining off first (option data_inlining_row_limit = 0), or "
                "choose another",
                add("begin_snapshot int64"));
  ExpectRefused(kNotFound, "there is no table with id 4",
                [&] { return tx().AddColumn(4, ColumnOf("a int64")).status(); });
}

TEST_F(TransactionColumns, NotNullNeedsADefaultOnceThereAreRows) {
  const int64_t table = CommittedTable("id int64");
  Must(tx().AddColumn(table, ColumnOf("early int64 not null")).status());
  AddFile(table, {});
  ExpectRefused(kNotNow,
                "column \"late\" cannot be NOT NULL without an initial default: table "
                "\"main\".\"t\" has rows, and they would read as NULL",
                [&] { return tx().AddColumn(table, ColumnOf("late int64 not null")).status(); });
  Must(tx().AddColumn(table, ColumnOf("late int64 not null default '0'")).status());
}

// --- Dropping ---

TEST_F(TransactionColumns, ADroppedColumnEndsWithItsFieldsAndTags) {
  const int64_t table = CommittedTable("id int64, s struct(x int64, y struct(z int64))");
  Must(tx().SetColumnTag(table, 2, "comment", "of s"));
  Must(tx().SetColumnTag(table, 5, "comment", "of z"));
  Must(tx().SetColumnTag(table, 1, "comment", "of id"));
  Commit();
  Must(tx().DropColumn(table, 2));
  EXPECT_THAT(Seen("column"), ElementsAre(HasSubstr("| id |")));
  EXPECT_THAT(Seen("column_tag"), ElementsAre(HasSubstr("of id")));
  Commit();
  EXPECT_EQ(RowsAt(2, "column").size(), 5U);
}

TEST_F(TransactionColumns, ColumnsThatAreNeededStay) {
  const int64_t table = CommittedTable(
      "id int64, day date, s struct(x int64), l list(int64), m map(int64, int64), n varchar");
  Must(tx().SetPartitioning(table,
                            std::vector<PartitionKey>{{.column_id = 2, .transform = "month"}}));
  Must(tx().SetSortOrder(table, std::vector<SortKey>{{.expression = "lower(n)"}}));
  const auto drop = [&](int64_t column) {
    return [&, column] { return tx().DropColumn(table, column); };
  };
  ExpectRefused(
      kNotNow,
      "column \"day\" of table \"main\".\"t\" cannot be dropped: the table is partitioned "
      "by it; change the partitioning first",
      drop(2));
  ExpectRefused(
      kNotNow,
      "column \"n\" of table \"main\".\"t\" cannot be dropped: the table is sorted by it; "
      "change the sort order first",
      drop(Column(table, {"n"})));
  ExpectRefused(kNotNow,
                "column \"s\".\"x\" of table \"main\".\"t\" cannot be dropped: it is the last one; "
                "drop the whole struct",
                drop(4));
  ExpectRefused(kInvalid,
                "column \"l\" of table \"main\".\"t\" is a list: only fields of a struct can be "
                "dropped",
                drop(6));
  ExpectRefused(kInvalid,
                "column \"m\" of table \"main\".\"t\" is a map: only fields of a struct can be "
                "dropped",
                drop(8));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no column with id 77", drop(77));
  Must(tx().SetPartitioning(table, {}));
  Must(tx().SetSortOrder(table, {}));
  for (const char* name : {"day", "s", "l", "m", "n"}) {
    Must(tx().DropColumn(table, Column(table, {name})));
  }
  ExpectRefused(kNotNow,
                "column \"id\" of table \"main\".\"t\" cannot be dropped: it is the last one; drop "
                "the table",
                drop(1));
}

TEST_F(TransactionColumns, AColumnThatCameAndWentWasNeverThere) {
  const int64_t table = CommittedTable("id int64");
  const int64_t ghost = Must(tx().AddColumn(table, ColumnOf("ghost varchar")));
  Must(tx().RenameColumn(table, ghost, "spirit"));
  Must(tx().DropColumn(table, ghost));
  Commit();
  EXPECT_THAT(History("column"), ElementsAre(HasSubstr("| id |")));
  EXPECT_EQ(Must(tx().AddColumn(table, ColumnOf("next varchar"))), ghost);
}

TEST_F(TransactionColumns, AColumnThatCameAndWentLeavesNoStatistics) {
  const int64_t table = CommittedTable("id int64");
  const int64_t ghost = Must(tx().AddColumn(table, ColumnOf("ghost int64")));
  const std::vector<NullableText> row = {"1", "77"};
  Must(tx().InsertInlined(table, {&row, 1}));
  Must(tx().DropColumn(table, ghost));
  EXPECT_THAT(Seen("table_column_stats"), ElementsAre("1 | 1 | false | - | 1 | 1 | -"));
  Commit();
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("1 | 1 | false | - | 1 | 1 | -"));
}

// --- Renaming ---

TEST_F(TransactionColumns, ARenamedColumnKeepsEverythingElse) {
  const int64_t table = CommittedTable("id int64 not null, s struct(x int64)");
  Must(tx().RenameColumn(table, 1, "key"));
  Must(tx().RenameColumn(table, 3, "X"));
  Commit();
  EXPECT_THAT(
      History("column"),
      ElementsAre(
          "1 | 1 | 2 | 1 | 1 | id | int64 | - | NULL | false | - | literal | duckdb @ [1, 2)",
          "1 | 2 | - | 1 | 1 | key | int64 | - | NULL | false | - | literal | duckdb @ [2, …)",
          "2 | 1 | - | 1 | 2 | s | struct | - | - | true | - |  | duckdb @ [1, …)",
          "3 | 1 | 2 | 1 | 3 | x | int64 | - | NULL | true | 2 | literal | duckdb @ [1, 2)",
          "3 | 2 | - | 1 | 3 | X | int64 | - | NULL | true | 2 | literal | duckdb @ [2, …)"));
  EXPECT_EQ(ChangesMade(2), "2 | altered_table:1 | - | - | -");
}

TEST_F(TransactionColumns, ASortOrderFollowsARenamedColumn) {
  const int64_t table = CommittedTable("id int64, name varchar");
  Must(tx().SetSortOrder(table,
                         std::vector<SortKey>{{.expression = "lower(name)", .ascending = false},
                                              {.expression = "id", .nulls_first = true}}));
  Commit();
  Must(tx().RenameColumn(table, 2, "full name"));
  EXPECT_THAT(Seen("sort_expression"),
              ElementsAre("c0 | 1 | 0 | lower(\"full name\") | duckdb | DESC | NULLS_LAST",
                          "c0 | 1 | 1 | id | duckdb | ASC | NULLS_FIRST"));
  EXPECT_THAT(Seen("sort_info"), ElementsAre("c0 | 1 | 3 | -"));
  Commit();
  Must(tx().RenameColumn(table, 2, "name"));
  Must(tx().SetSortOrder(table, {}));
  Commit();
  Must(tx().RenameColumn(table, 2, "n"));
  EXPECT_THAT(Seen("sort_info"), IsEmpty());
}

TEST_F(TransactionColumns, AColumnIsFoundInItsSortOrderWhateverItIsCalled) {
  const int64_t table = CommittedTable("id int64, name varchar");
  Must(tx().SetSortOrder(table, std::vector<SortKey>{{.expression = "lower(name)"}}));
  Must(tx().RenameColumn(table, 2, "We\"ird, cä"));
  EXPECT_THAT(Seen("sort_expression"), ElementsAre(HasSubstr("lower(\"We\"\"ird, cä\")")));
  ExpectRefused(kNotNow,
                "column \"We\"\"ird, cä\" of table \"main\".\"t\" cannot be dropped: the table is "
                "sorted by it; change the sort order first",
                [&] { return tx().DropColumn(table, 2); });
  Must(tx().RenameColumn(table, 2, "n"));
  EXPECT_THAT(Seen("sort_expression"), ElementsAre(HasSubstr("lower(n)")));
}

TEST_F(TransactionColumns, RenamesThatCannotBeAreRefused) {
  const int64_t table =
      CommittedTable("id int64, name varchar, l list(int64), s struct(x int64, y int64)");
  const auto rename = [&](int64_t column, std::string_view name) {
    return [&, column, name] { return tx().RenameColumn(table, column, name); };
  };
  ExpectRefused(kInvalid, "column \"id\" of table \"main\".\"t\" has this name already",
                rename(1, "id"));
  ExpectRefused(kExists, "column \"name\" of table \"main\".\"t\" exists already",
                rename(1, "NAME"));
  ExpectRefused(kExists, "column \"s\".\"y\" of table \"main\".\"t\" exists already",
                rename(6, "y"));
  ExpectRefused(kInvalid,
                "column \"l\" of table \"main\".\"t\" is a list: only fields of a struct can be "
                "renamed",
                rename(4, "item"));
  ExpectRefused(kInvalid, "the name of a column is empty", rename(1, ""));
  ExpectRefused(kInvalid,
                "a column cannot be called \"_ducklake_x\": names that begin with _ducklake_ are "
                "DuckLake's own",
                rename(1, "_ducklake_x"));
  Must(tx().RenameColumn(table, 6, "row_id"));  // a field
  Must(tx().RenameColumn(table, 1, "ID"));
}

// --- Order ---

TEST_F(TransactionColumns, ColumnsTakeEachOthersPlaces) {
  const int64_t table = CommittedTable("a int64, s struct(x int64), b int64");
  const std::vector<int64_t> order = {4, 1, 2};
  Must(tx().ReorderColumns(table, order));
  Commit();
  EXPECT_THAT(
      Rows("column"),
      ElementsAre(HasSubstr("1 | 2 | - | 1 | 2 | a |"), HasSubstr("2 | 2 | - | 1 | 4 | s |"),
                  HasSubstr("3 | 1 | - | 1 | 3 | x |"), HasSubstr("4 | 2 | - | 1 | 1 | b |")));
  EXPECT_EQ(ChangesMade(2), "2 | altered_table:1 | - | - | -");
  // Nothing to do is nothing done.
  Must(tx().ReorderColumns(table, order));
  EXPECT_EQ(Commit().snapshot, 2U);
}

TEST_F(TransactionColumns, AnOrderNamesEachColumnOnce) {
  const int64_t table = CommittedTable("a int64, s struct(x int64), b int64");
  const auto reorder = [&](std::vector<int64_t> ids) {
    return [&, ids] { return tx().ReorderColumns(table, ids); };
  };
  constexpr std::string_view kExpected =
      "the order of columns must name each top-level column of table \"main\".\"t\" once: ids 1, "
      "2, 4; found ";
  ExpectRefused(kInvalid, StrCat(kExpected, "1, 2"), reorder({1, 2}));
  ExpectRefused(kInvalid, StrCat(kExpected, "1, 2, 2"), reorder({1, 2, 2}));
  ExpectRefused(kInvalid, StrCat(kExpected, "1, 2, 3"), reorder({1, 2, 3}));
  ExpectRefused(kInvalid, StrCat(kExpected, ""), reorder({}));
}

// --- Types, defaults, NOT NULL ---

TEST_F(TransactionColumns, TypesAreWidened) {
  const int64_t table = CommittedTable(
      "i int8, u uint16, f float32, m map(varchar, int32), d decimal(4,1), v varchar");
  Must(tx().SetColumnType(table, 1, "int16"));
  Must(tx().SetColumnType(table, 1, "INT64"));
  Must(tx().SetColumnType(table, 2, "uint64"));
  Must(tx().SetColumnType(table, 3, "float64"));
  Must(tx().SetColumnType(table, 6, "int64"));
  Commit();
  const std::vector<std::string> columns = Rows("column");
  EXPECT_THAT(columns[0], HasSubstr("1 | 2 | - | 1 | 1 | i | int64 |"));
  EXPECT_THAT(columns[5], HasSubstr("6 | 2 | - | 1 | 6 | value | int64 |"));
  const auto set = [&](int64_t column, std::string_view type) {
    return [&, column, type] { return tx().SetColumnType(table, column, type); };
  };
  constexpr std::string_view kOnlyWider =
      ": only integers of one kind and floats change, and only to wider ones";
  ExpectRefused(kInvalid, StrCat("column \"i\" cannot change from int64 to int32", kOnlyWider),
                set(1, "int32"));
  ExpectRefused(kInvalid, StrCat("column \"u\" cannot change from uint64 to int64", kOnlyWider),
                set(2, "int64"));
  ExpectRefused(kInvalid, StrCat("column \"i\" cannot change from int64 to float64", kOnlyWider),
                set(1, "float64"));
  ExpectRefused(kInvalid,
                StrCat("column \"d\" cannot change from decimal(4,1) to decimal(5,1)", kOnlyWider),
                set(7, "decimal(5,1)"));
  ExpectRefused(kInvalid, StrCat("column \"m\" cannot change from map to list", kOnlyWider),
                set(4, "list"));
  ExpectRefused(kInvalid, "column \"v\" has type varchar already", set(8, "varchar"));
  ExpectRefused(kInvalid, "column \"v\": \"text\" is no type of DuckLake", set(8, "text"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no column with id 9", set(9, "int64"));
}

TEST_F(TransactionColumns, ADefaultIsSetAndTakenBack) {
  const int64_t table =
      CommittedTable("id int64, price decimal(12,2) default '0', s struct(x int64)");
  Must(tx().SetColumnDefault(table, 2, "1.50"));
  EXPECT_THAT(Seen("column")[1],
              "2 | 2 | - | 1 | 2 | price | decimal(12,2) | 0 | 1.50 | true | - | literal | duckdb");
  Must(tx().SetColumnDefault(table, 1, "nextval('s')", "expression"));
  EXPECT_THAT(Seen("column")[0],
              "1 | 2 | - | 1 | 1 | id | int64 | - | nextval('s') | true | - | expression | duckdb");
  Must(tx().SetColumnDefault(table, 1, std::nullopt));
  EXPECT_THAT(Seen("column")[0],
              "1 | 2 | - | 1 | 1 | id | int64 | - | NULL | true | - | literal | duckdb");
  const auto set = [&](int64_t column, NullableText value, std::string_view type = "literal") {
    return [&, column, value, type] { return tx().SetColumnDefault(table, column, value, type); };
  };
  ExpectRefused(kInvalid, "the default of column \"id\": 'abc' is not a bigint", set(1, "abc"));
  ExpectRefused(kInvalid,
                "the default of column \"price\": '1.234' has more digits after the point than "
                "decimal(12,2) holds",
                set(2, "1.234"));
  ExpectRefused(kInvalid,
                "column \"s\" of table \"main\".\"t\" is a struct: it cannot have a default value",
                set(3, "{}"));
  ExpectRefused(kInvalid,
                "column \"id\": the type of a default is literal or expression, found \"sql\"",
                set(1, "1", "sql"));
  ExpectRefused(kInvalid, "the default of column \"id\" holds a NUL byte",
                set(1, std::string("1\0", 2), "expression"));
}

TEST_F(TransactionColumns, NullsAreAllowedAndForbidden) {
  const int64_t table = CommittedTable("id int64 not null, name varchar");
  Must(tx().SetColumnNullable(table, 1, true));
  Must(tx().SetColumnNullable(table, 2, false));  // there are no rows
  EXPECT_THAT(Seen("column"),
              ElementsAre(HasSubstr("| NULL | true |"), HasSubstr("| NULL | false |")));
  ExpectRefused(kInvalid, "column \"id\" of table \"main\".\"t\" allows NULL already",
                [&] { return tx().SetColumnNullable(table, 1, true); });
  ExpectRefused(kInvalid, "column \"name\" of table \"main\".\"t\" is NOT NULL already",
                [&] { return tx().SetColumnNullable(table, 2, false); });
}

TEST_F(TransactionColumns, NotNullMustBeTrueOfTheRowsThereAre) {
  const int64_t table = CommittedTable("a int64, b int64, c int64");
  AddFile(table, {{1, 0}, {2, 3}});
  Commit();
  const auto forbid = [&](int64_t column) {
    return [&, column] { return tx().SetColumnNullable(table, column, false); };
  };
  constexpr std::string_view kNotRuledOut =
      " cannot be made NOT NULL: the statistics of the table do not rule out that it holds NULLs";
  ExpectRefused(kNotNow, StrCat("column \"b\" of table \"main\".\"t\"", kNotRuledOut), forbid(2));
  ExpectRefused(kNotNow, StrCat("column \"c\" of table \"main\".\"t\"", kNotRuledOut), forbid(3));
  Must(tx().SetColumnNullable(table, 1, false));
  // A later column is NULL in the rows that were there before it, unless it has a default.
  const int64_t late = Must(tx().AddColumn(table, ColumnOf("late int64")));
  const int64_t filled = Must(tx().AddColumn(table, ColumnOf("filled int64 default '0'")));
  Commit();
  AddFile(table, {{late, 0}, {filled, 0}});
  ExpectRefused(kNotNow,
                "column \"late\" of table \"main\".\"t\" cannot be made NOT NULL: rows written "
                "before it was added read as NULL",
                forbid(late));
  Must(tx().SetColumnNullable(table, filled, false));
}

}  // namespace
}  // namespace varve

// The operations of a transaction on views, macros, tags, options, partitioning and sort order.

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

constexpr std::string_view kUuid = "00000000-0000-4000-8000-00000000abcd";

class TransactionProperties : public TransactionFixture {
 protected:
  int64_t CommittedTable(std::string_view columns) {
    const int64_t made = Must(tx().CreateTable(0, "t", ColumnsOf(columns)));
    return Commit().Resolve(made);
  }
};

// --- Views ---

TEST_F(TransactionProperties, AViewIsWrittenRenamedAndDropped) {
  const int64_t made = Must(tx().CreateView(
      0, "v",
      {.sql = "SELECT 1, 2", .column_aliases = {"a", "the \"b\""}, .uuid = std::string(kUuid)}));
  const int64_t view = Commit().Resolve(made);
  Must(tx().SetTag(view, "comment", "one"));
  Must(tx().RenameView(view, "w"));
  EXPECT_EQ(Must(tx().FindView(0, "W")), view);
  Commit();
  Must(tx().DropView(view));
  EXPECT_THAT(Seen("tag"), IsEmpty());
  Commit();
  const std::string rest = " | duckdb | SELECT 1, 2 | \"a\",\"the \"\"b\"\"\"";
  EXPECT_THAT(History("view"),
              ElementsAre(StrCat("1 | ", kUuid, " | 1 | 2 | 0 | v", rest, " @ [1, 2)"),
                          StrCat("1 | ", kUuid, " | 2 | 3 | 0 | w", rest, " @ [2, 3)")));
  EXPECT_EQ(ChangesMade(1), "1 | created_view:\"main\".\"v\" | - | - | -");
  EXPECT_EQ(ChangesMade(2), "2 | created_view:\"main\".\"w\",altered_view:1 | - | - | -");
  EXPECT_EQ(ChangesMade(3), "3 | dropped_view:1 | - | - | -");
  EXPECT_THAT(Rows("schema_versions"), IsEmpty());  // those are of tables
  EXPECT_THAT(Rows("snapshot"), Contains(HasSubstr("3 | 2026-01-01 00:00:03+00 | 3 |")));
}

TEST_F(TransactionProperties, ViewsThatCannotBeAreRefused) {
  Must(tx().CreateTable(0, "t", ColumnsOf("id int64")).status());
  const int64_t view = Must(tx().CreateView(0, "v", {.sql = "SELECT 1"}));
  const auto create = [&](std::string_view name, ViewDefinition definition) {
    return [&, name, definition] { return tx().CreateView(0, name, definition).status(); };
  };
  ExpectRefused(kExists, "table \"main\".\"t\" exists already", create("T", {.sql = "SELECT 1"}));
  ExpectRefused(kExists, "view \"main\".\"v\" exists already", create("V", {.sql = "SELECT 1"}));
  ExpectRefused(kInvalid, "the SQL of view \"main\".\"x\" is empty", create("x", {}));
  ExpectRefused(kInvalid, "the SQL of view \"main\".\"x\" is not valid UTF-8",
                create("x", {.sql = "\xff"}));
  ExpectRefused(kInvalid, "the name of the dialect of view \"main\".\"x\" is empty",
                create("x", {.sql = "SELECT 1", .dialect = ""}));
  ExpectRefused(kInvalid, "view \"main\".\"x\" would have two columns \"A\"",
                create("x", {.sql = "SELECT 1, 2", .column_aliases = {"a", "A"}}));
  ExpectRefused(kExists, "table \"main\".\"t\" exists already",
                [&] { return tx().RenameView(view, "t"); });
  ExpectRefused(kInvalid, "view \"main\".\"v\" has this name already",
                [&] { return tx().RenameView(view, "v"); });
  ExpectRefused(kNotFound, "there is no view with id 3", [&] { return tx().RenameView(3, "x"); });
  ExpectRefused(kNotFound, "there is no view with id 3", [&] { return tx().DropView(3); });
}

// --- Macros ---

TEST_F(TransactionProperties, AMacroIsWrittenWithItsImplementations) {
  const std::vector<MacroImplementation> implementations = {
      {.sql = "(a + b)",
       .parameters = {{.name = "a"},
                      {.name = "b", .default_value = "5", .default_value_type = "int32"}}},
      {.sql = "(a + b + c)", .parameters = {{.name = "a"}, {.name = "b"}, {.name = "c"}}}};
  const int64_t made = Must(tx().CreateMacro(0, "addp", MacroKind::kScalar, implementations));
  const std::vector<MacroImplementation> numbers = {{.sql = "SELECT * FROM range(3)"}};
  Must(tx().CreateMacro(0, "numbers", MacroKind::kTable, numbers).status());
  // Macros and tables do not get in each other's way.
  Must(tx().CreateTable(0, "addp", ColumnsOf("id int64")).status());
  EXPECT_THAT(Seen("macro"), ElementsAre("0 | c0 | addp | 1 | -", "0 | c1 | numbers | 1 | -"));
  EXPECT_THAT(Seen("macro_impl"), ElementsAre("c0 | 0 | duckdb | (a + b) | scalar",
                                              "c0 | 1 | duckdb | (a + b + c) | scalar",
                                              "c1 | 0 | duckdb | SELECT * FROM range(3) | table"));
  EXPECT_THAT(Seen("macro_parameters"), ElementsAre("c0 | 0 | 0 | a | unknown | NULL | unknown",
                                                    "c0 | 0 | 1 | b | unknown | 5 | int32",
                                                    "c0 | 1 | 0 | a | unknown | NULL | unknown",
                                                    "c0 | 1 | 1 | b | unknown | NULL | unknown",
                                                    "c0 | 1 | 2 | c | unknown | NULL | unknown"));
  const int64_t macro = Commit().Resolve(made);
  EXPECT_EQ(ChangesMade(1),
            "1 | created_table:\"main\".\"addp\",created_scalar_macro:\"main\".\"addp\","
            "created_table_macro:\"main\".\"numbers\" | - | - | -");
  Must(tx().DropMacro(macro));
  Must(tx().DropMacro(Must(tx().FindMacro(0, "numbers"))));
  EXPECT_THAT(Seen("macro_impl"), IsEmpty());
  Commit();
  EXPECT_EQ(ChangesMade(2), "2 | dropped_scalar_macro:1,dropped_table_macro:2 | - | - | -");
  EXPECT_THAT(Rows("macro"), IsEmpty());
  EXPECT_EQ(RowsAt(1, "macro_parameters").size(), 5U);
  ExpectRefused(kNotFound, "macro \"addp\" (id 1) has been dropped",
                [&] { return tx().DropMacro(macro); });
}

TEST_F(TransactionProperties, AMacroMadeAndDroppedAtOnceLeavesNothing) {
  const std::vector<std::string> before = EverythingSeen(tx());
  const std::vector<MacroImplementation> implementations = {
      {.sql = "a", .parameters = {{.name = "a"}}}};
  const int64_t macro = Must(tx().CreateMacro(0, "m", MacroKind::kScalar, implementations));
  Must(tx().DropMacro(macro));
  EXPECT_EQ(EverythingSeen(tx()), before);
  EXPECT_EQ(Commit().snapshot, 0U);
  EXPECT_THAT(History("macro_parameters"), IsEmpty());
}

TEST_F(TransactionProperties, MacrosThatCannotBeAreRefused) {
  Must(tx().CreateMacro(0, "m", MacroKind::kScalar, std::vector<MacroImplementation>{{.sql = "1"}})
           .status());
  const auto create = [&](std::string_view name, std::vector<MacroImplementation> implementations) {
    return [&, name, implementations] {
      return tx().CreateMacro(0, name, MacroKind::kScalar, implementations).status();
    };
  };
  ExpectRefused(kExists, "macro \"main\".\"m\" exists already", create("M", {{.sql = "1"}}));
  ExpectRefused(kInvalid, "macro \"main\".\"n\" needs an implementation", create("n", {}));
  ExpectRefused(kInvalid, "the SQL of macro \"main\".\"n\" is empty", create("n", {{}}));
  ExpectRefused(kInvalid, "the name of a parameter of macro \"main\".\"n\" is empty",
                create("n", {{.sql = "1", .parameters = {{}}}}));
  ExpectRefused(kInvalid, "macro \"main\".\"n\" would have two parameters \"A\"",
                create("n", {{.sql = "1", .parameters = {{.name = "a"}, {.name = "A"}}}}));
  ExpectRefused(
      kInvalid, "parameter \"b\" of macro \"main\".\"n\" has no default but follows one that has",
      create("n",
             {{.sql = "1", .parameters = {{.name = "a", .default_value = "1"}, {.name = "b"}}}}));
}

// --- Tags ---

TEST_F(TransactionProperties, TagsAreSetChangedAndRemoved) {
  const int64_t table = CommittedTable("id int64, name varchar");
  Must(tx().SetTag(table, "comment", "one"));
  Must(tx().SetTag(table, "Comment", "differs in case"));
  Must(tx().SetTag(table, "", "no key"));
  Must(tx().SetColumnTag(table, 2, "comment", "of name"));
  EXPECT_THAT(Seen("tag"),
              ElementsAre("1 | 2 | - |  | no key", "1 | 2 | - | Comment | differs in case",
                          "1 | 2 | - | comment | one"));
  EXPECT_THAT(Seen("column_tag"), ElementsAre("1 | 2 | 2 | - | comment | of name"));
  Commit();
  EXPECT_EQ(ChangesMade(2), "2 | altered_table:1 | - | - | -");
  Must(tx().SetTag(table, "comment", "two"));
  Must(tx().SetTag(table, "comment", "three"));
  Must(tx().SetTag(table, "Comment", std::nullopt));
  Must(tx().SetColumnTag(table, 2, "comment", std::nullopt));
  Commit();
  EXPECT_THAT(History("tag"), ElementsAre("1 | 2 | - |  | no key @ [2, …)",
                                          "1 | 2 | 3 | Comment | differs in case @ [2, 3)",
                                          "1 | 2 | 3 | comment | one @ [2, 3)",
                                          "1 | 3 | - | comment | three @ [3, …)"));
  EXPECT_THAT(Rows("column_tag"), IsEmpty());
  // Tags raise the schema version, but the table's rows look the same in files.
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1"));
  EXPECT_THAT(Rows("snapshot"), Contains(HasSubstr("3 | 2026-01-01 00:00:03+00 | 3 |")));
}

TEST_F(TransactionProperties, TagsThatCannotBeAreRefused) {
  const int64_t table = CommittedTable("id int64");
  const int64_t macro = Must(
      tx().CreateMacro(0, "m", MacroKind::kScalar, std::vector<MacroImplementation>{{.sql = "1"}}));
  const auto tag = [&](int64_t object, std::string_view key, NullableText value) {
    return [&, object, key, value] { return tx().SetTag(object, key, value); };
  };
  ExpectRefused(kNotFound, "there is no table or view with id 12", tag(12, "k", "v"));
  ExpectRefused(kInvalid, "schema \"main\" cannot have tags: only tables, views and columns can",
                tag(0, "k", "v"));
  ExpectRefused(kInvalid,
                "macro \"main\".\"m\" cannot have tags: only tables, views and columns can",
                tag(macro, "k", "v"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no tag \"k\"", tag(table, "k", std::nullopt));
  ExpectRefused(kInvalid, "tag \"k\" is not valid UTF-8", tag(table, "k", "\xff"));
  ExpectRefused(kInvalid, "the key of a tag holds a NUL byte",
                tag(table, std::string_view("\0", 1), "v"));
  ExpectRefused(kInvalid, "the key of a tag is 2000 bytes long; at most 1000 are allowed",
                tag(table, std::string(2000, 'k'), "v"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no column with id 2",
                [&] { return tx().SetColumnTag(table, 2, "k", "v"); });
  ExpectRefused(kNotFound, "column \"id\" of table \"main\".\"t\" has no tag \"k\"",
                [&] { return tx().SetColumnTag(table, 1, "k", std::nullopt); });
}

// --- Partitioning and sort order ---

TEST_F(TransactionProperties, APartitioningEndsTheOneBefore) {
  const int64_t table = CommittedTable("ts timestamp, region varchar, v int32");
  Must(tx().SetPartitioning(
      table, std::vector<PartitionKey>{{.column_id = 2}, {.column_id = 1, .transform = "YEAR"}}));
  EXPECT_THAT(Seen("partition_info"), ElementsAre("c0 | 1 | 2 | -"));
  EXPECT_THAT(Seen("partition_column"),
              ElementsAre("c0 | 1 | 0 | 2 | identity", "c0 | 1 | 1 | 1 | year"));
  Commit();
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1", "2 | 2 | 1"));
  // Set twice: only the last one was ever there. A column may be a key more than once.
  Must(tx().SetPartitioning(table, std::vector<PartitionKey>{{.column_id = 3}}));
  Must(tx().SetPartitioning(table,
                            std::vector<PartitionKey>{{.column_id = 3, .transform = "bucket(4)"},
                                                      {.column_id = 3, .transform = "bucket(4)"}}));
  Commit();
  EXPECT_THAT(History("partition_info"),
              ElementsAre("2 | 1 | 2 | 3 @ [2, 3)", "4 | 1 | 3 | - @ [3, …)"));
  EXPECT_THAT(Rows("partition_column"),
              ElementsAre("4 | 1 | 0 | 3 | bucket(4)", "4 | 1 | 1 | 3 | bucket(4)"));
  EXPECT_EQ(RowsAt(2, "partition_column").size(), 2U);
  // No longer partitioned, which is one without keys.
  Must(tx().SetPartitioning(table, {}));
  Commit();
  EXPECT_THAT(Rows("partition_info"), ElementsAre("5 | 1 | 4 | -"));
  EXPECT_THAT(Rows("partition_column"), IsEmpty());
  // What is so already is no change.
  Must(tx().SetPartitioning(table, {}));
  EXPECT_EQ(Commit().snapshot, 4U);
}

TEST_F(TransactionProperties, PartitioningsThatCannotBeAreRefused) {
  const int64_t table =
      CommittedTable("ts timestamptz, d date, v int32, l list(int64), s struct(x int64)");
  const auto partition = [&](int64_t column, std::string transform) {
    return [&, column, transform] {
      return tx().SetPartitioning(
          table, std::vector<PartitionKey>{{.column_id = column, .transform = transform}});
    };
  };
  ExpectRefused(
      kInvalid,
      "unknown partition transform \"decade\"; there are identity, year, month, day, hour "
      "and bucket(N)",
      partition(1, "decade"));
  ExpectRefused(kInvalid,
                "partition transform year needs a date or timestamp; column \"v\" of table "
                "\"main\".\"t\" is a int32",
                partition(3, "year"));
  ExpectRefused(kInvalid,
                "partition transform hour needs a timestamp; column \"d\" of table \"main\".\"t\" "
                "is a date",
                partition(2, "hour"));
  for (const char* transform : {"bucket(0)", "bucket(-1)", "bucket()", "bucket(4", "bucket(x)",
                                "bucket(2147483648)", "bucket(4) "}) {
    ExpectRefused(kInvalid,
                  StrCat("partition transform \"", transform,
                         "\": expected bucket(N) with N from 1 to 2147483647"),
                  partition(3, transform));
  }
  ExpectRefused(kInvalid,
                "column \"l\" of table \"main\".\"t\" is a list: a table cannot be partitioned by "
                "it",
                partition(4, "identity"));
  ExpectRefused(kInvalid,
                "column \"s\".\"x\" of table \"main\".\"t\" is a field: tables are partitioned by "
                "whole columns",
                partition(7, "identity"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no column with id 99",
                partition(99, "identity"));
  Must(partition(1, "hour")());
  const std::vector<DataFile> files = {{.path = "a", .partition_values = {"7"}}};
  Must(tx().RegisterDataFiles(table, files).status());
  ExpectRefused(kNotNow,
                "the partitioning of table \"main\".\"t\" was set in this transaction, and files "
                "have been registered by it since; commit before changing it again",
                partition(2, "day"));
}

TEST_F(TransactionProperties, ASortOrderEndsTheOneBefore) {
  const int64_t table = CommittedTable("ts timestamp, region varchar");
  const std::vector<SortKey> keys = {{.expression = "ts", .ascending = false},
                                     {.expression = "lower(region)", .nulls_first = true}};
  Must(tx().SetSortOrder(table, keys));
  Commit();
  EXPECT_THAT(Rows("sort_info"), ElementsAre("2 | 1 | 2 | -"));
  EXPECT_THAT(Rows("sort_expression"),
              ElementsAre("2 | 1 | 0 | ts | duckdb | DESC | NULLS_LAST",
                          "2 | 1 | 1 | lower(region) | duckdb | ASC | NULLS_FIRST"));
  EXPECT_EQ(ChangesMade(2), "2 | altered_table:1 | - | - | -");
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1"));
  Must(tx().SetSortOrder(table, keys));
  EXPECT_EQ(Commit().snapshot, 2U);
  Must(tx().SetSortOrder(table, {}));
  Commit();
  EXPECT_THAT(History("sort_info"), ElementsAre("2 | 1 | 2 | 3 @ [2, 3)"));
  Must(tx().SetSortOrder(table, {}));
  EXPECT_EQ(Commit().snapshot, 3U);
  const auto sort = [&](SortKey key) {
    return [&, key] { return tx().SetSortOrder(table, std::vector<SortKey>{key}); };
  };
  ExpectRefused(kInvalid, "a sort expression is empty", sort({.expression = " "}));
  ExpectRefused(kInvalid, "a sort expression is not valid UTF-8", sort({.expression = "\xff"}));
  ExpectRefused(kNotFound,
                "table \"main\".\"t\" has no column \"regoin\" to be sorted by; did you mean "
                "\"region\"?",
                sort({.expression = "regoin"}));
  ExpectRefused(kInvalid, "the name of the dialect of a sort expression is empty",
                sort({.expression = "ts", .dialect = ""}));
}

// --- Options ---

TEST_F(TransactionProperties, OptionsAreSetAtThreeScopesWithoutASnapshot) {
  const int64_t table = CommittedTable("id int64");
  const std::vector<std::string> before = Seen("metadata");
  Must(tx().SetOption(OptionScope::kGlobal, 0, "target_file_size", "512MB"));
  Must(tx().SetOption(OptionScope::kSchema, 0, "target_file_size", "1GiB"));
  Must(tx().SetOption(OptionScope::kTable, table, "Target_File_Size", "1000000"));
  Must(tx().SetOption(OptionScope::kGlobal, 0, "parquet_compression", "ZSTD"));
  EXPECT_EQ(Commit().snapshot, 1U);
  std::vector<std::string> rows = Rows("metadata");
  std::erase_if(rows, [&](const std::string& row) {
    return std::find(before.begin(), before.end(), row) != before.end();
  });
  EXPECT_THAT(rows, ElementsAre("parquet_compression | zstd | - | -",
                                "target_file_size | 512000000 | - | -",
                                "target_file_size | 1073741824 | schema | 0",
                                "target_file_size | 1000000 | table | 1"));
  Must(tx().SetOption(OptionScope::kGlobal, 0, "target_file_size", "7"));
  Must(tx().SetOption(OptionScope::kTable, table, "target_file_size", std::nullopt));
  Commit();
  EXPECT_THAT(Rows("metadata"), Contains("target_file_size | 7 | - | -"));
  EXPECT_EQ(Rows("metadata").size(), before.size() + 3);
}

TEST_F(TransactionProperties, AnOptionThatIsThereTwiceIsSetOnce) {
  MustApply(
      "insert metadata auto_compact | true | - | -\ninsert metadata auto_compact | false | - | -");
  Begin();
  Must(tx().SetOption(OptionScope::kGlobal, 0, "auto_compact", "true"));
  Commit();
  const auto count = [&] {
    const std::vector<std::string> rows = Rows("metadata");
    return std::count_if(rows.begin(), rows.end(), [](const std::string& row) {
      return row.starts_with("auto_compact | true");
    });
  };
  EXPECT_EQ(count(), 1);
  MustApply("insert metadata auto_compact | true | - | -");
  Begin();
  Must(tx().SetOption(OptionScope::kGlobal, 0, "auto_compact", std::nullopt));
  Commit();
  EXPECT_EQ(count(), 0);
}

TEST_F(TransactionProperties, OptionsThatCannotBeAreRefused) {
  const auto set = [&](std::string_view key, NullableText value,
                       OptionScope scope = OptionScope::kGlobal, int64_t id = 0) {
    return [&, key, value, scope, id] { return tx().SetOption(scope, id, key, value); };
  };
  ExpectRefused(kNotFound,
                "there is no option \"target_file_sise\"; did you mean target_file_size?",
                set("target_file_sise", "1"));
  ExpectRefused(kInvalid, "option version is fixed when the lake is made; it cannot be set",
                set("version", "2.0"));
  ExpectRefused(kInvalid, "option data_path is fixed when the lake is made; it cannot be set",
                set("DATA_PATH", std::nullopt));
  ExpectRefused(kNotFound, "option auto_compact is not set", set("auto_compact", std::nullopt));
  ExpectRefused(kInvalid, "option auto_compact: expected true or false, found \"maybe\"",
                set("auto_compact", "maybe"));
  ExpectRefused(kInvalid,
                "option parquet_compression: expected one of uncompressed, snappy, gzip, zstd, "
                "brotli, lz4, lz4_raw, found \"rar\"",
                set("parquet_compression", "rar"));
  ExpectRefused(kInvalid,
                "option expire_older_than is one of the whole lake; it cannot be set for a schema",
                set("expire_older_than", "7 days", OptionScope::kSchema));
  ExpectRefused(kNotFound, "there is no table with id 4",
                set("auto_compact", "true", OptionScope::kTable, 4));
  ExpectRefused(kNotFound, "there is no schema with id 4",
                set("auto_compact", "true", OptionScope::kSchema, 4));
}

}  // namespace
}  // namespace varve

// The operations of a transaction on inlined rows: which relation they go to, what the transaction
// then reads, how they are deleted, updated and flushed, and what is refused.

#include <array>
#include <random>

#include "tests/catalog/file_text.h"
#include "tests/catalog/transaction_text.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kExists = absl::StatusCode::kAlreadyExists;
constexpr absl::StatusCode kNotNow = absl::StatusCode::kFailedPrecondition;

using Values = std::vector<NullableText>;

class TransactionInlined : public TransactionFixture {
 protected:
  void SetUp() override {
    TransactionFixture::SetUp();
    Must(tx().CreateTable(0, "t", ColumnsOf("id int64 not null, name varchar, x float64")));
    Commit();
  }
  void TearDown() override { EXPECT_THAT(ErrorsFoundIn(catalog_->Current()), IsEmpty()); }

  int64_t Insert(const std::vector<Values>& rows, int64_t table = 1) {
    return Must(tx().InsertInlined(table, rows));
  }
  absl::Status TryInsert(const std::vector<Values>& rows, int64_t table = 1) {
    return tx().InsertInlined(table, rows).status();
  }
};

TEST_F(TransactionInlined, TheFirstRowsMakeTheirRelation) {
  EXPECT_EQ(Insert({{"1", "one", "0.5"}, {"2", std::nullopt, std::nullopt}}),
            kFirstProvisionalRowId);
  EXPECT_THAT(Seen("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_1 | 1"));
  EXPECT_THAT(Seen("ducklake_inlined_data_1_1"),
              ElementsAre("r0 | 2 | - | 1 | one | 0.5", "r1 | 2 | - | 2 | - | -"));
  EXPECT_THAT(Seen("table_stats"), ElementsAre("1 | 2 | 2 | 0"));
  EXPECT_THAT(Seen("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 1 | 2 | -", "1 | 2 | true | - | one | one | -",
                          "1 | 3 | true | false | 0.5 | 0.5 | -"));
  EXPECT_EQ(Commit().Resolve(kFirstProvisionalRowId + 1, 1), 1);
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_1 | 1"));
  EXPECT_THAT(Rows("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | - | 1 | one | 0.5", "1 | 2 | - | 2 | - | -"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 2 | 2 | 0"));
  EXPECT_EQ(ChangesMade(2), "2 | inlined_insert:1 | - | - | -");
}

TEST_F(TransactionInlined, LaterRowsGoOnInIt) {
  Insert({{"1", "one", "0.5"}});
  Commit();
  Insert({{"2", "two", "nan"}});
  Insert({{"3", "three", "-1"}});
  Commit();
  EXPECT_THAT(Rows("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | - | 1 | one | 0.5", "1 | 3 | - | 2 | two | NaN",
                          "2 | 3 | - | 3 | three | -1"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 3 | 3 | 0"));
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 1 | 3 | -", "1 | 2 | false | - | one | two | -",
                          "1 | 3 | false | true | -1 | 0.5 | -"));
}

TEST_F(TransactionInlined, EveryTypeIsTakenAsItsCanonicalText) {
  const int64_t table = Must(tx().CreateTable(
      0, "all",
      ColumnsOf(
          "b boolean, i int8, u uint128, d decimal(12,2), f float32, day date, at time, ts "
          "timestamp, tz timestamptz, iv interval, j json, bl blob, u2 uuid, l list(int32), o "
          "timetz")));
  Insert(
      {{"true", "-128", "340282366920938463463374607431768211455", "1.50", "1.5", "2026-01-02",
        "23:59:59", "2026-01-02 03:04:05", "2026-01-02 03:04:05+00", "1 year 2 mons", "{\"a\": 1}",
        "\\x00ff41", "00000000-0000-0000-0000-00000000000a", "[1, 2]", "12:00:00+02"}},
      table);
  const CommitResult result = Commit();
  EXPECT_THAT(
      Rows(StrCat("ducklake_inlined_data_", result.Resolve(table), "_2")),
      ElementsAre("0 | 2 | - | true | -128 | 340282366920938463463374607431768211455 | 1.50 | "
                  "1.5 | 2026-01-02 | 23:59:59 | 2026-01-02 03:04:05 | 2026-01-02 "
                  "03:04:05+00 | 1 year 2 mons | {\"a\": 1} | \\x00ff41 | "
                  "00000000-0000-0000-0000-00000000000a | [1, 2] | 12:00:00+02"));
  EXPECT_THAT(
      Rows("table_column_stats"),
      ElementsAre("2 | 1 | false | - | true | true | -", "2 | 2 | false | - | -128 | -128 | -",
                  "2 | 3 | false | - | 340282366920938463463374607431768211455 | "
                  "340282366920938463463374607431768211455 | -",
                  "2 | 4 | false | - | 1.50 | 1.50 | -", "2 | 5 | false | false | 1.5 | 1.5 | -",
                  "2 | 6 | false | - | 2026-01-02 | 2026-01-02 | -",
                  "2 | 7 | false | - | 23:59:59 | 23:59:59 | -",
                  "2 | 8 | false | - | 2026-01-02 03:04:05 | 2026-01-02 03:04:05 | -",
                  "2 | 9 | false | - | 2026-01-02 03:04:05+00 | 2026-01-02 03:04:05+00 | -",
                  "2 | 10 | false | - | 1 year 2 mons | 1 year 2 mons | -",
                  "2 | 11 | false | - | {\"a\": 1} | {\"a\": 1} | -",
                  "2 | 12 | false | - | \\x00\\xFFA | \\x00\\xFFA | -",
                  "2 | 13 | false | - | 00000000-0000-0000-0000-00000000000a | "
                  "00000000-0000-0000-0000-00000000000a | -",
                  "2 | 16 | false | - | - | - | -"));
}

// --- Relations whose name is not known before the commit ---

TEST_F(TransactionInlined, RowsOfATableTheTransactionMadeItself) {
  const int64_t table = Must(tx().CreateTable(0, "own", ColumnsOf("id int64")));
  const int64_t row = Insert({{"7"}, {"8"}}, table);
  Must(tx().DeleteInlined(table, std::array{row}));
  Must(tx().UpdateInlined(table, row + 1, {"9"}));
  const CommitResult result = Commit();
  EXPECT_EQ(result.Resolve(row + 1, table), 1);
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("2 | ducklake_inlined_data_2_2 | 2"));
  EXPECT_THAT(History("ducklake_inlined_data_2_2"), ElementsAre("1 | 2 | - | 9 @ [2, …)"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("2 | 2 | 2 | 0"));
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1", "2 | 2 | 2"));
}

TEST_F(TransactionInlined, AlteredTablesGetARelationOfTheirOwn) {
  Insert({{"1", "one", "0.5"}});
  Commit();
  Insert({{"2", "before", "1"}});
  Must(tx().AddColumn(1, ColumnOf("y int32 default '5'")));
  Insert({{"3", "after", "1", "6"}});
  Must(tx().RenameColumn(1, 2, "title"));
  Insert({{"4", "later", "1", "7"}});
  Must(tx().DropColumn(1, 3));
  Must(tx().AddColumn(1, ColumnOf("z varchar default 'd'")));
  Commit();
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_1 | 1",
                                                       "1 | ducklake_inlined_data_1_2 | 2"));
  EXPECT_THAT(Rows("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | - | 1 | one | 0.5", "1 | 3 | - | 2 | before | 1"));
  EXPECT_THAT(Rows("ducklake_inlined_data_1_2"),
              ElementsAre("2 | 3 | - | 3 | after | 6 | d", "3 | 3 | - | 4 | later | 7 | d"));
  const RelationRef relation =
      catalog_->Current().relations().FindByName("ducklake_inlined_data_1_2");
  EXPECT_EQ(relation->columns.column(4).name, "title");
  // The row that is updated moves to the newest relation.
  Must(tx().UpdateInlined(1, 0, {"1", "ONE", "0", std::nullopt}));
  Commit();
  EXPECT_THAT(
      History("ducklake_inlined_data_1_1"),
      ElementsAre("0 | 2 | 4 | 1 | one | 0.5 @ [2, 4)", "1 | 3 | - | 2 | before | 1 @ [3, …)"));
  EXPECT_THAT(Rows("ducklake_inlined_data_1_2"),
              ElementsAre("0 | 4 | - | 1 | ONE | 0 | -", "2 | 3 | - | 3 | after | 6 | d",
                          "3 | 3 | - | 4 | later | 7 | d"));
  EXPECT_EQ(ChangesMade(4), "4 | inlined_insert:1,inlined_delete:1 | - | - | -");
}

TEST_F(TransactionInlined, WideningATypeKeepsOwnRows) {
  const int64_t table = Must(tx().CreateTable(0, "own", ColumnsOf("a int32, b float32")));
  Insert({{"7", "1.5"}}, table);
  Must(tx().SetColumnType(table, 1, "int64"));
  Must(tx().SetColumnType(table, 2, "float64"));
  Insert({{"5000000000", "2"}}, table);
  Commit();
  EXPECT_THAT(Rows("ducklake_inlined_data_2_2"),
              ElementsAre("0 | 2 | - | 7 | 1.5", "1 | 2 | - | 5000000000 | 2"));
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("2 | 1 | false | - | 7 | 5000000000 | -",
                                                      "2 | 2 | false | false | 1.5 | 2 | -"));
}

TEST_F(TransactionInlined, NothingRemainsOfATableThatWentAgain) {
  const int64_t table = Must(tx().CreateTable(0, "own", ColumnsOf("id int64")));
  Insert({{"7"}}, table);
  Must(tx().DropTable(table));
  Insert({{"1", "one", "0.5"}});
  Commit();
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_1 | 1"));
  // Rows of a table that is dropped with them are not given row ids.
  Insert({{"2", "two", "1"}});
  Must(tx().DropTable(1));
  Commit();
  EXPECT_THAT(History("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | - | 1 | one | 0.5 @ [2, …)"));
}

TEST_F(TransactionInlined, TwoTransactionsMayMakeOneRelation) {
  absl::StatusOr<Transaction> other = catalog_->Begin({.time = SnapshotTime(3)});
  ASSERT_TRUE(other.ok());
  const std::vector<Values> rows = {{"2", "two", "1"}};
  const int64_t second = Must(other->InsertInlined(1, rows));
  Insert({{"1", "one", "0.5"}});
  Commit();
  const absl::StatusOr<CommitResult> result = other->Commit();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->Resolve(second, 1), 1);
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_1 | 1"));
  EXPECT_THAT(Rows("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | - | 1 | one | 0.5", "1 | 3 | - | 2 | two | 1"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 2 | 2 | 0"));
}

// --- Deleting and updating ---

TEST_F(TransactionInlined, DeletedRowsEnd) {
  Insert({{"1", "one", "0.5"}, {"2", "two", "1"}, {"3", "three", "1"}});
  Commit();
  Must(tx().DeleteInlined(1, std::array<int64_t, 2>{0, 2}));
  EXPECT_THAT(Seen("ducklake_inlined_data_1_1"), ElementsAre("1 | 2 | - | 2 | two | 1"));
  Commit();
  EXPECT_THAT(History("ducklake_inlined_data_1_1"),
              ElementsAre("0 | 2 | 3 | 1 | one | 0.5 @ [2, 3)", "1 | 2 | - | 2 | two | 1 @ [2, …)",
                          "2 | 2 | 3 | 3 | three | 1 @ [2, 3)"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 3 | 3 | 0"));  // not counted down
  EXPECT_EQ(ChangesMade(3), "3 | inlined_delete:1 | - | - | -");
  const auto remove = [&](const std::vector<int64_t>& ids) {
    return [&, ids] { return tx().DeleteInlined(1, ids); };
  };
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no inlined row 0", remove({1, 0}));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no inlined row 1", remove({1, 1}));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no inlined row 99", remove({99}));
}

TEST_F(TransactionInlined, UpdatedRowsKeepTheirId) {
  Insert({{"1", "one", "0.5"}});
  Commit();
  Must(tx().UpdateInlined(1, 0, {"1", "ONE", "7"}));
  Must(tx().UpdateInlined(1, 0, {"1", "One", "7"}));
  EXPECT_THAT(Seen("ducklake_inlined_data_1_1"), ElementsAre("0 | 3 | - | 1 | One | 7"));
  Commit();
  EXPECT_THAT(
      History("ducklake_inlined_data_1_1"),
      ElementsAre("0 | 2 | 3 | 1 | one | 0.5 @ [2, 3)", "0 | 3 | - | 1 | One | 7 @ [3, …)"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 1 | 1 | 0"));
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 1 | 1 | -", "1 | 2 | false | - | ONE | one | -",
                          "1 | 3 | false | false | 0.5 | 7 | -"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no inlined row 5", [&] {
    return tx().UpdateInlined(1, 5, {"1", "a", "1"});
  });
  ExpectRefused(kInvalid,
                "table \"main\".\"t\", row 0: column \"x\": 'a lot' is not a double precision",
                [&] {
                  return tx().UpdateInlined(1, 0, {"1", "a", "a lot"});
                });
}

TEST_F(TransactionInlined, RowsThatCannotBeAreRefused) {
  const auto refused = [&](std::string_view message, const std::vector<Values>& rows) {
    ExpectRefused(kInvalid, message, [&] { return TryInsert(rows); });
  };
  refused("there are no rows to insert", {});
  refused("table \"main\".\"t\", row 2 of 2: a row has 2 values, the table 3 columns",
          {{"1", "a", "1"}, {"2", "b"}});
  refused("table \"main\".\"t\", row 1 of 1: column \"id\": 'one' is not a bigint",
          {{"one", "a", "1"}});
  refused(
      "table \"main\".\"t\", row 1 of 1: column \"id\": the value is NULL; the column allows none",
      {{std::nullopt, "a", "1"}});
  refused("table \"main\".\"t\", row 1 of 1: column \"name\": the value is not valid UTF-8",
          {{"1", "\xff", "1"}});
  refused("table \"main\".\"t\", row 1 of 1: column \"name\": the value holds a NUL byte",
          {{"1", std::string("a\0", 2), "1"}});
  ExpectRefused(kNotFound, "there is no table with id 9", [&] { return TryInsert({{"1"}}, 9); });
}

// --- Deletes of rows of data files ---

TEST_F(TransactionInlined, RowsOfADataFileAreDeletedInline) {
  const std::vector<DataFile> files = {FileOf("a 10 100"), FileOf("b 10 100")};
  ASSERT_TRUE(tx().RegisterDataFiles(1, files).ok());
  Commit();
  Must(tx().DeleteFromFile(1, 0, std::array<int64_t, 2>{9, 0}));
  EXPECT_THAT(Seen("ducklake_inlined_delete_1"), ElementsAre("0 | 0 | 3", "0 | 9 | 3"));
  Commit();
  Must(tx().DeleteFromFile(1, 1, std::array<int64_t, 1>{5}));
  Commit();
  EXPECT_THAT(Rows("ducklake_inlined_delete_1"),
              ElementsAre("0 | 0 | 3", "0 | 9 | 3", "1 | 5 | 4"));
  EXPECT_THAT(RowsAt(3, "ducklake_inlined_delete_1"), ElementsAre("0 | 0 | 3", "0 | 9 | 3"));
  EXPECT_EQ(ChangesMade(3), "3 | inlined_delete:1 | - | - | -");
  const auto remove = [&](int64_t file, const std::vector<int64_t>& rows) {
    return [&, file, rows] { return tx().DeleteFromFile(1, file, rows); };
  };
  ExpectRefused(kExists, "row 9 of data file 0 is deleted already", remove(0, {1, 9}));
  ExpectRefused(kExists, "row 1 of data file 0 is deleted already", remove(0, {1, 1}));
  ExpectRefused(kInvalid, "data file 0 has no row 10: its rows are 0 to 9", remove(0, {10}));
  ExpectRefused(kInvalid, "data file 0 has no row -1: its rows are 0 to 9", remove(0, {-1}));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 7: there never was one",
                remove(7, {1}));
  const std::vector<DataFile> own = {FileOf("own 10 100")};
  const absl::StatusOr<std::vector<int64_t>> ids = tx().RegisterDataFiles(1, own);
  ExpectRefused(
      kNotNow,
      "a data file that the transaction registered itself has no inlined deletes; leave the "
      "rows out of the file, or register a delete file for it",
      remove(ids->front(), {1}));
}

// --- Flushing ---

TEST_F(TransactionInlined, AFlushMovesEveryVersionToAFile) {
  Insert({{"1", "one", "0.5"}, {"2", "two", "1"}});
  Commit();
  Must(tx().UpdateInlined(1, 0, {"1", "ONE", "1"}));
  Commit();
  Must(tx().AddColumn(1, ColumnOf("y int32")));
  Insert({{"3", "three", "1", "5"}});
  Commit();
  Must(tx().DeleteInlined(1, std::array<int64_t, 1>{1}));
  Commit();
  const auto flush = [&](std::string_view file, std::string_view deletes) {
    return [&, file, deletes] {
      return tx()
          .FlushInlined(1, FileOf(file),
                        deletes.empty() ? std::nullopt : std::optional(DeletesOf(0, deletes)))
          .status();
    };
  };
  ExpectRefused(kInvalid, "data file \"f\" has 3 rows, table \"main\".\"t\" has 4 inlined ones",
                flush("f 3 300", "d 2 50"));
  ExpectRefused(
      kInvalid,
      "table \"main\".\"t\" has 2 inlined rows that have ended, the delete file of the flush "
      "has 0",
      flush("f 4 300", ""));
  ExpectRefused(kInvalid, "path \"f\" is given to two files", [&] {
    const absl::Status status = flush("f 4 300", "f 2 50")();
    return absl::IsAlreadyExists(status) ? absl::InvalidArgumentError(status.message()) : status;
  });
  Must(flush("f 4 300; 1 1 3 0", "d 2 50")());
  Commit();
  EXPECT_THAT(
      History("data_file"),
      ElementsAre("0 | 1 | 2 | - | - | f | true | parquet | 4 | 300 | 0 | 0 | - | - | - | 4 @ "
                  "[2, …)"));
  EXPECT_THAT(History("delete_file"),
              ElementsAre("1 | 1 | 3 | - | 0 | d | true | parquet | 2 | 50 | 0 | - | 5 @ [3, …)"));
  EXPECT_THAT(Rows("file_column_stats"), ElementsAre("0 | 1 | 1 | - | 4 | 0 | 1 | 3 | - | -"));
  // The relation of the newest schema version stays, the other one goes.
  EXPECT_THAT(Rows("inlined_data_tables"), ElementsAre("1 | ducklake_inlined_data_1_2 | 2"));
  EXPECT_THAT(History("ducklake_inlined_data_1_2"), IsEmpty());
  EXPECT_EQ(catalog_->Current().relations().FindByName("ducklake_inlined_data_1_1"), nullptr);
  // Rows were counted when they came; bytes are new.
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 3 | 3 | 300"));
  EXPECT_EQ(ChangesMade(6), "6 | inline_flush:1 | - | - | -");
  Insert({{"4", "four", "1", "5"}});
  Commit();
  EXPECT_THAT(Rows("ducklake_inlined_data_1_2"), ElementsAre("3 | 7 | - | 4 | four | 1 | 5"));
}

TEST_F(TransactionInlined, FlushesThatCannotBeAreRefused) {
  const auto flush = [&] { return tx().FlushInlined(1, FileOf("f 1 300"), std::nullopt).status(); };
  ExpectRefused(kNotNow, "table \"main\".\"t\" has no inlined rows to flush", flush);
  constexpr std::string_view kOwn =
      "the transaction has changed inlined rows of table \"main\".\"t\" itself; commit it, and "
      "flush "
      "them in another one";
  Insert({{"1", "one", "0.5"}});
  ExpectRefused(kNotNow, kOwn, flush);
  Commit();
  Must(tx().DeleteInlined(1, std::array<int64_t, 1>{0}));
  ExpectRefused(kNotNow, kOwn, flush);
}

TEST_F(TransactionInlined, AFlushOfAPartitionedTableMayLieInNoPartition) {
  const std::vector<PartitionKey> keys = {{.column_id = 2}};
  Must(tx().SetPartitioning(1, keys));
  Insert({{"1", "one", "0.5"}, {"2", "two", "0.5"}});
  Commit();
  Must(tx().FlushInlined(1, FileOf("f 2 300"), std::nullopt));
  Commit();
  Insert({{"3", "one", "0.5"}});
  Commit();
  Must(tx().FlushInlined(1, FileOf("g 1 300; partition one"), std::nullopt));
  Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 2, 11, 12, 15}}),
              ElementsAre("0 | 2 | 0 | - | 2", "1 | 4 | 2 | 2 | 4"));
  EXPECT_THAT(Rows("file_partition_value"), ElementsAre("1 | 1 | 0 | one"));
}

// --- Against a model ---

// Random inserts of rows and files in random transactions: the counts and bounds of the table are
// those of all that came.
TEST_F(TransactionInlined, StatisticsOfTheTableAreThoseOfAllThatCame) {
  std::mt19937_64 random(TestSeed());
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int64_t rows = 0;
  int64_t bytes = 0;
  std::optional<int64_t> least;
  std::optional<int64_t> most;
  std::optional<std::string> first_name;
  std::optional<std::string> last_name;
  bool null_name = false;
  const auto note = [&](int64_t id, const NullableText& name) {
    least = std::min(least.value_or(id), id);
    most = std::max(most.value_or(id), id);
    null_name |= !name.has_value();
    if (name.has_value()) {
      first_name = std::min(first_name.value_or(*name), *name);
      last_name = std::max(last_name.value_or(*name), *name);
    }
  };
  const auto name = [&]() -> NullableText {
    return number(0, 4) == 0 ? NullableText() : NullableText(StrCat("n", number(0, 99)));
  };
  for (int step = 0; step < 60; ++step) {
    if (number(0, 2) > 0) {
      std::vector<Values> inserted;
      for (int64_t i = number(1, 5); i > 0; --i) {
        const int64_t id = number(-1000, 1000);
        inserted.push_back({StrCat(id), name(), "1"});
        note(id, inserted.back()[1]);
        ++rows;
      }
      Insert(inserted);
    } else {
      const int64_t records = number(2, 9);
      const int64_t low = number(-5000, 5000);
      const int64_t high = low + number(0, 100);
      const NullableText low_name = name();
      const NullableText high_name =
          low_name.has_value() ? NullableText(StrCat(*low_name, "x")) : NullableText();
      const int64_t nulls = low_name.has_value() ? number(0, 1) : records;
      DataFile file =
          FileOf(StrCat("f", step, " ", records, " 10; 1 ", low, " ", high, " 0; 3 1 1 0"));
      file.columns[1].contains_nan = false;
      file.columns.push_back({.column_id = 2,
                              .value_count = records - nulls,
                              .null_count = nulls,
                              .min_value = low_name,
                              .max_value = high_name});
      ASSERT_TRUE(tx().RegisterDataFiles(1, {&file, 1}).ok());
      note(low, low_name);
      note(high, high_name);
      null_name |= nulls > 0;
      rows += records;
      bytes += 10;
    }
    const std::string names =
        StrCat("1 | 2 | ", null_name ? "true" : "false", " | - | ", first_name.value_or("-"), " | ",
               last_name.value_or("-"), " | -");
    const auto expected = ElementsAre(StrCat("1 | 1 | false | - | ", *least, " | ", *most, " | -"),
                                      names, "1 | 3 | false | false | 1 | 1 | -");
    ASSERT_THAT(Seen("table_column_stats"), expected);
    ASSERT_THAT(Seen("table_stats"), ElementsAre(StrCat("1 | ", rows, " | ", rows, " | ", bytes)));
    if (number(0, 2) == 0) {
      Commit();
      ASSERT_THAT(Rows("table_column_stats"), expected);
      ASSERT_THAT(Rows("table_stats"),
                  ElementsAre(StrCat("1 | ", rows, " | ", rows, " | ", bytes)));
    }
  }
}

}  // namespace
}  // namespace varve

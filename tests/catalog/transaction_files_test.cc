// The operations of a transaction on data files and delete files: the rows they write, what the
// transaction then reads, what they refuse.

#include "tests/catalog/file_text.h"
#include "tests/catalog/transaction_text.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kExists = absl::StatusCode::kAlreadyExists;
constexpr absl::StatusCode kNotNow = absl::StatusCode::kFailedPrecondition;

// Table 1: id (1), name (2), x (3), tags (4) with elements (5), v (6).
constexpr std::string_view kColumns =
    "id int64 not null, name varchar, x float64, tags list(int32), v variant";

class TransactionFiles : public TransactionFixture {
 protected:
  void SetUp() override {
    TransactionFixture::SetUp();
    Must(tx().CreateTable(0, "t", ColumnsOf(kColumns)));
    Commit();
  }
  void TearDown() override { EXPECT_THAT(ErrorsFoundIn(catalog_->Current()), IsEmpty()); }

  std::vector<int64_t> Register(std::initializer_list<std::string_view> texts, int64_t table = 1) {
    const absl::StatusOr<std::vector<int64_t>> ids = tx().RegisterDataFiles(table, FilesOf(texts));
    EXPECT_TRUE(ids.ok()) << ids.status();
    return ids.value_or(std::vector<int64_t>(texts.size(), -1));
  }
  int64_t Delete(const DeleteFile& file, int64_t table = 1) {
    const absl::StatusOr<std::vector<int64_t>> ids = tx().RegisterDeleteFiles(table, {&file, 1});
    EXPECT_TRUE(ids.ok()) << ids.status();
    return ids.ok() ? ids->front() : -1;
  }
  absl::Status TryRegister(const DataFile& file, int64_t table = 1) {
    return tx().RegisterDataFiles(table, {&file, 1}).status();
  }
  absl::Status TryDelete(const DeleteFile& file, int64_t table = 1) {
    return tx().RegisterDeleteFiles(table, {&file, 1}).status();
  }
  // Expects the file to be refused, as told after `data file "f"…`.
  void ExpectFileRefused(absl::StatusCode code, std::string_view message, const DataFile& file) {
    ExpectRefused(code, message, [&] { return TryRegister(file); });
  }
};

// --- Registering data files ---

TEST_F(TransactionFiles, FilesAreWrittenWithStatistics) {
  EXPECT_THAT(Register({"a.parquet 100 2000; 1 0 99 0; 2 a c 3", "b.parquet 50 900; 1 100 149 0"}),
              ElementsAre(kFirstProvisionalFileId, kFirstProvisionalFileId + 1));
  EXPECT_THAT(
      Seen("data_file"),
      ElementsAre(
          "f0 | 1 | 2 | - | - | a.parquet | true | parquet | 100 | 2000 | 0 | r0 | - | - | - "
          "| -",
          "f1 | 1 | 2 | - | - | b.parquet | true | parquet | 50 | 900 | 0 | r100 | - | - | - "
          "| -"));
  EXPECT_THAT(Seen("file_column_stats"), ElementsAre("f0 | 1 | 1 | - | 100 | 0 | 0 | 99 | - | -",
                                                     "f1 | 1 | 1 | - | 50 | 0 | 100 | 149 | - | -",
                                                     "f0 | 1 | 2 | - | 100 | 3 | a | c | - | -"));
  EXPECT_THAT(Seen("table_stats"), ElementsAre("1 | 150 | 150 | 2900"));
  EXPECT_THAT(Seen("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 0 | 149 | -", "1 | 2 | true | - | a | c | -"));
  Commit();
  EXPECT_THAT(
      Rows("data_file"),
      ElementsAre("0 | 1 | 2 | - | - | a.parquet | true | parquet | 100 | 2000 | 0 | 0 | - | "
                  "- | - | -",
                  "1 | 1 | 2 | - | - | b.parquet | true | parquet | 50 | 900 | 0 | 100 | - | "
                  "- | - | -"));
  EXPECT_THAT(Rows("file_column_stats"), ElementsAre("0 | 1 | 1 | - | 100 | 0 | 0 | 99 | - | -",
                                                     "1 | 1 | 1 | - | 50 | 0 | 100 | 149 | - | -",
                                                     "0 | 1 | 2 | - | 100 | 3 | a | c | - | -"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 150 | 150 | 2900"));
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 0 | 149 | -", "1 | 2 | true | - | a | c | -"));
  EXPECT_EQ(ChangesMade(2), "2 | inserted_into_table:1 | - | - | -");
}

TEST_F(TransactionFiles, LaterFilesTakeTheNextRowIdsAndWidenBounds) {
  Register({"a.parquet 100 2000; 1 0 99 0; 3 - - 100"});
  Commit();
  Register({"b.parquet 10 100; 1 -5 7 0; 3 -1.5 2 0"});
  Register({"c.parquet 20 200; 1 50 500 0"});
  EXPECT_THAT(Seen("table_column_stats"),
              ElementsAre("1 | 1 | false | - | -5 | 500 | -", "1 | 3 | true | - | -1.5 | 2 | -"));
  Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 11}}),
              ElementsAre("0 | 0", "1 | 100", "2 | 110"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 130 | 130 | 2300"));
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | -5 | 500 | -", "1 | 3 | true | - | -1.5 | 2 | -"));
}

TEST_F(TransactionFiles, AFileSaysEverythingThereIsToSay) {
  const std::vector<NameMapping> names = {
      {.column_id = 0, .source_name = "ID", .target_field_id = 1},
      {.column_id = 1, .source_name = "tags", .target_field_id = 4},
      {.column_id = 2,
       .source_name = "item",
       .target_field_id = 5,
       .parent_column = 1,
       .is_partition = true}};
  const int64_t mapping = Must(tx().CreateNameMapping(1, names));
  DataFile file = FileOf("/elsewhere/f.parquet 7 100");
  file.path_is_relative = false;
  file.footer_size = 55;
  file.encryption_key = "key==";
  file.mapping_id = mapping;
  file.file_order = 3;
  file.columns = {{.column_id = 3,
                   .column_size_bytes = 40,
                   .value_count = 5,
                   .null_count = 2,
                   .min_value = "-inf",
                   .max_value = "1e10",
                   .contains_nan = true,
                   .extra_stats = "{}"},
                  {.column_id = 5, .value_count = 70, .null_count = 20, .min_value = "1"}};
  file.variants = {{.variant_path = "a.b",
                    .shredded_type = "int32",
                    .statistics = {.column_id = 6, .value_count = 7, .min_value = "1"}}};
  Must(TryRegister(file));
  const CommitResult result = Commit();
  EXPECT_EQ(result.Resolve(mapping), 0);
  EXPECT_THAT(Rows("column_mapping"), ElementsAre("0 | 1 | map_by_name"));
  EXPECT_THAT(Rows("name_mapping"),
              ElementsAre("0 | 0 | ID | 1 | - | false", "0 | 1 | tags | 4 | - | false",
                          "0 | 2 | item | 5 | 1 | true"));
  EXPECT_THAT(
      Rows("data_file"),
      ElementsAre("1 | 1 | 2 | - | 3 | /elsewhere/f.parquet | false | parquet | 7 | 100 | 55 "
                  "| 0 | - | key== | 0 | -"));
  EXPECT_THAT(Rows("file_column_stats"),
              ElementsAre("1 | 1 | 3 | 40 | 5 | 2 | -inf | 1e10 | true | {}",
                          "1 | 1 | 5 | - | 70 | 20 | 1 | - | - | -"));
  EXPECT_THAT(Rows("file_variant_stats"),
              ElementsAre("1 | 1 | 6 | a.b | int32 | - | 7 | - | 1 | - | - | -"));
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("1 | 3 | true | true | -inf | 1e10 | {}",
                                                      "1 | 5 | true | - | 1 | - | -"));
}

TEST_F(TransactionFiles, RowIdsInTheFileAreNotTakenAgain) {
  Register({"a.parquet 100 2000"});
  Commit();
  DataFile file = FileOf("b.parquet 10 100");
  file.row_id_start = 90;
  Must(TryRegister(file));
  file.path = "c.parquet";
  file.row_id_start = 91;
  ExpectFileRefused(kInvalid,
                    "data file \"c.parquet\": row ids 91 to 100 are not all below the next one of "
                    "table \"main\".\"t\", 100",
                    file);
  file.row_id_start = -1;
  ExpectFileRefused(kInvalid,
                    "data file \"c.parquet\": row ids -1 to 8 are not all below the next one of "
                    "table \"main\".\"t\", 100",
                    file);
  Commit();
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 110 | 100 | 2100"));
}

TEST_F(TransactionFiles, FilesOfATableTheTransactionMadeItself) {
  const int64_t table = Must(tx().CreateTable(0, "own", ColumnsOf("id int64")));
  Register({"a.parquet 10 100; 1 0 9 0"}, table);
  EXPECT_THAT(Seen("table_stats"), ElementsAre("c0 | 10 | 10 | 100"));
  Commit();
  EXPECT_THAT(Rows("data_file"),
              ElementsAre("0 | 2 | 2 | - | - | a.parquet | true | parquet | 10 | "
                          "100 | 0 | 0 | - | - | - | -"));
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("2 | 1 | false | - | 0 | 9 | -"));
  EXPECT_EQ(ChangesMade(2), "2 | created_table:\"main\".\"own\",inserted_into_table:2 | - | - | -");
}

TEST_F(TransactionFiles, PartitionValuesGoWithTheLivePartitioning) {
  const std::vector<PartitionKey> keys = {{.column_id = 2},
                                          {.column_id = 1, .transform = "bucket(4)"}};
  ExpectFileRefused(kInvalid,
                    "data file \"a.parquet\" has 1 partition values; table \"main\".\"t\" is not "
                    "partitioned",
                    FileOf("a.parquet 10 100; partition eu"));
  Must(tx().SetPartitioning(1, keys));
  ExpectFileRefused(kInvalid,
                    "data file \"a.parquet\" has 1 partition values; the partitioning of table "
                    "\"main\".\"t\" has 2 keys",
                    FileOf("a.parquet 10 100; partition eu"));
  Register({"a.parquet 10 100; partition eu 3", "b.parquet 10 100; partition - 0"});
  const CommitResult result = Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 12}}),
              ElementsAre("0 | 2", "1 | 2"));
  EXPECT_THAT(Rows("file_partition_value"),
              ElementsAre("0 | 1 | 0 | eu", "1 | 1 | 0 | -", "0 | 1 | 1 | 3", "1 | 1 | 1 | 0"));
  Must(tx().SetPartitioning(1, {}));
  Register({"c.parquet 10 100"});
}

// --- Refused ---

TEST_F(TransactionFiles, TablesThatAreNotThereAreRefused) {
  ExpectRefused(kNotFound, "there is no table with id 9",
                [&] { return TryRegister(FileOf("a.parquet 1 1"), 9); });
  Must(tx().DropTable(1));
  ExpectRefused(kNotFound, "table \"t\" (id 1) has been dropped",
                [&] { return TryRegister(FileOf("a.parquet 1 1")); });
  ExpectRefused(kNotFound, "table \"t\" (id 1) has been dropped",
                [&] { return tx().EndDataFiles(1, {}); });
}

TEST_F(TransactionFiles, FilesThatCannotBeAreRefused) {
  const auto with = [](auto change) {
    DataFile file = FileOf("f 10 100");
    change(&file);
    return file;
  };
  ExpectFileRefused(kInvalid, "the path of a data file is empty",
                    with([](DataFile* f) { f->path = ""; }));
  ExpectFileRefused(kInvalid, "data file \"a\\x00b\": its path holds a NUL byte",
                    with([](DataFile* f) { f->path = std::string("a\0b", 3); }));
  ExpectFileRefused(kInvalid, "data file \"\\xff\": its path is not valid UTF-8",
                    with([](DataFile* f) { f->path = "\xff"; }));
  ExpectFileRefused(kInvalid, "data file \"f\": there is no format \"orc\"; expected \"parquet\"",
                    with([](DataFile* f) { f->format = "orc"; }));
  ExpectFileRefused(kInvalid, "data file \"f\": record_count is -1; counts are not negative",
                    with([](DataFile* f) { f->record_count = -1; }));
  ExpectFileRefused(kInvalid, "data file \"f\": file_size_bytes is -2; counts are not negative",
                    with([](DataFile* f) { f->file_size_bytes = -2; }));
  ExpectFileRefused(kInvalid, "data file \"f\": footer_size is -3; counts are not negative",
                    with([](DataFile* f) { f->footer_size = -3; }));
  ExpectFileRefused(kInvalid, "data file \"f\": its encryption key is not valid UTF-8",
                    with([](DataFile* f) { f->encryption_key = "\xc0"; }));
  ExpectFileRefused(kNotFound, "data file \"f\": table \"main\".\"t\" has no mapping 77",
                    with([](DataFile* f) { f->mapping_id = 77; }));
  ExpectFileRefused(kInvalid, "data file \"f\": a partition value is not valid UTF-8",
                    with([](DataFile* f) { f->partition_values = {"\xff"}; }));
}

TEST_F(TransactionFiles, StatisticsThatCannotBeAreRefused) {
  const auto refused = [&](std::string_view message, const ColumnStatistics& statistics) {
    DataFile file = FileOf("f 10 100");
    file.columns = {statistics};
    ExpectFileRefused(kInvalid, message, file);
  };
  refused("data file \"f\": statistics of column 9, which table \"main\".\"t\" has not got",
          {.column_id = 9});
  refused("data file \"f\": column \"id\": value_count is 11, the file has 10 rows",
          {.column_id = 1, .value_count = 11});
  refused("data file \"f\": column \"name\": null_count is 11, the file has 10 rows",
          {.column_id = 2, .null_count = 11});
  refused(
      "data file \"f\": column \"name\": value_count is 4 and null_count 5, the file has 10 rows",
      {.column_id = 2, .value_count = 4, .null_count = 5});
  refused(
      "data file \"f\": column \"name\": null_count is -1; counts are not "
      "negative",
      {.column_id = 2, .null_count = -1});
  refused("data file \"f\": column \"id\": null_count is 1, but the column allows no NULL",
          {.column_id = 1, .null_count = 1});
  refused("data file \"f\": column \"id\": 'one' is not a bigint",
          {.column_id = 1, .min_value = "one"});
  refused("data file \"f\": column \"id\": min_value \"10\" is above max_value \"9\"",
          {.column_id = 1, .min_value = "10", .max_value = "9"});
  refused("data file \"f\": column \"name\": a text of the statistics holds a NUL byte",
          {.column_id = 2, .max_value = std::string("z\0", 2)});
  refused("data file \"f\": column \"name\": contains_nan is set, a varchar is never NaN",
          {.column_id = 2, .contains_nan = true});
  refused(
      "data file \"f\": column \"tags\": a list has no min_value and max_value; give those of its "
      "fields",
      {.column_id = 4, .min_value = "[1]"});
  DataFile twice = FileOf("f 10 100; 1 0 9 0; 2 a b 0; 1 0 9 0");
  ExpectFileRefused(kInvalid, "data file \"f\": statistics of column \"id\" are given twice",
                    twice);
  DataFile variant = FileOf("f 10 100");
  variant.variants = {
      {.variant_path = "a", .shredded_type = "int32", .statistics = {.column_id = 2}}};
  ExpectFileRefused(
      kInvalid,
      "data file \"f\": variant statistics of \"a\": column 2 is no variant column of "
      "table \"main\".\"t\"",
      variant);
}

// A dropped column has no statistics, an added one has.
TEST_F(TransactionFiles, ColumnsAreThoseTheTransactionSees) {
  Must(tx().DropColumn(1, 2));
  const int64_t added = Must(tx().AddColumn(1, ColumnOf("y int32")));
  EXPECT_EQ(added, 7);
  ExpectFileRefused(
      kInvalid, "data file \"f\": statistics of column 2, which table \"main\".\"t\" has not got",
      FileOf("f 10 100; 2 a b 0"));
  Register({"f 10 100; 7 1 2 0"});
}

TEST_F(TransactionFiles, EncryptedLakesTakeEncryptedFiles) {
  catalog_.reset();
  transaction_.reset();
  std::filesystem::remove_all(path());
  Catalog::InitOptions options = InitOptionsForTest();
  options.encrypted = true;
  ASSERT_TRUE(Catalog::Init(path(), options).ok());
  Reopen();
  Begin();
  const int64_t table = Must(tx().CreateTable(0, "t", ColumnsOf("id int64")));
  DataFile file = FileOf("f 10 100");
  ExpectRefused(kInvalid,
                "data file \"f\": it has no encryption key; the files of this lake are encrypted",
                [&] { return TryRegister(file, table); });
  file.encryption_key = "a2V5";
  Must(TryRegister(file, table));
}

TEST_F(TransactionFiles, NoTwoFilesHaveOnePath) {
  const auto refused = [&](std::string_view message,
                           std::initializer_list<std::string_view> texts) {
    ExpectRefused(kExists, message,
                  [&] { return tx().RegisterDataFiles(1, FilesOf(texts)).status(); });
  };
  refused("path \"a\" is given to two files", {"a 1 1", "b 1 1", "a 2 2"});
  Register({"a 10 100"});
  refused("path \"a\" is that of another file that the transaction registered", {"a 2 2"});
  Commit();
  refused("path \"a\" is that of data file 0 of the table", {"b 1 1", "a 2 2"});
  const DeleteFile deletes = DeletesOf(0, "a 1 1");
  ExpectRefused(kExists, "path \"a\" is that of data file 0 of the table",
                [&] { return TryDelete(deletes); });
  Delete(DeletesOf(0, "d 1 1"));
  Commit();
  refused("path \"d\" is that of delete file 1 of the table", {"d 2 2"});
  // An absolute path is another one; so is that of a file that ends.
  DataFile absolute = FileOf("a 1 1");
  absolute.path_is_relative = false;
  Must(TryRegister(absolute));
  Must(tx().EndDataFiles(1, std::array<int64_t, 1>{0}));
  Register({"a 10 100", "d 10 100"});
  Commit();
  refused("path \"a\" is that of data file 3 of the table", {"a 2 2"});
  // Another table has paths of its own.
  const int64_t other = Must(tx().CreateTable(0, "u", ColumnsOf("id int64")));
  Register({"a 10 100"}, other);
}

TEST_F(TransactionFiles, APathThatWasFreeForAWhileIsTakenAgain) {
  Register({"a 10 100"});
  Commit();
  Must(tx().EndDataFiles(1, std::array<int64_t, 1>{0}));
  Commit();
  Register({"a 10 100"});
  Commit();
  ExpectRefused(kExists, "path \"a\" is that of data file 1 of the table",
                [&] { return tx().RegisterDataFiles(1, FilesOf({"a 2 2"})).status(); });
}

TEST_F(TransactionFiles, TheFirstToCommitHasThePath) {
  absl::StatusOr<Transaction> other = catalog_->Begin({.time = SnapshotTime(3)});
  absl::StatusOr<Transaction> third = catalog_->Begin({.time = SnapshotTime(4)});
  ASSERT_TRUE(other.ok() && third.ok());
  ASSERT_TRUE(other->RegisterDataFiles(1, FilesOf({"x 1 1", "a 1 1"})).ok());
  ASSERT_TRUE(third->RegisterDataFiles(1, FilesOf({"y 1 1"})).ok());
  Register({"a 10 100", "b 10 100"});
  Commit();
  const absl::Status status = other->Commit().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(
      MessageOf(status),
      "transaction conflict: insert into table \"main\".\"t\" conflicts with the insert into it "
      "(both register a file of one path), committed as snapshot 2; begin the transaction again");
  EXPECT_TRUE(third->Commit().ok());
}

// --- Ending data files ---

TEST_F(TransactionFiles, AFileEndsWithItsDeleteFile) {
  Register({"a 10 100; 1 0 9 0", "b 10 100"});
  Commit();
  Delete(DeletesOf(0, "d 3 50"));
  Commit();
  Must(tx().EndDataFiles(1, std::array<int64_t, 1>{0}));
  EXPECT_THAT(Seen("data_file"), SizeIs(1));
  EXPECT_THAT(Seen("delete_file"), IsEmpty());
  EXPECT_THAT(Seen("file_column_stats"), IsEmpty());
  Commit();
  EXPECT_THAT(History("data_file"), ElementsAre(HasSubstr("0 | 1 | 2 | 4 | - | a |"),
                                                HasSubstr("1 | 1 | 2 | - | - | b |")));
  EXPECT_THAT(History("delete_file"), ElementsAre(HasSubstr("2 | 1 | 3 | 4 | 0 | d |")));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 20 | 20 | 200"));
  EXPECT_EQ(ChangesMade(4), "4 | deleted_from_table:1 | - | - | -");
}

TEST_F(TransactionFiles, FilesThatAreNotThereCannotEnd) {
  Register({"a 10 100"});
  Commit();
  const int64_t other = Must(tx().CreateTable(0, "u", ColumnsOf("id int64")));
  const int64_t other_id = Commit().Resolve(other);
  Register({"b 10 100"}, other_id);
  Commit();
  const auto end = [&](const std::vector<int64_t>& ids) {
    return [&, ids] { return tx().EndDataFiles(1, ids); };
  };
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 7: there never was one",
                end({0, 7}));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 1: it is one of table 2",
                end({1}));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 0: it has ended",
                end({0, 0}));
  Must(tx().EndDataFiles(1, std::array<int64_t, 1>{0}));
  Commit();
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 0: it has ended", end({0}));
}

TEST_F(TransactionFiles, WhatComesAndGoesInOneTransactionWasNeverThere) {
  const std::vector<int64_t> ids = Register({"a 10 100; 1 0 9 0", "b 5 50; 1 10 14 0"});
  Delete(DeletesOf(ids[0], "d 3 50"));
  Must(tx().EndDataFiles(1, std::array{ids[0]}));
  EXPECT_THAT(Seen("file_column_stats"), SizeIs(1));
  Commit();
  EXPECT_THAT(History("data_file"), ElementsAre(HasSubstr("1 | 1 | 2 | - | - | b |")));
  EXPECT_THAT(History("delete_file"), IsEmpty());
  EXPECT_THAT(History("file_column_stats"), SizeIs(1));
}

// --- Delete files ---

TEST_F(TransactionFiles, ADeleteFileReplacesTheOneBefore) {
  Register({"a 10 100"});
  Commit();
  Delete(DeletesOf(0, "d1 3 50"));
  Commit();
  DeleteFile deletes = DeletesOf(0, "d2 4 60");
  deletes.format = "puffin";
  deletes.footer_size = 9;
  deletes.encryption_key = "k";
  Delete(deletes);
  EXPECT_THAT(Seen("delete_file"),
              ElementsAre("f0 | 1 | 4 | - | 0 | d2 | true | puffin | 4 | 60 | 9 | k | -"));
  // Once more in the same transaction: one remains.
  Delete(DeletesOf(0, "d3 5 60"));
  Commit();
  EXPECT_THAT(History("delete_file"),
              ElementsAre("1 | 1 | 3 | 4 | 0 | d1 | true | parquet | 3 | 50 | 0 | - | - @ [3, 4)",
                          "3 | 1 | 4 | - | 0 | d3 | true | parquet | 5 | 60 | 0 | - | - @ [4, …)"));
  EXPECT_EQ(ChangesMade(4), "4 | deleted_from_table:1 | - | - | -");
}

TEST_F(TransactionFiles, ADeleteFileOfAFileOfTheSameTransaction) {
  const int64_t id = Register({"a 10 100"})[0];
  Delete(DeletesOf(id, "d 3 50"));
  Commit();
  EXPECT_THAT(Rows("delete_file"),
              ElementsAre("1 | 1 | 2 | - | 0 | d | true | parquet | 3 | 50 | 0 | - | -"));
}

TEST_F(TransactionFiles, DeleteFilesThatCannotBeAreRefused) {
  Register({"a 10 100"});
  Commit();
  const auto refused = [&](absl::StatusCode code, std::string_view message, auto change) {
    DeleteFile file = DeletesOf(0, "d 3 50");
    change(&file);
    ExpectRefused(code, message, [&] { return TryDelete(file); });
  };
  refused(kNotFound, "table \"main\".\"t\" has no live data file 5: there never was one",
          [](DeleteFile* f) { f->data_file_id = 5; });
  refused(kInvalid,
          "delete file \"d\": there is no format \"csv\"; expected \"parquet\" or \"puffin\"",
          [](DeleteFile* f) { f->format = "csv"; });
  refused(kInvalid,
          "delete file \"d\": delete_count is 11; data file 0 has 10 rows, expected 1 to 10",
          [](DeleteFile* f) { f->delete_count = 11; });
  refused(kInvalid,
          "delete file \"d\": delete_count is 0; data file 0 has 10 rows, expected 1 to 10",
          [](DeleteFile* f) { f->delete_count = 0; });
  refused(kInvalid, "the path of a delete file is empty", [](DeleteFile* f) { f->path = ""; });
  refused(kInvalid,
          "delete file \"d\" begins at snapshot 3, the last one is 2; leave begin_snapshot out for "
          "deletes of this transaction",
          [](DeleteFile* f) { f->begin_snapshot = 3; });
  refused(kInvalid, "delete file \"d\" begins at snapshot 1, data file 0 at 2",
          [](DeleteFile* f) { f->begin_snapshot = 1; });
  refused(kInvalid,
          "delete file \"d\" has a partial_max, but no begin_snapshot: the first of its deletes",
          [](DeleteFile* f) { f->partial_max = 2; });
  refused(
      kInvalid,
      "delete file \"d\": partial_max is 3, expected a snapshot from its begin 2 to the last one "
      "2",
      [](DeleteFile* f) {
        f->begin_snapshot = 2;
        f->partial_max = 3;
      });
  const std::vector<DeleteFile> twice = {DeletesOf(0, "d 3 50"), DeletesOf(0, "e 3 50")};
  ExpectRefused(kInvalid, "data file 0 gets two delete files; it has one at any snapshot",
                [&] { return tx().RegisterDeleteFiles(1, twice).status(); });
}

// As DuckLake's client writes it: a file that holds the deletes of several snapshots.
TEST_F(TransactionFiles, ABackDatedDeleteFileTakesThePlaceOfThoseBefore) {
  Register({"a 10 100", "b 10 100"});
  Commit();
  Delete(DeletesOf(0, "d1 1 50"));
  Commit();
  Delete(DeletesOf(0, "d2 2 50"));
  Commit();
  Delete(DeletesOf(1, "of_b 2 50"));
  Commit();
  DeleteFile deletes = DeletesOf(0, "all 2 70");
  deletes.begin_snapshot = 5;
  ExpectRefused(
      kInvalid,
      "delete file \"all\" begins at snapshot 5, delete file 3, which it replaces, at 4; it "
      "must begin where the first of its deletes was made",
      [&] { return TryDelete(deletes); });
  deletes.begin_snapshot = 3;
  deletes.partial_max = 4;
  Delete(deletes);
  Commit();
  EXPECT_THAT(
      History("delete_file"),
      ElementsAre("4 | 1 | 5 | - | 1 | of_b | true | parquet | 2 | 50 | 0 | - | - @ [5, …)",
                  "5 | 1 | 3 | - | 0 | all | true | parquet | 2 | 70 | 0 | - | 4 @ [3, …)"));
  EXPECT_THAT(Rows("files_scheduled_for_deletion"),
              ElementsAre("2 | main/t/d1 | true | 2026-01-01 00:00:06+00",
                          "3 | main/t/d2 | true | 2026-01-01 00:00:06+00"));
}

TEST_F(TransactionFiles, InlinedDeletesMoveToADeleteFile) {
  Register({"a 10 100", "b 10 100"});
  Commit();
  Must(tx().DeleteFromFile(1, 0, std::array<int64_t, 2>{1, 2}));
  Must(tx().DeleteFromFile(1, 1, std::array<int64_t, 1>{7}));
  Commit();
  Must(tx().DeleteFromFile(1, 0, std::array<int64_t, 1>{5}));
  Commit();
  DeleteFile deletes = DeletesOf(0, "d 3 70");
  deletes.holds_inlined_deletes = true;
  ExpectRefused(kInvalid,
                "delete file \"d\" holds the inlined deletes of its data file: its begin_snapshot "
                "must be the first of theirs",
                [&] { return TryDelete(deletes); });
  deletes.begin_snapshot = 3;
  ExpectRefused(
      kInvalid,
      "delete file \"d\" holds deletes of snapshots 3 to 3, an inlined delete of data file "
      "0 is of 4",
      [&] { return TryDelete(deletes); });
  deletes.partial_max = 4;
  Delete(deletes);
  EXPECT_THAT(Seen("ducklake_inlined_delete_1"), ElementsAre("1 | 7 | 3"));
  Commit();
  EXPECT_THAT(Rows("ducklake_inlined_delete_1"), ElementsAre("1 | 7 | 3"));
  EXPECT_THAT(History("delete_file"),
              ElementsAre("2 | 1 | 3 | - | 0 | d | true | parquet | 3 | 70 | 0 | - | 4 @ [3, …)"));
}

// --- Merging ---

TEST_F(TransactionFiles, AMergedFileTakesThePlaceOfItsSources) {
  Register({"a 10 100; 1 0 9 0; 2 a c 2; 3 0.5 2 0"});
  Commit();
  Register({"b 10 110; 1 10 19 0; 2 B b 0", "c 5 50; 1 20 24 0; 2 - - 5"});
  Commit();
  const int64_t id =
      Must(tx().MergeFiles(1, std::array<int64_t, 3>{2, 0, 1}, FileOf("abc 25 240")));
  EXPECT_THAT(
      Seen("data_file"),
      ElementsAre("f0 | 1 | 2 | - | - | abc | true | parquet | 25 | 240 | 0 | 0 | - | - | - | "
                  "3"));
  EXPECT_THAT(Seen("file_column_stats"), ElementsAre("f0 | 1 | 1 | - | 25 | 0 | 0 | 24 | - | -",
                                                     "f0 | 1 | 2 | - | 25 | 7 | B | c | - | -"));
  EXPECT_EQ(Commit().Resolve(id), 3);
  EXPECT_THAT(
      History("data_file"),
      ElementsAre("3 | 1 | 2 | - | - | abc | true | parquet | 25 | 240 | 0 | 0 | - | - | - | "
                  "3 @ [2, …)"));
  EXPECT_THAT(Rows("file_column_stats"), ElementsAre("3 | 1 | 1 | - | 25 | 0 | 0 | 24 | - | -",
                                                     "3 | 1 | 2 | - | 25 | 7 | B | c | - | -"));
  EXPECT_THAT(Rows("files_scheduled_for_deletion"),
              ElementsAre("0 | main/t/a | true | 2026-01-01 00:00:04+00",
                          "1 | main/t/b | true | 2026-01-01 00:00:04+00",
                          "2 | main/t/c | true | 2026-01-01 00:00:04+00"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 25 | 25 | 260"));
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 0 | 24 | -", "1 | 2 | true | - | B | c | -",
                          "1 | 3 | false | - | 0.5 | 2 | -"));
  EXPECT_EQ(ChangesMade(4), "4 | merge_adjacent:1 | - | - | -");
}

TEST_F(TransactionFiles, StatisticsGivenForAMergedFileAreTaken) {
  Register({"a 10 100; 1 0 9 0; 2 a c 2", "b 10 100; 1 10 19 0; 2 B b 0"});
  Commit();
  Must(tx().MergeFiles(1, std::array<int64_t, 2>{0, 1}, FileOf("ab 20 200; 2 A d 2")));
  Commit();
  EXPECT_THAT(Rows("file_column_stats"), ElementsAre("2 | 1 | 1 | - | 20 | 0 | 0 | 19 | - | -",
                                                     "2 | 1 | 2 | - | 20 | 2 | A | d | - | -"));
  // They may be wider than need be; so then are those of the table.
  EXPECT_THAT(Rows("table_column_stats"),
              ElementsAre("1 | 1 | false | - | 0 | 19 | -", "1 | 2 | true | - | A | d | -"));
}

TEST_F(TransactionFiles, RowIdsThatDoNotFollowOneAnotherAreInTheMergedFile) {
  Register({"a 10 100", "b 10 100", "c 10 100"});
  Commit();
  Must(tx().MergeFiles(1, std::array<int64_t, 2>{0, 2}, FileOf("ac 20 200")));
  DataFile one = FileOf("b2 10 200");
  one.row_id_start = 3;
  Must(tx().MergeFiles(1, std::array<int64_t, 1>{1}, one));
  Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 2, 11, 15}}),
              ElementsAre("3 | 2 | - | 2", "4 | 2 | 3 | -"));
  // Merged again: it reaches as far as its sources.
  Register({"d 10 100"});
  Commit();
  Must(tx().MergeFiles(1, std::array<int64_t, 2>{3, 5}, FileOf("acd 30 300")));
  Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 2, 11, 15}}),
              ElementsAre("4 | 2 | 3 | -", "6 | 2 | - | 4"));
}

TEST_F(TransactionFiles, MergesStayWithinAPartition) {
  const std::vector<PartitionKey> keys = {{.column_id = 2}};
  Must(tx().SetPartitioning(1, keys));
  Register({"a 10 100; partition eu", "b 10 100; partition us", "c 10 100; partition eu"});
  Commit();
  const auto merge = [&](const std::vector<int64_t>& ids, std::string_view merged) {
    return [&, ids, merged] { return tx().MergeFiles(1, ids, FileOf(merged)).status(); };
  };
  ExpectRefused(kNotNow, "data files 0 and 1 lie in different partitions", merge({0, 1}, "m 20 1"));
  ExpectRefused(
      kInvalid,
      "data file \"m\": its partition values are not those of data file 0; leave them out "
      "to take those",
      merge({0, 2}, "m 20 1; partition us"));
  Must(tx().SetPartitioning(1, {}));
  Must(merge({0, 2}, "m 20 1")());
  Commit();
  EXPECT_THAT(Rows("data_file", {.columns = std::vector<size_t>{0, 12}}),
              ElementsAre("1 | 2", "3 | 2"));
  EXPECT_THAT(Rows("file_partition_value"), ElementsAre("1 | 1 | 0 | us", "3 | 1 | 0 | eu"));
}

TEST_F(TransactionFiles, MergesThatCannotBeAreRefused) {
  Register({"a 10 100", "b 10 100", "c 10 100"});
  Commit();
  Delete(DeletesOf(1, "d1 3 50"));
  Must(tx().DeleteFromFile(1, 2, std::array<int64_t, 1>{4}));
  Commit();
  const auto merge = [&](const std::vector<int64_t>& ids, std::string_view merged) {
    return [&, ids, merged] { return tx().MergeFiles(1, ids, FileOf(merged)).status(); };
  };
  ExpectRefused(kInvalid, "there are no data files to merge", merge({}, "m 10 100"));
  ExpectRefused(kInvalid, "data file 0 is named twice", merge({0, 0}, "m 20 100"));
  ExpectRefused(kNotFound, "table \"main\".\"t\" has no live data file 9: there never was one",
                merge({0, 9}, "m 20 100"));
  ExpectRefused(kNotNow, "data file 1 has delete file 3; rewrite it instead of merging it",
                merge({0, 1}, "m 20 100"));
  ExpectRefused(kNotNow, "data file 2 has inlined deletes; rewrite it instead of merging it",
                merge({0, 2}, "m 20 100"));
  ExpectRefused(kInvalid, "data file \"m\" has 9 rows, the files it merges have 10",
                merge({0}, "m 9 100"));
  ExpectRefused(kExists, "path \"a\" is that of data file 0 of the table", merge({0}, "a 10 100"));
  const int64_t own = Register({"own 10 100"})[0];
  ExpectRefused(
      kNotNow,
      "a data file that the transaction registered itself is not compacted; commit it first",
      merge({0, own}, "m 20 100"));
}

TEST_F(TransactionFiles, FilesOfDifferentColumnsAreNotMerged) {
  Register({"a 10 100"});
  Commit();
  Must(tx().AddColumn(1, ColumnOf("y int32")));
  Commit();
  Register({"b 10 100"});
  Commit();
  Must(tx().RenameColumn(1, 2, "title"));
  Commit();
  Register({"c 10 100"});
  Commit();
  const auto merge = [&](const std::vector<int64_t>& ids) {
    return [&, ids] { return tx().MergeFiles(1, ids, FileOf("m 20 200")).status(); };
  };
  constexpr std::string_view kDiffer =
      "data files 0 and 2 have different columns: one was changed or dropped between them";
  ExpectRefused(kNotNow, kDiffer, merge({0, 2}));
  // A column came, which a writer fills in; none was changed since but the renamed one.
  ExpectRefused(
      kNotNow, "data files 0 and 1 have different columns: one was changed or dropped between them",
      merge({0, 1}));
  Must(tx().RenameColumn(1, 2, "name"));
  Commit();
  Must(merge({0, 1})());
}

// --- Rewriting ---

TEST_F(TransactionFiles, ARewrittenFileBeginsWhereItsSourceEnds) {
  const std::vector<PartitionKey> keys = {{.column_id = 2}};
  Must(tx().SetPartitioning(1, keys));
  Register({"a 10 100; 1 0 9 0; partition eu"});
  Commit();
  Delete(DeletesOf(0, "d 3 50"));
  Must(tx().DeleteFromFile(1, 0, std::array<int64_t, 1>{4}));
  Commit();
  const auto rewrite = [&](std::string_view text) {
    return [&, text] { return tx().RewriteFile(1, 0, FileOf(text)).status(); };
  };
  ExpectRefused(kInvalid, "data file \"r\" has 5 rows; data file 0 has 10, of which 4 are deleted",
                rewrite("r 5 60"));
  ExpectRefused(kInvalid, "data file \"r\" has 11 rows; data file 0 has 10, of which 4 are deleted",
                rewrite("r 11 60"));
  Must(rewrite("r 6 60; 1 2 9 0")());
  EXPECT_THAT(
      Seen("data_file"),
      ElementsAre("f0 | 1 | 4 | - | - | r | true | parquet | 6 | 60 | 0 | - | 2 | - | - | -"));
  Commit();
  EXPECT_THAT(
      History("data_file"),
      ElementsAre(HasSubstr("0 | 1 | 2 | 4 | - | a |"),
                  "2 | 1 | 4 | - | - | r | true | parquet | 6 | 60 | 0 | - | 2 | - | - | - @ "
                  "[4, …)"));
  EXPECT_THAT(History("delete_file"), ElementsAre(HasSubstr("1 | 1 | 3 | 4 | 0 | d |")));
  EXPECT_THAT(Rows("file_column_stats"), ElementsAre("2 | 1 | 1 | - | 6 | 0 | 2 | 9 | - | -"));
  EXPECT_THAT(RowsAt(3, "file_column_stats"),
              ElementsAre("0 | 1 | 1 | - | 10 | 0 | 0 | 9 | - | -"));
  EXPECT_THAT(Rows("file_partition_value"), ElementsAre("2 | 1 | 0 | eu"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 6 | 10 | 60"));
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("1 | 1 | false | - | 0 | 9 | -"));
  EXPECT_THAT(Rows("files_scheduled_for_deletion"), IsEmpty());
  EXPECT_EQ(ChangesMade(4), "4 | rewrite_delete:1 | - | - | -");
}

// --- The queue of files to remove ---

TEST_F(TransactionFiles, ScheduledFilesAreForgottenWhenTheyAreGone) {
  Register({"a 10 100", "b 10 100"});
  Commit();
  Must(tx().MergeFiles(1, std::array<int64_t, 2>{0, 1}, FileOf("ab 20 200")));
  ExpectRefused(kNotNow, "file 0 was scheduled for deletion by this very transaction",
                [&] { return tx().RemoveScheduledFiles(std::array<int64_t, 1>{0}); });
  ReadView reader = catalog_->Current();
  Commit();
  ExpectRefused(
      kNotNow,
      "file 0: a reader of this process is older than the commit that scheduled the file, "
      "and may still read it",
      [&] { return tx().RemoveScheduledFiles(std::array<int64_t, 1>{0}); });
  reader = catalog_->Current();
  Must(tx().RemoveScheduledFiles(std::array<int64_t, 1>{0}));
  ExpectRefused(kNotFound, "file 7 is not scheduled for deletion", [&] {
    return tx().RemoveScheduledFiles(std::array<int64_t, 2>{1, 7});
  });
  Commit();
  EXPECT_THAT(Rows("files_scheduled_for_deletion"), ElementsAre(HasSubstr("1 | main/t/b |")));
  EXPECT_EQ(catalog_->Current().last_snapshot(), 3U);  // it makes none
}

// --- Mappings ---

TEST_F(TransactionFiles, MappingsThatCannotBeAreRefused) {
  const auto refused = [&](std::string_view message, const std::vector<NameMapping>& columns) {
    ExpectRefused(kInvalid, message, [&] { return tx().CreateNameMapping(1, columns).status(); });
  };
  refused("a mapping needs at least one column", {});
  refused("column 0 of the mapping has no source name", {{.target_field_id = 1}});
  refused("the source name of column 0 of the mapping is not valid UTF-8",
          {{.source_name = "\xff", .target_field_id = 1}});
  refused("column 0 of the mapping: table \"main\".\"t\" has no column 9",
          {{.source_name = "a", .target_field_id = 9}});
  refused("column 0 of the mapping is given twice",
          {{.source_name = "a", .target_field_id = 1}, {.source_name = "b", .target_field_id = 2}});
  refused("column 0 of the mapping: its parent 3 is no other column of it",
          {{.source_name = "a", .target_field_id = 1, .parent_column = 3}});
}

}  // namespace
}  // namespace varve

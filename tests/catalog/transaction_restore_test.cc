// Restoring tables, schemas and everything: what comes back, what goes, what is refused. Each
// restored state is compared with the one it was, by what a reader sees of it.

#include "catalog/retention/view_registry.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/transaction_text.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kExists = absl::StatusCode::kAlreadyExists;
constexpr absl::StatusCode kNotNow = absl::StatusCode::kFailedPrecondition;

class TransactionRestore : public TransactionFixture {
 protected:
  // --- Making a past ---

  int64_t CommittedTable(std::string_view name, std::string_view columns, int64_t schema = 0) {
    const int64_t made = Must(tx().CreateTable(schema, name, ColumnsOf(columns)));
    return Commit().Resolve(made);
  }

  // Registers files of ten rows and a hundred bytes with statistics of column 1; returns their real
  // ids.
  std::vector<int64_t> AddFiles(int64_t table, const std::vector<std::string>& paths) {
    std::vector<DataFile> files;
    for (const std::string& path : paths) {
      files.push_back({.path = path,
                       .record_count = 10,
                       .file_size_bytes = 100,
                       .columns = {{.column_id = 1,
                                    .value_count = 10,
                                    .null_count = 0,
                                    .min_value = "1",
                                    .max_value = "9"}}});
    }
    absl::StatusOr<std::vector<int64_t>> ids = tx().RegisterDataFiles(table, files);
    Must(ids.status());
    const CommitResult result = Commit();
    std::vector<int64_t> real;
    for (const int64_t id : ids.value_or(std::vector<int64_t>())) {
      real.push_back(result.Resolve(id));
    }
    return real;
  }
  void EndFile(int64_t table, int64_t file) {
    Must(tx().EndDataFiles(table, {&file, 1}));
    Commit();
  }
  void DeleteIn(int64_t table, int64_t file, const std::string& path) {
    const DeleteFile deletes = {.data_file_id = file, .path = path, .delete_count = 1};
    Must(tx().RegisterDeleteFiles(table, {&deletes, 1}).status());
    Commit();
  }
  void Insert(int64_t table, const std::vector<std::vector<NullableText>>& rows) {
    Must(tx().InsertInlined(table, rows).status());
    Commit();
  }

  SnapshotId Now() const { return catalog_->Current().last_snapshot(); }

  // --- What a reader sees ---

  // The rows of a table at a snapshot, without their intervals, and of files without their ids.
  std::vector<std::string> StateOf(int64_t table, SnapshotId snapshot) {
    const ReadView view = At(snapshot);
    std::vector<std::string> state;
    for (const RelationRef& relation : view.relations().relations()) {
      if (relation->versioning == Versioning::kUnversioned || relation->id == kSchemaVersions ||
          relation->id == kSnapshot || relation->id == kSnapshotChanges) {
        continue;
      }
      const std::optional<size_t> table_column = relation->columns.Find("table_id");
      const bool is_inlined =
          relation->name.starts_with(StrCat("ducklake_inlined_data_", table, "_"));
      if (!table_column.has_value() && !is_inlined) {
        continue;
      }
      absl::StatusOr<std::unique_ptr<RowScan>> scan = view.Scan(relation, {});
      EXPECT_TRUE(scan.ok()) << scan.status();
      ScanBatch batch;
      while ((*scan)->Next(&batch).value_or(false)) {
        for (size_t i = 0; i < batch.num_rows(); ++i) {
          std::vector<std::string> values = {relation->name};
          bool of_table = is_inlined;
          for (size_t c = 0; c < relation->columns.num_columns(); ++c) {
            const ColumnSchema& column = relation->columns.column(c);
            const Datum value = batch.columns.column(c).at(i);
            of_table =
                of_table || (c == table_column && !value.is_null() && value.int64_value() == table);
            if (c != relation->begin_column && c != relation->end_column &&
                column.name != "data_file_id" && column.name != "delete_file_id" &&
                column.name != "partial_max") {
              values.push_back(ValueText(column.type, value));
            }
          }
          if (of_table) {
            state.push_back(StrJoin(values, " | "));
          }
        }
      }
    }
    std::sort(state.begin(), state.end());
    return state;
  }

  // The catalog breaks no rule.
  void ExpectSound() {
    const absl::StatusOr<VerifySummary> summary =
        Verify(catalog_->Current(), {}, [](const Finding& finding) {
          if (finding.severity == Severity::kError) {
            ADD_FAILURE() << finding.rule << " " << finding.relation << " " << finding.key << ": "
                          << finding.message;
          }
        });
    EXPECT_TRUE(summary.ok()) << summary.status();
  }

  // Restores the table and expects it to look as it did.
  void RestoreAndCompare(int64_t table, SnapshotId snapshot) {
    Must(tx().RestoreTable(table, snapshot));
    const SnapshotId restored = Commit().snapshot;
    EXPECT_EQ(StateOf(table, restored), StateOf(table, snapshot));
    ExpectSound();
  }
};

// --- Tables ---

TEST_F(TransactionRestore, FilesComeBackUnderNewIdsAndNewOnesGo) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a.parquet", "b.parquet"});
  const SnapshotId then = Now();
  EndFile(table, files[0]);
  AddFiles(table, {"c.parquet"});
  RestoreAndCompare(table, then);
  // b has stayed, a is a new file of the same path and row ids, c has ended.
  EXPECT_THAT(Rows("data_file"), ElementsAre(HasSubstr("1 | 1 | 2 | - | - | b.parquet"),
                                             HasSubstr("3 | 1 | 5 | - | - | a.parquet")));
  EXPECT_THAT(Rows("file_column_stats"),
              ElementsAre(HasSubstr("1 | 1 | 1 |"), HasSubstr("3 | 1 | 1 |")));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 20 | 30 | 200"));
  EXPECT_EQ(ChangesMade(5), "5 | inserted_into_table:1,deleted_from_table:1 | - | - | -");
  // What it was in between is still there to be restored.
  EXPECT_THAT(RowsAt(4, "data_file"), SizeIs(2));
  RestoreAndCompare(table, 4);
}

TEST_F(TransactionRestore, DeleteFilesAreWhatTheyWere) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a", "b", "c", "d"});
  DeleteIn(table, files[1], "b.deletes");
  DeleteIn(table, files[2], "c.deletes.1");
  DeleteIn(table, files[3], "d.deletes");
  const SnapshotId then = Now();
  DeleteIn(table, files[0], "a.deletes");    // there was none
  DeleteIn(table, files[2], "c.deletes.2");  // there was another
  EndFile(table, files[3]);                  // ends with its file
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("delete_file"),
              ElementsAre(HasSubstr("| b.deletes |"), HasSubstr("| c.deletes.1 |"),
                          HasSubstr("| d.deletes |")));
  EXPECT_THAT(History("delete_file"), SizeIs(7));
}

TEST_F(TransactionRestore, InlinedDeletesMadeSinceAreTakenBackWithTheirFile) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a", "b"});
  const std::vector<int64_t> first = {3};
  const std::vector<int64_t> second = {4};
  Must(tx().DeleteFromFile(table, files[0], first));
  Commit();
  const SnapshotId then = Now();
  Must(tx().DeleteFromFile(table, files[0], second));
  Commit();
  Must(tx().RestoreTable(table, then));
  Commit();
  ExpectSound();
  // a is registered again, with the delete that was made before.
  EXPECT_THAT(Rows("data_file"), ElementsAre(HasSubstr("1 | 1 | 2 | - | - | b |"),
                                             HasSubstr("2 | 1 | 5 | - | - | a |")));
  EXPECT_THAT(Rows("inlined_delete_1"), ElementsAre("0 | 3 | 3", "0 | 4 | 4", "2 | 3 | 5"));
}

TEST_F(TransactionRestore, InlinedRowsKeepTheirIds) {
  const int64_t table = CommittedTable("t", "id int64, name varchar");
  Insert(table, {{"1", "one"}, {"2", "two"}, {"3", "three"}});
  const SnapshotId then = Now();
  Must(tx().UpdateInlined(table, 0, {"1", "ONE"}));
  Must(tx().DeleteInlined(table, std::vector<int64_t>{1}));
  Commit();
  Insert(table, {{"4", "four"}});
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("inlined_data_1_1"),
              ElementsAre("0 | 5 | - | 1 | one", "1 | 5 | - | 2 | two", "2 | 2 | - | 3 | three"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 3 | 4 | 0"));
  // Row ids are not given out again.
  Insert(table, {{"5", "five"}});
  EXPECT_THAT(Rows("inlined_data_1_1").back(), "4 | 6 | - | 5 | five");
}

TEST_F(TransactionRestore, InlinedRowsOfEverySchemaVersionComeBack) {
  const int64_t table = CommittedTable("t", "id int64");
  Insert(table, {{"1"}});
  Must(tx().AddColumn(table, ColumnOf("name varchar default 'none'")).status());
  Commit();
  Insert(table, {{"2", "two"}});
  const SnapshotId then = Now();
  Must(tx().DeleteInlined(table, std::vector<int64_t>{0, 1}));
  Must(tx().RenameColumn(table, 2, "label"));
  Commit();
  Insert(table, {{"3", "three"}});
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("inlined_data_1_1"), ElementsAre("0 | 7 | - | 1"));
  EXPECT_THAT(Rows("inlined_data_1_2"), ElementsAre("1 | 7 | - | 2 | two"));
  EXPECT_THAT(Rows("inlined_data_1_3"), IsEmpty());
}

TEST_F(TransactionRestore, AFlushedFileComesBackWithTheDeletesInIt) {
  const int64_t table = CommittedTable("t", "id int64");
  Insert(table, {{"1"}});
  for (const char* value : {"2", "3", "4"}) {
    Must(tx().UpdateInlined(table, 0, {value}));
    Commit();
  }
  const DataFile file = {
      .path = "flushed", .record_count = 4, .file_size_bytes = 100, .row_id_start = 0};
  const DeleteFile deletes = {.path = "flushed.deletes", .delete_count = 3};
  Must(tx().FlushInlined(table, file, deletes).status());
  Commit();
  ExpectSound();
  const SnapshotId then = Now();
  EndFile(table, 0);
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("delete_file"), ElementsAre(HasSubstr("| flushed.deletes |")));
  // The file holds four versions of one row. No row id that it may hold is given out again.
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 4 | 4 | 100"));
}

TEST_F(TransactionRestore, StatisticsOfVariantsAndRepeatedPartitionValuesComeBack) {
  const int64_t table = CommittedTable("t", "id int64, v variant");
  Must(tx().SetPartitioning(table,
                            std::vector<PartitionKey>{{.column_id = 1, .transform = "bucket(4)"},
                                                      {.column_id = 1, .transform = "bucket(4)"}}));
  Commit();
  const std::vector<DataFile> files = {
      {.path = "a",
       .record_count = 10,
       .columns = {{.column_id = 2, .value_count = 10, .null_count = 1}},
       .variants = {{.variant_path = "x.y",
                     .shredded_type = "int32",
                     .statistics = {.column_id = 2, .value_count = 9, .null_count = 0}}},
       .partition_values = {"3", "3"}}};
  Must(tx().RegisterDataFiles(table, files).status());
  Commit();
  // As other clients leave them.
  MustApply("insert file_partition_value 0 | 1 | 1 | 3\ninsert file_partition_value 0 | 1 | 1 | 2");
  Begin();
  const SnapshotId then = Now();
  EndFile(table, 0);
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("file_variant_stats"), SizeIs(1));
  EXPECT_THAT(Rows("file_partition_value"), SizeIs(4));
}

TEST_F(TransactionRestore, TheDefinitionIsWhatItWas) {
  const int64_t table = CommittedTable("t", "id int32, name varchar, day date");
  Must(tx().SetTag(table, "comment", "one"));
  Must(tx().SetColumnTag(table, 2, "comment", "of name"));
  Must(tx().SetPartitioning(table,
                            std::vector<PartitionKey>{{.column_id = 3, .transform = "year"}}));
  Must(tx().SetSortOrder(table, std::vector<SortKey>{{.expression = "id"}}));
  Commit();
  const SnapshotId then = Now();
  Must(tx().SetSortOrder(table, {}));
  Must(tx().RenameColumn(table, 1, "key"));
  Must(tx().SetColumnType(table, 1, "int64"));
  Must(tx().DropColumn(table, 2));
  Must(tx().AddColumn(table, ColumnOf("more int64")).status());
  Must(tx().SetTag(table, "comment", "two"));
  Must(tx().SetTag(table, "owner", "ada"));
  Must(tx().SetPartitioning(table, std::vector<PartitionKey>{{.column_id = 1}}));
  Commit();
  RestoreAndCompare(table, then);
  EXPECT_EQ(ChangesMade(4), "4 | deleted_from_table:1,altered_table:1 | - | - | -");
  EXPECT_THAT(Rows("partition_info"), ElementsAre("2 | 1 | 4 | -"));
  EXPECT_THAT(Rows("sort_info"), ElementsAre("3 | 1 | 4 | -"));
  // The id of the column that has gone again is not used for another.
  EXPECT_EQ(Must(tx().AddColumn(table, ColumnOf("next int64"))), 5);
}

TEST_F(TransactionRestore, BoundsOfAColumnThatWasWiderAreForgotten) {
  const int64_t table = CommittedTable("t", "id int8");
  AddFiles(table, {"a"});
  const SnapshotId then = Now();
  Must(tx().SetColumnType(table, 1, "int64"));
  Commit();
  const std::vector<DataFile> wide = {{.path = "b",
                                       .record_count = 1,
                                       .columns = {{.column_id = 1,
                                                    .value_count = 1,
                                                    .null_count = 0,
                                                    .min_value = "1000",
                                                    .max_value = "1000"}}}};
  Must(tx().RegisterDataFiles(table, wide).status());
  Commit();
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("1 | 1 | false | - | 1 | 1000 | -"));
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("table_column_stats"), ElementsAre("1 | 1 | - | - | - | - | -"));
}

TEST_F(TransactionRestore, ARenamedOrMovedTableGoesBack) {
  const int64_t made = Must(tx().CreateSchema("other"));
  const int64_t other = Commit().Resolve(made);
  const int64_t table = CommittedTable("t", "id int64");
  const SnapshotId then = Now();
  Must(tx().RenameTable(table, "u"));
  Must(tx().MoveTable(table, other));
  Commit();
  RestoreAndCompare(table, then);
  EXPECT_EQ(Must(tx().FindTable(0, "t")), table);
  EXPECT_EQ(ChangesMade(4), "4 | created_table:\"main\".\"t\",deleted_from_table:2 | - | - | -");
}

TEST_F(TransactionRestore, ADroppedTableIsThereAgain) {
  const int64_t table = CommittedTable("t", "id int64, day date");
  Must(tx().SetTag(table, "comment", "mine"));
  Must(tx().SetPartitioning(table,
                            std::vector<PartitionKey>{{.column_id = 2, .transform = "year"}}));
  Commit();
  const std::vector<DataFile> files = {
      {.path = "a", .record_count = 10, .file_size_bytes = 100, .partition_values = {"2025"}},
      {.path = "b", .record_count = 5, .file_size_bytes = 50, .partition_values = {std::nullopt}}};
  Must(tx().RegisterDataFiles(table, files).status());
  Commit();
  Insert(table, {{"1", "2026-01-01"}});
  const SnapshotId then = Now();
  Must(tx().DropTable(table));
  Commit();
  EXPECT_THAT(Rows("data_file"), IsEmpty());
  RestoreAndCompare(table, then);
  EXPECT_EQ(ChangesMade(6), "6 | created_table:\"main\".\"t\" | - | - | -");
  EXPECT_THAT(Rows("file_partition_value"), ElementsAre("2 | 1 | 0 | 2025", "3 | 1 | 0 | -"));
  EXPECT_THAT(Rows("table_stats"), ElementsAre("1 | 16 | 16 | 150"));
  // It lives: it can be written to, dropped and restored once more.
  const std::vector<DataFile> more = {{.path = "c", .partition_values = {"2026"}}};
  Must(tx().RegisterDataFiles(table, more).status());
  Commit();
  Must(tx().DropTable(table));
  Commit();
  RestoreAndCompare(table, then);
}

TEST_F(TransactionRestore, ManyFilesComeBackWithTheirStatistics) {
  const int64_t table = CommittedTable("t", "id int64");
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) {
    paths.push_back(StrCat("f", i));
  }
  AddFiles(table, paths);
  const SnapshotId then = Now();
  Must(tx().DropTable(table));
  Commit();
  RestoreAndCompare(table, then);
  EXPECT_THAT(Rows("file_column_stats"), SizeIs(100));
}

TEST_F(TransactionRestore, WhatIsAsItWasIsNotTouched) {
  const int64_t table = CommittedTable("t", "id int64");
  AddFiles(table, {"a"});
  const SnapshotId then = Now();
  CommittedTable("u", "id int64");
  const std::vector<std::string> before = Everything();
  Must(tx().RestoreTable(table, then));
  EXPECT_EQ(Commit().snapshot, 3U);
  EXPECT_EQ(Everything(), before);
}

TEST_F(TransactionRestore, WhatTheTransactionDidItselfIsTakenBackToo) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a"});
  const std::vector<std::string> before = EverythingSeen(tx());
  const std::vector<DataFile> more = {
      {.path = "b", .record_count = 10, .columns = {{.column_id = 1, .value_count = 10}}}};
  Must(tx().RegisterDataFiles(table, more).status());
  Must(tx().InsertInlined(table, std::vector<std::vector<NullableText>>{{"7"}}).status());
  Must(tx().AddColumn(table, ColumnOf("b int64")).status());
  Must(tx().SetTag(table, "k", "v"));
  Must(tx().SetSortOrder(table, std::vector<SortKey>{{.expression = "id"}}));
  Must(tx().RestoreTable(table, Now()));
  EXPECT_THAT(Seen("data_file"), SizeIs(1));
  EXPECT_THAT(Seen("file_column_stats"), SizeIs(1));
  EXPECT_THAT(Seen("column"), SizeIs(1));
  EXPECT_THAT(Seen("sort_expression"), IsEmpty());
  Commit();
  EXPECT_EQ(StateOf(table, 3), StateOf(table, 2));
  ExpectSound();
}

// --- What is refused ---

TEST_F(TransactionRestore, ASnapshotThatIsNotThereIsNamed) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<std::string> before = EverythingSeen(tx());
  const absl::Status status = tx().RestoreTable(table, 9);
  EXPECT_EQ(status.code(), kNotFound);
  EXPECT_THAT(status.ToString(), HasSubstr("snapshot 9"));
  EXPECT_EQ(EverythingSeen(tx()), before);
  ExpectRefused(kNotFound, "table \"main\".\"t\" was not there at snapshot 0",
                [&] { return tx().RestoreTable(table, 0); });
  ExpectRefused(kNotFound, "a table with id 44 was not there at snapshot 1",
                [&] { return tx().RestoreTable(44, 1); });
  ExpectRefused(kNotFound, "a schema with id 44 was not there at snapshot 1",
                [&] { return tx().RestoreSchema(44, 1); });
}

TEST_F(TransactionRestore, ASnapshotFromAfterTheTransactionBeganIsRefused) {
  const int64_t table = CommittedTable("t", "id int64");
  absl::StatusOr<Transaction> other = catalog_->Begin();
  ASSERT_TRUE(other.ok());
  Must(other->SetTag(table, "k", "v"));
  Must(other->Commit().status());
  ExpectRefused(kNotNow,
                "snapshot 2 was committed after the transaction began at snapshot 1; begin a new "
                "one",
                [&] { return tx().RestoreTable(table, 2); });
}

TEST_F(TransactionRestore, ANameThatLivesAgainIsNotTaken) {
  const int64_t table = CommittedTable("t", "id int64");
  const SnapshotId then = Now();
  Must(tx().DropTable(table));
  Commit();
  Must(tx().CreateView(0, "T", {.sql = "SELECT 1"}).status());
  Commit();
  ExpectRefused(kExists,
                "table \"main\".\"t\" cannot be restored: view \"main\".\"T\" exists already; "
                "rename or drop that first",
                [&] { return tx().RestoreTable(table, then); });
}

TEST_F(TransactionRestore, ATableOfADroppedSchemaNeedsTheSchema) {
  const int64_t made = Must(tx().CreateSchema("s"));
  const int64_t schema = Commit().Resolve(made);
  const int64_t table = CommittedTable("t", "id int64", schema);
  const SnapshotId then = Now();
  Must(tx().DropTable(table));
  Must(tx().DropSchema(schema));
  Commit();
  ExpectRefused(kNotNow,
                "table \"s\".\"t\" cannot be restored: schema \"s\" (id 1) has been dropped; "
                "restore the schema",
                [&] { return tx().RestoreTable(table, then); });
}

TEST_F(TransactionRestore, ATableDroppedInTheTransactionStaysDropped) {
  const int64_t table = CommittedTable("t", "id int64");
  Must(tx().DropTable(table));
  ExpectRefused(
      kNotNow,
      "table \"main\".\"t\" has been dropped in this transaction; commit before restoring "
      "it, or begin a new one",
      [&] { return tx().RestoreTable(table, 1); });
}

TEST_F(TransactionRestore, AFileScheduledForDeletionCannotBeHadBack) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a", "b"});
  const SnapshotId then = Now();
  DeleteIn(table, files[1], "b.deletes");
  EndFile(table, files[0]);
  constexpr std::string_view kGone =
      "table \"main\".\"t\" cannot be restored to snapshot 2: file \"a\" is scheduled for "
      "deletion, "
      "or gone already";
  MustApply("put files_scheduled_for_deletion 0 | x | true | 2026-01-01 00:00:00+00");
  Begin();
  ExpectRefused(kNotNow, kGone, [&] { return tx().RestoreTable(table, then); });
  // By its path, under whatever id: another client may have scheduled it.
  MustApply(
      "erase files_scheduled_for_deletion 0 @ 0\n"
      "put files_scheduled_for_deletion 77 | main/t/a | true | 2026-01-01 00:00:00+00");
  Begin();
  ExpectRefused(kNotNow, kGone, [&] { return tx().RestoreTable(table, then); });
  // Files that stay are not asked about.
  Must(tx().SetTag(table, "k", "v"));
  Must(tx().RestoreTable(table, 4));
}

TEST_F(TransactionRestore, AMergedFileIsNotTakenApart) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> a = AddFiles(table, {"a"});
  const std::vector<int64_t> b = AddFiles(table, {"b"});
  const std::vector<int64_t> sources = {a[0], b[0]};
  const DataFile merged = {
      .path = "ab", .record_count = 20, .file_size_bytes = 200, .row_id_start = 0};
  Must(tx().MergeFiles(table, sources, merged).status());
  Commit();
  ExpectRefused(
      kNotNow,
      "table \"main\".\"t\" cannot be restored to snapshot 2: file \"ab\" was merged since "
      "and holds rows of snapshots up to 3; it can be restored to 3 or a later one",
      [&] { return tx().RestoreTable(table, 2); });
  const SnapshotId then = Now();
  EndFile(table, 2);
  RestoreAndCompare(table, then);
  RestoreAndCompare(table, 3);
}

// --- Conflicts ---

TEST_F(TransactionRestore, NothingThatOthersDoToTheTableMeanwhileIsLost) {
  const int64_t table = CommittedTable("t", "id int64");
  const std::vector<int64_t> files = AddFiles(table, {"a", "b"});
  Insert(table, {{"1"}});
  EndFile(table, files[1]);
  const std::vector<std::pair<std::string, std::function<absl::Status(Transaction&)>>> others = {
      {"insert",
       [&](Transaction& other) {
         const DataFile file = {.path = "x", .record_count = 1};
         return other.RegisterDataFiles(table, {&file, 1}).status();
       }},
      {"inlined insert",
       [&](Transaction& other) {
         return other.InsertInlined(table, std::vector<std::vector<NullableText>>{{"2"}}).status();
       }},
      {"inlined delete",
       [&](Transaction& other) { return other.DeleteInlined(table, std::vector<int64_t>{20}); }},
      {"delete",
       [&](Transaction& other) {
         return other.EndDataFiles(table, std::vector<int64_t>{files[0]});
       }},
      {"alter", [&](Transaction& other) { return other.SetTag(table, "k", "v"); }},
      {"drop", [&](Transaction& other) { return other.DropTable(table); }},
  };
  for (const auto& [name, change] : others) {
    const SnapshotId before = Now();
    Must(tx().RestoreTable(table, 2));
    absl::StatusOr<Transaction> other = catalog_->Begin();
    ASSERT_TRUE(other.ok());
    Must(change(*other));
    Must(other->Commit().status());
    const absl::Status status = tx().Commit().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << name << ": " << status;
    EXPECT_THAT(status.ToString(), HasSubstr("conflict"));
    Begin();
    Must(tx().RestoreTable(table, before));
    Commit();
  }
  ExpectSound();
}

TEST_F(TransactionRestore, TheSnapshotIsHeldUntilTheTransactionEnds) {
  const int64_t table = CommittedTable("t", "id int64");
  AddFiles(table, {"a"});
  AddFiles(table, {"b"});
  Must(tx().RestoreTable(table, 2));
  EXPECT_THAT(catalog_->views().HeldSnapshots(), testing::Contains(2U));
  tx().Abort();
  EXPECT_THAT(catalog_->views().HeldSnapshots(), testing::Not(testing::Contains(2U)));
}

// --- Schemas ---

TEST_F(TransactionRestore, ASchemaIsWhatItWas) {
  const int64_t made = Must(tx().CreateSchema("s"));
  const int64_t schema = Commit().Resolve(made);
  const int64_t kept = CommittedTable("kept", "id int64", schema);
  const int64_t dropped = CommittedTable("dropped", "id int64", schema);
  const int64_t moved = CommittedTable("moved", "id int64", schema);
  const int64_t made_view = Must(tx().CreateView(schema, "v", {.sql = "SELECT 1"}));
  const int64_t made_macro = Must(tx().CreateMacro(
      schema, "m", MacroKind::kTable,
      std::vector<MacroImplementation>{{.sql = "SELECT a", .parameters = {{.name = "a"}}}}));
  const CommitResult result = Commit();
  const int64_t view = result.Resolve(made_view);
  const int64_t macro = result.Resolve(made_macro);
  AddFiles(kept, {"a"});
  const SnapshotId then = Now();
  AddFiles(kept, {"b"});
  Must(tx().DropTable(dropped));
  Must(tx().MoveTable(moved, 0));
  Must(tx().RenameTable(kept, "dropped"));  // swaps names
  Must(tx().RenameView(view, "w"));
  Must(tx().DropMacro(macro));
  Must(tx().CreateTable(schema, "new", ColumnsOf("id int64")).status());
  Commit();
  Must(tx().RestoreSchema(schema, then));
  const SnapshotId restored = Commit().snapshot;
  for (const int64_t table : {kept, dropped, moved}) {
    EXPECT_EQ(StateOf(table, restored), StateOf(table, then));
  }
  EXPECT_THAT(tx().FindTable(schema, "new").status().code(), kNotFound);
  EXPECT_EQ(Must(tx().FindView(schema, "v")), view);
  EXPECT_EQ(Must(tx().FindMacro(schema, "m")), macro);
  EXPECT_THAT(Rows("macro_parameters"), SizeIs(1));
  EXPECT_EQ(
      ChangesMade(restored),
      "9 | dropped_table:7,created_table:\"s\".\"kept\",created_table:\"s\".\"dropped\","
      "created_table:\"s\".\"moved\",created_view:\"s\".\"v\",created_table_macro:\"s\".\"m\","
      "deleted_from_table:2,deleted_from_table:4 | - | - | -");
  ExpectSound();
}

TEST_F(TransactionRestore, ADroppedSchemaComesBackUnderANewId) {
  const int64_t made = Must(tx().CreateSchema("s", {.path = "elsewhere/"}));
  const int64_t schema = Commit().Resolve(made);
  Must(tx().SetOption(OptionScope::kSchema, schema, "auto_compact", "false"));
  Commit();
  const int64_t table = CommittedTable("t", "id int64", schema);
  AddFiles(table, {"a"});
  const SnapshotId then = Now();
  Must(tx().DropTable(table));
  Must(tx().DropSchema(schema));
  Commit();
  Must(tx().RestoreSchema(schema, then));
  const SnapshotId restored = Commit().snapshot;
  const int64_t again = Must(tx().FindSchema("s"));
  EXPECT_EQ(again, 3);
  EXPECT_THAT(Rows("schema").back(), HasSubstr("| 5 | - | s | elsewhere/ | true"));
  EXPECT_EQ(Must(tx().FindTable(again, "t")), table);
  EXPECT_THAT(Rows("data_file"), SizeIs(1));
  EXPECT_THAT(Rows("metadata"), testing::Contains("auto_compact | false | schema | 3"));
  EXPECT_EQ(ChangesMade(restored),
            "5 | created_schema:\"s\",created_table:\"s\".\"t\" | - | - | -");
  ExpectSound();
  // The name is taken now.
  ExpectRefused(kExists,
                "schema \"s\" cannot be restored: schema \"s\" exists already; rename or drop that "
                "first",
                [&] { return tx().RestoreSchema(schema, then); });
}

TEST_F(TransactionRestore, WhatCameFromAnotherSchemaIsNotDropped) {
  const int64_t made = Must(tx().CreateSchema("s"));
  const int64_t schema = Commit().Resolve(made);
  const int64_t table = CommittedTable("t", "id int64");
  const SnapshotId then = Now();
  Must(tx().MoveTable(table, schema));
  Commit();
  ExpectRefused(
      kNotNow, "table \"s\".\"t\" was table \"main\".\"t\" at snapshot 2; restore or move it first",
      [&] { return tx().RestoreSchema(schema, then); });
}

// --- Everything ---

TEST_F(TransactionRestore, EverythingIsWhatItWas) {
  const int64_t made = Must(tx().CreateSchema("old"));
  const int64_t old_schema = Commit().Resolve(made);
  const int64_t t = CommittedTable("t", "id int64", old_schema);
  const int64_t u = CommittedTable("u", "id int64");
  AddFiles(t, {"a"});
  Insert(u, {{"1"}});
  const SnapshotId then = Now();
  Must(tx().MoveTable(t, 0));
  Must(tx().DropSchema(old_schema));
  Commit();
  // A schema of the same name, which was not there, holds a table that was, and one that was not.
  const int64_t made_again = Must(tx().CreateSchema("old"));
  Must(tx().MoveTable(u, made_again));
  Must(tx().CreateTable(made_again, "x", ColumnsOf("id int64")).status());
  const int64_t new_schema = Commit().Resolve(made_again);
  Must(tx().RestoreAll(then));
  const SnapshotId restored = Commit().snapshot;
  ExpectSound();
  const int64_t again = Must(tx().FindSchema("old"));
  EXPECT_NE(again, old_schema);
  EXPECT_NE(again, new_schema);
  EXPECT_EQ(Must(tx().FindTable(again, "t")), t);
  EXPECT_EQ(Must(tx().FindTable(0, "u")), u);
  EXPECT_EQ(StateOf(u, restored), StateOf(u, then));
  EXPECT_THAT(Rows("table"), SizeIs(2));
  EXPECT_THAT(Rows("schema"), SizeIs(2));
  // Once more changes nothing, except that the schema's id is not what it was.
  Must(tx().RestoreAll(restored));
  EXPECT_EQ(Commit().snapshot, restored);
}

}  // namespace
}  // namespace varve

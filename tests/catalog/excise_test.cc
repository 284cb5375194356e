// What excision removes, what it leaves, and that it may end at any moment.

#include "catalog/retention/excise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/handle.h"
#include "catalog/retention/audit.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/retained.h"
#include "catalog/store/commit.h"
#include "catalog/store/row_store.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ExciseTest : public CatalogFixture {
 protected:
  // Snapshots 1 to 10, and table 1 "t" with column 1 from snapshot 1 on.
  void SetUp() override {
    CatalogFixture::SetUp();
    for (int n = 1; n <= 10; ++n) {
      MustApply(StrCat("insert snapshot ", n, " | '2026-01-01 00:00:", 10 + n, "+00' | ", n,
                       " | 1000 | 1000\n insert snapshot_changes ", n, " | altered_table:1"));
    }
    MustApply(R"(
      insert table 1 | - | 1 | - | 0 | t | t/ | true
      insert column 1 | 1 | - | 1 | 1 | a | int64 | - | - | true
      insert table_stats 1 | 100 | 100 | 1000
    )");
  }

  void RaiseFloor(SnapshotId floor) {
    const auto plan = ApplyGc(catalog_.get(), {.retain_from = floor});
    ASSERT_TRUE(plan.ok()) << plan.status();
  }
  ExciseResult MustExcise(const ExciseOptions& options = {}) {
    const auto plan = PlanExcise(*catalog_, nullptr);
    EXPECT_TRUE(plan.ok()) << plan.status();
    auto result = Excise(catalog_.get(), options);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) {
      return {};
    }
    if (!plan->interrupted.has_value()) {
      EXPECT_EQ(result->rows, plan->reclaimable.rows) << "the plan says what is done";
    }
    EXPECT_THAT(PlanExcise(*catalog_, nullptr)->reclaimable.rows, IsEmpty());
    return *std::move(result);
  }
  ExciseResult RaiseFloorAndExcise(SnapshotId floor) {
    RaiseFloor(floor);
    return MustExcise();
  }

  std::vector<std::string> Scheduled() const {
    return Rows("files_scheduled_for_deletion", {.columns = {{0, 1, 2}}});
  }
  // Findings of verify that a rule name stands for.
  std::vector<std::string> Findings() const {
    std::vector<std::string> findings;
    const auto summary = Verify(catalog_->Current(), {}, [&](const Finding& finding) {
      findings.push_back(StrCat(finding.rule, " ", finding.relation, " ", finding.key));
    });
    EXPECT_TRUE(summary.ok()) << summary.status();
    return findings;
  }
  std::vector<AuditEntry> AuditOf(std::string_view action) const {
    std::vector<AuditEntry> entries;
    const absl::Status status = ReadAudit(*catalog_->LatestState(), [&](const AuditEntry& entry) {
      if (entry.action == action) {
        entries.push_back(entry);
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return entries;
  }
};

// --- Versions ------------------------------------------------------------------------------------

TEST_F(ExciseTest, RemovesVersionsThatNoRetainedSnapshotShows) {
  MustApply(R"(
    insert view 50 | - | 1 | 3 | 0 | one | duckdb | x
    insert view 50 | - | 3 | 6 | 0 | two | duckdb | x
    insert view 50 | - | 6 | - | 0 | three | duckdb | x
    insert view 51 | - | 2 | 5 | 0 | gone | duckdb | x
    insert tag 1 | 2 | 4 | k | old
    insert tag 1 | 4 | - | k | new
  )");
  const ExciseResult result = RaiseFloorAndExcise(5);
  EXPECT_THAT(History("view"), ElementsAre("50 | - | 3 | 6 | 0 | two | duckdb | x | - @ [3, 6)",
                                           "50 | - | 6 | - | 0 | three | duckdb | x | - @ [6, …)"));
  EXPECT_THAT(History("tag"), ElementsAre("1 | 4 | - | k | new @ [4, …)"));
  EXPECT_EQ(result.rows.at("ducklake_view"), 2U);
  EXPECT_EQ(result.rows.at("ducklake_tag"), 1U);
  EXPECT_THAT(Rows("snapshot", {.columns = {{0}}}), ElementsAre("5", "6", "7", "8", "9", "10"));
  EXPECT_THAT(Rows("snapshot_changes", {.columns = {{0}}}),
              ElementsAre("5", "6", "7", "8", "9", "10"));
  EXPECT_EQ(result.rows.at("ducklake_snapshot"), 5U);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ExciseTest, EveryRetainedSnapshotShowsWhatItShowed) {
  MustApply(R"(
    insert view 50 | - | 1 | 3 | 0 | one
    insert view 50 | - | 3 | 9 | 0 | two
    insert view 50 | - | 9 | - | 0 | three
    insert macro 0 | 60 | m | 2 | 8
    insert macro_impl 60 | 0 | duckdb | '1' | scalar
  )");
  std::vector<std::vector<std::string>> before;
  for (SnapshotId at = 7; at <= 10; ++at) {
    before.push_back(RowsAt(at, "view"));
    before.push_back(RowsAt(at, "macro"));
    before.push_back(RowsAt(at, "macro_impl"));
  }
  RaiseFloorAndExcise(7);
  std::vector<std::vector<std::string>> after;
  for (SnapshotId at = 7; at <= 10; ++at) {
    after.push_back(RowsAt(at, "view"));
    after.push_back(RowsAt(at, "macro"));
    after.push_back(RowsAt(at, "macro_impl"));
  }
  EXPECT_EQ(after, before);
}

TEST_F(ExciseTest, WithNothingToRemoveCommitsNothing) {
  const Csn before = catalog_->LatestState()->csn;
  const ExciseResult result = MustExcise();
  EXPECT_EQ(result.steps, 0U);
  EXPECT_EQ(catalog_->LatestState()->csn, before);
  EXPECT_THAT(AuditOf("excise"), IsEmpty());
}

TEST_F(ExciseTest, PinsLeasesAndReadersKeepWhatTheySee) {
  for (int n = 2; n <= 8; ++n) {
    MustApply(StrCat("insert view ", 50 + n, " | - | ", n, " | ", n + 1, " | 0 | v"));
  }
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "p", .snapshot = 2}).ok());
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "l", .snapshot = 4, .lease = absl::Hours(1)}).ok());
  {
    const ReadView reader = At(6);
    RaiseFloorAndExcise(8);
    EXPECT_THAT(
        ScanTexts(catalog_->Current(), "view", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
        ElementsAre("52 @ [2, 3)", "54 @ [4, 5)", "56 @ [6, 7)", "58 @ [8, 9)"));
    EXPECT_THAT(Rows("snapshot", {.columns = {{0}}}), ElementsAre("2", "4", "6", "8", "9", "10"));
    EXPECT_THAT(ScanTexts(reader, "view", {.columns = {{0}}}), ElementsAre("56"));
    EXPECT_THAT(RowsAt(2, "view", {.columns = {{0}}}), ElementsAre("52"));
  }
  ASSERT_TRUE(RemovePin(catalog_.get(), "p").ok());
  MustExcise();
  EXPECT_THAT(
      ScanTexts(catalog_->Current(), "view", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
      ElementsAre("54 @ [4, 5)", "58 @ [8, 9)"));
}

TEST_F(ExciseTest, AnExpiredLeaseIsSweptAndHoldsNothing) {
  MustApply("insert view 52 | - | 2 | 3 | 0 | v");
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "l", .snapshot = 2, .lease = absl::Hours(1)},
                       absl::Now() - absl::Hours(2))
                  .ok());
  ASSERT_TRUE(
      ApplyGc(catalog_.get(), {.retain_from = 5, .now = absl::Now() - absl::Hours(2)}).ok());
  EXPECT_THAT(*catalog_->LatestState()->pins, SizeIs(1));
  MustExcise();
  EXPECT_THAT(History("view"), IsEmpty());
  EXPECT_THAT(*catalog_->LatestState()->pins, IsEmpty());
}

TEST_F(ExciseTest, RowsWithEqualKeysAreToldApart) {
  MustApply(R"(
    insert tag 9 | 1 | 3 | k | a
    insert tag 9 | 1 | 8 | x | b
    insert partition_info 70 | 1 | 2 | -
    insert data_file 1 | 1 | 2 | 4 | - | f | true | parquet | 1 | 1
    insert file_partition_value 1 | 1 | 0 | v
    insert file_partition_value 1 | 1 | 0 | v
    insert file_partition_value 1 | 1 | 1 | w
  )");
  EXPECT_THAT(History("file_partition_value"), SizeIs(3));
  const ExciseResult result = RaiseFloorAndExcise(5);
  EXPECT_THAT(History("file_partition_value"), IsEmpty());
  EXPECT_EQ(result.rows.at("ducklake_file_partition_value"), 3U)
      << "ordinals are rows of their own";
  EXPECT_THAT(History("tag"), ElementsAre("9 | 1 | 8 | x | b @ [1, 8)"));
}

// --- Files ---------------------------------------------------------------------------------------

TEST_F(ExciseTest, AFileGoesWithAllThatBelongsToItAndIsScheduled) {
  MustApply(R"(
    create ducklake_inlined_delete_1 file_id bigint, row_id bigint, begin_snapshot bigint
    insert data_file 100 | 1 | 2 | 4 | - | gone.parquet | true | parquet | 10 | 99
    insert data_file 101 | 1 | 2 | - | - | stays.parquet | true | parquet | 10 | 99
    insert data_file 102 | 1 | 2 | 6 | - | seen.parquet | true | parquet | 10 | 99
    insert file_column_stats 100 | 1 | 1 | 8 | 10 | 0 | 1 | 9
    insert file_column_stats 101 | 1 | 1 | 8 | 10 | 0 | 1 | 9
    insert file_column_stats 102 | 1 | 1 | 8 | 10 | 0 | 1 | 9
    insert file_variant_stats 100 | 1 | 1 | p | int64
    insert file_variant_stats 100 | 1 | 1 | q | int64
    insert file_variant_stats 101 | 1 | 1 | p | int64
    insert delete_file 110 | 1 | 3 | 4 | 100 | d110.parquet | true | parquet | 1 | 9
    insert delete_file 111 | 1 | 3 | 4 | 101 | d111.parquet | true | parquet | 1 | 9
    insert delete_file 112 | 1 | 4 | - | 101 | d112.parquet | true | parquet | 2 | 9
  )");
  MustApply(R"(
    insert ducklake_inlined_delete_1 100 | 0 | 3
    insert ducklake_inlined_delete_1 100 | 1 | 3
    insert ducklake_inlined_delete_1 101 | 0 | 3
  )");
  const ExciseResult result = RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("data_file", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("101 @ [2, …)", "102 @ [2, 6)"));
  EXPECT_THAT(Rows("file_column_stats", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("101 @ [2, …)", "102 @ [2, 6)"));
  EXPECT_THAT(History("file_variant_stats"), SizeIs(1));
  EXPECT_THAT(Rows("delete_file", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("112 @ [4, …)"));
  EXPECT_THAT(Rows("ducklake_inlined_delete_1"), ElementsAre("101 | 0 | 3"));
  EXPECT_THAT(Scheduled(),
              ElementsAre("100 | main/t/gone.parquet | true", "110 | main/t/d110.parquet | true",
                          "111 | main/t/d111.parquet | true"));
  EXPECT_EQ(result.scheduled_files, 3U);
  // The ids are free in the index, too.
  const ReadView view = catalog_->Current();
  EXPECT_FALSE(view.GetByUnique(*view.relations().FindById(kDataFile), 100)->has_value());
  EXPECT_TRUE(view.GetByUnique(*view.relations().FindById(kDataFile), 101)->has_value());
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ExciseTest, FilesBetweenManyThatStayAreFound) {
  // Every tenth of 300 files goes, in three columns: steps and seeks both.
  std::string changes =
      "insert column 2 | 1 | - | 1 | 2 | b | int64\n"
      "insert column 3 | 1 | - | 1 | 3 | c | int64\n";
  for (int file = 100; file < 400; ++file) {
    const bool goes = file % 10 == 0 || file == 399 || file == 101;
    StrAppend(&changes, "insert data_file ", file, " | 1 | 1 | ", goes ? "3" : "-", " | - | f",
              file, " | true | parquet | 1 | 1\n");
    for (int column = 1; column <= 3; ++column) {
      if ((file + column) % 7 != 0) {
        StrAppend(&changes, "insert file_column_stats ", file, " | 1 | ", column, " | 1\n");
      }
    }
  }
  MustApply(changes);
  std::vector<std::string> expected;
  for (const std::string& row : Rows("file_column_stats", {.columns = {{0, 2}}})) {
    expected.push_back(row);
  }
  RaiseFloorAndExcise(5);
  EXPECT_EQ(Rows("file_column_stats", {.columns = {{0, 2}}}), expected);
  EXPECT_EQ(ScanTexts(catalog_->Current(), "file_column_stats",
                      {.columns = {{0, 2}}, .rows = ScanRows::kAllVersions})
                .size(),
            expected.size())
      << "no orphan stays";
}

TEST_F(ExciseTest, ADeleteFileGoesWithItsDataFileThoughItHasNoEnd) {
  MustApply(R"(
    insert data_file 100 | 1 | 2 | 4 | - | f | true | parquet | 10 | 99
    insert delete_file 110 | 1 | 3 | - | 100 | d | true | parquet | 1 | 9
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(History("delete_file"), IsEmpty());
  EXPECT_THAT(Scheduled(), ElementsAre("100 | main/t/f | true", "110 | main/t/d | true"));
}

TEST_F(ExciseTest, PathsAreComposedAsDuckLakeDoes) {
  MustApply(R"(
    insert schema 20 | - | 1 | 4 | s | /elsewhere/s/ | false
    insert table 21 | - | 1 | 4 | 20 | in_s | u/ | true
    insert table 22 | - | 1 | - | 0 | own | /own/place/ | false
    insert column 1 | 1 | - | 22 | 1 | a | int64
    insert table_stats 22 | 1 | 1 | 1
    insert data_file 100 | 21 | 2 | 4 | - | f0 | true
    insert data_file 101 | 22 | 2 | 4 | - | f1 | true
    insert data_file 102 | 1 | 2 | 4 | - | /lake/main/t/f2 | false
    insert data_file 103 | 1 | 2 | 4 | - | s3://bucket/f3 | false
    insert data_file 104 | 77 | 2 | 4 | - | f4 | true
    insert data_file 105 | 77 | 2 | 4 | - | /x/f5 | false
  )");
  const ExciseResult result = RaiseFloorAndExcise(5);
  EXPECT_THAT(Scheduled(), ElementsAre("100 | /elsewhere/s/u/f0 | false",
                                       "101 | /own/place/f1 | false", "102 | main/t/f2 | true",
                                       "103 | s3://bucket/f3 | false", "105 | /x/f5 | false"));
  EXPECT_EQ(result.lost_files, 1U) << "table 77 is not there";
  EXPECT_THAT(History("data_file"), IsEmpty());
}

TEST_F(ExciseTest, APathThatAnotherFileUsesIsNotScheduled) {
  MustApply(R"(
    insert table 22 | - | 1 | - | 0 | again | t/ | true
    insert column 1 | 1 | - | 22 | 1 | a | int64
    insert table_stats 22 | 1 | 1 | 1
    insert data_file 100 | 1 | 2 | 4 | - | restored | true
    insert data_file 101 | 1 | 2 | 4 | - | undropped | true
    insert data_file 102 | 1 | 2 | 4 | - | /out/shared | false
    insert data_file 103 | 1 | 2 | 4 | - | as_delete_file | true
    insert data_file 104 | 1 | 2 | 4 | - | twice | true
    insert data_file 105 | 1 | 3 | 4 | - | twice | true
    insert data_file 106 | 1 | 2 | 4 | - | ended | true
    insert data_file 107 | 1 | 2 | 4 | - | alone | true
    insert data_file 200 | 1 | 8 | - | - | restored | true
    insert data_file 201 | 22 | 8 | - | - | undropped | true
    insert data_file 202 | 22 | 8 | - | - | /out/shared | false
    insert data_file 203 | 1 | 6 | 8 | - | /lake/main/t/ended | false
    insert delete_file 204 | 1 | 8 | - | 200 | as_delete_file | true
  )");
  const ExciseResult result = RaiseFloorAndExcise(5);
  EXPECT_THAT(Scheduled(), ElementsAre("104 | main/t/twice | true", "107 | main/t/alone | true"));
  EXPECT_EQ(result.scheduled_files, 2U);
  EXPECT_EQ(result.shared_files, 6U);
  EXPECT_THAT(Rows("data_file", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("200 @ [8, …)", "203 @ [6, 8)", "201 @ [8, …)", "202 @ [8, …)"));
  // The last one to use a path schedules it.
  RaiseFloorAndExcise(9);
  EXPECT_THAT(Scheduled(), ElementsAre("104 | main/t/twice | true", "107 | main/t/alone | true",
                                       "203 | main/t/ended | true"));
}

TEST_F(ExciseTest, APathThatIsRegisteredMeanwhileIsNotScheduled) {
  for (int file = 100; file < 106; ++file) {
    MustApply(StrCat("insert data_file ", file, " | 1 | 2 | 4 | - | f", file, " | true"));
  }
  RaiseFloor(5);
  bool done = false;
  ExciseOptions options{.rows_per_step = 2};
  options.on_progress = [&](uint64_t rows, uint64_t /*versions*/) {
    if (rows >= 2 && !done) {
      done = true;
      MustApply(R"(
        insert table 30 | - | 10 | - | 0 | new | t/ | true
        insert column 1 | 10 | - | 30 | 1 | a | int64
        insert table_stats 30 | 1 | 1 | 1
        insert data_file 205 | 30 | 10 | - | - | f105 | true
        insert data_file 204 | 1 | 10 | - | - | f104 | true
        insert delete_file 203 | 1 | 10 | - | 204 | /lake/main/t/f103 | false
      )");
    }
  };
  const auto result = Excise(catalog_.get(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(done);
  EXPECT_THAT(Scheduled(), ElementsAre("100 | main/t/f100 | true", "101 | main/t/f101 | true",
                                       "102 | main/t/f102 | true"));
  EXPECT_EQ(result->shared_files, 3U);
}

// --- Tables and what hangs on them ---------------------------------------------------------------

TEST_F(ExciseTest, WithTheLastVersionOfATableAllThatHangsOnItGoes) {
  MustApply(R"(
    create ducklake_inlined_data_30_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a bigint
    create ducklake_inlined_delete_30 file_id bigint, row_id bigint, begin_snapshot bigint
    create ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a bigint
    insert table 30 | - | 1 | 2 | 0 | first | d/ | true
    insert table 30 | - | 2 | 4 | 0 | second | d/ | true
    insert column 1 | 1 | 4 | 30 | 1 | a | int64
    insert column 2 | 1 | - | 30 | 2 | forgotten | int64
    insert column_tag 30 | 1 | 2 | - | k | forgotten
    insert table_stats 30 | 1 | 1 | 1
    insert table_column_stats 30 | 1 | false
    insert schema_versions 1 | 1 | 30
    insert schema_versions 2 | 2 | 30
    insert schema_versions 2 | 2 | 30
    insert schema_versions 1 | 1 | 1
    insert partition_info 31 | 30 | 1 | 4
    insert partition_column 31 | 30 | 0 | 1 | identity
    insert sort_info 32 | 30 | 1 | -
    insert sort_expression 32 | 30 | 0 | a
    insert column_mapping 33 | 30 | map_by_name
    insert name_mapping 33 | 1 | a | 1
    insert column_mapping 34 | 1 | map_by_name
    insert name_mapping 34 | 1 | a | 1
    insert name_mapping 35 | 1 | orphan | 1
    insert inlined_data_tables 30 | ducklake_inlined_data_30_1 | 1
    insert inlined_data_tables 1 | ducklake_inlined_data_1_1 | 1
    insert data_file 100 | 30 | 2 | - | - | forgotten | true | parquet | 1 | 1 | - | 0 | 31 | - | 33
    insert file_column_stats 100 | 30 | 1 | 1
    insert delete_file 101 | 30 | 3 | 4 | 100 | del | true
    insert tag 30 | 1 | 4 | comment | c
  )");
  MustApply(R"(
    insert ducklake_inlined_data_30_1 0 | 1 | - | 5
    insert ducklake_inlined_data_30_1 1 | 1 | 2 | 6
    insert ducklake_inlined_delete_30 100 | 0 | 3
    insert ducklake_inlined_data_1_1 0 | 1 | 3 | 5
    insert ducklake_inlined_data_1_1 1 | 1 | - | 6
  )");
  const ExciseResult result = RaiseFloorAndExcise(5);
  for (const std::string_view relation :
       {"data_file", "delete_file", "file_column_stats", "column_tag", "partition_info",
        "partition_column", "sort_info", "sort_expression", "table_column_stats", "tag"}) {
    EXPECT_THAT(History(relation), IsEmpty()) << relation;
  }
  EXPECT_THAT(Rows("table", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 @ [1, …)"));
  EXPECT_THAT(Rows("column", {.columns = {{3, 0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 | 1 @ [1, …)"));
  EXPECT_THAT(Rows("table_stats", {.columns = {{0}}}), ElementsAre("1"));
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("1 | 1 | 1"));
  EXPECT_THAT(Rows("column_mapping", {.columns = {{0}}}), ElementsAre("34"));
  EXPECT_THAT(Rows("name_mapping", {.columns = {{0}}}), ElementsAre("34"))
      << "names of a mapping that is not there go, too";
  EXPECT_THAT(Rows("inlined_data_tables", {.columns = {{0}}}), ElementsAre("1"));
  EXPECT_THAT(History("ducklake_inlined_data_1_1"), ElementsAre("1 | 1 | - | 6 @ [1, …)"));
  const ReadView view = catalog_->Current();
  EXPECT_EQ(view.relations().FindByName("ducklake_inlined_data_30_1"), nullptr);
  EXPECT_EQ(view.relations().FindByName("ducklake_inlined_delete_30"), nullptr);
  EXPECT_NE(view.relations().FindByName("ducklake_inlined_data_1_1"), nullptr);
  EXPECT_THAT(Scheduled(), ElementsAre("100 | main/d/forgotten | true", "101 | main/d/del | true"));
  EXPECT_EQ(result.rows.at("ducklake_inlined_data_30_1"), 2U);
  EXPECT_EQ(result.rows.at("ducklake_inlined_delete_30"), 1U);
  EXPECT_EQ(result.rows.at("ducklake_table"), 2U);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ExciseTest, AnOldNameOfATableThatStaysGoesAlone) {
  MustApply(R"(
    insert table 30 | - | 1 | 3 | 0 | old | d/ | true
    insert table 30 | - | 3 | - | 0 | new | d/ | true
    insert column 1 | 1 | - | 30 | 1 | a | int64
    insert table_stats 30 | 1 | 1 | 1
    insert schema_versions 3 | 2 | 30
    create ducklake_inlined_data_30_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a bigint
    insert inlined_data_tables 30 | ducklake_inlined_data_30_1 | 1
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("table", {.columns = {{5}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("t @ [1, …)", "new @ [3, …)"));
  EXPECT_THAT(Rows("table_stats"), SizeIs(2));
  EXPECT_THAT(Rows("schema_versions"), SizeIs(1));
  EXPECT_NE(catalog_->Current().relations().FindByName("ducklake_inlined_data_30_1"), nullptr);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ExciseTest, PartsOfMacrosGoWithTheLastVersion) {
  MustApply(R"(
    insert macro 0 | 40 | m | 1 | 3
    insert macro 0 | 41 | n | 1 | 3
    insert macro 0 | 41 | n | 3 | -
    insert macro_impl 40 | 0 | duckdb | x | scalar
    insert macro_impl 41 | 0 | duckdb | x | scalar
    insert macro_impl 42 | 0 | duckdb | orphan | scalar
    insert macro_parameters 40 | 0 | 0 | a
    insert macro_parameters 41 | 0 | 0 | a
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("macro", {.columns = {{1}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("41 @ [3, …)"));
  EXPECT_THAT(Rows("macro_impl", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("41 @ [3, …)"));
  EXPECT_THAT(Rows("macro_parameters", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("41 @ [3, …)"));
}

// --- What stays because other rows need it -------------------------------------------------------

TEST_F(ExciseTest, TheHighestColumnOfATableStaysSoThatItsIdIsNotUsedAgain) {
  MustApply(R"(
    insert column 2 | 1 | 2 | 1 | 2 | b | int64
    insert column 2 | 2 | 3 | 1 | 2 | b2 | int64
    insert column 3 | 1 | 2 | 1 | 3 | c | int64
    insert column 3 | 2 | 4 | 1 | 3 | c2 | int64
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("column", {.columns = {{0, 5}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 | a @ [1, …)", "3 | c2 @ [2, 4)"))
      << "its newest version";
  MustApply("insert column 4 | 10 | - | 1 | 4 | d | int64");
  MustExcise();
  EXPECT_THAT(Rows("column", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 @ [1, …)", "4 @ [10, …)"))
      << "once there is a higher one it goes";
}

TEST_F(ExciseTest, AColumnStaysWhileStatisticsNameIt) {
  MustApply(R"(
    insert column 2 | 1 | 3 | 1 | 2 | b | int64
    insert column 3 | 1 | 3 | 1 | 3 | c | int64
    insert column 4 | 1 | 3 | 1 | 4 | d | int64
    insert column 5 | 1 | - | 1 | 5 | e | int64
    insert data_file 100 | 1 | 2 | 8 | - | f | true
    insert data_file 101 | 1 | 2 | 4 | - | g | true
    insert file_column_stats 100 | 1 | 2 | 1
    insert file_column_stats 101 | 1 | 3 | 1
    insert table_column_stats 1 | 4 | false
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("column", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 @ [1, …)", "2 @ [1, 3)", "4 @ [1, 3)", "5 @ [1, …)"))
      << "3 is named by statistics of a file that goes only";
  EXPECT_THAT(Findings(), Not(Contains(HasSubstr("orphan"))));
  RaiseFloorAndExcise(9);
  EXPECT_THAT(Rows("column", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("1 @ [1, …)", "4 @ [1, 3)", "5 @ [1, …)"));
}

TEST_F(ExciseTest, APartitioningStaysWhileAFileWasWrittenByIt) {
  MustApply(R"(
    insert partition_info 50 | 1 | 1 | 3
    insert partition_column 50 | 1 | 0 | 1 | identity
    insert partition_info 51 | 1 | 3 | 4
    insert partition_column 51 | 1 | 0 | 1 | identity
    insert partition_info 52 | 1 | 4 | -
    insert partition_column 52 | 1 | 0 | 1 | identity
    insert data_file 100 | 1 | 2 | - | - | f | true | parquet | 1 | 1 | 1 | 0 | 50
    insert data_file 101 | 1 | 3 | 4 | - | g | true | parquet | 1 | 1 | 1 | 0 | 51
    insert file_partition_value 100 | 1 | 0 | v
  )");
  RaiseFloorAndExcise(5);
  EXPECT_THAT(Rows("partition_info", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("50 @ [1, 3)", "52 @ [4, …)"));
  EXPECT_THAT(Rows("partition_column", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("50 @ [1, 3)", "52 @ [4, …)"));
  EXPECT_THAT(Findings(), IsEmpty());
  MustApply("end data_file 1 | 100 @ 10\n snapshot 11\n insert snapshot_changes 11");
  RaiseFloorAndExcise(11);
  EXPECT_THAT(Rows("partition_info", {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("52 @ [4, …)"));
}

// --- Steps, interruption, audit ------------------------------------------------------------------

class ExciseSteps : public ExciseTest {
 protected:
  void SetUp() override {
    ExciseTest::SetUp();
    std::string changes;
    for (int view = 100; view < 200; ++view) {
      StrAppend(&changes, "insert view ", view, " | - | 2 | 4 | 0 | v", view, " | duckdb | x\n");
    }
    MustApply(changes);
    RaiseFloor(5);
  }
  // 100 views, 5 snapshots, 5 rows of changes.
  static constexpr uint64_t kRows = 110;
};

TEST_F(ExciseSteps, AreBoundedAndOtherCommitsGoInBetween) {
  std::vector<uint64_t> done;
  int other = 0;
  ExciseOptions options{.rows_per_step = 30};
  options.on_progress = [&](uint64_t rows, uint64_t /*versions*/) {
    done.push_back(rows);
    MustApply(StrCat("insert metadata k", other++, " | v"));
  };
  const Csn before = catalog_->LatestState()->csn;
  const ExciseResult result = MustExcise(options);
  EXPECT_THAT(done, ElementsAre(30, 60, 90, 110));
  EXPECT_EQ(result.steps, 4U);
  EXPECT_EQ(TotalRows(result.rows), kRows);
  EXPECT_EQ(catalog_->LatestState()->csn, before + 4 + 4 + 1) << "steps, others, audit entry";
}

TEST_F(ExciseSteps, AStoppedExcisionGoesOnAndIsOneAuditEntry) {
  int steps = 0;
  ExciseOptions options{.rows_per_step = 25};
  options.stop = [&] { return ++steps >= 2; };
  const auto stopped = Excise(catalog_.get(), options);
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(MessageOf(stopped.status())),
              HasSubstr("excision stopped after 50 rows; they are gone"));
  EXPECT_THAT(AuditOf("excise"), IsEmpty()) << "it is not finished";
  EXPECT_THAT(Rows("snapshot", {.columns = {{0}}}), ElementsAre("5", "6", "7", "8", "9", "10"))
      << "no snapshot that is there is only half there";
  EXPECT_THAT(History("view"), SizeIs(60));
  EXPECT_THAT(Findings(), IsEmpty());
  Reopen();
  const auto plan = PlanExcise(*catalog_, nullptr);
  ASSERT_TRUE(plan->interrupted.has_value());
  EXPECT_EQ(TotalRows(plan->interrupted->rows), 50U);
  EXPECT_EQ(TotalRows(plan->reclaimable.rows), kRows - 50);

  const auto result = Excise(catalog_.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->resumed);
  EXPECT_EQ(TotalRows(result->rows), kRows) << "with what was done before";
  const std::vector<AuditEntry> entries = AuditOf("excise");
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].rows.at("ducklake_view"), 100U);
  EXPECT_EQ(TotalRows(entries[0].rows), kRows);
  EXPECT_EQ(entries[0].first_snapshot, 0U);
  EXPECT_EQ(entries[0].last_snapshot, 4U);
  EXPECT_EQ(entries[0].actor, ThisActor());
  EXPECT_THAT(entries[0].detail, HasSubstr("retained from 5; 3 steps"));
  EXPECT_THAT(entries[0].detail, HasSubstr(StrCat("resumed by ", ThisActor())));
  EXPECT_FALSE(PlanExcise(*catalog_, nullptr)->interrupted.has_value());
}

TEST_F(ExciseSteps, AnInterruptedOneWithNothingLeftIsClosed) {
  int steps = 0;
  ExciseOptions options{.rows_per_step = 108};
  options.stop = [&] { return ++steps >= 1; };
  ASSERT_FALSE(Excise(catalog_.get(), options).ok());
  // The last rows go by another way.
  MustApply("erase view 198 @ 2\n erase view 199 @ 2");
  const auto result = Excise(catalog_.get());
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_THAT(AuditOf("excise"), SizeIs(1));
  EXPECT_EQ(TotalRows(AuditOf("excise")[0].rows), kRows - 2);
}

TEST_F(ExciseSteps, WhatOthersRemovedOrChangedMeanwhileIsLeftAlone) {
  bool done = false;
  ExciseOptions options{.rows_per_step = 50};
  options.on_progress = [&](uint64_t rows, uint64_t /*versions*/) {
    if (rows == 50 && !done) {
      done = true;
      MustApply(
          "erase view 160 @ 2\n"
          "erase view 161 @ 2\n insert view 161 | - | 2 | 9 | 0 | longer");
    }
  };
  const auto result = Excise(catalog_.get(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rows.at("ducklake_view"), 98U);
  EXPECT_THAT(History("view"), ElementsAre("161 | - | 2 | 9 | 0 | longer | - | - | - @ [2, 9)"));
}

TEST_F(ExciseSteps, AChangeFeedTruncatedMeanwhileIsNoObstacle) {
  std::string files;
  for (int file = 300; file < 310; ++file) {
    StrAppend(&files, "insert data_file ", file, " | 1 | 2 | 4 | - | f", file, " | true\n");
  }
  MustApply(files);
  bool done = false;
  ExciseOptions options{.rows_per_step = 4};
  options.on_progress = [&](uint64_t rows, uint64_t /*versions*/) {
    if (rows >= 2 && !done) {
      done = true;
      MustApply("insert data_file 400 | 1 | 10 | - | - | f309 | true");
      MustApply("insert metadata a | b");
      ASSERT_TRUE(ApplyGc(catalog_.get(), {.changes = {.commits = 0}}).ok());
    }
  };
  const auto result = Excise(catalog_.get(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(done);
  EXPECT_THAT(Scheduled(), SizeIs(9));
  EXPECT_EQ(result->shared_files, 1U);
  EXPECT_EQ(TotalRows(result->rows), kRows + 10);
}

TEST_F(ExciseSteps, EveryStepIsInTheChangeFeed) {
  const Csn before = catalog_->LatestState()->csn;
  MustExcise({.rows_per_step = 40});
  const ReadView view = catalog_->Current();
  const auto changes = Changes(view, before, view.csn(), {.relations = {kView}, .columns = {{0}}});
  ASSERT_TRUE(changes.ok()) << changes.status();
  ChangeBatch batch;
  int64_t expected = 100;
  while (*(*changes)->Next(&batch)) {
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      EXPECT_EQ(batch.kinds[i], FeedKind::kErased);
      EXPECT_EQ(batch.begins[i], 2U);
      EXPECT_EQ(batch.columns.column(0).int64s()[i], expected++);
    }
  }
  EXPECT_EQ(expected, 200);
}

TEST_F(ExciseSteps, ViewsTakenBeforeStayAsTheyAre) {
  const ReadView view = catalog_->Current();
  const std::vector<std::string> history =
      ScanTexts(view, "view", {.rows = ScanRows::kAllVersions});
  MustExcise();
  EXPECT_EQ(ScanTexts(view, "view", {.rows = ScanRows::kAllVersions}), history);
  EXPECT_THAT(History("view"), IsEmpty());
}

TEST_F(ExciseSteps, CompactingTakesTheBytesFromDisk) {
  ASSERT_TRUE(catalog_->store().Flush().ok());
  MustExcise({.compact = true});
  uint64_t keys = 0;
  catalog_->store().db().GetIntProperty(catalog_->store().family(Family::kEnded),
                                        "rocksdb.estimate-num-keys", &keys);
  EXPECT_EQ(keys, 0U);
}

TEST_F(ExciseSteps, TheSizeOfAStepIsChecked) {
  for (const uint32_t rows : {0U, kMaxRowsPerStep + 1}) {
    const auto result = Excise(catalog_.get(), {.rows_per_step = rows});
    EXPECT_TRUE(absl::IsInvalidArgument(result.status())) << result.status();
  }
}

TEST_F(ExciseSteps, AReadOnlyCatalogCanBePlannedAndIsNotExcised) {
  Reopen({.read_only = true});
  EXPECT_EQ(TotalRows(PlanExcise(*catalog_, nullptr)->reclaimable.rows), kRows);
  EXPECT_TRUE(absl::IsFailedPrecondition(Excise(catalog_.get()).status()));
}

// --- Erasing stored versions ---------------------------------------------------------------------

TEST_F(ExciseTest, ACommitThatErasesStoredVersionsClosesItsGroup) {
  MustApply("insert view 50 | - | 1 | 3 | 0 | v");
  CommitGroup group(catalog_->LatestState());
  const RelationRef view = catalog_->LatestState()->directory->FindById(kView);
  std::string handle;
  const Datum key = Datum::Int64(50);
  ASSERT_TRUE(AppendHandle(*view, {&key, 1}, &handle).ok());
  ASSERT_TRUE(group
                  .Add([&](Commit& commit) -> absl::Status {
                    EXPECT_FALSE(*commit.EraseStored(view, handle, 1, 4)) << "another end";
                    EXPECT_FALSE(*commit.EraseStored(view, handle, 2, 3)) << "another begin";
                    EXPECT_FALSE(*commit.EraseStored(view, handle, 1, kNoEnd)) << "not live";
                    EXPECT_TRUE(*commit.EraseStored(view, handle, 1, 3));
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_TRUE(group.closed());
  EXPECT_TRUE(absl::IsInternal(group.Add([&](Commit& commit) {
    return commit.EraseStored(view, handle, 1, 3).status();
  }))) << "not behind another commit";
}

TEST_F(ExciseTest, TheLastSnapshotAndPinnedOnesAreNotErased) {
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "p", .snapshot = 4}).ok());
  const RelationRef snapshots = catalog_->LatestState()->directory->FindById(kSnapshot);
  for (const int64_t snapshot : {4, 10}) {
    std::string handle;
    const Datum key = Datum::Int64(snapshot);
    ASSERT_TRUE(AppendHandle(*snapshots, {&key, 1}, &handle).ok());
    CommitGroup group(catalog_->LatestState());
    const absl::Status status = group.Add([&](Commit& commit) {
      return commit.EraseStored(snapshots, handle, static_cast<SnapshotId>(snapshot), kNoEnd)
          .status();
    });
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  }
}

}  // namespace
}  // namespace varve

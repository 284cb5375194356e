// Expiry by a list of snapshots, and the removal of files that were scheduled for deletion.

#include "catalog/retention/expire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/retention/audit.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/scheduled_files.h"
#include "catalog/retention/view_registry.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Snapshots 1 to 6. Table 1 has one file at each of 1 to 5, each replaced by the next; file 105
// stays.
class ExpireTest : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    for (int n = 1; n <= 6; ++n) {
      MustApply(StrCat("snapshot ", n, "\n insert snapshot_changes ", n, " | x"));
    }
    MustApply("insert table 1 | - | 1 | - | 0 | t | t/ | true\n insert table_stats 1 | 1 | 1 | 1");
    for (int n = 1; n <= 5; ++n) {
      MustApply(StrCat("insert data_file ", 100 + n, " | 1 | ", n, " | ",
                       n == 5 ? "-" : StrCat(n + 1), " | - | f", n, " | true"));
    }
  }
  void ExpectError(const absl::Status& status, absl::StatusCode code, std::string_view what) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(std::string(what)));
  }
  ExciseResult MustExpire(std::vector<SnapshotId> snapshots) {
    const auto plan = PlanExpire(*catalog_, snapshots);
    EXPECT_TRUE(plan.ok()) << plan.status();
    auto result = Expire(catalog_.get(), snapshots);
    EXPECT_TRUE(result.ok()) << result.status();
    if (plan.ok() && result.ok()) {
      EXPECT_EQ(plan->reclaimable.rows, result->rows) << "the plan says what is done";
    }
    return result.ok() ? *std::move(result) : ExciseResult();
  }
  std::vector<std::string> FileIds() const {
    return ScanTexts(catalog_->Current(), "data_file",
                     {.columns = {{0}}, .rows = ScanRows::kAllVersions});
  }
  std::vector<std::string> Scheduled() const {
    return Rows("files_scheduled_for_deletion", {.columns = {{0, 1, 2}}});
  }
};

TEST_F(ExpireTest, RemovesTheSnapshotsAndWhatOnlyTheyShowed) {
  const ExciseResult result = MustExpire({4, 2, 2});
  EXPECT_THAT(Rows("snapshot", {.columns = {{0}}}), ElementsAre("0", "1", "3", "5", "6"));
  EXPECT_THAT(Rows("snapshot_changes", {.columns = {{0}}}), ElementsAre("0", "1", "3", "5", "6"));
  EXPECT_THAT(FileIds(), ElementsAre("101 @ [1, 2)", "103 @ [3, 4)", "105 @ [5, …)"));
  EXPECT_THAT(Scheduled(), ElementsAre("102 | main/t/f2 | true", "104 | main/t/f4 | true"));
  EXPECT_EQ(result.scheduled_files, 2U);
  ExpectError(catalog_->At(2).status(), absl::StatusCode::kNotFound,
              "snapshot 2 does not exist (expired, or never made); the nearest are 1 and 3");
  EXPECT_TRUE(catalog_->At(3).ok());
}

TEST_F(ExpireTest, IsAudited) {
  MustExpire({2, 4});
  std::vector<AuditEntry> entries;
  ASSERT_TRUE(ReadAudit(*catalog_->LatestState(), [&](const AuditEntry& entry) {
                entries.push_back(entry);
                return absl::OkStatus();
              }).ok());
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].action, "expire");
  EXPECT_EQ(entries[0].first_snapshot, 2U);
  EXPECT_EQ(entries[0].last_snapshot, 4U);
  EXPECT_EQ(entries[0].detail, "snapshots 2, 4");
  EXPECT_EQ(entries[0].rows,
            (RowCounts{{"ducklake_snapshot", 2}, {"ducklake_snapshot_changes", 2}}));
  EXPECT_EQ(entries[1].action, "excise");
  EXPECT_EQ(entries[1].rows, (RowCounts{{"ducklake_data_file", 2}}));
}

TEST_F(ExpireTest, RefusesWhatMustStayAndChangesNothing) {
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "p", .snapshot = 3}).ok());
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "l", .snapshot = 4, .lease = absl::Hours(1)}).ok());
  MustApply("erase snapshot 2 @ 2\n erase snapshot_changes 2 @ 2");
  const std::vector<std::string> before = Everything();
  const auto refused = [&](std::vector<SnapshotId> snapshots, absl::StatusCode code,
                           std::string_view what) {
    ExpectError(Expire(catalog_.get(), snapshots).status(), code, what);
    ExpectError(PlanExpire(*catalog_, snapshots).status(), code, what);
  };
  refused({}, absl::StatusCode::kInvalidArgument, "no snapshot is named");
  refused({1, 6}, absl::StatusCode::kFailedPrecondition,
          "snapshot 6 is the last one and cannot expire");
  refused({1, 2}, absl::StatusCode::kNotFound,
          "snapshot 2 does not exist (expired, or never made)");
  refused({1, 9}, absl::StatusCode::kNotFound, "snapshot 9 does not exist: the last one is 6");
  refused({1, 3}, absl::StatusCode::kFailedPrecondition,
          "snapshot 3 is held by pin 'p' and cannot expire; remove it first");
  refused({4}, absl::StatusCode::kFailedPrecondition,
          "snapshot 4 is held by lease 'l' and cannot expire");
  EXPECT_EQ(Everything(), before);
}

TEST_F(ExpireTest, AnExpiredLeaseIsNoObstacle) {
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "l", .snapshot = 4, .lease = absl::Hours(1)},
                       absl::Now() - absl::Hours(2))
                  .ok());
  MustExpire({4});
  EXPECT_THAT(*catalog_->LatestState()->pins, IsEmpty());
}

TEST_F(ExpireTest, UnderAnOpenReaderNothingItSeesIsLost) {
  std::vector<std::string> seen;
  {
    const ReadView reader = At(2);
    seen = ScanTexts(reader, "data_file", {.columns = {{0}}});
    MustExpire({1, 2, 3});
    EXPECT_EQ(ScanTexts(reader, "data_file", {.columns = {{0}}}), seen);
    EXPECT_THAT(FileIds(), ElementsAre("102 @ [2, 3)", "104 @ [4, 5)", "105 @ [5, …)"));
    EXPECT_THAT(Scheduled(), ElementsAre("101 | main/t/f1 | true", "103 | main/t/f3 | true"))
        << "its file is not given up";
    EXPECT_FALSE(catalog_->At(2).ok()) << "but nobody else comes to it";
  }
  // The reader has gone.
  const auto result = Excise(catalog_.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(FileIds(), ElementsAre("104 @ [4, 5)", "105 @ [5, …)"));
}

TEST_F(ExpireTest, AStoppedExcisionLeavesTheSnapshotsExpired) {
  const auto stopped = Expire(catalog_.get(), std::vector<SnapshotId>{1, 2, 3, 4},
                              {.rows_per_step = 2, .stop = [] { return true; }});
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled) << stopped.status();
  EXPECT_THAT(Rows("snapshot", {.columns = {{0}}}), ElementsAre("0", "5", "6"));
  const auto result = Excise(catalog_.get());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->resumed);
  EXPECT_EQ(result->rows, (RowCounts{{"ducklake_data_file", 4}}));
}

// --- Scheduled files -----------------------------------------------------------------------------

class ScheduledFilesTest : public ExpireTest {
 protected:
  std::vector<int64_t> Removable(absl::Time older_than = absl::InfiniteFuture(),
                                 absl::Time now = absl::Now()) {
    const auto files =
        ScheduledFilesToRemove(catalog_->LatestState(), catalog_->views(), older_than, now);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<int64_t> ids;
    for (const ScheduledFile& file : *files) {
      ids.push_back(file.id);
    }
    return ids;
  }
};

TEST_F(ScheduledFilesTest, AreGivenWithTheirWholePath) {
  MustApply("put files_scheduled_for_deletion 300 | /abs/x | false | '2026-01-01 00:00:00+00'");
  MustExpire({2});
  const auto files =
      ScheduledFilesToRemove(catalog_->LatestState(), catalog_->views(), absl::InfiniteFuture());
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_THAT(*files, SizeIs(2));
  EXPECT_EQ((*files)[0].id, 102);
  EXPECT_EQ((*files)[0].path, "/lake/main/t/f2");
  EXPECT_EQ((*files)[1].path, "/abs/x");
  EXPECT_EQ((*files)[1].scheduled, absl::FromUnixSeconds(1'767'225'600));
}

TEST_F(ScheduledFilesTest, WaitForTheirTime) {
  MustApply("put files_scheduled_for_deletion 300 | x | true | '2026-01-01 00:00:00+00'");
  const absl::Time scheduled = absl::FromUnixSeconds(1'767'225'600);
  EXPECT_THAT(Removable(scheduled), IsEmpty());
  EXPECT_THAT(Removable(scheduled + absl::Microseconds(1)), ElementsAre(300));
}

TEST_F(ScheduledFilesTest, AnOlderReaderHoldsThemBack) {
  {
    const ReadView older = catalog_->Current();
    MustExpire({2});
    EXPECT_THAT(Removable(), IsEmpty());
    const Csn scheduled = catalog_->LatestState()->csn - 1;  // the audit entry came last
    ExpectError(
        MayRemoveScheduled(*catalog_->LatestState(), catalog_->views(), scheduled, absl::Now()),
        absl::StatusCode::kFailedPrecondition, "a reader of this process");
  }
  const ReadView younger = catalog_->Current();
  EXPECT_THAT(Removable(), ElementsAre(102));
}

TEST_F(ScheduledFilesTest, AnOlderPinOrLeaseHoldsThemBack) {
  const absl::Time now = absl::Now();
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "p", .snapshot = 1}, now).ok());
  ASSERT_TRUE(
      PlacePin(catalog_.get(), {.name = "l", .snapshot = 6, .lease = absl::Hours(1)}, now).ok());
  MustExpire({2});
  ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "later", .snapshot = 3}, now).ok());
  EXPECT_THAT(Removable(), IsEmpty());
  ExpectError(MayRemoveScheduled(*catalog_->LatestState(), catalog_->views(),
                                 catalog_->LatestState()->csn, now),
              absl::StatusCode::kFailedPrecondition,
              "lease 'l' on snapshot 6 is older than the commit that scheduled the file");
  ASSERT_TRUE(RemovePin(catalog_.get(), "p", now).ok());
  EXPECT_THAT(Removable(absl::InfiniteFuture(), now + absl::Minutes(59)), IsEmpty());
  EXPECT_THAT(Removable(absl::InfiniteFuture(), now + absl::Hours(1)), ElementsAre(102))
      << "the lease has expired; the later pin was placed when the file was scheduled already";
}

TEST_F(ScheduledFilesTest, RenewingALeaseStillHoldsWhatItHeld) {
  const absl::Time now = absl::Now();
  const PinRequest lease{.name = "l", .snapshot = 6, .lease = absl::Hours(1)};
  ASSERT_TRUE(PlacePin(catalog_.get(), lease, now).ok());
  MustExpire({2});
  ASSERT_TRUE(PlacePin(catalog_.get(), lease, now + absl::Minutes(30)).ok());
  EXPECT_THAT(Removable(absl::InfiniteFuture(), now + absl::Minutes(80)), IsEmpty());
}

}  // namespace
}  // namespace varve

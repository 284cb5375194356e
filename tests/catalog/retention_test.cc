// Pins, leases, the floor, and what they retain.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/retention/audit.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/commit_queue.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Snapshots 1 to 10; view n was live from n to n + 1.
class RetentionTest : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    for (int n = 1; n <= 10; ++n) {
      MustApply(StrCat("snapshot ", n, "\n insert snapshot_changes ", n, "\n insert view ", n,
                       " | - | ", n, n > 1 ? StrCat("\n end view ", n - 1, " @ ", n) : ""));
    }
  }

  absl::StatusOr<PlacedPin> Place(std::string name, std::optional<SnapshotId> snapshot,
                                  std::optional<absl::Duration> lease = std::nullopt) {
    return PlacePin(catalog_.get(), {.name = std::move(name), .snapshot = snapshot, .lease = lease},
                    now_);
  }
  void RaiseFloor(SnapshotId floor) {
    const auto plan = ApplyGc(catalog_.get(), {.retain_from = floor, .now = now_});
    ASSERT_TRUE(plan.ok()) << plan.status();
  }
  const PinSet& Pins() const { return *catalog_->LatestState()->pins; }
  std::vector<SnapshotId> Retained() {
    return RetainedOf(*catalog_, *catalog_->LatestState(), now_)->snapshots();
  }
  std::vector<std::string> Audit() const {
    std::vector<std::string> lines;
    const absl::Status status = ReadAudit(*catalog_->LatestState(), [&](const AuditEntry& entry) {
      lines.push_back(StrCat(entry.action, " ", entry.object));
      EXPECT_EQ(entry.actor, ThisActor());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return lines;
  }
  void ExpectError(const absl::Status& status, absl::StatusCode code, std::string_view what) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(std::string(what)));
    EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
  }

  absl::Time now_ = absl::FromUnixSeconds(1'900'000'000);
};

// --- Pins and leases -----------------------------------------------------------------------------

TEST_F(RetentionTest, APinIsKeptWithItsHolderAndSurvivesReopening) {
  const auto placed =
      PlacePin(catalog_.get(), {.name = "q3", .snapshot = 4, .note = "the auditors' state"}, now_);
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_FALSE(placed->renewed);
  Reopen();
  ASSERT_THAT(Pins(), SizeIs(1));
  const Pin& pin = Pins().at("q3");
  EXPECT_EQ(pin.snapshot, 4U);
  EXPECT_EQ(pin.csn, placed->pin.csn);
  EXPECT_EQ(pin.placed, now_);
  EXPECT_EQ(pin.expires, std::nullopt);
  EXPECT_EQ(pin.holder, ThisActor());
  EXPECT_EQ(pin.note, "the auditors' state");
  EXPECT_THAT(pin.holder, ::testing::MatchesRegex(".+@.+, process [0-9]+"));
}

TEST_F(RetentionTest, WithoutASnapshotAPinIsOnTheLatest) {
  EXPECT_EQ(Place("here", std::nullopt)->pin.snapshot, 10U);
}

TEST_F(RetentionTest, PinsAreOnlyPlacedOnRetainedSnapshots) {
  RaiseFloor(5);
  ExpectError(Place("p", 11).status(), absl::StatusCode::kNotFound,
              "snapshot 11 lies in the future: the last one is 10");
  ExpectError(Place("p", 3).status(), absl::StatusCode::kNotFound,
              "snapshot 3 is no longer retained (retained from 5); the nearest that is: 5");
  MustApply("erase snapshot 7 @ 7\n erase snapshot_changes 7 @ 7");
  ExpectError(Place("p", 7).status(), absl::StatusCode::kNotFound,
              "snapshot 7 does not exist (expired, or never made); the nearest are 6 and 8");
  EXPECT_THAT(Pins(), IsEmpty());
}

TEST_F(RetentionTest, AReaderIsNoReasonToPinWhatWasGivenUp) {
  const ReadView reader = At(3);
  RaiseFloor(5);
  ExpectError(Place("p", 3).status(), absl::StatusCode::kNotFound, "is no longer retained");
}

TEST_F(RetentionTest, AnotherPinIsAReason) {
  ASSERT_TRUE(Place("first", 3).ok());
  RaiseFloor(5);
  EXPECT_TRUE(Place("second", 3).ok());
  ASSERT_TRUE(RemovePin(catalog_.get(), "first", now_).ok());
  EXPECT_TRUE(catalog_->At(3).ok());
  ASSERT_TRUE(RemovePin(catalog_.get(), "second", now_).ok());
  EXPECT_FALSE(catalog_->At(3).ok());
  EXPECT_FALSE(Place("third", 3).ok());
}

TEST_F(RetentionTest, NamesAndNotesAreChecked) {
  const auto refused = [&](PinRequest request, std::string_view what) {
    ExpectError(PlacePin(catalog_.get(), request, now_).status(),
                absl::StatusCode::kInvalidArgument, what);
  };
  refused({.name = ""}, "a pin needs a name");
  refused({.name = std::string(201, 'x')}, "has 201 bytes");
  refused({.name = std::string("a\0b", 3)}, "control characters");
  refused({.name = "a\nb"}, "control characters");
  refused({.name = "a\xff"}, "no valid UTF-8");
  refused({.name = "p", .note = "\xff"}, "note is no valid UTF-8");
  refused({.name = "p", .note = std::string(2'001, 'x')}, "note has 2001 bytes");
  refused({.name = "p", .lease = absl::ZeroDuration()}, "a lease for 0");
  refused({.name = "p", .lease = -absl::Hours(1)}, "a lease for -1h");
  refused({.name = "p", .lease = absl::Hours(24 * 365 * 11)}, "at most ten years");
  EXPECT_TRUE(Place("ä/b c", 1).ok()) << "anything else is a name";
  EXPECT_TRUE(Place(std::string(200, 'x'), 1).ok());
}

TEST_F(RetentionTest, ANameIsGivenOnce) {
  ASSERT_TRUE(Place("p", 4).ok());
  ExpectError(Place("p", 5).status(), absl::StatusCode::kAlreadyExists,
              "there is a pin 'p' on snapshot 4 already; remove it first");
  ExpectError(Place("p", 4, absl::Hours(1)).status(), absl::StatusCode::kAlreadyExists,
              "there is a pin 'p'");
}

TEST_F(RetentionTest, ALeaseIsRenewedAndKeepsWhatItHeld) {
  const Pin first = Place("job", 4, absl::Hours(1))->pin;
  MustApply("snapshot 11");
  now_ += absl::Minutes(50);
  const auto renewed = Place("job", std::nullopt, absl::Hours(1));
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_TRUE(renewed->renewed);
  EXPECT_EQ(renewed->pin.snapshot, 4U);
  EXPECT_EQ(renewed->pin.csn, first.csn) << "it still reads what it read before";
  EXPECT_EQ(renewed->pin.expires, now_ + absl::Hours(1));
  ExpectError(Place("job", 5, absl::Hours(1)).status(), absl::StatusCode::kAlreadyExists,
              "there is a lease 'job' on snapshot 4 already; remove it first, or renew it");
  ExpectError(Place("job", 4).status(), absl::StatusCode::kAlreadyExists, "there is a lease 'job'");
  EXPECT_THAT(Audit(), ElementsAre("lease job")) << "renewing is not recorded";
}

TEST_F(RetentionTest, AnExpiredLeaseHoldsNothingAndItsNameIsFree) {
  ASSERT_TRUE(Place("job", 3, absl::Hours(1)).ok());
  RaiseFloor(5);
  EXPECT_THAT(Retained(), ElementsAre(3, 5, 6, 7, 8, 9, 10));
  EXPECT_TRUE(IsRetained(*catalog_->LatestState(), 3, now_));
  now_ += absl::Hours(1);
  EXPECT_THAT(Retained(), ElementsAre(5, 6, 7, 8, 9, 10));
  EXPECT_FALSE(IsRetained(*catalog_->LatestState(), 3, now_));
  ExpectError(Place("job", std::nullopt, absl::Hours(1)).ok() ? absl::OkStatus()
                                                              : absl::InternalError("not placed"),
              absl::StatusCode::kOk, "");
  EXPECT_EQ(Pins().at("job").snapshot, 10U) << "a new lease, on the latest snapshot";
  ExpectError(Place("again", 3).status(), absl::StatusCode::kNotFound, "no longer retained");
}

TEST_F(RetentionTest, TheNextChangeOfPinsOrFloorSweepsExpiredLeases) {
  ASSERT_TRUE(Place("a", 1, absl::Hours(1)).ok());
  ASSERT_TRUE(Place("b", 2, absl::Hours(2)).ok());
  now_ += absl::Minutes(90);
  EXPECT_THAT(Pins(), SizeIs(2));
  ASSERT_TRUE(Place("c", 3).ok());
  EXPECT_THAT(Pins(), SizeIs(2));
  now_ += absl::Hours(1);
  RaiseFloor(2);
  EXPECT_THAT(Pins(), ElementsAre(Pair("c", ::testing::_)));
  Reopen();
  EXPECT_THAT(Pins(), ElementsAre(Pair("c", ::testing::_)));
}

TEST_F(RetentionTest, RemovingAPinNamesTheNearest) {
  ASSERT_TRUE(Place("quarter", 4).ok());
  ExpectError(RemovePin(catalog_.get(), "quater", now_).status(), absl::StatusCode::kNotFound,
              "there is no pin or lease 'quater'; did you mean 'quarter'?");
  const auto removed = RemovePin(catalog_.get(), "quarter", now_);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->snapshot, 4U);
  EXPECT_THAT(Audit(), ElementsAre("pin quarter", "unpin quarter"));
  Reopen();
  EXPECT_THAT(Pins(), IsEmpty());
}

TEST_F(RetentionTest, AReadOnlyCatalogShowsPinsAndPlacesNone) {
  ASSERT_TRUE(Place("p", 4).ok());
  Reopen({.read_only = true});
  EXPECT_THAT(Pins(), SizeIs(1));
  ExpectError(Place("q", 4).status(), absl::StatusCode::kFailedPrecondition, "read-only");
}

TEST_F(RetentionTest, APinnedSnapshotCannotBeDeletedByAnyCommit) {
  ASSERT_TRUE(Place("p", 4).ok());
  ExpectError(Apply("erase snapshot 4 @ 4\n erase snapshot_changes 4 @ 4"),
              absl::StatusCode::kFailedPrecondition,
              "snapshot 4 is held by pin 'p' and cannot be deleted; remove the pin first");
  ASSERT_TRUE(RemovePin(catalog_.get(), "p", now_).ok());
  MustApply("erase snapshot 4 @ 4");
}

TEST_F(RetentionTest, APinThatCannotBeReadIsDamage) {
  ASSERT_TRUE(Place("p", 4).ok());
  ASSERT_TRUE(catalog_->store()
                  .db()
                  .Put({}, catalog_->store().family(Family::kDefault), "pin/p", "\xff\xff")
                  .ok());
  catalog_.reset();
  const auto opened = Catalog::Open(path());
  ExpectError(opened.status(), absl::StatusCode::kDataLoss, "the pin 'p' cannot be read");
}

// --- What is retained ----------------------------------------------------------------------------

TEST_F(RetentionTest, AllSnapshotsAreRetainedAtFirst) {
  EXPECT_THAT(Retained(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(RetentionTest, RetainedAreThoseAboveTheFloorPinnedLeasedAndHeld) {
  ASSERT_TRUE(Place("p", 2).ok());
  ASSERT_TRUE(Place("l", 4, absl::Hours(1)).ok());
  const ReadView reader = At(6);
  RaiseFloor(8);
  EXPECT_THAT(Retained(), ElementsAre(2, 4, 6, 8, 9, 10));
  EXPECT_THAT(FindRetained(*catalog_->LatestState(), {}, now_)->snapshots(),
              ElementsAre(2, 4, 8, 9, 10));
  EXPECT_THAT(FindRetained(*catalog_->LatestState(), {}, now_, 10)->snapshots(),
              ElementsAre(2, 4, 10));
}

TEST_F(RetentionTest, WhatAReaderHoldsIsRetainedThoughItsRowIsGone) {
  const ReadView reader = At(6);
  MustApply("erase snapshot 6 @ 6\n erase snapshot_changes 6 @ 6");
  EXPECT_THAT(Retained(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(FindRetained(*catalog_->LatestState(), {}, now_)->snapshots(),
              ElementsAre(0, 1, 2, 3, 4, 5, 7, 8, 9, 10));
}

TEST_F(RetentionTest, ReadingBelowTheFloorNamesTheNearestRetained) {
  ASSERT_TRUE(Place("p", 3).ok());
  RaiseFloor(7);
  const absl::Time now = absl::Now();
  const StoreState& state = *catalog_->LatestState();
  ExpectError(CheckReadable(state, 5, now), absl::StatusCode::kNotFound,
              "snapshot 5 is no longer retained (retained from 7); the nearest that is: 3 and 7");
  ExpectError(CheckReadable(state, 1, now), absl::StatusCode::kNotFound, "the nearest that is: 3");
  ExpectError(CheckReadable(state, 12, now), absl::StatusCode::kNotFound, "lies in the future");
  EXPECT_TRUE(CheckReadable(state, 3, now).ok()) << "pinned";
  EXPECT_TRUE(CheckReadable(state, 7, now).ok());
  EXPECT_EQ(NearestRetained(state, 20, now)->below, 10U);
  EXPECT_EQ(NearestRetained(state, 20, now)->above, std::nullopt);
  EXPECT_EQ(NearestRetained(state, 2, now)->below, std::nullopt);
  EXPECT_EQ(NearestRetained(state, 2, now)->above, 3U);
}

TEST_F(RetentionTest, APinnedSnapshotBelowTheFloorCanBeRead) {
  const std::vector<std::string> before = RowsAt(3, "view");
  ASSERT_TRUE(Place("p", 3).ok());
  RaiseFloor(7);
  EXPECT_FALSE(catalog_->At(4).ok());
  ASSERT_TRUE(catalog_->At(3).ok());
  EXPECT_EQ(RowsAt(3, "view"), before);
  EXPECT_EQ(catalog_->AtTime(SnapshotTime(3))->snapshot(), 3U);
  EXPECT_EQ(catalog_->AtTime(SnapshotTime(5))->snapshot(), 3U)
      << "of the retained ones the latest at or before that time";
}

// --- The floor -----------------------------------------------------------------------------------

TEST_F(RetentionTest, GcRaisesTheFloorAndDeletesNothing) {
  const std::vector<std::string> history = History("view");
  {
    const ReadView reader = At(2);
    const std::vector<std::string> seen = ScanTexts(reader, "view");
    RaiseFloor(5);
    EXPECT_EQ(catalog_->LatestState()->retain_from, 5U);
    EXPECT_EQ(History("view"), history);
    EXPECT_EQ(ScanTexts(reader, "view"), seen) << "a reader keeps its view";
  }
  ExpectError(catalog_->At(2).status(), absl::StatusCode::kNotFound,
              "snapshot 2 is no longer retained (retained from 5); the nearest that is: 5");
  Reopen();
  EXPECT_EQ(catalog_->LatestState()->retain_from, 5U);
  EXPECT_FALSE(catalog_->At(2).ok());
}

TEST_F(RetentionTest, KeepLastCountsSnapshots) {
  MustApply("erase snapshot 9 @ 9\n erase snapshot_changes 9 @ 9");
  const auto plan = ApplyGc(catalog_.get(), {.keep_last = 3, .now = now_});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->floor, 7U) << "10, 8 and 7 stay";
  EXPECT_THAT(plan->given_up, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(catalog_->LatestState()->retain_from, 7U);
}

TEST_F(RetentionTest, KeepingMoreThanThereAreChangesNothing) {
  const Csn before = catalog_->LatestState()->csn;
  const auto plan = ApplyGc(catalog_.get(), {.keep_last = 50, .now = now_});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->changes_nothing());
  EXPECT_EQ(catalog_->LatestState()->csn, before) << "no commit";
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(RetentionTest, OlderThanGivesUpByTimeAndKeepsTheLast) {
  // Snapshot n was made n seconds after SnapshotTime(0).
  const absl::Time now = SnapshotTime(12);
  EXPECT_EQ(PlanGc(*catalog_, {.older_than = absl::Seconds(5), .now = now})->floor, 7U);
  EXPECT_EQ(PlanGc(*catalog_, {.older_than = absl::Milliseconds(4'999), .now = now})->floor, 8U);
  EXPECT_EQ(PlanGc(*catalog_, {.older_than = absl::Seconds(1), .now = now})->floor, 10U);
  EXPECT_EQ(PlanGc(*catalog_, {.older_than = absl::Hours(1), .now = now})->floor, 0U);
}

TEST_F(RetentionTest, OlderThanGivesUpNothingBehindAClockThatWentBack) {
  // Snapshot 11 is younger than it looks; 12 is newer than 11 by id, older by time.
  MustApply(
      "insert snapshot 11 | '2026-01-01 00:10:00+00' | 1 | 1 | 1\n"
      "insert snapshot_changes 11\n"
      "insert snapshot 12 | '2026-01-01 00:00:20+00' | 1 | 1 | 1\n"
      "insert snapshot_changes 12");
  EXPECT_EQ(PlanGc(*catalog_, {.older_than = absl::Minutes(5), .now = SnapshotTime(660)})->floor,
            11U);
}

TEST_F(RetentionTest, GcRefusesWhatCannotBe) {
  RaiseFloor(5);
  const auto refused = [&](const GcRequest& request, absl::StatusCode code, std::string_view what) {
    ExpectError(PlanGc(*catalog_, request).status(), code, what);
    ExpectError(ApplyGc(catalog_.get(), request).status(), code, what);
  };
  refused({.retain_from = 11}, absl::StatusCode::kNotFound,
          "snapshot 11 lies in the future: the last one is 10");
  refused({.retain_from = 4}, absl::StatusCode::kInvalidArgument,
          "retain-from is 4, below the present floor 5, which never goes down");
  refused({.keep_last = 2, .retain_from = 7}, absl::StatusCode::kInvalidArgument,
          "exclude each other");
  refused({}, absl::StatusCode::kInvalidArgument, "nothing says what to give up");
  refused({.keep_last = 0}, absl::StatusCode::kInvalidArgument, "the last snapshot always stays");
  refused({.older_than = -absl::Hours(1)}, absl::StatusCode::kInvalidArgument, "negative");
  EXPECT_TRUE(PlanGc(*catalog_, {.retain_from = 5})->changes_nothing());
  EXPECT_EQ(PlanGc(*catalog_, {.keep_last = 9})->floor, 5U) << "never down";
}

TEST_F(RetentionTest, APlanSaysWhatIsGivenUpHeldBackAndReclaimable) {
  RaiseFloor(2);
  ASSERT_TRUE(Place("p", 3).ok());
  ASSERT_TRUE(Place("job", 4, absl::Hours(1)).ok());
  ASSERT_TRUE(Place("above", 9).ok());
  const ReadView reader = At(5);
  const auto plan = PlanGc(*catalog_, {.retain_from = 8, .now = now_});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->floor_before, 2U);
  EXPECT_THAT(plan->given_up, ElementsAre(2, 5, 6, 7));
  std::vector<std::string> held;
  for (const HeldBack& by : plan->held_back) {
    held.push_back(StrCat(by.what, " ", by.snapshot));
  }
  EXPECT_THAT(held, ElementsAre("lease 'job' 4", "pin 'p' 3", "a reader of this process 5"));
  // View n is seen at snapshot n only: 1 is reclaimable already; 3, 4 and 5 are held.
  EXPECT_EQ(plan->already.rows.at("ducklake_view"), 1U);
  EXPECT_EQ(plan->becoming.rows.at("ducklake_view"), 3U);
  EXPECT_EQ(plan->becoming.rows.at("ducklake_snapshot"), 3U) << "2, 6 and 7";
  EXPECT_EQ(catalog_->LatestState()->retain_from, 2U) << "a plan changes nothing";
}

TEST_F(RetentionTest, GcIsAudited) {
  RaiseFloor(5);
  std::vector<AuditEntry> entries;
  ASSERT_TRUE(ReadAudit(*catalog_->LatestState(), [&](const AuditEntry& entry) {
                entries.push_back(entry);
                return absl::OkStatus();
              }).ok());
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].action, "gc");
  EXPECT_EQ(entries[0].csn, catalog_->LatestState()->csn);
  EXPECT_EQ(entries[0].time, now_);
  EXPECT_EQ(entries[0].first_snapshot, 0U);
  EXPECT_EQ(entries[0].last_snapshot, 4U);
  EXPECT_EQ(entries[0].detail, "retained from 5, was 0; gave up 5 snapshots");
}

// --- The change feed -----------------------------------------------------------------------------

TEST_F(RetentionTest, ChangesAreKeptUnlessAsked) {
  const Csn begin = *FeedBegin(*catalog_->LatestState());
  RaiseFloor(5);
  EXPECT_EQ(*FeedBegin(*catalog_->LatestState()), begin);
}

TEST_F(RetentionTest, ChangesAreKeptByCommits) {
  const Csn last = catalog_->LatestState()->csn;
  const auto plan = ApplyGc(catalog_.get(), {.changes = {.commits = 3}, .now = now_});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->floor, 0U);
  EXPECT_EQ(*FeedBegin(*catalog_->LatestState()), last - 3);
  const ReadView view = catalog_->Current();
  EXPECT_TRUE(Changes(view, last - 3, last).ok());
  EXPECT_TRUE(absl::IsOutOfRange(Changes(view, last - 4, last).status()));
  EXPECT_TRUE(
      ApplyGc(catalog_.get(), {.changes = {.commits = 100}, .now = now_})->changes_nothing())
      << "what was cut does not come back";
}

TEST_F(RetentionTest, ChangesAreKeptByTime) {
  const auto plan =
      ApplyGc(catalog_.get(), {.changes = {.duration = absl::Seconds(5)}, .now = SnapshotTime(12)});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const ReadView view = catalog_->Current();
  EXPECT_EQ(plan->changes_from, *CsnOfSnapshot(view, 6)) << "from snapshot 7 on they are there";
  EXPECT_TRUE(ChangesBetween(view, 6, 10).ok());
  EXPECT_FALSE(ChangesBetween(view, 5, 10).ok());
}

// --- The audit log -------------------------------------------------------------------------------

TEST_F(RetentionTest, EntriesOfOneCommitKeepTheirOrder) {
  ASSERT_TRUE(catalog_
                  ->Commit({.prepare = [&](Commit& commit) -> absl::Status {
                    for (const char* object : {"b", "a", "c"}) {
                      const absl::Status status =
                          AppendAudit(&commit, {.time = now_,
                                                .actor = ThisActor(),
                                                .action = "restore",
                                                .object = object,
                                                .rows = {{"ducklake_table", 3}},
                                                .detail = "to 4"});
                      if (!status.ok()) {
                        return status;
                      }
                    }
                    return absl::OkStatus();
                  }})
                  .ok());
  Reopen();
  EXPECT_THAT(Audit(), ElementsAre("restore b", "restore a", "restore c"));
}

TEST_F(RetentionTest, AnAuditEntryThatCannotBeReadIsDamage) {
  RaiseFloor(5);
  ASSERT_TRUE(catalog_->store()
                  .db()
                  .Put({}, catalog_->store().family(Family::kDefault),
                       "audit/00000000000000000001/0000", "\xff\xff")
                  .ok());
  Reopen();
  ExpectError(
      ReadAudit(*catalog_->LatestState(), [](const AuditEntry&) { return absl::OkStatus(); }),
      absl::StatusCode::kDataLoss, "the audit entry 'audit/00000000000000000001/0000'");
}

}  // namespace
}  // namespace varve

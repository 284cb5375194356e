#include "catalog/feed/change_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/changes_truncation.h"
#include "catalog/handle.h"
#include "catalog/interchange/export.h"
#include "catalog/interchange/import.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/feed_truncation.h"
#include "tests/catalog/random_changes.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChangeFeed : public CatalogFixture {
 protected:
  ReadView View() const { return catalog_->Current(); }

  // One change a line: "2 inserted table [1, …) 4 | - | 1 | …". `positions`, if given, gets the
  // position after each batch.
  static std::vector<std::string> Read(absl::StatusOr<std::unique_ptr<ChangeReader>> reader,
                                       std::vector<Csn>* positions = nullptr) {
    if (!reader.ok()) {
      return {StrCat("error: ", reader.status().ToString())};
    }
    std::vector<std::string> lines;
    ChangeBatch batch;
    while (true) {
      const absl::StatusOr<bool> more = (*reader)->Next(&batch);
      if (!more.ok()) {
        lines.push_back(StrCat("error: ", more.status().ToString()));
        return lines;
      }
      if (positions != nullptr) {
        positions->push_back((*reader)->position());
      }
      if (!*more) {
        EXPECT_EQ(batch.num_rows(), 0U);
        return lines;
      }
      EXPECT_EQ(batch.columns.num_rows(), batch.num_rows());
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        lines.push_back(Line(batch, row));
      }
    }
  }

  static std::string Line(const ChangeBatch& batch, size_t row) {
    std::string line =
        StrCat(batch.csn, " ", FeedKindName(batch.kinds[row]), " ", batch.relation->short_name());
    if (batch.kinds[row] == FeedKind::kRelationDropped) {
      EXPECT_EQ(batch.handles[row], "");
      return line;
    }
    StrAppend(&line, " ", IntervalText(batch.begins[row], batch.ends[row]));
    std::vector<Datum> values;
    for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
      values.push_back(batch.columns.column(i).at(row));
    }
    if (values.size() == batch.relation->columns.num_columns()) {
      StrAppend(&line, " ", RowText(*batch.relation, values));
    } else {
      StrAppend(&line, " {", HandleToText(*batch.relation, batch.handles[row]), "}");
    }
    return line;
  }

  std::vector<std::string> Changed(Csn from, Csn to, ChangeFeedOptions options = {}) const {
    return Read(Changes(View(), from, to, std::move(options)));
  }
  std::vector<std::string> ChangedSince(Csn from) const { return Changed(from, View().csn()); }

  std::vector<std::string> DroppedKeys() {
    std::vector<std::string> keys;
    const std::unique_ptr<rocksdb::Iterator> it(catalog_->store().db().NewIterator(
        rocksdb::ReadOptions(), catalog_->store().family(Family::kDefault)));
    for (it->Seek(ToSlice(kDroppedKeyPrefix));
         it->Valid() && ToView(it->key()).starts_with(kDroppedKeyPrefix); it->Next()) {
      keys.push_back(it->key().ToString());
    }
    return keys;
  }
};

constexpr std::string_view kTables = "snapshot 1\n insert table 4 | - | 1 | - | 0 | a";

TEST_F(ChangeFeed, TellsTheKindsApart) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n insert table 5 | - | 0 | 1 | 0 | b");
  MustApply("snapshot 2\n end table 4 @ 2\n put table_stats 4 | 7");
  MustApply("put table_stats 4 | 8");
  MustApply("erase table 4 @ 1");
  MustApply("create heap a bigint\n insert heap 3");
  MustApply("drop heap");
  EXPECT_THAT(ChangedSince(1),
              ElementsAre("2 inserted snapshot [1, …) 1 | 2026-01-01 00:00:01+00 | 0 | 1 | 0",
                          "2 inserted table [1, …) 4 | - | 1 | - | 0 | a | - | -",
                          "2 inserted table [0, 1) 5 | - | 0 | 1 | 0 | b | - | -",
                          "3 inserted snapshot [2, …) 2 | 2026-01-01 00:00:02+00 | 0 | 1 | 0",
                          "3 ended table [1, 2) 4 | - | 1 | 2 | 0 | a | - | -",
                          "3 inserted table_stats [0, …) 4 | 7 | - | -",
                          "4 updated table_stats [0, …) 4 | 8 | - | -",
                          "5 erased table [1, …) 4 | - | 1 | - | - | - | - | -",
                          "6 inserted heap [0, …) 3", "7 relation dropped heap"));
}

TEST_F(ChangeFeed, ARewrittenVersionIsErasedAndInserted) {
  MustApply(kTables);
  MustApply("erase table 4 @ 1\n insert table 4 | - | 1 | - | 0 | renamed");
  EXPECT_THAT(ChangedSince(2),
              ElementsAre("3 erased table [1, …) 4 | - | 1 | - | - | - | - | -",
                          "3 inserted table [1, …) 4 | - | 1 | - | 0 | renamed | - | -"));
}

TEST_F(ChangeFeed, AWindowLeavesItsFirstCsnOutAndTakesItsLastIn) {
  MustApply("put table_stats 1 | 2");
  MustApply("put table_stats 1 | 3");
  MustApply("put table_stats 1 | 4");
  EXPECT_THAT(Changed(2, 3), ElementsAre("3 updated table_stats [0, …) 1 | 3 | - | -"));
  EXPECT_THAT(Changed(3, 3), IsEmpty());
  EXPECT_THAT(Changed(1, 4).size(), 3U);
}

TEST_F(ChangeFeed, WindowsThatAreNotThereAreRefused) {
  MustApply(kTables);
  EXPECT_TRUE(absl::IsInvalidArgument(Changes(View(), 2, 1).status()));
  const absl::Status beyond = Changes(View(), 1, 3).status();
  EXPECT_TRUE(absl::IsOutOfRange(beyond));
  EXPECT_THAT(beyond.ToString(), HasSubstr("csn 3 lies beyond the last one, 2"));
  const absl::Status before = Changes(View(), 0, 2).status();
  EXPECT_TRUE(absl::IsOutOfRange(before));
  EXPECT_THAT(before.ToString(), HasSubstr("the change feed begins at csn 1"));
  EXPECT_THAT(before.ToString(), HasSubstr("restart from a scan"));
  EXPECT_TRUE(absl::IsInvalidArgument(Changes(View(), 1, 2, {.batch_rows = 0}).status()));
}

TEST_F(ChangeFeed, RelationsAndColumnsCanBeChosen) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n put table_stats 4 | 7");
  MustApply("put table_stats 4 | 8\n insert metadata k | v");
  EXPECT_THAT(Changed(1, 3, {.relations = {kTableStats, kTable}}),
              ElementsAre("2 inserted table [1, …) 4 | - | 1 | - | 0 | a | - | -",
                          "2 inserted table_stats [0, …) 4 | 7 | - | -",
                          "3 updated table_stats [0, …) 4 | 8 | - | -"));
  EXPECT_THAT(Changed(1, 3, {.relations = {kColumn}}), IsEmpty());
  EXPECT_THAT(Changed(1, 3, {.relations = {kMetadata}, .columns = {{}}}),
              ElementsAre("3 inserted metadata [0, …) {key=k scope=NULL scope_id=NULL}"));

  const auto reader = Changes(View(), 1, 3, {.relations = {kTable}, .columns = {{5, 0}}});
  ASSERT_TRUE(reader.ok()) << reader.status();
  ChangeBatch batch;
  ASSERT_TRUE(*(*reader)->Next(&batch));
  ASSERT_EQ(batch.columns.num_columns(), 2U);
  EXPECT_EQ(batch.columns.column(0).at(0), Datum::Bytes("a"));
  EXPECT_EQ(batch.columns.column(1).at(0), Datum::Int64(4));

  for (const ChangeFeedOptions& wrong :
       {ChangeFeedOptions{.columns = {{0}}},
        ChangeFeedOptions{.relations = {kTable, kView}, .columns = {{0}}},
        ChangeFeedOptions{.relations = {kTable}, .columns = {{99}}},
        ChangeFeedOptions{.relations = {kTable}, .columns = {{1, 1}}},
        ChangeFeedOptions{.relations = {9999}, .columns = {{0}}}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Changes(View(), 1, 3, wrong).status()));
  }
}

TEST_F(ChangeFeed, ThePositionNamesTheLastWholeCommit) {
  MustApply("put table_stats 1 | 2\n put table_stats 2 | 2\n put table_stats 3 | 2");  // csn 2
  MustApply("");
  MustApply("put table_stats 1 | 3\n insert metadata k | v");  // csn 4
  MustApply("");
  std::vector<Csn> positions;
  // Two batches of csn 2 (one row is left over), two of csn 4 (two relations), then the end.
  Read(Changes(View(), 1, 5, {.batch_rows = 2}), &positions);
  EXPECT_THAT(positions, ElementsAre(1, 3, 3, 5, 5));
  positions.clear();
  Read(Changes(View(), 1, 5, {.relations = {kMetadata}}), &positions);
  EXPECT_THAT(positions, ElementsAre(5, 5));
  const auto reader = Changes(View(), 2, 5);
  EXPECT_EQ((*reader)->position(), 2U);
}

TEST_F(ChangeFeed, ReadingOnFromAPositionLosesAndRepeatsNothing) {
  RandomChanges random(TestSeed());
  for (int i = 0; i < 80; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  const std::vector<std::string> whole = ChangedSince(1);
  ASSERT_GT(whole.size(), 100U);
  std::mt19937_64 dice(TestSeed());
  for (int round = 0; round < 8; ++round) {
    std::vector<std::string> parts;
    Csn position = 1;
    while (position < View().csn()) {
      auto reader = Changes(View(), position, View().csn(),
                            {.batch_rows = 1 + static_cast<uint32_t>(dice() % 5)});
      ASSERT_TRUE(reader.ok()) << reader.status();
      // Some batches, and then only what belongs to whole commits is kept.
      std::vector<std::pair<Csn, std::string>> lines;
      ChangeBatch batch;
      for (uint64_t batches = 1 + dice() % 40; batches > 0 && *(*reader)->Next(&batch); --batches) {
        for (size_t row = 0; row < batch.num_rows(); ++row) {
          lines.emplace_back(batch.csn, Line(batch, row));
        }
      }
      position = (*reader)->position();
      reader->reset();
      for (const auto& [csn, line] : lines) {
        if (csn <= position) {
          parts.push_back(line);
        }
      }
      if (dice() % 8 == 0) {
        Reopen();
      }
    }
    ASSERT_EQ(parts, whole);
  }
}

TEST_F(ChangeFeed, AReaderSeesWhatItsViewSees) {
  MustApply("put table_stats 1 | 2");
  const ReadView view = View();
  MustApply("put table_stats 1 | 3");
  EXPECT_TRUE(absl::IsOutOfRange(Changes(view, 1, 3).status())) << "the view has no csn 3";
  const auto reader = Changes(view, 1, view.csn(), {.batch_rows = 1});
  ASSERT_TRUE(reader.ok());
  MustApply("put table_stats 1 | 4");
  catalog_.reset();
  ChangeBatch batch;
  ASSERT_TRUE(*(*reader)->Next(&batch));
  EXPECT_EQ(Line(batch, 0), "2 inserted table_stats [0, …) 1 | 2 | - | -");
  EXPECT_FALSE(*(*reader)->Next(&batch));
}

TEST_F(ChangeFeed, LargeCommitsComeInBoundedBatches) {
  constexpr int64_t kRows = 5000;
  ChangeSet changes;
  const RelationRef stats = BuiltinRelationById(kFileColumnStats);
  for (int64_t i = 0; i < kRows; ++i) {
    changes.Insert(stats,
                   RowOf(*stats, StrCat(i, " | 1 | 1 | 0 | 0 | 0 | ", std::string(600, 'x'))));
  }
  ASSERT_TRUE(catalog_->Apply(changes).ok());
  const auto reader = Changes(View(), 1, 2, {.batch_rows = 300});
  ASSERT_TRUE(reader.ok());
  ChangeBatch batch;
  int64_t next = 0;
  while (*(*reader)->Next(&batch)) {
    EXPECT_LE(batch.num_rows(), 300U);
    for (const int64_t id : batch.columns.column(0).int64s()) {
      EXPECT_EQ(id, next++);
    }
    EXPECT_EQ((*reader)->position(), next == kRows ? 2U : 1U);
  }
  EXPECT_EQ(next, kRows);
}

TEST_F(ChangeFeed, RowsOfRelationsDroppedSinceAreTyped) {
  MustApply("create notes id varchar, text varchar; key id\n insert notes x | first");
  MustApply("drop notes\n create notes id varchar, n double; key id\n insert notes x | 0.5");
  MustApply("drop notes");
  const std::vector<std::string> expected = {
      "2 inserted notes [0, …) x | first", "3 relation dropped notes",
      "3 inserted notes [0, …) x | 0.5", "4 relation dropped notes"};
  EXPECT_EQ(ChangedSince(1), expected);
  Reopen();
  EXPECT_EQ(ChangedSince(1), expected);
  Reopen({.read_only = true});
  EXPECT_EQ(ChangedSince(1), expected);
}

TEST_F(ChangeFeed, AnImportIsWhereTheFeedBegins) {
  MustApply(
      "snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n insert column 1 | 1 | - | 4 | 1 | c "
      "| int32");
  MustApply("snapshot 2");
  const std::string csv = StrCat("csv:", dir_ / "csv");
  ASSERT_TRUE(ExportCatalog(View(), csv, {.history = true}).ok());
  catalog_.reset();
  std::filesystem::remove_all(path());
  const auto imported = ImportCatalog(csv, path());
  ASSERT_TRUE(imported.ok()) << imported.status();
  Reopen();
  EXPECT_EQ(View().csn(), kBulkLoadCsn);
  EXPECT_THAT(ChangedSince(kBulkLoadCsn), IsEmpty());
  EXPECT_TRUE(absl::IsOutOfRange(Changes(View(), 0, 1).status()));
  MustApply("snapshot 3\n end table 4 @ 3");
  EXPECT_THAT(Read(ChangesBetween(View(), 2, 3, {.relations = {kTable}})),
              ElementsAre("2 ended table [1, 3) 4 | - | 1 | 3 | 0 | a | - | -"));
  const absl::Status before = ChangesBetween(View(), 1, 3).status();
  EXPECT_TRUE(absl::IsOutOfRange(before)) << before;
  EXPECT_THAT(before.ToString(), HasSubstr("came with an import"));
}

TEST_F(ChangeFeed, BetweenSnapshotsIsAWindowOfTheCsnClock) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");                  // csn 2
  MustApply("snapshot 2\n insert table 5 | - | 2 | - | 0 | b");                  // csn 3
  MustApply("insert table 6 | - | 1 | 2 | 0 | back-dated\n erase table 4 @ 1");  // csn 4
  MustApply("snapshot 3\n insert table 7 | - | 1 | - | 0 | merged");             // csn 5
  MustApply("insert table 8 | - | 2 | - | 0 | late");                            // csn 6
  MustApply("snapshot 5");                                                       // csn 7
  const ChangeFeedOptions tables{.relations = {kTable}, .columns = {{}}};
  EXPECT_THAT(Read(ChangesBetween(View(), 0, 1, tables)),
              ElementsAre("2 inserted table [1, …) {table_id=4}"));
  EXPECT_THAT(
      Read(ChangesBetween(View(), 2, 3, tables)),
      ElementsAre("4 inserted table [1, 2) {table_id=6}", "4 erased table [1, …) {table_id=4}",
                  "5 inserted table [1, …) {table_id=7}"));
  EXPECT_THAT(Read(ChangesBetween(View(), 3, 5, tables)),
              ElementsAre("6 inserted table [2, …) {table_id=8}"));
  EXPECT_THAT(Read(ChangesBetween(View(), 5, 5, tables)), IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(ChangesBetween(View(), 3, 2).status()));
  EXPECT_TRUE(absl::IsNotFound(ChangesBetween(View(), 3, 4).status())) << "there is no snapshot 4";
  EXPECT_TRUE(absl::IsNotFound(ChangesBetween(View(), 3, 6).status())) << "nor a 6";
}

TEST_F(ChangeFeed, FindsTheCommitOfEverySnapshotExpiredOnesToo) {
  std::mt19937_64 dice(TestSeed());
  std::map<SnapshotId, Csn> made = {{0, 1}};
  SnapshotId last = 0;
  for (Csn csn = 2; csn < 60; ++csn) {
    if (dice() % 3 == 0) {
      MustApply("put table_stats 1 | 1");
      continue;
    }
    const SnapshotId gap = 1 + dice() % 3;
    last += gap;
    MustApply(StrCat("snapshot ", last));
    made[last] = csn;
  }
  MustApply("erase snapshot 0 @ 0");
  const Csn expired_from = View().csn();
  for (const auto& [snapshot, csn] : made) {
    if (snapshot != last && snapshot != 0 && dice() % 2 == 0) {
      MustApply(StrCat("erase snapshot ", snapshot, " @ ", snapshot));
    }
  }
  ASSERT_GT(View().csn(), expired_from);
  for (SnapshotId snapshot = 1; snapshot <= last; ++snapshot) {
    const auto csn = CsnOfSnapshot(View(), snapshot);
    if (made.contains(snapshot)) {
      ASSERT_TRUE(csn.ok()) << csn.status();
      EXPECT_EQ(*csn, made[snapshot]);
    } else {
      EXPECT_TRUE(absl::IsNotFound(csn.status())) << snapshot << ": " << csn.status();
    }
    const auto up_to = LastCsnUpTo(View(), snapshot);
    ASSERT_TRUE(up_to.ok()) << up_to.status();
    const auto above = made.upper_bound(snapshot);
    EXPECT_EQ(*up_to, above == made.end() ? View().csn() : above->second - 1);
  }
}

TEST_F(ChangeFeed, ForgetsItsOldEndWhenTruncated) {
  MustApply("snapshot 1\n create old a bigint\n insert old 1");  // csn 2
  MustApply("snapshot 2\n drop old");                            // csn 3
  MustApply("snapshot 3\n insert table 4 | - | 3 | - | 0 | a");  // csn 4
  MustApply("create young a bigint\n insert young 1");           // csn 5
  MustApply("drop young\n insert table 5 | - | 3 | - | 0 | b");  // csn 6
  MustApply("snapshot 4");                                       // csn 7
  EXPECT_EQ(DroppedKeys().size(), 2U);
  std::optional<ReadView> before = View();
  EXPECT_TRUE(absl::IsInvalidArgument(TruncateChanges(*View().state(), 8).status()));

  ASSERT_NO_FATAL_FAILURE(TruncateFeed(catalog_.get(), 5));  // csn 8
  EXPECT_EQ(*FeedBegin(*View().state()), 5U);
  EXPECT_EQ(DroppedKeys().size(), 1U);
  const absl::Status expired = Changes(View(), 4, 7).status();
  EXPECT_TRUE(absl::IsOutOfRange(expired)) << expired;
  EXPECT_THAT(expired.ToString(), HasSubstr("the change feed begins at csn 5"));
  EXPECT_THAT(Changed(5, 6), ElementsAre("6 inserted table [3, …) 5 | - | 3 | - | 0 | b | - | -",
                                         "6 relation dropped young"));
  EXPECT_EQ(Changed(4, 6).size(), 1U) << "an error";
  EXPECT_TRUE(absl::IsOutOfRange(CsnOfSnapshot(View(), 2).status()));
  EXPECT_TRUE(absl::IsOutOfRange(CsnOfSnapshot(View(), 3).status())) << "csn 5 came after it";
  EXPECT_EQ(*CsnOfSnapshot(View(), 4), 7U);
  EXPECT_EQ(*LastCsnUpTo(View(), 2), std::nullopt);
  EXPECT_EQ(*LastCsnUpTo(View(), 3), 6U);

  EXPECT_EQ(Read(Changes(*before, 1, 7)).size(), 10U) << "an older view keeps what it sees";
  before.reset();

  ASSERT_NO_FATAL_FAILURE(TruncateFeed(catalog_.get(), 3));  // csn 9
  EXPECT_EQ(*FeedBegin(*View().state()), 5U) << "the feed never begins earlier again";
  ASSERT_NO_FATAL_FAILURE(TruncateFeed(catalog_.get(), 7));  // csn 10
  EXPECT_THAT(DroppedKeys(), IsEmpty());
  EXPECT_THAT(ChangedSince(7), IsEmpty());
  EXPECT_EQ(*CsnOfSnapshot(View(), 4), 7U);
  MustApply("put table_stats 1 | 1");
  EXPECT_THAT(ChangedSince(7), ElementsAre("11 inserted table_stats [0, …) 1 | 1 | - | -"));
  Reopen();
  EXPECT_EQ(*FeedBegin(*View().state()), 7U);
}

TEST_F(ChangeFeed, MalformedEntriesAreErrors) {
  MustApply(kTables);
  const std::vector<std::pair<std::string, std::string>> malformed = {
      {ChangesKey(2, kTable, 0), "\x01\xff"},
      {ChangesKey(2, kTable, 0), ""},
      {ChangesKey(2, kTable, 0), CommitEntry(1)},
      {ChangesKey(2, 1500, 0), std::string("\x04\0\0", 3)},
      {ChangesKey(2, kTable, 0) + "x", "\x01"},
  };
  for (const auto& [key, value] : malformed) {
    SCOPED_TRACE(BytesToHexString(value));
    RowStore* store = &catalog_->store();
    ASSERT_TRUE(store->db().Put({}, store->family(Family::kChanges), key, value).ok());
    Reopen();  // a new view sees the damage
    const std::vector<std::string> lines = ChangedSince(1);
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.back(), HasSubstr("DATA_LOSS"));
    store = &catalog_->store();
    ASSERT_TRUE(store->db().Delete({}, store->family(Family::kChanges), key).ok());
    Reopen();
  }
}

}  // namespace
}  // namespace varve

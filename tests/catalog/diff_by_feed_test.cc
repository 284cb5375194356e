// Diffs by the change feed: the same differences as by scanning, in the same order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/inspect/diff.h"
#include "catalog/interchange/export.h"
#include "catalog/interchange/import.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/feed_truncation.h"
#include "tests/catalog/random_changes.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "table ~ 4 | … -> 4 | … (5)", with the numbers of the columns that changed.
std::string Line(const RelationSchema& relation, const RowDiff& diff) {
  std::string text = StrCat(relation.short_name(), diff.kind == DiffKind::kAdded     ? " +"
                                                   : diff.kind == DiffKind::kRemoved ? " -"
                                                                                     : " ~");
  if (diff.before.has_value()) {
    StrAppend(&text, " ", RowText(relation, diff.before->values()));
  }
  if (diff.after.has_value()) {
    StrAppend(&text, " -> ", RowText(relation, diff.after->values()));
  }
  if (!diff.changed_columns.empty()) {
    StrAppend(&text, " (", StrJoin(diff.changed_columns, ","), ")");
  }
  return text;
}

struct Result {
  std::vector<std::string> lines;
  DiffStats stats;
};

Result Differences(const ReadView& from, const ReadView& to,
                   const std::vector<RelationRef>& relations, DiffPath path) {
  Result result;
  const absl::Status status = DiffRelations(
      from, to, relations, {.path = path},
      [&](const RelationRef& relation, const RowDiff& diff) {
        result.lines.push_back(Line(*relation, diff));
        return absl::OkStatus();
      },
      &result.stats);
  if (!status.ok()) {
    result.lines.push_back(StrCat("error: ", status.ToString()));
  }
  return result;
}

class DiffByFeed : public CatalogFixture {
 protected:
  // Compares all relations between two snapshots of the current state in every way.
  void CompareWays(SnapshotId from, SnapshotId to) {
    const ReadView after = catalog_->Current();
    const ReadView left(after.state(), from);
    const ReadView right(after.state(), to);
    const std::vector<RelationRef>& relations = after.relations().relations();
    const Result scanned = Differences(left, right, relations, DiffPath::kScan);
    const Result fed = Differences(left, right, relations, DiffPath::kFeed);
    ASSERT_EQ(fed.lines, scanned.lines) << "from " << from << " to " << to;
    EXPECT_EQ(scanned.stats.scanned, relations.size());
    EXPECT_EQ(fed.stats.by_feed, relations.size());
    ASSERT_EQ(Differences(left, right, relations, DiffPath::kAuto).lines, scanned.lines);
    seen_ += scanned.lines.size();
    for (const std::string& line : scanned.lines) {
      relations_seen_.insert(line.substr(0, line.find(' ')));
    }
  }

  Result DiffOf(std::string_view relation, SnapshotId from, SnapshotId to, DiffPath path) {
    const ReadView view = catalog_->Current();
    return Differences(ReadView(view.state(), from), ReadView(view.state(), to),
                       {view.relations().Resolve(relation).value()}, path);
  }

  size_t seen_ = 0;
  std::set<std::string> relations_seen_;
};

TEST_F(DiffByFeed, EqualsTheScanOnRandomHistories) {
  constexpr int kHistories = 4;
  constexpr int kSets = 90;
  for (int history = 0; history < kHistories; ++history) {
    const uint64_t seed = TestSeed() + static_cast<uint64_t>(history);
    SCOPED_TRACE(StrCat("seed of the history: ", seed));
    catalog_.reset();
    std::filesystem::remove_all(path());
    CatalogFixture::SetUp();
    RandomChanges random(seed);
    for (int i = 0; i < kSets; ++i) {
      const absl::Status status = catalog_->Apply(random.Next());
      ASSERT_TRUE(status.ok()) << status;
      if (random.Below(15) == 0) {
        ASSERT_TRUE(catalog_->store().Flush().ok());
      }
      if (random.Below(30) == 0) {
        Reopen();
      }
      if (random.Below(6) == 0) {
        const std::vector<SnapshotId> ids = random.model().Snapshots();
        CompareWays(ids[random.Below(ids.size())], ids[random.Below(ids.size())]);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
    const std::vector<SnapshotId> ids = random.model().Snapshots();
    for (const SnapshotId from : ids) {
      CompareWays(from, ids[random.Below(ids.size())]);
      CompareWays(from, ids.back());
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  EXPECT_GT(seen_, 1000U);
  // Every kind of versioning took part, children with and without columns between the keys too.
  for (const std::string_view name :
       {"table", "tag", "data_file", "file_column_stats", "file_partition_value",
        "partition_column", "macro_parameters", "schema_versions", "inlined_data_1_1"}) {
    EXPECT_TRUE(relations_seen_.contains(std::string(name))) << name;
  }
}

TEST_F(DiffByFeed, EqualsTheScanAfterTheFeedWasTruncated) {
  RandomChanges random(TestSeed());
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  const Csn begin = catalog_->Current().csn() / 2;
  ASSERT_NO_FATAL_FAILURE(TruncateFeed(catalog_.get(), begin));
  size_t refused = 0;
  size_t compared = 0;
  const ReadView view = catalog_->Current();
  for (const SnapshotId from : random.model().Snapshots()) {
    if (*LastCsnUpTo(view, from) != std::nullopt) {
      CompareWays(from, view.last_snapshot());
      ++compared;
      continue;
    }
    const ReadView left(view.state(), from);
    const std::vector<RelationRef>& relations = view.relations().relations();
    EXPECT_THAT(Differences(left, view, relations, DiffPath::kFeed).lines,
                ElementsAre(HasSubstr("OUT_OF_RANGE")));
    const Result automatic = Differences(left, view, relations, DiffPath::kAuto);
    EXPECT_EQ(automatic.lines, Differences(left, view, relations, DiffPath::kScan).lines);
    EXPECT_EQ(automatic.stats.by_feed, 0U);
    ++refused;
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(compared, 0U);
}

TEST_F(DiffByFeed, RowsDatedBackAndErasedLaterAreSeenAsTheyStand) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  MustApply("snapshot 2\n insert table 5 | - | 2 | - | 0 | b\n insert table 6 | - | 2 | - | 0 | c");
  MustApply("snapshot 3");
  MustApply(
      "insert table 7 | - | 2 | 3 | 0 | dated back\n erase table 6 @ 2\n"
      "insert table 8 | - | 1 | 2 | 0 | ended before");
  const std::vector<std::string> expected = {"table + -> 5 | - | 2 | - | 0 | b | - | -",
                                             "table + -> 7 | - | 2 | 3 | 0 | dated back | - | -",
                                             "table - 8 | - | 1 | 2 | 0 | ended before | - | -"};
  EXPECT_EQ(DiffOf("table", 1, 2, DiffPath::kFeed).lines, expected);
  EXPECT_EQ(DiffOf("table", 1, 2, DiffPath::kScan).lines, expected);
}

TEST_F(DiffByFeed, ChildrenComeAndGoWithTheirParents) {
  std::string files = "snapshot 1";
  for (int table = 1; table <= 2; ++table) {
    for (int file = 1; file <= 3; ++file) {
      const int id = table * 10 + file;
      StrAppend(&files, "\n insert data_file ", id, " | ", table, " | 1 | - | - | f", id);
      for (int column = 1; column <= 2; ++column) {
        StrAppend(&files, "\n put file_column_stats ", id, " | ", table, " | ", column, " | 7");
      }
    }
  }
  MustApply(files);
  MustApply(
      "snapshot 2\n end data_file 1 | 12 @ 2\n end data_file 2 | 21 @ 2\n"
      "insert data_file 14 | 1 | 2 | - | - | f14\n put file_column_stats 14 | 1 | 2 | 7\n"
      "put file_column_stats 11 | 1 | 1 | 8");
  const std::vector<std::string> expected = {
      "file_column_stats - 12 | 1 | 1 | 7", "file_column_stats - 12 | 1 | 2 | 7",
      "file_column_stats + -> 14 | 1 | 2 | 7", "file_column_stats - 21 | 2 | 1 | 7",
      "file_column_stats - 21 | 2 | 2 | 7"};
  for (const DiffPath path : {DiffPath::kFeed, DiffPath::kScan}) {
    std::vector<std::string> lines = DiffOf("file_column_stats", 1, 2, path).lines;
    for (std::string& line : lines) {
      line = line.substr(0, line.find(" | -"));
    }
    EXPECT_EQ(lines, expected);
  }
}

TEST_F(DiffByFeed, FromBelowAnImportScans) {
  MustApply(
      "snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n insert column 1 | 1 | - | 4 | 1 | c "
      "| int32");
  MustApply("snapshot 2\n insert tag 4 | 2 | - | k | v");
  const std::string csv = StrCat("csv:", dir_ / "csv");
  ASSERT_TRUE(ExportCatalog(catalog_->Current(), csv, {.history = true}).ok());
  catalog_.reset();
  std::filesystem::remove_all(path());
  ASSERT_TRUE(ImportCatalog(csv, path()).ok());
  Reopen();
  MustApply("snapshot 3\n end tag 4 | k @ 3");
  EXPECT_THAT(DiffOf("tag", 2, 3, DiffPath::kFeed).lines, ElementsAre("tag - 4 | 2 | 3 | k | v"));
  EXPECT_THAT(DiffOf("tag", 1, 2, DiffPath::kFeed).lines, ElementsAre(HasSubstr("OUT_OF_RANGE")));
  const Result scanned = DiffOf("tag", 1, 2, DiffPath::kAuto);
  EXPECT_THAT(scanned.lines, ElementsAre("tag + -> 4 | 2 | 3 | k | v"));
  EXPECT_EQ(scanned.stats.scanned, 1U);
}

TEST_F(DiffByFeed, IsChosenWhereLittleChangedInMuch) {
  constexpr int kViews = 20'000;
  ChangeSet many = ChangesOf(catalog_->Current().relations(), "snapshot 1");
  const RelationRef views = BuiltinRelationById(kView);
  for (int id = 0; id < kViews; ++id) {
    many.Insert(views, RowOf(*views, StrCat(id, " | - | 1 | - | 0 | view ", id)));
  }
  ASSERT_TRUE(catalog_->Apply(many).ok());
  MustApply("snapshot 2\n end view 5 @ 2\n end view 77 @ 2");
  ASSERT_TRUE(catalog_->store().Flush().ok());

  const Result little = DiffOf("view", 1, 2, DiffPath::kAuto);
  EXPECT_EQ(little.stats.by_feed, 1U);
  EXPECT_EQ(little.lines.size(), 2U);
  const Result much = DiffOf("view", 0, 1, DiffPath::kAuto);
  EXPECT_EQ(much.stats.scanned, 1U);
  EXPECT_EQ(much.lines.size(), static_cast<size_t>(kViews));
  EXPECT_EQ(DiffOf("view", 0, 1, DiffPath::kFeed).lines, much.lines);
  // Nothing to read the feed for: a small relation, a large feed.
  EXPECT_EQ(DiffOf("table", 0, 2, DiffPath::kAuto).lines, std::vector<std::string>());
}

TEST_F(DiffByFeed, OneSnapshotWithItselfIsNoDifference) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  for (const DiffPath path : {DiffPath::kAuto, DiffPath::kFeed, DiffPath::kScan}) {
    EXPECT_THAT(DiffOf("table", 1, 1, path).lines, IsEmpty());
  }
}

}  // namespace
}  // namespace varve

// Which handles a window touched: by memory the same as by the change feed, but for what nobody can
// see; and a diff is the same by either.

#include "catalog/feed/touched_handles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/inspect/diff.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/catalog_memory.h"
#include "catalog/tiers/memory_set.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/feed_truncation.h"
#include "tests/catalog/random_changes.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Handles = std::vector<std::string>;

class Touched : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    Reopen({.memory = MemoryMode::kOnDemand});
  }
  void NewCatalog() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    Touched::SetUp();
  }
  void WaitForMemory() {
    const absl::Status status = catalog_->WaitForMemory();
    ASSERT_TRUE(status.ok()) << status;
  }

  // The current state without its memory.
  ReadView WithoutMemory() const {
    const auto state = catalog_->LatestState();
    return {WithMemory(*state, nullptr), state->last_snapshot};
  }

  static Handles Collected(const ReadView& view, Csn from, Csn to, RelationId relation) {
    const auto touched = TouchedHandles::Collect(view, from, to, {relation});
    EXPECT_TRUE(touched.ok()) << touched.status();
    const std::span<const std::string> handles = touched->Of(relation);
    return {handles.begin(), handles.end()};
  }

  // Every version of every relation, as the row store has it: its handle and begin, and its text.
  using Versions = std::map<std::pair<std::string, SnapshotId>, std::string>;
  using State = std::map<RelationId, Versions>;

  static State StateOf(const ReadView& view) {
    State state;
    for (const RelationRef& relation : view.relations().relations()) {
      const auto scan = view.Scan(
          relation, {.rows = ScanRows::kAllVersions, .path = ScanPath::kRow, .with_handles = true});
      EXPECT_TRUE(scan.ok()) << scan.status();
      ScanBatch batch;
      while ((*scan)->Next(&batch).value()) {
        for (size_t row = 0; row < batch.num_rows(); ++row) {
          std::vector<Datum> values;
          for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
            values.push_back(batch.columns.column(i).at(row));
          }
          const bool is_child = relation->versioning == Versioning::kViaParent;
          state[relation->id][{batch.handles[row], is_child ? 0 : batch.begins[row]}] =
              RowText(*relation, values);
        }
      }
    }
    return state;
  }

  // The handles of versions that are not in both states as they are in one.
  static Handles Differing(State before, State after, RelationId relation) {
    std::set<std::string> handles;
    const auto add = [&](const Versions& some, const Versions& others) {
      for (const auto& [identity, text] : some) {
        const auto other = others.find(identity);
        if (other == others.end() || other->second != text) {
          handles.insert(identity.first);
        }
      }
    };
    add(before[relation], after[relation]);
    add(after[relation], before[relation]);
    return {handles.begin(), handles.end()};
  }

  // What differs between two states is named by memory, and what memory names by the feed.
  void CompareWindow(const ReadView& by_memory, const ReadView& by_feed, Csn from, Csn to,
                     RelationId relation) {
    SCOPED_TRACE(StrCat("relation ", relation, " in (", from, ", ", to, "]"));
    const Handles memory = Collected(by_memory, from, to, relation);
    const Handles fed = Collected(by_feed, from, to, relation);
    EXPECT_THAT(fed, ::testing::IsSupersetOf(memory));
    EXPECT_THAT(memory, ::testing::IsSupersetOf(Differing(states_[from], states_[to], relation)));
    named_ += memory.size();
    unnamed_ += fed.size() - memory.size();
  }

  std::map<Csn, State> states_;
  size_t named_ = 0;    // by memory
  size_t unnamed_ = 0;  // by the feed alone

  static std::vector<std::string> Differences(const ReadView& from, const ReadView& to,
                                              DiffPath path) {
    std::vector<std::string> lines;
    const absl::Status status = DiffRelations(
        from, to, from.relations().relations(), {.path = path},
        [&](const RelationRef& relation, const RowDiff& diff) {
          lines.push_back(
              StrCat(relation->name, " ", static_cast<int>(diff.kind), " ",
                     diff.before.has_value() ? RowText(*relation, diff.before->values()) : "",
                     " -> ", diff.after.has_value() ? RowText(*relation, diff.after->values()) : "",
                     " ", StrJoin(diff.changed_columns, ",")));
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok()) << status;
    return lines;
  }
};

TEST_F(Touched, MemoryNamesWhatDiffersAndNothingTheFeedDoesNot) {
  constexpr int kHistories = 3;
  constexpr int kSets = 80;
  for (int history = 0; history < kHistories; ++history) {
    const uint64_t seed = TestSeed() + static_cast<uint64_t>(history);
    SCOPED_TRACE(StrCat("seed of the history: ", seed));
    ASSERT_NO_FATAL_FAILURE(NewCatalog());
    RandomChanges random(seed);
    const uint64_t wait_after = random.Below(40);
    states_[kBulkLoadCsn] = StateOf(catalog_->Current());
    for (uint64_t i = 0; i < kSets; ++i) {
      ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
      const ReadView by_memory = catalog_->Current();
      states_[by_memory.csn()] = StateOf(by_memory);
      if (i == wait_after) {
        ASSERT_NO_FATAL_FAILURE(WaitForMemory());
      }
      if (i <= wait_after || random.Below(4) != 0) {
        continue;
      }
      const Csn from = kBulkLoadCsn + random.Below(by_memory.csn());
      const Csn to = from + random.Below(by_memory.csn() - from + 1);
      for (const RelationRef& relation : by_memory.relations().relations()) {
        CompareWindow(by_memory, WithoutMemory(), from, to, relation->id);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  EXPECT_GT(named_, 500U);
  EXPECT_GT(unnamed_, 0U);
}

TEST_F(Touched, FrozenSetsNameWhatDiffersAndNothingTheFeedDoesNot) {
  RandomChanges random(TestSeed());
  MemoryWriter writer(kBulkLoadCsn);
  const std::atomic<bool> never = false;
  states_[kBulkLoadCsn] = StateOf(catalog_->Current());
  for (int i = 0; i < 120; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
    const ReadView by_feed = catalog_->Current();  // this catalog has no memory of its own
    states_[by_feed.csn()] = StateOf(by_feed);
    ASSERT_TRUE(ApplyChangeLog(*by_feed.state(), never, &writer).ok());
    const ReadView by_memory(WithMemory(*by_feed.state(), writer.set()), by_feed.snapshot());
    const Csn from = kBulkLoadCsn + random.Below(by_feed.csn());
    const Csn to = from + random.Below(by_feed.csn() - from + 1);
    for (const RelationRef& relation : by_feed.relations().relations()) {
      CompareWindow(by_memory, by_feed, from, to, relation->id);
      ASSERT_FALSE(HasFailure());
    }
    if (random.Below(10) == 0) {
      writer.Freeze();
    }
  }
  EXPECT_GT(named_, 500U);
}

TEST_F(Touched, ADiffIsTheSameByMemoryAndByTheFeed) {
  RandomChanges random(TestSeed());
  size_t lines = 0;
  for (int i = 0; i < 80; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
    if (i == 20) {
      ASSERT_NO_FATAL_FAILURE(WaitForMemory());
    }
  }
  const ReadView by_memory = catalog_->Current();
  const ReadView by_feed = WithoutMemory();
  const std::vector<SnapshotId> ids = random.model().Snapshots();
  for (const SnapshotId from : ids) {
    const SnapshotId to = ids[random.Below(ids.size())];
    const auto of = [](const ReadView& view, SnapshotId at) { return ReadView(view.state(), at); };
    for (const DiffPath path : {DiffPath::kFeed, DiffPath::kAuto}) {
      const auto expected = Differences(of(by_feed, from), of(by_feed, to), path);
      ASSERT_EQ(Differences(of(by_memory, from), of(by_memory, to), path), expected)
          << "from " << from << " to " << to;
      lines += expected.size();
    }
  }
  EXPECT_GT(lines, 100U);
}

TEST_F(Touched, AVersionBornAndGoneInTheWindowIsNamedByTheFeedAlone) {
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  const Csn from = catalog_->Current().csn();
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n insert table 5 | - | 1 | - | 0 | b");
  MustApply("erase table 4 @ 1");
  const Csn to = catalog_->Current().csn();
  EXPECT_EQ(Collected(WithoutMemory(), from, to, kTable).size(), 2U);
  EXPECT_EQ(Collected(catalog_->Current(), from, to, kTable).size(), 1U);
  // Either half of its life is seen.
  EXPECT_EQ(Collected(catalog_->Current(), from, to - 1, kTable).size(), 2U);
  EXPECT_EQ(Collected(catalog_->Current(), to - 1, to, kTable).size(), 1U);
}

TEST_F(Touched, APreImageIsNoChange) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  const Csn from = catalog_->Current().csn();
  MustApply("put metadata k | v");
  MustApply("snapshot 2\n end schema 0 @ 2");
  const Csn to = catalog_->Current().csn();
  EXPECT_EQ(Collected(catalog_->Current(), kBulkLoadCsn, from, kSchema).size(), 0U);
  EXPECT_EQ(Collected(catalog_->Current(), from, to - 1, kSchema).size(), 0U);
  EXPECT_EQ(Collected(catalog_->Current(), to - 1, to, kSchema).size(), 1U);
}

TEST_F(Touched, WindowsThatAreNoneAreRefusedWithAndWithoutMemory) {
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  for (const ReadView& view : {catalog_->Current(), WithoutMemory()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(TouchedHandles::Collect(view, 2, 1, {}).status()));
    EXPECT_TRUE(absl::IsOutOfRange(TouchedHandles::Collect(view, 1, 9, {}).status()));
    EXPECT_TRUE(absl::IsOutOfRange(TouchedHandles::Collect(view, 0, 2, {}).status()));
    EXPECT_TRUE(TouchedHandles::Collect(view, 2, 2, {})->Of(kTable).empty());
    EXPECT_EQ(TouchedHandles::Collect(view, 1, 2, {})->Of(kTable).size(), 1U);
  }
}

TEST_F(Touched, MemoryKnowsWhatTheFeedHasForgotten) {
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  ASSERT_NO_FATAL_FAILURE(TruncateFeed(catalog_.get(), catalog_->Current().csn()));
  EXPECT_TRUE(absl::IsOutOfRange(TouchedHandles::Collect(WithoutMemory(), 1, 2, {}).status()));
  EXPECT_EQ(Collected(catalog_->Current(), 1, 2, kTable).size(), 1U);
}

}  // namespace
}  // namespace varve

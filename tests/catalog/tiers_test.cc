// The columnar tier against the row store: whatever is flushed, compacted, rebuilt, collected,
// excised and reopened, every path gives the same rows, with clean read on and off.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "catalog/transaction/transaction.h"
#include "tests/catalog/lake_operation.h"
#include "tests/catalog/random_changes.h"
#include "tests/catalog/random_lake.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

// A view and what was seen through it when it was taken.
struct HeldView {
  ReadView view;
  std::vector<std::string> seen;
};

class Tiers : public TiersFixture {
 protected:
  // Small packs and segments of any size.
  CompactionOptions DrawCompaction(RandomQuestions* random) {
    CompactionOptions options{.full = random->OneIn(2),
                              .min_rows = random->Below(4),
                              .max_l1_files = 1 + random->Below(3),
                              .segment_bytes = 1 + random->Below(3'000),
                              .table = SmallPacks(1 + random->Below(5))};
    if (random->OneIn(3)) {
      options.relations = DrawRelations(random);
    }
    return options;
  }
  std::vector<RelationId> DrawRelations(RandomQuestions* random) {
    std::vector<RelationId> ids;
    for (const RelationRef& relation : catalog_->LatestState()->directory->relations()) {
      if (random->OneIn(3)) {
        ids.push_back(relation->id);
      }
    }
    return ids;
  }

  // One turn of what happens to files; false: nothing was done.
  bool Maintain(RandomQuestions* random) {
    switch (random->Below(14)) {
      case 0:
      case 1:
      case 2: {
        Flush(1 + random->Below(4));
        return true;
      }
      case 3:
      case 4: {
        const CompactionSummary did = Compact(DrawCompaction(random));
        markers_dropped_ += did.markers_dropped;
        l1_files_merged_ += did.l1_files_merged;
        most_segments_ = std::max(most_segments_, MostSegments());
        return true;
      }
      case 5: {
        if (random->OneIn(2)) {
          Rebuild(DrawRelations(random), 1 + random->Below(5));
          return true;
        }
        return false;
      }
      case 6: {
        held_.clear();  // views keep the store open
        ReopenWithMemory();
        return true;
      }
      default: return false;
    }
  }
  size_t MostSegments() const {
    size_t most = 0;
    const auto state = catalog_->LatestState();
    for (const RelationRef& relation : state->directory->relations()) {
      const RelationColumns* const columns = state->columnar->Find(relation->id);
      most = std::max(most, columns == nullptr ? 0 : columns->segments.size());
    }
    return most;
  }

  void CommitRandom(RandomLake* lake) {
    absl::StatusOr<Transaction> transaction = catalog_->Begin();
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    lake->Begin();
    for (uint64_t count = 1 + lake->Below(6); count > 0; --count) {
      std::optional<LakeOperation> operation = lake->Draw(*transaction);
      if (operation.has_value() && Perform(&*operation, &*transaction).ok()) {
        lake->Performed(*operation);
      }
    }
    const auto result = transaction->Commit();
    ASSERT_TRUE(result.ok()) << result.status();
  }

  void Hold() {
    held_.push_back({catalog_->Current(), SeenBy(catalog_->Current())});
    if (held_.size() > 3) {
      held_.pop_front();
    }
  }
  void CompareEverything(const std::vector<SnapshotId>& ids, RandomQuestions* random,
                         int questions) {
    const ReadView now = catalog_->Current();
    CompareAll(now, random, questions);
    CompareAll(ReadView(now.state(), ids[random->Below(ids.size())]), random, questions);
    for (const HeldView& held : held_) {
      ASSERT_EQ(SeenBy(held.view), held.seen);
      CompareAll(held.view, random, 1);
    }
  }
  void ExpectAllWasSeen() const {
    EXPECT_GT(asked_.rows, 5'000U);
    EXPECT_GT(asked_.clean, 500U);
    EXPECT_GT(asked_.clean_in_any_order, 500U);
    EXPECT_GT(asked_.normal, 500U);
    EXPECT_GT(asked_.skipped, 100U);
    EXPECT_GT(markers_dropped_, 0U);
    EXPECT_GT(most_segments_, 2U);
  }

  std::deque<HeldView> held_;
  uint64_t markers_dropped_ = 0;
  uint64_t l1_files_merged_ = 0;
  size_t most_segments_ = 0;
};

TEST_F(Tiers, GiveTheRowsOfTheRowStoreInRandomHistories) {
  constexpr int kHistories = 3;
  constexpr int kSets = 90;
  for (int history = 0; history < kHistories; ++history) {
    const uint64_t seed = TestSeed() + static_cast<uint64_t>(history);
    SCOPED_TRACE(StrCat("seed of the history: ", seed));
    ASSERT_NO_FATAL_FAILURE(NewCatalog());
    RandomChanges random(seed);
    RandomQuestions questions(seed);
    if (history % 2 == 1) {  // else relations of the bulk load are the row store's
      ASSERT_NO_FATAL_FAILURE(Rebuild());
    }
    for (int i = 0; i < kSets; ++i) {
      ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
      const bool maintained = Maintain(&questions);
      ASSERT_FALSE(HasFailure()) << "after set " << i;
      if (questions.OneIn(8)) {
        Hold();
      }
      if (maintained || questions.OneIn(6)) {
        CompareEverything(random.model().Snapshots(), &questions, 2);
        ASSERT_FALSE(HasFailure()) << "after set " << i;
      }
    }
    held_.clear();
    const ReadView now = catalog_->Current();
    for (const SnapshotId id : random.model().Snapshots()) {
      CompareAll(ReadView(now.state(), id), &questions, 1);
      ASSERT_FALSE(HasFailure());
    }
  }
  ExpectAllWasSeen();
  EXPECT_GT(asked_.refused, 0U);
  EXPECT_GT(l1_files_merged_, 0U);
}

TEST_F(Tiers, GiveTheRowsOfTheRowStoreInRandomTransactions) {
  constexpr int kTransactions = 100;
  const uint64_t seed = TestSeed();
  ASSERT_NO_FATAL_FAILURE(NewCatalog());
  ASSERT_NO_FATAL_FAILURE(Rebuild());
  RandomLake lake(seed, 0);
  RandomQuestions questions(seed);
  uint64_t excised = 0;
  for (int i = 0; i < kTransactions; ++i) {
    ASSERT_NO_FATAL_FAILURE(CommitRandom(&lake));
    const bool maintained = Maintain(&questions);
    ASSERT_FALSE(HasFailure()) << "after transaction " << i;
    if (questions.OneIn(12)) {
      Hold();
    }
    if (questions.OneIn(20)) {
      ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 15}).ok());
      const auto excision = Excise(catalog_.get(), {.rows_per_step = 9});
      ASSERT_TRUE(excision.ok()) << excision.status();
      excised += excision->steps;
    }
    if (maintained || questions.OneIn(12)) {
      CompareEverything(Snapshots(), &questions, 1);
      ASSERT_FALSE(HasFailure()) << "after transaction " << i;
    }
  }
  EXPECT_GT(excised, 0U);
  for (const SnapshotId id : Snapshots()) {
    CompareAll(At(id), &questions, 0);
    ASSERT_FALSE(HasFailure());
  }
  ExpectAllWasSeen();
}

}  // namespace
}  // namespace varve

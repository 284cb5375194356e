#include "mvcc/retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace varve {
namespace {

TEST(RetentionTest, SortsAndDropsRepetitions) {
  const RetainedSnapshots retained({9, 3, 5, 3, 9});
  EXPECT_EQ(retained.snapshots(), (std::vector<SnapshotId>{3, 5, 9}));
  EXPECT_TRUE(retained.Contains(5));
  EXPECT_FALSE(retained.Contains(4));
  EXPECT_EQ(retained, RetainedSnapshots({3, 5, 9}));
}

TEST(RetentionTest, AVersionIsReclaimableIffItsIntervalHoldsNoRetainedSnapshot) {
  const RetainedSnapshots retained({3, 7, 9});
  EXPECT_TRUE(retained.IsReclaimable(0, 3)) << "it ends where a retained one begins";
  EXPECT_FALSE(retained.IsReclaimable(3, 4)) << "it begins at a retained one";
  EXPECT_TRUE(retained.IsReclaimable(4, 7)) << "between two";
  EXPECT_FALSE(retained.IsReclaimable(0, 20)) << "around all";
  EXPECT_TRUE(retained.IsReclaimable(10, 12)) << "above all";
  EXPECT_TRUE(retained.IsReclaimable(SnapshotInterval{.begin = 8, .end = 9}));
}

TEST(RetentionTest, ALiveVersionNeverIs) {
  const RetainedSnapshots retained({3, 9});
  for (const SnapshotId begin : {0, 3, 5, 9}) {
    EXPECT_FALSE(retained.IsReclaimable(begin, kNoEnd)) << begin;
  }
  EXPECT_FALSE(retained.IsReclaimable(12, kNoEnd)) << "though it should not be there";
  EXPECT_FALSE(RetainedSnapshots().IsReclaimable(0, kNoEnd));
}

TEST(RetentionTest, WhatIsVisibleNowhereIs) {
  const RetainedSnapshots retained({3, 9});
  EXPECT_TRUE(retained.IsReclaimable(3, 3));
  EXPECT_TRUE(retained.IsReclaimable(9, 3));
  EXPECT_TRUE(retained.IsReclaimable(kNowhere));
}

TEST(RetentionTest, NamesTheNearestRetainedSnapshots) {
  const RetainedSnapshots retained({3, 7});
  EXPECT_EQ(retained.AtOrBelow(2), std::nullopt);
  EXPECT_EQ(retained.AtOrBelow(3), 3U);
  EXPECT_EQ(retained.AtOrBelow(6), 3U);
  EXPECT_EQ(retained.AtOrBelow(99), 7U);
  EXPECT_EQ(retained.AtOrAbove(0), 3U);
  EXPECT_EQ(retained.AtOrAbove(7), 7U);
  EXPECT_EQ(retained.AtOrAbove(8), std::nullopt);
  EXPECT_EQ(retained.FirstIn(4, 7), std::nullopt);
  EXPECT_EQ(retained.FirstIn(4, 8), 7U);
}

TEST(RetentionTest, TheVectorFormSelectsTheSameRows) {
  const RetainedSnapshots retained({2, 5});
  const std::vector<SnapshotId> begins = {0, 0, 3, 3, 5, 6, 4};
  const std::vector<SnapshotId> ends = {2, 3, 5, kNoEnd, 6, 7, 4};
  std::vector<uint32_t> selection(begins.size());
  selection.resize(retained.SelectReclaimable(begins, ends, selection.data()));
  EXPECT_EQ(selection, (std::vector<uint32_t>{0, 2, 5, 6}));
  EXPECT_EQ(retained.SelectReclaimable({}, {}, nullptr), 0U);
}

// Against the definition, asked of every snapshot; and what is reclaimable stays so when snapshots
// are given up or new ones are made above every end.
TEST(RetentionTest, AgreesWithTheDefinitionAndIsMonotone) {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 2'000; ++round) {
    const SnapshotId last = 1 + below(20);
    std::vector<SnapshotId> snapshots = {last};
    for (SnapshotId id = 0; id < last; ++id) {
      if (below(3) != 0) {
        snapshots.push_back(id);
      }
    }
    std::vector<SnapshotId> fewer = {last, last + 1 + below(3)};
    std::copy_if(snapshots.begin(), snapshots.end(), std::back_inserter(fewer),
                 [&](SnapshotId) { return below(2) == 0; });
    const RetainedSnapshots now(snapshots);
    const RetainedSnapshots later(fewer);
    const SnapshotId begin = below(last + 1);
    const SnapshotId end = below(4) == 0 ? kNoEnd : std::min(last, begin + below(6));
    const bool seen = std::any_of(snapshots.begin(), snapshots.end(),
                                  [&](SnapshotId at) { return IsVisible(begin, end, at); });
    ASSERT_EQ(now.IsReclaimable(begin, end), !seen) << "[" << begin << ", " << end << ")";
    ASSERT_TRUE(!now.IsReclaimable(begin, end) || later.IsReclaimable(begin, end));
  }
}

}  // namespace
}  // namespace varve

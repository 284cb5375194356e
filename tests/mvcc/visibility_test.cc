#include "mvcc/visibility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.h"

namespace varve {
namespace {

struct Version {
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;

  SnapshotId begin_snapshot() const { return begin; }
  SnapshotId end_snapshot() const { return end; }
};

struct OnlyABegin {
  SnapshotId begin_snapshot() const { return 0; }
};

struct EndOfTheWrongType {
  SnapshotId begin_snapshot() const { return 0; }
  std::string end_snapshot() const { return ""; }
};

static_assert(Versioned<Version>);
static_assert(Versioned<const Version>);
static_assert(!Versioned<OnlyABegin>);
static_assert(!Versioned<EndOfTheWrongType>);
static_assert(!Versioned<SnapshotId>);
static_assert(IsVisible(0, kNoEnd, 0) && !IsVisible(1, kNoEnd, 0));

TEST(VisibilityTest, BeginsAtBeginAndEndsBeforeEnd) {
  EXPECT_FALSE(IsVisible(5, 8, 4));
  EXPECT_TRUE(IsVisible(5, 8, 5));
  EXPECT_TRUE(IsVisible(5, 8, 7));
  EXPECT_FALSE(IsVisible(5, 8, 8));
  EXPECT_FALSE(IsVisible(5, 8, 9));
}

TEST(VisibilityTest, SuccessorsLeaveExactlyOneVersionAtEverySnapshot) {
  const std::vector<Version> chain = {{0, 3}, {3, 4}, {4, 9}, {9, kNoEnd}};
  for (SnapshotId at = 0; at < 20; ++at) {
    EXPECT_EQ(std::count_if(chain.begin(), chain.end(),
                            [&](const Version& version) { return IsVisible(version, at); }),
              1)
        << at;
  }
}

TEST(VisibilityTest, TheZeroSnapshotIsASnapshotLikeOthers) {
  EXPECT_TRUE(IsVisible(0, 1, 0));
  EXPECT_TRUE(IsVisible(0, kNoEnd, 0));
  EXPECT_FALSE(IsVisible(0, 0, 0));
  EXPECT_FALSE(IsVisible(1, kNoEnd, 0));
}

TEST(VisibilityTest, IdsInsideGapsFollowTheSameRule) {
  // Snapshots 11..19 do not exist; the state at any of them is that of 10.
  for (SnapshotId at = 10; at < 20; ++at) {
    EXPECT_TRUE(IsVisible(10, 20, at)) << at;
  }
  EXPECT_FALSE(IsVisible(10, 20, 20));
}

TEST(VisibilityTest, NeverEndedVersionsAreVisibleUpToTheLargestId) {
  EXPECT_TRUE(IsVisible(7, kNoEnd, kMaxSnapshotId));
  EXPECT_TRUE(IsVisible(kMaxSnapshotId, kNoEnd, kMaxSnapshotId));
  EXPECT_FALSE(IsVisible(7, kMaxSnapshotId, kMaxSnapshotId));
}

TEST(VisibilityTest, EmptyAndReversedIntervalsAreNeverVisible) {
  for (SnapshotId at = 0; at < 12; ++at) {
    EXPECT_FALSE(IsVisible(5, 5, at));
    EXPECT_FALSE(IsVisible(8, 5, at));
  }
}

TEST(VisibilityTest, TheConceptFormEqualsTheScalarForm) {
  for (SnapshotId begin = 0; begin < 6; ++begin) {
    for (const SnapshotId end : {SnapshotId{0}, SnapshotId{3}, SnapshotId{5}, kNoEnd}) {
      const Version version = {begin, end};
      EXPECT_EQ(IsCurrent(version), IsCurrent(end));
      for (SnapshotId at = 0; at < 8; ++at) {
        EXPECT_EQ(IsVisible(version, at), IsVisible(begin, end, at));
      }
    }
  }
}

struct Vectors {
  std::vector<SnapshotId> begins;
  std::vector<SnapshotId> ends;
};

// Versions as they are at a last snapshot: no begin and no end lies above it.
Vectors RandomVectors(std::mt19937_64* random, size_t size, SnapshotId last) {
  Vectors vectors;
  const uint64_t live_of_eight = (*random)() % 9;
  for (size_t i = 0; i < size; ++i) {
    vectors.begins.push_back((*random)() % (last + 1));
    vectors.ends.push_back((*random)() % 8 < live_of_eight ? kNoEnd : (*random)() % (last + 1));
  }
  return vectors;
}

std::vector<uint32_t> Selected(const Vectors& vectors, SnapshotId at) {
  std::vector<uint32_t> selection(vectors.begins.size());
  selection.resize(SelectVisible(vectors.begins, vectors.ends, at, selection.data()));
  return selection;
}

TEST(VisibilityTest, TheBatchFormEqualsTheScalarFormAtEverySize) {
  std::mt19937_64 random(TestSeed());
  for (size_t size = 0; size <= 2000; ++size) {
    const SnapshotId last = size % 3 == 0 ? 3 : 1000;
    const Vectors vectors = RandomVectors(&random, size, last);
    const SnapshotId at = random() % (last + 2);
    std::vector<uint32_t> expected;
    for (size_t row = 0; row < size; ++row) {
      if (IsVisible(vectors.begins[row], vectors.ends[row], at)) {
        expected.push_back(static_cast<uint32_t>(row));
      }
    }
    ASSERT_EQ(Selected(vectors, at), expected) << "size " << size << " at " << at;
  }
}

TEST(VisibilityTest, TheFormForColumnsEqualsTheBatchForm) {
  std::mt19937_64 random(TestSeed());
  for (size_t size = 0; size <= 300; ++size) {
    const SnapshotId last = size % 3 == 0 ? 3 : 1000;
    const Vectors vectors = RandomVectors(&random, size, last);
    std::vector<int64_t> begins(vectors.begins.begin(), vectors.begins.end());
    std::vector<int64_t> ends;
    std::vector<uint8_t> has_no_end;
    for (const SnapshotId end : vectors.ends) {
      has_no_end.push_back(end == kNoEnd ? 1 : 0);
      ends.push_back(end == kNoEnd ? 0 : static_cast<int64_t>(end));
    }
    const SnapshotId at = random() % (last + 2);
    const size_t from = random() % (size + 1);
    const size_t to = from + random() % (size - from + 1);
    std::vector<uint32_t> expected;
    for (const uint32_t row : Selected(vectors, at)) {
      if (row >= from && row < to) {
        expected.push_back(row);
      }
    }
    std::vector<uint32_t> selection(to - from);
    selection.resize(SelectVisible(begins, ends, has_no_end, from, to, at, selection.data()));
    ASSERT_EQ(selection, expected)
        << "size " << size << " at " << at << ", " << from << " to " << to;
  }
}

TEST(VisibilityTest, TheBatchFormKeepsTheEdgesOfTheDomain) {
  const Vectors vectors = {.begins = {0, 0, kMaxSnapshotId, kMaxSnapshotId, 0, 5},
                           .ends = {kNoEnd, 0, kNoEnd, kMaxSnapshotId, kMaxSnapshotId, 4}};
  EXPECT_EQ(Selected(vectors, 0), (std::vector<uint32_t>{0, 4}));
  EXPECT_EQ(Selected(vectors, kMaxSnapshotId - 1), (std::vector<uint32_t>{0, 4}));
  EXPECT_EQ(Selected(vectors, kMaxSnapshotId), (std::vector<uint32_t>{0, 2}));
}

TEST(VisibilityTest, TheCurrentFastPathEqualsTheRuleAtTheLastSnapshot) {
  std::mt19937_64 random(TestSeed());
  for (size_t size = 0; size <= 2000; size += 7) {
    const SnapshotId last = random() % 50;
    const Vectors vectors = RandomVectors(&random, size, last);
    std::vector<uint32_t> current(size);
    current.resize(SelectCurrent(vectors.ends, current.data()));
    ASSERT_EQ(current, Selected(vectors, last)) << "size " << size << " last " << last;
    for (size_t row = 0; row < size; ++row) {
      ASSERT_EQ(IsCurrent(vectors.ends[row]),
                IsVisible(vectors.begins[row], vectors.ends[row], last));
    }
  }
}

TEST(VisibilityTest, IntervalsOverlapWhereSomeSnapshotSeesBoth) {
  std::vector<SnapshotId> ends = {kNoEnd};
  for (SnapshotId id = 0; id <= 5; ++id) {
    ends.push_back(id);
  }
  for (SnapshotId begin_a = 0; begin_a <= 5; ++begin_a) {
    for (SnapshotId begin_b = 0; begin_b <= 5; ++begin_b) {
      for (const SnapshotId end_a : ends) {
        for (const SnapshotId end_b : ends) {
          bool overlap = false;
          for (SnapshotId at = 0; at <= 6; ++at) {
            overlap |= IsVisible(begin_a, end_a, at) && IsVisible(begin_b, end_b, at);
          }
          ASSERT_EQ(IntervalsOverlap(begin_a, end_a, begin_b, end_b), overlap)
              << "[" << begin_a << "," << end_a << ") and [" << begin_b << "," << end_b << ")";
        }
      }
    }
  }
}

}  // namespace
}  // namespace varve

#include "mvcc/btree_version.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr auto kUnlocked = BTreeVersion::Birth::kUnlocked;
constexpr auto kLockedInserting = BTreeVersion::Birth::kLockedInserting;

// T3
TEST(BTreeVersionTest, LockingAndUnlockingWithoutAFlagChangesNothingForReaders) {
  BTreeVersion version(kUnlocked);
  const uint64_t before = version.Stable();

  version.Lock();
  EXPECT_TRUE(version.is_locked());
  EXPECT_EQ(version.Stable(), before) << "a reader does not wait for a lock alone";
  EXPECT_FALSE(version.ChangedSince(before));
  version.Unlock();

  EXPECT_FALSE(version.is_locked());
  EXPECT_EQ(version.Stable(), before);
}

// T3
TEST(BTreeVersionTest, UnlockingCountsWhatWasFlagged) {
  BTreeVersion version(kUnlocked);
  const uint64_t before = version.Stable();

  version.Lock();
  version.SetInserting();
  EXPECT_TRUE(version.ChangedSince(before)) << "dirty is changed";
  version.Unlock();
  const uint64_t inserted = version.Stable();
  EXPECT_TRUE(version.ChangedSince(before));
  EXPECT_FALSE(BTreeVersion::HasSplit(before, inserted));
  EXPECT_EQ(BTreeVersion::InsertCount(inserted), 1U);
  EXPECT_EQ(BTreeVersion::SplitCount(inserted), 0U);

  version.Lock();
  version.SetSplitting();
  version.Unlock();
  const uint64_t split = version.Stable();
  EXPECT_TRUE(BTreeVersion::HasSplit(inserted, split));
  EXPECT_EQ(BTreeVersion::InsertCount(split), 1U);
  EXPECT_EQ(BTreeVersion::SplitCount(split), 1U);

  version.Lock();
  version.SetInserting();
  version.SetSplitting();
  version.Unlock();
  EXPECT_EQ(BTreeVersion::InsertCount(version.Stable()), 2U);
  EXPECT_EQ(BTreeVersion::SplitCount(version.Stable()), 2U);
  EXPECT_FALSE(version.is_locked());
}

// T3
TEST(BTreeVersionTest, ALockIsHeldByOne) {
  BTreeVersion version(kUnlocked);
  version.Lock();
  EXPECT_FALSE(version.TryLock());
  version.Unlock();
  while (!version.TryLock()) {  // it may fail for no reason
  }
  EXPECT_TRUE(version.is_locked());
  version.Unlock();
}

// T6
TEST(BTreeVersionTest, ANodeCanBeBornLockedAndInserting) {
  BTreeVersion version(kLockedInserting);
  EXPECT_TRUE(version.is_locked());
  EXPECT_TRUE(version.ChangedSince(0)) << "dirty";
  version.Unlock();
  EXPECT_EQ(BTreeVersion::InsertCount(version.Stable()), 1U);
}

// T3, T4
TEST(BTreeVersionTest, AReaderWaitsForTheEndOfAChange) {
  BTreeVersion version(kUnlocked);
  version.Lock();
  version.SetInserting();
  uint64_t seen = 0;
  std::thread reader([&] { seen = version.Stable(); });
  version.Unlock();
  reader.join();
  EXPECT_EQ(BTreeVersion::InsertCount(seen), 1U);
}

// T3
TEST(BTreeVersionTest, FourThreadsCountExactly) {
  constexpr int kThreads = 4;
  constexpr uint64_t kTurns = 20'000;
  BTreeVersion version(kUnlocked);
  uint64_t guarded = 0;  // no atomic: the lock guards it
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kTurns; ++i) {
        version.Lock();
        ++guarded;
        // Odd turns insert, every fourth splits, of the last thread none changes anything.
        if (t != kThreads - 1 && i % 2 == 1) {
          version.SetInserting();
        }
        if (t != kThreads - 1 && i % 4 == 0) {
          version.SetSplitting();
        }
        version.Unlock();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const uint64_t last = version.Stable();
  EXPECT_EQ(guarded, kThreads * kTurns);
  EXPECT_EQ(BTreeVersion::InsertCount(last), (kThreads - 1) * kTurns / 2);
  EXPECT_EQ(BTreeVersion::SplitCount(last), (kThreads - 1) * kTurns / 4);
  EXPECT_FALSE(version.is_locked());
}

}  // namespace
}  // namespace varve

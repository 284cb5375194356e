// The concurrent B-tree with many threads: on tiny nodes, so that splits meet each other on every
// level, and with yields injected at the places where threads can get in each other's way, so that
// one core is enough to interleave them. Meant for ThreadSanitizer as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/arena.h"
#include "base/strings.h"
#include "mvcc/concurrent_btree.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Value = const std::string*;

struct TinyTraits : BTreeTraits {
  static constexpr size_t kLeafEntries = 4;
  static constexpr size_t kInnerKeys = 3;
};

// Gives the core away at about every 16th place.
struct YieldingTraits : TinyTraits {
  static void RacePoint() {
    static thread_local uint64_t state =
        TestSeed() + std::hash<std::thread::id>()(std::this_thread::get_id());
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (state >> 60 == 0) {
      std::this_thread::yield();
    }
  }
};

using Tree = ConcurrentBTree<Value>;
using TinyTree = ConcurrentBTree<Value, TinyTraits>;
using YieldingTree = ConcurrentBTree<Value, YieldingTraits>;

// Every third key is short enough to lie in its slot.
std::string Key(size_t n) {
  return n % 3 == 0 ? StrCat(10'000 + n) : StrCat(10'000 + n, " and more");
}

template <typename AnyTree>
class BTreeStress : public testing::Test {};
using TinyTrees = testing::Types<TinyTree, YieldingTree>;
TYPED_TEST_SUITE(BTreeStress, TinyTrees);

template <typename AnyTree>
std::vector<std::string> ReadKeys(const AnyTree& tree) {
  std::vector<std::string> keys;
  auto iterator = tree.NewIterator();
  for (iterator.SeekToStart(); iterator.IsValid(); iterator.Next()) {
    EXPECT_EQ(iterator.key(), *iterator.value());
    keys.emplace_back(iterator.key());
  }
  return keys;
}

// How the keys of all threads of a trial lie to each other.
enum class Order {
  kInterleaved,  // each thread's keys rise, all threads in the same range: every leaf is fought for
  kShuffled,
  kShared,  // all threads insert the same keys: one of them may
};

template <typename AnyTree>
void RunTrial(Order order, size_t threads, size_t per_thread, uint64_t seed) {
  const size_t count = order == Order::kShared ? per_thread : threads * per_thread;
  std::vector<std::string> keys(count);
  for (size_t n = 0; n < count; ++n) {
    keys[n] = Key(n);
  }
  std::vector<size_t> numbers(count);
  for (size_t n = 0; n < count; ++n) {
    numbers[n] = n;
  }
  if (order == Order::kShuffled) {
    std::mt19937_64 random(seed);
    std::shuffle(numbers.begin(), numbers.end(), random);
  }

  Arena arena;
  AnyTree tree(&arena);
  std::atomic<size_t> inserted = 0;
  std::latch start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> workers;
  for (size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      start.arrive_and_wait();
      for (size_t i = 0; i < per_thread; ++i) {
        const size_t n = order == Order::kShared ? i : numbers[i * threads + t];
        const Value value = &keys[n];
        if (tree.Insert(keys[n], value)) {
          inserted.fetch_add(1);
        }
        // What this thread knows to be there is there, and stays.
        ASSERT_EQ(tree.Find(keys[n]), value);
        const size_t earlier = order == Order::kShared ? i / 2 : numbers[i / 2 * threads + t];
        ASSERT_EQ(tree.Find(keys[earlier]), &keys[earlier]);
      }
    });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }

  ASSERT_EQ(inserted.load(), count) << "every key once";
  ASSERT_EQ(tree.size(), count);
  std::sort(keys.begin(), keys.end());
  ASSERT_EQ(ReadKeys(tree), keys);
}

constexpr size_t kThreads = 16;
constexpr size_t kPerThread = 30;
constexpr int kTrials = 600;

// T4, T5, T6
TYPED_TEST(BTreeStress, ThreadsThatInsertIntoTheSameRangeLoseNothing) {
  for (int trial = 0; trial < kTrials && !this->HasFailure(); ++trial) {
    RunTrial<TypeParam>(Order::kInterleaved, kThreads, kPerThread, 0);
  }
}

// T4, T5, T6
TYPED_TEST(BTreeStress, ThreadsThatInsertShuffledKeysLoseNothing) {
  for (int trial = 0; trial < kTrials && !this->HasFailure(); ++trial) {
    RunTrial<TypeParam>(Order::kShuffled, kThreads, kPerThread,
                        TestSeed() + static_cast<uint64_t>(trial));
  }
}

// T5, T8
TYPED_TEST(BTreeStress, OfThreadsThatInsertTheSameKeyOneDoes) {
  for (int trial = 0; trial < kTrials / 4 && !this->HasFailure(); ++trial) {
    RunTrial<TypeParam>(Order::kShared, kThreads, kPerThread, 0);
  }
}

// T5: mutations that hold their leaf's lock for a while, given up every other time.
TYPED_TEST(BTreeStress, PreparedMutationsExcludeEachOther) {
  constexpr size_t kKeys = 40;
  std::vector<std::string> keys(kKeys);
  for (size_t n = 0; n < kKeys; ++n) {
    keys[n] = Key(n);
  }
  for (int trial = 0; trial < 20 && !this->HasFailure(); ++trial) {
    Arena arena;
    TypeParam tree(&arena);
    std::vector<int> holders(kKeys);  // no atomics: the lock of the key's leaf guards them
    std::vector<std::thread> workers;
    for (size_t t = 0; t < 8; ++t) {
      workers.emplace_back([&, t] {
        for (size_t i = 0; i < 4 * kKeys; ++i) {
          const size_t n = (i * 7 + t) % kKeys;
          typename TypeParam::PreparedMutation mutation(&tree, keys[n]);
          EXPECT_EQ(++holders[n], 1);
          std::this_thread::yield();
          --holders[n];
          if (!mutation.exists() && i % 2 == 0) {
            mutation.Insert(&keys[n]);
          }
        }
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    EXPECT_EQ(ReadKeys(tree).size(), tree.size());
  }
}

// T7: four scanners beside four inserters. A scan that begins after a key was inserted meets it.
template <typename AnyTree>
void ScanBesideInserters(size_t per_inserter) {
  constexpr size_t kInserters = 4;
  constexpr size_t kScanners = 4;
  std::vector<std::string> keys(kInserters * per_inserter);
  for (size_t n = 0; n < keys.size(); ++n) {
    keys[n] = Key(n);
  }
  Arena arena;
  AnyTree tree(&arena);
  // How many of its keys each inserter has inserted: number i of inserter t is keys[i * 4 + t], at
  // an even t from the front, at an odd one from the back.
  const auto number = [&](size_t t, size_t i) {
    return (t % 2 == 0 ? i : per_inserter - 1 - i) * kInserters + t;
  };
  std::vector<std::atomic<size_t>> done(kInserters);
  std::atomic<size_t> finished = 0;

  std::vector<std::thread> threads;
  for (size_t t = 0; t < kInserters; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < per_inserter; ++i) {
        ASSERT_TRUE(tree.Insert(keys[number(t, i)], &keys[number(t, i)]));
        done[t].store(i + 1, std::memory_order_release);
      }
      finished.fetch_add(1);
    });
  }
  for (size_t s = 0; s < kScanners; ++s) {
    threads.emplace_back([&] {
      size_t last_count = 0;
      std::vector<bool> seen(keys.size());
      for (bool last = false; !last;) {
        last = finished.load() == kInserters;  // one more scan after the last insert
        std::vector<size_t> before(kInserters);
        for (size_t t = 0; t < kInserters; ++t) {
          before[t] = done[t].load(std::memory_order_acquire);
        }
        std::fill(seen.begin(), seen.end(), false);
        size_t count = 0;
        std::string previous;
        auto iterator = tree.NewIterator();
        for (iterator.SeekToStart(); iterator.IsValid(); iterator.Next()) {
          ASSERT_EQ(iterator.key(), *iterator.value());
          ASSERT_TRUE(count == 0 || previous < iterator.key())
              << previous << " then " << iterator.key();
          previous = iterator.key();
          seen[static_cast<size_t>(iterator.value() - keys.data())] = true;
          ++count;
        }
        for (size_t t = 0; t < kInserters; ++t) {
          for (size_t i = 0; i < before[t]; ++i) {
            ASSERT_TRUE(seen[number(t, i)]) << keys[number(t, i)];
          }
        }
        ASSERT_GE(count, last_count);
        last_count = count;
      }
      ASSERT_EQ(last_count, keys.size());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TYPED_TEST(BTreeStress, ScansBesideInsertersSeeEveryEarlierKeyOnceInOrder) {
  for (int trial = 0; trial < 10 && !this->HasFailure(); ++trial) {
    ScanBesideInserters<TypeParam>(150);
  }
}

TEST(BTreeStressOfFullNodes, ScansBesideInsertersSeeEveryEarlierKeyOnceInOrder) {
  ScanBesideInserters<Tree>(5'000);
}

// T4, T7: seeks beside inserters land where the keys that are surely there say.
TYPED_TEST(BTreeStress, SeeksBesideInsertersLandAtTheNearestKey) {
  constexpr size_t kKeys = 600;
  std::vector<std::string> keys(kKeys);
  for (size_t n = 0; n < kKeys; ++n) {
    keys[n] = Key(n);
  }
  for (int trial = 0; trial < 10 && !this->HasFailure(); ++trial) {
    Arena arena;
    TypeParam tree(&arena);
    for (size_t n = 0; n < kKeys; n += 2) {  // the even ones are there, the odd ones come
      ASSERT_TRUE(tree.Insert(keys[n], &keys[n]));
    }
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (size_t n = 1 + 2 * t; n < kKeys; n += 8) {
          ASSERT_TRUE(tree.Insert(keys[n], &keys[n]));
        }
      });
      threads.emplace_back([&, seed = TestSeed() + t] {
        std::mt19937_64 random(seed);
        auto iterator = tree.NewIterator();
        for (int i = 0; i < 300; ++i) {
          const size_t n = random() % (kKeys - 1);
          const bool is_even = n % 2 == 0;
          bool exact = false;
          ASSERT_TRUE(iterator.SeekAtOrAfter(keys[n], &exact));
          ASSERT_TRUE(exact || !is_even);
          ASSERT_EQ(iterator.key(), keys[exact ? n : n + 1]);
          ASSERT_TRUE(iterator.SeekAtOrBefore(keys[n], &exact));
          ASSERT_TRUE(exact || !is_even);
          ASSERT_EQ(iterator.key(), keys[exact ? n : n - 1]);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(tree.size(), kKeys);
  }
}

}  // namespace
}  // namespace varve

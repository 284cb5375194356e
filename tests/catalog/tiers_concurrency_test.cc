// Readers, committers, flushes, compactions and rebuilds side by side: whoever reads sees what its
// view has, on every path, whatever happens to the files meanwhile.
//
// VARVE_STRESS_SECONDS=N: for so long, instead of one second.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/catalog/random_changes.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::chrono::seconds StressTime() {
  const char* text = std::getenv("VARVE_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return std::chrono::seconds(text != nullptr ? std::atoi(text) : 1);
}

class TiersConcurrency : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
    Rebuild();
  }

  // One scan of a random relation of the view, on every path; how many rows it had.
  static size_t ReadOnce(const ReadView& view, RandomQuestions* random) {
    const std::vector<RelationRef>& relations = view.relations().relations();
    const RelationRef& relation = relations[random->Below(relations.size())];
    ScanOptions options = {.clean_read = random->OneIn(2),
                           .with_intervals = random->OneIn(2),
                           .with_handles = random->OneIn(2)};
    const std::vector<std::string> rows = AnswerOf(view, relation, options, ScanPath::kRow);
    EXPECT_EQ(AnswerOf(view, relation, options, ScanPath::kColumnar), rows)
        << relation->name << ", csn " << view.csn();
    EXPECT_EQ(AnswerOf(view, relation, options, ScanPath::kAuto), rows) << relation->name;
    return rows.size();
  }
};

TEST_F(TiersConcurrency, ReadersCommittersFlushesAndCompactionsDoNotMeet) {
  constexpr int kReaders = 2;
  constexpr uint64_t kLeast = 10;  // of everything, however slow it is
  std::atomic<bool> done = false;
  std::atomic<uint64_t> reads = 0;
  std::atomic<uint64_t> rows = 0;
  std::atomic<uint64_t> commits = 0;
  std::atomic<uint64_t> flushes = 0;
  std::atomic<uint64_t> compactions = 0;
  std::vector<std::thread> threads;
  for (int r = 0; r < kReaders; ++r) {
    threads.emplace_back([&, r] {
      RandomQuestions random(TestSeed() + static_cast<uint64_t>(r));
      while (!done) {
        const ReadView view = catalog_->Current();
        for (uint64_t i = random.Below(8); i > 0 && !done; --i) {
          rows += ReadOnce(view, &random);
          ++reads;
        }
      }
    });
  }
  threads.emplace_back([&] {
    RandomChanges random(TestSeed());
    while (!done) {
      const absl::Status status = catalog_->Apply(random.Next());
      EXPECT_TRUE(status.ok()) << status;
      ++commits;
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      Flush();
      ++flushes;
    }
  });
  threads.emplace_back([&] {
    RandomQuestions random(TestSeed());
    while (!done) {
      if (random.OneIn(10)) {
        Rebuild();
      }
      Compact({.full = random.OneIn(2),
               .min_rows = random.Below(4),
               .max_l1_files = 1 + random.Below(3),
               .segment_bytes = 1 + random.Below(2'000),
               .table = SmallPacks(1 + random.Below(5))});
      ++compactions;
    }
  });
  const auto until = std::chrono::steady_clock::now() + StressTime();
  while (std::chrono::steady_clock::now() < until || reads < kLeast || commits < kLeast ||
         flushes < kLeast || compactions < kLeast) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (HasFailure()) {
      break;
    }
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(rows, 0U);
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  RandomQuestions random(TestSeed());
  CompareAll(catalog_->Current(), &random, 1);
}

}  // namespace
}  // namespace varve

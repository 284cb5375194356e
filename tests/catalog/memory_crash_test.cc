// MemRowSets after processes that were killed: those rebuilt from the change log are, row for row
// and chain for chain at every csn, those of a process that was never interrupted.
//
// A child commits the sets of one random history, one after the other, and gets SIGKILL at a random
// moment; the next one goes on where it stopped. In some children memory is there from the
// beginning, in others late or never, so that the log has pre-images and has not got them.
//
// VARVE_CRASH_ROUNDS=N: so many kills.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/memory_text.h"
#include "tests/catalog/random_changes.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr int kMostCommits = 1000;  // of one child; it is killed long before
constexpr char kCommitted = 'c';
constexpr char kFailed = 'F';

// How memory comes in a child.
enum class ChildMemory : uint8_t { kFirst, kBeside, kAfterThree, kNever };
constexpr uint64_t kChildMemories = 4;

// Set n of the history is the commit after csn kBulkLoadCsn + n. Goes on behind the last commit of
// the catalog.
absl::Status CommitHistory(const std::string& path, uint64_t seed, ChildMemory memory,
                           const ChildBody::Say& say) {
  VARVE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Catalog> catalog,
      Catalog::Open(path, {.memory = memory == ChildMemory::kBeside ? MemoryMode::kAfterOpening
                                                                    : MemoryMode::kOnDemand}));
  RandomChanges history(seed);
  for (Csn csn = kBulkLoadCsn; csn < catalog->Current().csn(); ++csn) {
    history.Next();
  }
  for (int i = 0; i < kMostCommits; ++i) {
    if ((memory == ChildMemory::kFirst && i == 0) ||
        (memory == ChildMemory::kAfterThree && i == 3)) {
      VARVE_RETURN_IF_ERROR(catalog->WaitForMemory());
    }
    VARVE_RETURN_IF_ERROR(catalog->Apply(history.Next()));
    say(kCommitted);
  }
  return absl::OkStatus();
}

// "path|seed|memory".
const ChildBody kCommitter("memory crash: commit", [](const std::string& argument,
                                                      const ChildBody::Say& say) {
  const size_t first = argument.find('|');
  const size_t second = argument.find('|', first + 1);
  const std::string_view text = argument;
  const auto seed = ParseNumber<uint64_t>(text.substr(first + 1, second - first - 1));
  const auto memory = ParseNumber<uint64_t>(text.substr(second + 1));
  const absl::Status status = CommitHistory(argument.substr(0, first), seed.value_or(0),
                                            static_cast<ChildMemory>(memory.value_or(0)), say);
  std::fprintf(stderr, "the child ended: %s\n", status.ToString().c_str());
  say(kFailed);
  return 1;
});

class MemoryCrash : public ::testing::Test {
 protected:
  std::string path() const { return dir_ / "catalog"; }
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  static int Rounds() {
    const char* text = std::getenv("VARVE_CRASH_ROUNDS");  // NOLINT(concurrency-mt-unsafe)
    return text != nullptr ? std::atoi(text) : 50;
  }

  // Kills a child that has committed at least `hear` sets, a random while later.
  void KillAtRandom(ChildMemory memory, uint64_t hear) {
    ChildProcess child(kCommitter, StrCat(path(), "|", seed_, "|", static_cast<uint64_t>(memory)));
    for (uint64_t i = 0; i < hear; ++i) {
      ASSERT_EQ(child.Hear(), kCommitted);
      ++acknowledged_;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(Below(3'000)));
    child.Kill();
    for (char c = child.Hear(); c != '\0'; c = child.Hear()) {
      ASSERT_EQ(c, kCommitted);
      ++acknowledged_;
    }
  }

  const uint64_t seed_ = TestSeed();
  std::mt19937_64 random_{seed_};
  TempDir dir_;
  uint64_t acknowledged_ = 0;
};

TEST_F(MemoryCrash, RebuiltMemRowSetsAreThoseOfAnUninterruptedRun) {
  CopyNewCatalog(path());
  const std::string other = dir_ / "uninterrupted";
  CopyNewCatalog(other);
  const auto uninterrupted = Catalog::Open(other);
  ASSERT_TRUE(uninterrupted.ok()) << uninterrupted.status();
  ASSERT_TRUE((*uninterrupted)->WaitForMemory().ok());
  RandomChanges history(seed_);

  size_t rows = 0;
  for (int round = 0; round < Rounds(); ++round) {
    SCOPED_TRACE(StrCat("seed ", seed_, ", round ", round));
    ASSERT_NO_FATAL_FAILURE(
        KillAtRandom(static_cast<ChildMemory>(Below(kChildMemories)), 1 + Below(6)));
    const auto catalog = Catalog::Open(path(), {.memory = MemoryMode::kOnDemand});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const Csn last = (*catalog)->Current().csn();
    const uint64_t commits = last - kBulkLoadCsn;
    ASSERT_GE(commits, acknowledged_);
    acknowledged_ = commits;  // one that was not acknowledged may be there

    while ((*uninterrupted)->Current().csn() < last) {
      ASSERT_TRUE((*uninterrupted)->Apply(history.Next()).ok());
    }
    ASSERT_TRUE((*catalog)->WaitForMemory().ok());
    const auto rebuilt = (*catalog)->LatestState()->memory;
    const auto expected = (*uninterrupted)->LatestState()->memory;
    ASSERT_NE(rebuilt, nullptr);
    ASSERT_EQ(rebuilt->from, expected->from);
    ASSERT_EQ(MemoryTexts(*rebuilt), MemoryTexts(*expected));
    // At csns of the past, the older the fewer.
    for (Csn back = 0; back < last; back += 1 + back / 2) {
      ASSERT_EQ(MemoryTexts(*rebuilt, last - back), MemoryTexts(*expected, last - back));
      ASSERT_EQ(MemoryRowTexts(*rebuilt, last - back), MemoryRowTexts(*expected, last - back));
    }
    rows = MemoryTexts(*rebuilt).size();
  }
  // At the end at every one.
  const auto catalog = Catalog::Open(path());
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_TRUE((*catalog)->WaitForMemory().ok());
  for (Csn csn = 0; csn <= (*catalog)->Current().csn(); ++csn) {
    const auto rebuilt = (*catalog)->LatestState()->memory;
    const auto expected = (*uninterrupted)->LatestState()->memory;
    ASSERT_EQ(MemoryTexts(*rebuilt, csn), MemoryTexts(*expected, csn)) << csn;
    ASSERT_EQ(MemoryRowTexts(*rebuilt, csn), MemoryRowTexts(*expected, csn)) << csn;
  }
  EXPECT_GE(rows, static_cast<size_t>(Rounds()));
}

}  // namespace
}  // namespace varve

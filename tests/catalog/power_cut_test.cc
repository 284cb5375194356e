// What a failing disk and a power cut do to a catalog. A scripted workload is run once for every
// writing call it makes: that call fails, or the power is cut at it; then what was never synced is
// forgotten, and the catalog is opened again.
//
// Each time: the committer hears of the error, readers go on, later commits are refused or work,
// and what is there afterwards is every acknowledged commit wholly and no other in part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/fault_file_system.h"
#include "tests/catalog/lake_script.h"
#include "tests/catalog/transaction_script.h"

namespace varve {
namespace {

using Lines = std::vector<std::string>;
using Fault = FaultFileSystem::Fault;
using Tail = FaultFileSystem::Tail;

// A commit's snapshot says which attempt it was, so that a failed attempt that shows up later is
// told from the one that was acknowledged.
std::string Message(size_t step, int attempt) {
  return StrCat("attempt ", attempt, " of ", step);
}

// A commit of the workload.
using Step = std::function<absl::Status(Catalog& catalog, int attempt)>;

constexpr size_t kSteps = 25;

// Change sets.
std::vector<Step> Workload() {
  std::vector<Step> steps;
  const auto script = std::make_shared<LakeScript>(kSteps);
  for (size_t step = 1; step <= kSteps; ++step) {
    steps.emplace_back([=](Catalog& catalog, int attempt) {
      return script->Commit(&catalog, step, Message(step, attempt));
    });
  }
  return steps;
}

// Transactions.
std::vector<Step> WorkloadOfTransactions() {
  std::vector<Step> steps;
  for (size_t step = 1; step <= kSteps; ++step) {
    steps.push_back([=](Catalog& catalog, int attempt) {
      return CommitScriptedTransaction(&catalog, step, Message(step, attempt));
    });
  }
  return steps;
}

// After these steps the memtables are flushed.
bool FlushesAfter(size_t step) {
  return step == 6 || step == 18;
}

// What became of the workload's commits.
struct Progress {
  std::vector<int> acknowledged;  // of each committed step: which attempt
  std::vector<int> failed;        // attempts of the step after those
};

// The states an undisturbed run of the workload goes through.
class States {
 public:
  void Add(Lines state) { states_.push_back(std::move(state)); }

  // The state after these attempts of the first steps.
  Lines After(const std::vector<int>& attempts) const {
    Lines lines = states_[attempts.size()];
    for (size_t i = 0; i < attempts.size(); ++i) {
      const std::string first = StrCat(Message(i + 1, 1), " |");
      for (std::string& line : lines) {
        if (const size_t at = line.find(first); at != std::string::npos) {
          line.replace(at, first.size(), StrCat(Message(i + 1, attempts[i]), " |"));
        }
      }
    }
    return lines;
  }

 private:
  std::vector<Lines> states_;  // after no step, one step, …
};

struct Case {
  Fault fault;
  Tail tail = Tail::kGone;
  // Whether the catalog is closed before the power is cut, or the process ends as it is.
  bool closes = false;
};

// One run of the workload on a disk with a fault, and what is there afterwards. Thread-safety: one
// thread; several runs may be under way.
class FaultyRun {
 public:
  FaultyRun(const std::vector<Step>& steps, const States& states, const Case& c)
      : steps_(steps),
        states_(states),
        case_(c),
        file_system_(std::make_shared<FaultFileSystem>(dir_ / "attic")) {}

  void Run() {
    CopyNewCatalog(path());
    file_system_->Arm(case_.fault);
    std::unique_ptr<Catalog> catalog = RunWorkload();
    if (!case_.closes) {
      file_system_->CutPower();
    }
    catalog.reset();
    happened_ = file_system_->calls() >= case_.fault.at;
    file_system_->DropUnsynced(case_.tail);
    CheckReopened();
  }

  // Whether the workload made as many calls as the case needs.
  bool happened() const { return happened_; }
  std::string failed_calls() const { return file_system_->failed_calls(); }

 private:
  std::string path() const { return dir_ / "catalog"; }

  static CatalogOptions Options(std::shared_ptr<FaultFileSystem> file_system) {
    constexpr uint64_t kCacheBytes = uint64_t{1} << 20;
    return {.block_cache_bytes = kCacheBytes, .file_system = std::move(file_system)};
  }

  // Commits step by step, until one is refused twice or the power goes. Nothing when the catalog
  // cannot be opened.
  std::unique_ptr<Catalog> RunWorkload() {
    auto opened = Catalog::Open(path(), Options(file_system_));
    if (!opened.ok()) {
      EXPECT_GT(file_system_->failures(), 0U) << opened.status();
      return nullptr;
    }
    std::unique_ptr<Catalog> catalog = *std::move(opened);
    while (progress_.acknowledged.size() < steps_.size() && progress_.failed.size() < 2 &&
           !file_system_->power_is_cut()) {
      CommitNext(*catalog);
      if (progress_.failed.empty() && FlushesAfter(progress_.acknowledged.size())) {
        // Whether it works is for the next commits to show.
        catalog->store().Flush().IgnoreError();
      }
    }
    return catalog;
  }

  void CommitNext(Catalog& catalog) {
    const uint64_t failures_before = file_system_->log_failures();
    const int attempt = static_cast<int>(progress_.failed.size()) + 1;
    const absl::Status status = steps_[progress_.acknowledged.size()](catalog, attempt);
    if (file_system_->power_is_cut()) {
      progress_.failed.push_back(attempt);  // nobody heard the answer
      return;
    }
    if (status.ok()) {
      EXPECT_EQ(file_system_->log_failures(), failures_before)
          << "not reported: " << failed_calls();
      progress_.acknowledged.push_back(attempt);
      progress_.failed.clear();
      return;
    }
    EXPECT_GT(file_system_->failures(), 0U) << "refused without need: " << status;
    EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
    progress_.failed.push_back(attempt);
    EXPECT_EQ(EverythingIn(catalog.Current()), states_.After(progress_.acknowledged))
        << "reads go on, and show nothing of a failed commit";
  }

  // Opens the catalog after all is over: which of the states it may have has it?
  void CheckReopened() {
    const auto opened =
        Catalog::Open(path(), Options(std::make_shared<FaultFileSystem>(dir_ / "new attic")));
    ASSERT_TRUE(opened.ok()) << opened.status();
    Catalog& catalog = **opened;
    std::vector<int> attempts = progress_.acknowledged;
    const Lines found = EverythingIn(catalog.Current());
    if (found != states_.After(attempts)) {
      // Then one failed attempt of the next step is wholly there.
      bool is_next = false;
      for (const int failed : progress_.failed) {
        std::vector<int> with = progress_.acknowledged;
        with.push_back(failed);
        if (found == states_.After(with)) {
          is_next = true;
          attempts = with;
        }
      }
      ASSERT_TRUE(is_next) << "acknowledged steps: " << progress_.acknowledged.size()
                           << ", failed attempts at the next: " << progress_.failed.size()
                           << ", found:\n"
                           << StrJoin(found, "\n");
    }
    ASSERT_THAT(FindingsIn(catalog.Current()), ::testing::IsEmpty());
    // It goes on where it stands.
    if (attempts.size() < steps_.size()) {
      constexpr int kLater = 9;
      const absl::Status status = steps_[attempts.size()](catalog, kLater);
      ASSERT_TRUE(status.ok()) << status;
      attempts.push_back(kLater);
      ASSERT_EQ(EverythingIn(catalog.Current()), states_.After(attempts));
    }
  }

  const std::vector<Step>& steps_;
  const States& states_;
  const Case case_;
  const TempDir dir_;
  const std::shared_ptr<FaultFileSystem> file_system_;
  Progress progress_;
  bool happened_ = false;
};

class PowerCut : public ::testing::Test {
 protected:
  explicit PowerCut(std::vector<Step> steps = Workload()) : steps_(std::move(steps)) {}

  void SetUp() override {
    const TempDir dir;
    CopyNewCatalog(dir / "catalog");
    const auto catalog = Catalog::Open(
        dir / "catalog", {.file_system = std::make_shared<FaultFileSystem>(dir / "attic")});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    states_.Add(EverythingIn((*catalog)->Current()));
    for (const Step& step : steps_) {
      const absl::Status status = step(**catalog, 1);
      ASSERT_TRUE(status.ok()) << status;
      states_.Add(EverythingIn((*catalog)->Current()));
      ASSERT_THAT(FindingsIn((*catalog)->Current()), ::testing::IsEmpty());
    }
  }

  // Runs the workload once for every writing call it makes, in many threads: wherever a flush
  // fails, a thread of RocksDB's, which all databases of a process share, waits for a second.
  void RunCases(const std::string& name, const std::function<Case(uint64_t call)>& make) {
    constexpr int kThreads = 24;
    rocksdb::Env::Default()->SetBackgroundThreads(kThreads, rocksdb::Env::HIGH);
    rocksdb::Env::Default()->SetBackgroundThreads(kThreads, rocksdb::Env::LOW);
    constexpr uint64_t kFewestCalls = 100;  // two a step, those of opening and of flushes
    std::atomic<uint64_t> next = 1;
    std::atomic<uint64_t> done = 0;
    const auto work = [&] {
      for (bool happened = true; happened && !HasFailure();) {
        const uint64_t call = next++;
        FaultyRun run(steps_, states_, make(call));
        run.Run();
        happened = run.happened();
        done += happened ? 1 : 0;
        if (HasFailure()) {
          ADD_FAILURE() << name << " at writing call " << call << ": " << run.failed_calls();
        }
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(work);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_GT(done, kFewestCalls);
    std::printf("%s: %llu cases\n", name.c_str(), static_cast<unsigned long long>(done));
  }

  const std::vector<Step> steps_;
  States states_;
};

TEST_F(PowerCut, BeforeEachCallLosesNothingThatWasAcknowledged) {
  RunCases("power cut", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kPowerCut}};
  });
}

TEST_F(PowerCut, ThatTearsTheLastWriteLosesNothingThatWasAcknowledged) {
  RunCases("power cut, last write torn", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kPowerCut}, .tail = Tail::kTorn};
  });
}

TEST_F(PowerCut, AfterAnIoErrorOfEachCallFindsWholeCommits) {
  RunCases("I/O error",
           [](uint64_t call) { return Case{.fault = {.at = call}, .closes = call % 2 == 0}; });
}

TEST_F(PowerCut, AfterATornAppendAtEachCallFindsWholeCommits) {
  RunCases("torn append", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kTornAppend},
                .tail = call % 3 == 0 ? Tail::kTorn : Tail::kGone,
                .closes = call % 2 == 0};
  });
}

TEST_F(PowerCut, AfterAFullDiskAtEachCallFindsWholeCommits) {
  RunCases("disk full", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kNoSpace}, .closes = call % 2 == 0};
  });
}

TEST_F(PowerCut, WhileTheDiskStaysFullFindsWholeCommits) {
  RunCases("disk full from then on", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kNoSpace, .lasting = true},
                .closes = call % 2 == 0};
  });
}

TEST_F(PowerCut, WhileEveryCallFailsFindsWholeCommits) {
  RunCases("I/O errors from then on", [](uint64_t call) {
    return Case{.fault = {.at = call, .lasting = true},
                .tail = call % 3 == 0 ? Tail::kTorn : Tail::kGone,
                .closes = call % 2 == 0};
  });
}

class PowerCutOfTransactions : public PowerCut {
 protected:
  PowerCutOfTransactions() : PowerCut(WorkloadOfTransactions()) {}
};

TEST_F(PowerCutOfTransactions, BeforeEachCallLosesNothingThatWasAcknowledged) {
  RunCases("power cut", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kPowerCut},
                .tail = call % 2 == 0 ? Tail::kTorn : Tail::kGone};
  });
}

TEST_F(PowerCutOfTransactions, AfterAnIoErrorOfEachCallFindsWholeCommits) {
  RunCases("I/O error",
           [](uint64_t call) { return Case{.fault = {.at = call}, .closes = call % 2 == 0}; });
}

TEST_F(PowerCutOfTransactions, WhileTheDiskStaysFullFindsWholeCommits) {
  RunCases("disk full from then on", [](uint64_t call) {
    return Case{.fault = {.at = call, .kind = Fault::Kind::kNoSpace, .lasting = true},
                .closes = call % 2 == 0};
  });
}

}  // namespace
}  // namespace varve

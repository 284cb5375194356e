// Readers at fixed snapshots beside writers, the collection of snapshots, excision, expiry, pins
// and leases. Meant for ThreadSanitizer; VARVE_STRESS_SECONDS=N makes it N seconds long.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/expire.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/scheduled_files.h"
#include "catalog/retention/view_registry.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr int kFilesAtOnce = 3;

absl::Duration StressTime() {
  const char* text = std::getenv("VARVE_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return absl::Seconds(text != nullptr ? std::max(1, std::atoi(text)) : 3);
}

class RetentionConcurrency : public CatalogFixture {
 protected:
  using Random = std::mt19937_64;

  void SetUp() override {
    CatalogFixture::SetUp();
    // The disk's syncs would leave little time for meeting each other.
    Reopen({.sync = SyncMode::kOff});
    MustApply(
        "create ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot "
        "bigint, a bigint");
    MustApply("insert inlined_data_tables 1 | ducklake_inlined_data_1_1 | 1");
  }

  // Snapshot n renames table 1 to tn, adds file n with two statistics and a delete file, ends file
  // n - 3 with its delete file, and replaces inlined row 0.
  static std::string Change(SnapshotId n) {
    std::string text =
        StrCat("insert snapshot ", n, " | '2026-01-01 00:00:00+00' | ", n, " | 5 | ", 2 * n + 2,
               "\n insert snapshot_changes ", n, " | altered_table:1,inserted_into_table:1\n");
    if (n == 1) {
      StrAppend(&text, "insert column 1 | 1 | - | 1 | 1 | a | int64\n",
                "insert column 2 | 1 | - | 1 | 2 | b | int64\n");
    } else {
      StrAppend(&text, "end table 1 @ ", n, "\n end ducklake_inlined_data_1_1 0 @ ", n, "\n");
    }
    StrAppend(&text, "insert table 1 | - | ", n, " | - | 0 | t", n, " | t/ | true\n");
    StrAppend(&text, "put table_stats 1 | ", n, " | 1000 | 1\n");
    StrAppend(&text, "insert ducklake_inlined_data_1_1 0 | ", n, " | - | ", n, "\n");
    StrAppend(&text, "insert data_file ", 2 * n, " | 1 | ", n, " | - | - | f", n,
              " | true | parquet | 1 | 1\n");
    for (int column = 1; column <= 2; ++column) {
      StrAppend(&text, "insert file_column_stats ", 2 * n, " | 1 | ", column, " | 1 | 1 | 0\n");
    }
    StrAppend(&text, "insert delete_file ", 2 * n + 1, " | 1 | ", n, " | - | ", 2 * n, " | d", n,
              " | true | parquet | 1 | 1\n");
    if (n > kFilesAtOnce) {
      const SnapshotId old = n - kFilesAtOnce;
      StrAppend(&text, "end data_file 1 | ", 2 * old, " @ ", n, "\n end delete_file 1 | ",
                2 * old + 1, " @ ", n, "\n");
    }
    return text;
  }

  static std::vector<SnapshotId> FilesAt(SnapshotId at) {
    std::vector<SnapshotId> files;
    for (SnapshotId n = at < kFilesAtOnce ? 1 : at - kFilesAtOnce + 1; n <= at; ++n) {
      files.push_back(2 * n);
    }
    return files;
  }

  // The view shows what the model says of its snapshot.
  void ExpectModel(const ReadView& view) {
    const SnapshotId at = view.snapshot();
    ASSERT_EQ(ScanTexts(view, "table", {.columns = {{5}}}), std::vector{StrCat("t", at)});
    ASSERT_EQ(GetText(view, "ducklake_inlined_data_1_1", "0").substr(0, 4 + StrCat(at).size()),
              StrCat("0 | ", at));
    std::vector<std::string> files;
    std::vector<std::string> statistics;
    std::vector<std::string> deletes;
    for (const SnapshotId file : FilesAt(at)) {
      files.push_back(StrCat(file));
      deletes.push_back(StrCat(file + 1));
    }
    for (int column = 1; column <= 2; ++column) {
      for (const SnapshotId file : FilesAt(at)) {
        statistics.push_back(StrCat(file, " | ", column));
      }
    }
    ASSERT_EQ(ScanTexts(view, "data_file", {.columns = {{0}}}), files) << "at " << at;
    ASSERT_EQ(ScanTexts(view, "delete_file", {.columns = {{0}}}), deletes) << "at " << at;
    ASSERT_EQ(ScanTexts(view, "file_column_stats", {.columns = {{0, 2}}}), statistics)
        << "at " << at;
  }

  // No file that the view shows may be taken away while it lives.
  void ExpectFilesStay(const ReadView& view) {
    const auto removable =
        ScheduledFilesToRemove(catalog_->LatestState(), catalog_->views(), absl::InfiniteFuture());
    ASSERT_TRUE(removable.ok()) << removable.status();
    for (const SnapshotId file : FilesAt(view.snapshot())) {
      for (const ScheduledFile& gone : *removable) {
        ASSERT_NE(gone.id, static_cast<int64_t>(file)) << "at " << view.snapshot();
        ASSERT_NE(gone.id, static_cast<int64_t>(file + 1)) << "at " << view.snapshot();
      }
    }
  }

  void Write() {
    for (SnapshotId n = 1; !done_; ++n) {
      MustApply(Change(n));
      made_ = n;
      if (n % 50 == 0) {
        ASSERT_TRUE(catalog_->store().Flush().ok());
      }
    }
  }

  // A snapshot that may be there still.
  SnapshotId Choose(Random* random) const {
    const SnapshotId last = made_;
    const SnapshotId back = (*random)() % 40;
    return last > back ? last - back : 1;
  }

  void Read(uint64_t seed) {
    Random random(seed);
    std::vector<ReadView> held;
    while (!done_) {
      const absl::StatusOr<ReadView> view = catalog_->At(Choose(&random));
      if (!view.ok()) {
        ASSERT_TRUE(absl::IsNotFound(view.status())) << view.status();
        continue;
      }
      ++reads_;
      ExpectModel(*view);
      held.push_back(*view);
      for (const ReadView& older : held) {
        ExpectModel(older);
      }
      ExpectFilesStay(held.front());
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
      if (held.size() > 3 || random() % 3 == 0) {
        held.erase(held.begin());
      }
    }
  }

  // What is pinned stays readable for everyone.
  void PinSome(uint64_t seed) {
    Random random(seed);
    for (int i = 0; !done_; ++i) {
      const std::string name = StrCat("pin ", seed, " ", i);
      PinRequest request{.name = name, .snapshot = Choose(&random)};
      if (random() % 2 == 0) {
        request.lease = absl::Hours(1);
      }
      const absl::StatusOr<PlacedPin> placed = PlacePin(catalog_.get(), request);
      if (!placed.ok()) {
        ASSERT_TRUE(absl::IsNotFound(placed.status())) << placed.status();
        continue;
      }
      ++pins_;
      for (int look = 0; look < 5 && !done_; ++look) {
        const absl::StatusOr<ReadView> view = catalog_->At(placed->pin.snapshot);
        ASSERT_TRUE(view.ok()) << view.status();
        ExpectModel(*view);
        ExpectFilesStay(*view);
        if (::testing::Test::HasFatalFailure()) {
          return;
        }
        std::this_thread::yield();
      }
      ASSERT_TRUE(RemovePin(catalog_.get(), name).ok());
    }
  }

  void Collect(uint64_t seed) {
    Random random(seed);
    while (!done_) {
      const ExciseOptions options{.rows_per_step = static_cast<uint32_t>(1 + random() % 60)};
      if (random() % 3 != 0) {
        const auto plan = ApplyGc(catalog_.get(), {.keep_last = 3 + random() % 30});
        ASSERT_TRUE(plan.ok()) << plan.status();
        const auto result = Excise(catalog_.get(), options);
        ASSERT_TRUE(result.ok()) << result.status();
        erased_ += TotalRows(result->rows);
        continue;
      }
      const auto result = Expire(catalog_.get(), std::vector<SnapshotId>{Choose(&random)}, options);
      ASSERT_TRUE(result.ok() || absl::IsNotFound(result.status()) ||
                  absl::IsFailedPrecondition(result.status()))
          << result.status();
      erased_ += result.ok() ? TotalRows(result->rows) : 0;
    }
  }

  std::atomic<bool> done_ = false;
  std::atomic<SnapshotId> made_ = 0;
  std::atomic<uint64_t> reads_ = 0;
  std::atomic<uint64_t> pins_ = 0;
  std::atomic<uint64_t> erased_ = 0;
};

TEST_F(RetentionConcurrency, ReadersSeeTheirSnapshotsWhateverIsCollected) {
  const uint64_t seed = TestSeed();
  std::vector<std::thread> threads;
  threads.emplace_back([&] { Write(); });
  threads.emplace_back([&] { Read(seed + 1); });
  threads.emplace_back([&] { Read(seed + 2); });
  threads.emplace_back([&] { PinSome(seed + 3); });
  threads.emplace_back([&] { Collect(seed + 4); });
  threads.emplace_back([&] { Collect(seed + 5); });
  const absl::Time end = absl::Now() + StressTime();
  while (absl::Now() < end && !::testing::Test::HasFailure()) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  // Every kind of work has met the others.
  while ((reads_ == 0 || pins_ == 0 || erased_ == 0 || made_ < 10) &&
         !::testing::Test::HasFailure()) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  done_ = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_FALSE(HasFailure());
  std::printf("%llu snapshots, %llu views, %llu pins, %llu rows erased\n",
              static_cast<unsigned long long>(made_), static_cast<unsigned long long>(reads_),
              static_cast<unsigned long long>(pins_), static_cast<unsigned long long>(erased_));

  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  ASSERT_TRUE(Excise(catalog_.get()).ok());
  Reopen();
  ExpectModel(catalog_->Current());
  EXPECT_EQ(ScanTexts(catalog_->Current(), "data_file", {.rows = ScanRows::kAllVersions}).size(),
            FilesAt(catalog_->Current().snapshot()).size());
  EXPECT_EQ(
      ScanTexts(catalog_->Current(), "file_column_stats", {.rows = ScanRows::kAllVersions}).size(),
      2 * FilesAt(catalog_->Current().snapshot()).size());
  const auto summary = Verify(catalog_->Current(), {}, [](const Finding& finding) {
    EXPECT_NE(finding.severity, Severity::kError)
        << finding.relation << " " << finding.key << ": " << finding.message;
  });
  EXPECT_TRUE(summary.ok()) << summary.status();
}

}  // namespace
}  // namespace varve

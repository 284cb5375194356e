// Transactions of several writers beside readers at fixed snapshots, collection and excision. Meant
// for ThreadSanitizer; VARVE_STRESS_SECONDS=N makes it N seconds long.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/expire.h"
#include "catalog/retention/gc.h"
#include "catalog/transaction/transaction.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/lake_operation.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Random = std::mt19937_64;

std::chrono::seconds StressTime() {
  const char* text = std::getenv("VARVE_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return std::chrono::seconds(text != nullptr ? std::max(1, std::atoi(text)) : 3);
}

DataFile NewFile(std::string path, int64_t records) {
  return {.path = std::move(path),
          .record_count = records,
          .file_size_bytes = records * 10,
          .columns = {{.column_id = 1,
                       .value_count = records,
                       .null_count = 0,
                       .min_value = StrCat(records),
                       .max_value = StrCat(records * 2)}}};
}

absl::StatusOr<int64_t> MakeTable(Transaction& transaction, const std::string& name) {
  const ColumnDefinition column = {.name = "a", .type = "int64"};
  return transaction.CreateTable(0, name, {&column, 1});
}

bool HoldsInlinedRows(const RelationSchema& relation) {
  return relation.dynamic && relation.name.starts_with("ducklake_inlined_data_");
}

class TransactionStress : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    // The disk's syncs would leave little time for meeting each other.
    Reopen({.sync = SyncMode::kOff});
  }

  int64_t MustMakeTable(const std::string& name) {
    int64_t id = -1;
    const auto made = RunInTransaction(catalog_.get(), [&](Transaction& t) -> absl::Status {
      VARVE_ASSIGN_OR_RETURN(id, MakeTable(t, name));
      return absl::OkStatus();
    });
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->Resolve(id) : -1;
  }

  void ExpectClean() {
    const auto summary = Verify(catalog_->Current(), {}, [](const Finding& finding) {
      ADD_FAILURE() << "verify: " << finding.rule << " " << finding.relation << " " << finding.key
                    << ": " << finding.message;
    });
    EXPECT_TRUE(summary.ok()) << summary.status();
  }
};

// --- Appends -------------------------------------------------------------------------------------

TEST_F(TransactionStress, SixteenWritersAppendToOneTableWithoutOneFailedCommit) {
  constexpr int kWriters = 16;
  constexpr int64_t kAppends = 12;
  const int64_t table = MustMakeTable("events");
  const SnapshotId before = catalog_->Current().last_snapshot();
  std::vector<std::vector<CommitResult>> results(kWriters);
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int64_t i = 0; i < kAppends; ++i) {
        absl::StatusOr<Transaction> transaction = catalog_->Begin();
        ASSERT_TRUE(transaction.ok()) << transaction.status();
        const DataFile file = NewFile(StrCat(w, "-", i), 1 + (w + i) % 7);
        ASSERT_TRUE(transaction->RegisterDataFiles(table, {&file, 1}).ok());
        if (i % 3 == 0) {
          const std::vector<NullableText> row = {StrCat(-w - 1)};
          ASSERT_TRUE(transaction->InsertInlined(table, {&row, 1}).ok());
        }
        const absl::StatusOr<CommitResult> result = transaction->Commit();
        ASSERT_TRUE(result.ok()) << result.status();
        results[static_cast<size_t>(w)].push_back(*result);
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  ASSERT_FALSE(HasFailure());

  std::set<SnapshotId> snapshots;
  for (const std::vector<CommitResult>& of_writer : results) {
    for (size_t i = 0; i < of_writer.size(); ++i) {
      snapshots.insert(of_writer[i].snapshot);
      ASSERT_TRUE(i == 0 || of_writer[i].csn > of_writer[i - 1].csn);
    }
  }
  ASSERT_EQ(snapshots.size(), static_cast<size_t>(kWriters * kAppends));
  EXPECT_EQ(*snapshots.begin(), before + 1);
  EXPECT_EQ(*snapshots.rbegin(), before + kWriters * kAppends);

  // Everything there exactly once, and no row id given twice.
  std::set<std::string> paths;
  std::set<int64_t> row_ids;
  int64_t bytes = 0;
  const ReadView view = catalog_->Current();
  for (const LakeRow& file : ReadRows(view, BuiltinRelationById(kDataFile))) {
    ASSERT_TRUE(paths.insert(file.at("path")).second) << LineOf(file);
    bytes += NumberOf(file, "file_size_bytes");
    for (int64_t i = 0; i < NumberOf(file, "record_count"); ++i) {
      ASSERT_TRUE(row_ids.insert(NumberOf(file, "row_id_start") + i).second) << LineOf(file);
    }
  }
  EXPECT_EQ(paths.size(), static_cast<size_t>(kWriters * kAppends));
  size_t inlined = 0;
  for (const RelationRef& relation : view.relations().relations()) {
    if (HoldsInlinedRows(*relation)) {
      for (const LakeRow& row : ReadRows(view, relation)) {
        ASSERT_TRUE(row_ids.insert(NumberOf(row, "row_id")).second) << LineOf(row);
        ++inlined;
      }
    }
  }
  EXPECT_EQ(inlined, static_cast<size_t>(kWriters * kAppends / 3));
  const auto rows = static_cast<int64_t>(row_ids.size());
  EXPECT_EQ(*row_ids.begin(), 0);
  EXPECT_EQ(*row_ids.rbegin(), rows - 1) << "no row id is left out";
  EXPECT_EQ(Rows("table_stats"),
            std::vector{StrCat(table, " | ", rows, " | ", rows, " | ", bytes)});
  EXPECT_EQ(Rows("table_column_stats"),
            std::vector{StrCat(table, " | 1 | false | - | -16 | 14 | -")});
  ExpectClean();
}

// --- Readers beside writers and excision ---------------------------------------------------------

// What snapshots held when they were committed, as digests of all their rows.
class Digests {
 public:
  static size_t Of(const ReadView& view) {
    size_t digest = 0;
    const auto add = [&](const RelationRef& relation) {
      for (const LakeRow& row : ReadRows(view, relation)) {
        LakeRow shown = row;
        // When it will end is not for the snapshot to know.
        shown.erase("end_snapshot");
        digest = digest * 31 + std::hash<std::string>()(LineOf(shown));
      }
    };
    for (const RelationId id : {kSchema, kTable, kColumn, kTag, kDataFile, kDeleteFile,
                                kFileColumnStats, kPartitionInfo, kView}) {
      add(BuiltinRelationById(id));
    }
    // Inlined rows of a table that is dropped have no end, but nothing leads to them: they go when
    // no retained snapshot shows the table.
    for (const LakeRow& table : ReadRows(view, BuiltinRelationById(kTable))) {
      for (const RelationRef& relation : view.relations().relations()) {
        if (HoldsInlinedRows(*relation) &&
            relation->name.starts_with(
                StrCat("ducklake_inlined_data_", table.at("table_id"), "_"))) {
          add(relation);
        }
      }
    }
    return digest;
  }

  void Record(const ReadView& view) {
    const size_t digest = Of(view);
    const std::lock_guard<std::mutex> lock(mutex_);
    digests_[view.snapshot()] = digest;
  }

  // A snapshot that was recorded, of late rather than long ago.
  std::optional<std::pair<SnapshotId, size_t>> Pick(Random* random) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (digests_.empty()) {
      return std::nullopt;
    }
    auto it = digests_.end();
    for (uint64_t back = 1 + (*random)() % 30; back > 0 && it != digests_.begin(); --back) {
      --it;
    }
    return *it;
  }

 private:
  mutable std::mutex mutex_;
  std::map<SnapshotId, size_t> digests_;
};

// One writer with a table of its own, of which it knows what it holds.
class StressWriter {
 public:
  StressWriter(Catalog* catalog, Digests* digests, int number, uint64_t seed)
      : catalog_(*catalog), digests_(*digests), number_(number), random_(seed) {}

  void RunOne() {
    const uint64_t what = table_ < 0 ? 0 : random_() % 8;
    std::set<std::string> files = files_;
    int64_t rows = rows_;
    int64_t made = table_;
    std::string name = name_;
    const auto result =
        RunInTransaction(&catalog_,
                         [&](Transaction& t) -> absl::Status {
                           files = files_;
                           rows = rows_;
                           made = table_;
                           name = name_;
                           if (table_ < 0) {
                             name = StrCat("w", number_, " ", ++names_);
                             VARVE_ASSIGN_OR_RETURN(made, MakeTable(t, name));
                           }
                           switch (what) {
                             case 1: {
                               name = StrCat("w", number_, " ", ++names_);
                               VARVE_RETURN_IF_ERROR(t.RenameTable(made, name));
                               break;
                             }
                             case 2: return EndOne(t, made, &files);
                             case 3: {
                               const std::vector<NullableText> row = {StrCat(rows)};
                               ++rows;
                               VARVE_RETURN_IF_ERROR(t.InsertInlined(made, {&row, 1}).status());
                               break;
                             }
                             case 4:
                               VARVE_RETURN_IF_ERROR(t.SetTag(made, "tag", StrCat(random_() % 5)));
                               break;
                             case 5:
                               if (random_() % 4 == 0) {
                                 files.clear();
                                 rows = 0;
                                 VARVE_RETURN_IF_ERROR(t.DropTable(made));
                                 made = -1;
                                 return absl::OkStatus();
                               }
                               break;
                             default: break;
                           }
                           const DataFile file = NewFile(StrCat(number_, "-", ++paths_), 3);
                           files.insert(file.path);
                           return t.RegisterDataFiles(made, {&file, 1}).status();
                         },
                         {.message = StrCat(number_)});
    ASSERT_TRUE(result.ok()) << result.status();
    files_ = std::move(files);
    rows_ = rows;
    table_ = made < 0 ? -1 : result->Resolve(made);
    name_ = std::move(name);
    Check(result->snapshot);
  }

 private:
  absl::Status EndOne(Transaction& t, int64_t table, std::set<std::string>* files) {
    std::vector<LakeRow> rows = ReadRows(t, BuiltinRelationById(kDataFile));
    std::erase_if(rows, [&](const LakeRow& row) { return NumberOf(row, "table_id") != table; });
    if (rows.empty()) {
      return absl::OkStatus();
    }
    const LakeRow& row = rows[random_() % rows.size()];
    files->erase(row.at("path"));
    const int64_t id = NumberOf(row, "data_file_id");
    return t.EndDataFiles(table, {&id, 1});
  }

  // The writer's own part of its snapshot is what it made it.
  void Check(SnapshotId snapshot) {
    const auto view = catalog_.At(snapshot);
    if (!view.ok()) {
      ASSERT_TRUE(absl::IsNotFound(view.status())) << view.status();
      return;  // given up meanwhile
    }
    std::set<std::string> paths;
    for (const LakeRow& row : ReadRows(*view, BuiltinRelationById(kDataFile))) {
      if (NumberOf(row, "table_id") == table_) {
        paths.insert(row.at("path"));
      }
    }
    ASSERT_EQ(paths, files_) << "at snapshot " << snapshot;
    if (table_ >= 0) {
      const Datum key[] = {Datum::Int64(table_)};
      const auto table = view->Get(*BuiltinRelationById(kTable), key);
      ASSERT_TRUE(table.ok() && table->has_value()) << table.status();
      ASSERT_EQ((*table)->values[5].bytes(), name_);
    }
    digests_.Record(*view);
  }

  Catalog& catalog_;
  Digests& digests_;
  const int number_;
  Random random_;
  int64_t table_ = -1;
  std::string name_;
  std::set<std::string> files_;
  int64_t rows_ = 0;
  int64_t names_ = 0;
  int64_t paths_ = 0;
};

class StressReader {
 public:
  StressReader(Catalog* catalog, Digests* digests, uint64_t seed)
      : catalog_(*catalog), digests_(*digests), random_(seed) {}

  // Whether there was something to read.
  bool RunOne() {
    bool read = false;
    Read(&read);
    return read;
  }

  void Finish() {
    for (const auto& held : held_) {
      CheckHeld(held);
    }
  }

 private:
  static constexpr size_t kHeld = 6;

  void Read(bool* read) {
    const auto picked = digests_.Pick(&random_);
    if (!picked.has_value()) {
      return;
    }
    absl::StatusOr<ReadView> view = catalog_.At(picked->first);
    if (!view.ok()) {
      ASSERT_TRUE(absl::IsNotFound(view.status())) << view.status();
      return;
    }
    ASSERT_EQ(Digests::Of(*view), picked->second) << "at snapshot " << picked->first;
    *read = true;
    if (random_() % 3 == 0) {
      held_.emplace_back(*std::move(view), picked->second);
    }
    // What is held stays as it was, whatever has been collected and excised.
    if (held_.size() > kHeld) {
      CheckHeld(held_.front());
      held_.pop_front();
    } else if (!held_.empty()) {
      CheckHeld(held_[random_() % held_.size()]);
    }
  }

  static void CheckHeld(const std::pair<ReadView, size_t>& held) {
    ASSERT_EQ(Digests::Of(held.first), held.second)
        << "a held view of snapshot " << held.first.snapshot();
  }

  Catalog& catalog_;
  Digests& digests_;
  Random random_;
  std::deque<std::pair<ReadView, size_t>> held_;
};

TEST_F(TransactionStress, ReadersSeeWhatTheirSnapshotHeldBesideWritersCollectionAndExcision) {
  constexpr int kWriters = 3;
  constexpr int kReaders = 3;
  const uint64_t seed = TestSeed();
  Digests digests;
  std::atomic<bool> done = false;
  std::atomic<uint64_t> commits = 0;
  std::atomic<uint64_t> reads = 0;
  std::vector<std::thread> threads;
  const auto run = [&](const std::function<void()>& once) {
    while (!done && !HasFailure()) {
      once();
    }
  };
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      StressWriter writer(catalog_.get(), &digests, w, seed + static_cast<uint64_t>(w));
      run([&] {
        writer.RunOne();
        ++commits;
      });
    });
  }
  for (int r = 0; r < kReaders; ++r) {
    threads.emplace_back([&, r] {
      StressReader reader(catalog_.get(), &digests, seed + 100 + static_cast<uint64_t>(r));
      run([&] { reads += reader.RunOne() ? 1 : 0; });
      reader.Finish();
    });
  }
  // Gives up and removes what is old.
  uint64_t excised = 0;
  threads.emplace_back([&] {
    Random random(seed + 200);
    run([&] {
      const auto plan = ApplyGc(catalog_.get(), {.keep_last = 20});
      ASSERT_TRUE(plan.ok()) << plan.status();
      if (random() % 4 == 0) {
        const SnapshotId last = catalog_->Current().last_snapshot();
        const std::vector<SnapshotId> one = {last - std::min<SnapshotId>(last, 5)};
        const auto expired = Expire(catalog_.get(), one, {.rows_per_step = 40});
        // Another one may be the last by the time, or it was expired before.
        ASSERT_TRUE(expired.ok() || absl::IsNotFound(expired.status()) ||
                    absl::IsFailedPrecondition(expired.status()))
            << expired.status();
      }
      const auto result = Excise(catalog_.get(), {.rows_per_step = 40});
      ASSERT_TRUE(result.ok()) << result.status();
      excised += TotalRows(result->rows);
    });
  });
  // Keeps a transaction open while others commit; its base does not change, and it commits.
  threads.emplace_back([&] {
    int64_t number = 0;
    run([&] {
      absl::StatusOr<Transaction> transaction = catalog_->Begin();
      ASSERT_TRUE(transaction.ok()) << transaction.status();
      const size_t digest = Digests::Of(transaction->base());
      ASSERT_TRUE(MakeTable(*transaction, StrCat("slow ", ++number)).ok());
      const uint64_t until = commits + 10;
      while (commits < until && !done && !HasFailure()) {
        ASSERT_EQ(Digests::Of(transaction->base()), digest);
      }
      if (number % 3 == 0) {
        transaction->Abort();
        return;
      }
      const auto result = transaction->Commit();
      ASSERT_TRUE(result.ok()) << result.status();
    });
  });
  // As long as asked for, and until something has happened.
  const auto end = std::chrono::steady_clock::now() + StressTime();
  while (!HasFailure() && (std::chrono::steady_clock::now() < end || commits < 20 || reads < 20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%llu commits, %llu reads, %llu rows excised\n",
              static_cast<unsigned long long>(commits.load()),
              static_cast<unsigned long long>(reads.load()),
              static_cast<unsigned long long>(excised));
  ExpectClean();
  const auto rest = Excise(catalog_.get());
  ASSERT_TRUE(rest.ok()) << rest.status();
  ExpectClean();
}

}  // namespace
}  // namespace varve

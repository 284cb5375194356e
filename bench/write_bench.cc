// Committing: a small commit beside a bare synced append, several writers, 1,000 files at once.
// postgres_bench.cc commits the same rows to PostgreSQL.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/status.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/write_rows.h"

namespace varve::bench {

double Median(std::vector<double>* values) {
  std::sort(values->begin(), values->end());
  return values->empty() ? 0 : (*values)[values->size() / 2];
}

namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void CheckOk(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << "bench: " << status << "\n";
    std::exit(1);
  }
}

template <typename T>
T Must(absl::StatusOr<T> result) {
  CheckOk(result.status());
  return std::move(result).value();
}

// A new lake with tables of int64 columns.
struct Lake {
  std::string path;
  std::unique_ptr<Catalog> catalog;
  std::vector<int64_t> tables;
};

Lake MakeLake(int64_t tables, int64_t columns) {
  Lake lake{.path = FreshPath("lake")};
  CheckOk(Catalog::Init(lake.path, {.data_path = "/lake/"}));
  lake.catalog = OpenOrDie(lake.path);
  std::vector<ColumnDefinition> definitions;
  for (int64_t column = 1; column <= columns; ++column) {
    definitions.push_back({.name = StrCat("c", column), .type = "int64"});
  }
  Transaction transaction = Must(lake.catalog->Begin());
  for (int64_t table = 0; table < tables; ++table) {
    lake.tables.push_back(Must(transaction.CreateTable(0, StrCat("t", table), definitions)));
  }
  const CommitResult result = Must(transaction.Commit());
  for (int64_t& table : lake.tables) {
    table = result.Resolve(table);
  }
  return lake;
}

// Bytes that the row store has logged.
uint64_t LogBytes(const Lake& lake) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lake.path + "/rows")) {
    bytes += entry.path().extension() == ".log" ? entry.file_size() : 0;
  }
  return bytes;
}

absl::Status CommitFile(Catalog* catalog, int64_t table, const DataFile& file) {
  absl::StatusOr<Transaction> transaction = catalog->Begin();
  if (!transaction.ok()) {
    return transaction.status();
  }
  VARVE_RETURN_IF_ERROR(transaction->RegisterDataFiles(table, {&file, 1}).status());
  return transaction->Commit().status();
}

// --- One writer ---

// Appends that are synced one by one, to a file beside the catalogs.
class BareLog {
 public:
  explicit BareLog(size_t bytes)
      : file_(::open(FreshPath("bare-log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600)),
        record_(bytes, 'x') {}
  BareLog(const BareLog&) = delete;
  BareLog& operator=(const BareLog&) = delete;
  ~BareLog() { ::close(file_); }

  void Append() const {
    if (::write(file_, record_.data(), record_.size()) != static_cast<ssize_t>(record_.size()) ||
        ::fdatasync(file_) != 0) {
      std::cerr << "bench: cannot write\n";
      std::exit(1);
    }
  }

 private:
  int file_;
  std::string record_;
};

// A commit of one file with the statistics of 5 columns, synced; after each, the same number of
// bytes is appended to a bare file and synced.
void WriteSmallCommit(benchmark::State& state) {
  constexpr int64_t kWarmUp = 50;
  const Lake lake = MakeLake(1, kSmallColumns);
  int64_t number = 0;
  const uint64_t logged = LogBytes(lake);
  while (number < kWarmUp) {
    CheckOk(
        CommitFile(lake.catalog.get(), lake.tables[0], FileToWrite(0, number++, kSmallColumns)));
  }
  const uint64_t bytes = (LogBytes(lake) - logged) / kWarmUp;
  const BareLog bare(bytes);
  std::vector<double> transactions;
  std::vector<double> commits;
  std::vector<double> appends;
  for (auto _ : state) {
    const DataFile file = FileToWrite(0, number++, kSmallColumns);
    const auto begin = Clock::now();
    Transaction transaction = Must(lake.catalog->Begin());
    CheckOk(transaction.RegisterDataFiles(lake.tables[0], {&file, 1}).status());
    const auto commit = Clock::now();
    CheckOk(transaction.Commit().status());
    const auto done = Clock::now();
    bare.Append();
    appends.push_back(Seconds(Clock::now() - done));
    commits.push_back(Seconds(done - commit));
    transactions.push_back(Seconds(done - begin));
    state.SetIterationTime(transactions.back());
  }
  const double append = Median(&appends);
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["bare_us"] = append * 1e6;
  state.counters["commit_us"] = Median(&commits) * 1e6;
  state.counters["whole_us"] = Median(&transactions) * 1e6;
  state.counters["commit_ratio"] = Median(&commits) / append;
  state.counters["whole_ratio"] = Median(&transactions) / append;
}
BENCHMARK(WriteSmallCommit)->UseManualTime()->Iterations(500)->Unit(benchmark::kMicrosecond);

// 1,000 files with 20 column statistics each: 21,000 rows, one commit.
void WriteThousandFiles(benchmark::State& state) {
  const Lake lake = MakeLake(1, kLargeColumns);
  int64_t number = 0;
  std::vector<double> registers;
  std::vector<double> commits;
  std::vector<double> register_cpu;
  std::vector<double> commit_cpu;
  for (auto _ : state) {
    const std::vector<DataFile> files = FilesToWrite(number, kLargeFiles, kLargeColumns);
    number += kLargeFiles;
    const auto begin = Clock::now();
    const double begin_cpu = CpuSeconds();
    Transaction transaction = Must(lake.catalog->Begin());
    CheckOk(transaction.RegisterDataFiles(lake.tables[0], files).status());
    const auto commit = Clock::now();
    register_cpu.push_back(CpuSeconds() - begin_cpu);
    CheckOk(transaction.Commit().status());
    const auto done = Clock::now();
    commit_cpu.push_back(CpuSeconds() - begin_cpu - register_cpu.back());
    registers.push_back(Seconds(commit - begin));
    commits.push_back(Seconds(done - commit));
    state.SetIterationTime(Seconds(done - begin));
  }
  state.counters["register_ms"] = Median(&registers) * 1e3;
  state.counters["commit_ms"] = Median(&commits) * 1e3;
  state.counters["register_cpu_ms"] = Median(&register_cpu) * 1e3;
  state.counters["commit_cpu_ms"] = Median(&commit_cpu) * 1e3;
}
BENCHMARK(WriteThousandFiles)->UseManualTime()->Iterations(20)->Unit(benchmark::kMillisecond);

// --- Several writers ---

// `writers` threads commit one file after the other for two seconds; tables: theirs, or all one.
void CommitTogether(benchmark::State& state, bool one_table) {
  constexpr auto kDuration = std::chrono::seconds(2);
  const int64_t writers = state.range(0);
  const Lake lake = MakeLake(one_table ? 1 : writers, kSmallColumns);
  std::atomic<int64_t> committed = 0;
  std::atomic<int64_t> failed = 0;
  int64_t round = 0;
  for (auto _ : state) {
    const auto end = Clock::now() + kDuration;
    std::vector<std::thread> threads;
    for (int64_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] {
        const int64_t table = lake.tables[one_table ? 0 : static_cast<size_t>(writer)];
        for (int64_t number = round * 1'000'000; Clock::now() < end; ++number) {
          const DataFile file = FileToWrite(writer, number, kSmallColumns);
          const absl::Status status = CommitFile(lake.catalog.get(), table, file);
          status.ok() ? ++committed : ++failed;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    ++round;
  }
  state.SetItemsProcessed(committed);
  state.counters["failed"] = static_cast<double>(failed);
}

void WriteCommits(benchmark::State& state) {
  CommitTogether(state, /*one_table=*/false);
}
BENCHMARK(WriteCommits)->Arg(1)->Arg(8)->Iterations(2)->UseRealTime();

void WriteCommitsToOneTable(benchmark::State& state) {
  CommitTogether(state, /*one_table=*/true);
}
BENCHMARK(WriteCommitsToOneTable)->Arg(1)->Arg(8)->Arg(16)->Iterations(2)->UseRealTime();

}  // namespace
}  // namespace varve::bench

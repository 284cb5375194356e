// Wide scans of a catalog: answered by MemRowSets and by the row store, turn by turn, in processor
// time of the thread.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/write_rows.h"
#include "catalog/catalog.h"

namespace varve::bench {
namespace {

void CheckOk(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << "bench: " << status << "\n";
    std::exit(1);
  }
}

// A catalog whose files were all registered by commits, so that memory has every one of them.
std::unique_ptr<Catalog> MakeLakeOfFiles(int64_t files) {
  const std::string path = FreshPath("memory");
  CheckOk(Catalog::Init(path, {.data_path = "/lake/"}));
  auto catalog = OpenOrDie(path);
  const std::vector<ColumnDefinition> columns = {{.name = "c1", .type = "int64"}};
  int64_t table = 0;
  for (int64_t number = -kLargeFiles; number < files; number += kLargeFiles) {
    auto transaction = catalog->Begin();
    CheckOk(transaction.status());
    if (number < 0) {
      const auto created = transaction->CreateTable(0, "t", columns);
      CheckOk(created.status());
      table = *created;
    } else {
      CheckOk(transaction->RegisterDataFiles(table, FilesToWrite(number, kLargeFiles, 1)).status());
    }
    const auto result = transaction->Commit();
    CheckOk(result.status());
    table = number < 0 ? result->Resolve(table) : table;
  }
  CheckOk(catalog->WaitForMemory());
  return catalog;
}

uint64_t ScanFiles(const ReadView& view, ScanOptions options) {
  const auto scan = view.Scan(view.relations().FindById(kDataFile), std::move(options));
  CheckOk(scan.status());
  ScanBatch batch;
  uint64_t rows = 0;
  while (true) {
    const auto more = (*scan)->Next(&batch);
    CheckOk(more.status());
    if (!*more) {
      return rows;
    }
    rows += batch.num_rows();
  }
}

// The list of 50,000 data files by both paths, at the latest snapshot. `columns`: by name; none:
// all.
void MemoryPathFiles(benchmark::State& state, const std::vector<std::string>& columns) {
  constexpr int64_t kFiles = 50'000;
  static const auto& catalog = *new std::unique_ptr<Catalog>(MakeLakeOfFiles(kFiles));
  const ReadView view = catalog->Current();
  ScanOptions options;
  for (const std::string& column : columns) {
    if (!options.columns.has_value()) {
      options.columns.emplace();
    }
    options.columns->push_back(*view.relations().FindById(kDataFile)->columns.Find(column));
  }
  std::vector<double> memory;
  std::vector<double> row;
  for (auto _ : state) {
    options.path = ScanPath::kMemory;
    uint64_t found = 0;
    memory.push_back(MeasureCpu([&] { found = ScanFiles(view, options); }));
    options.path = ScanPath::kRow;
    row.push_back(MeasureCpu([&] { found += ScanFiles(view, options); }));
    if (found != 2 * kFiles) {
      state.SkipWithError("a scan has not found all files");
      return;
    }
    state.SetIterationTime(memory.back());
  }
  state.counters["memory_ms"] = Median(&memory) * 1e3;
  state.counters["row_ms"] = Median(&row) * 1e3;
  state.counters["times_row_path"] = Median(&row) / Median(&memory);
}
BENCHMARK_CAPTURE(MemoryPathFiles, all_columns, {})
    ->UseManualTime()
    ->Iterations(51)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(MemoryPathFiles, three_columns,
                  std::vector<std::string>{"record_count", "file_size_bytes", "row_id_start"})
    ->UseManualTime()
    ->Iterations(51)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

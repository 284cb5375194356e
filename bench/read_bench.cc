// Reading the row store: current scans beside history, point look-ups, time travel, opening.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "bench/bench_catalog.h"
#include "catalog/catalog.h"

namespace varve::bench {
namespace {

constexpr int64_t kTables = 20'000;
constexpr int64_t kLongHistory = 50;
constexpr int64_t kFiles = 50'000;
constexpr int64_t kStatColumns = 20;
constexpr int64_t kSnapshots = 1'000;

uint64_t ScanAll(const ReadView& view, RelationId relation) {
  auto scan = view.Scan(view.relations().FindById(relation), ScanOptions());
  uint64_t rows = 0;
  ScanBatch batch;
  while (true) {
    const auto more = (*scan)->Next(&batch);
    if (!more.ok()) {
      std::cerr << more.status() << "\n";
      std::exit(1);
    }
    if (!*more) {
      return rows;
    }
    rows += batch.num_rows();
  }
}

// Argument: versions of each of the 20,000 tables. The live rows are the same; compare the times.
void CurrentScan(benchmark::State& state) {
  const auto catalog =
      OpenOrDie(TableHistoryCatalog({.tables = kTables, .versions = state.range(0)}));
  const ReadView view = catalog->Current();
  uint64_t rows = 0;
  for (auto _ : state) {
    rows += ScanAll(view, kTable);
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}
BENCHMARK(CurrentScan)->Arg(1)->Arg(kLongHistory)->Unit(benchmark::kMillisecond);

// The same relation in the middle of its history: live and ended versions merged and filtered.
void TimeTravelScan(benchmark::State& state) {
  const auto catalog =
      OpenOrDie(TableHistoryCatalog({.tables = kTables, .versions = kLongHistory}));
  const auto view = catalog->At(kLongHistory / 2);
  uint64_t rows = 0;
  for (auto _ : state) {
    rows += ScanAll(*view, kTable);
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}
BENCHMARK(TimeTravelScan)->Unit(benchmark::kMillisecond);

void GetTables(benchmark::State& state, const ReadView& view) {
  PointReader reader(view);
  const RelationRef relation = view.relations().FindById(kTable);
  VersionedRow row;
  uint64_t id = 0;
  for (auto _ : state) {
    id = (id + 7919) % kTables;  // a stride that visits every table
    const Datum key = Datum::Int64(static_cast<int64_t>(id));
    const auto found = reader.Get(*relation, {&key, 1}, &row);
    if (!found.ok() || !*found) {
      state.SkipWithError("a table is missing");
      return;
    }
    benchmark::DoNotOptimize(row.values[5].bytes().data());
  }
  state.SetItemsProcessed(state.iterations());
}

void GetCurrent(benchmark::State& state) {
  const auto catalog =
      OpenOrDie(TableHistoryCatalog({.tables = kTables, .versions = kLongHistory}));
  GetTables(state, catalog->Current());
}
BENCHMARK(GetCurrent);

void GetPast(benchmark::State& state) {
  const auto catalog =
      OpenOrDie(TableHistoryCatalog({.tables = kTables, .versions = kLongHistory}));
  GetTables(state, *catalog->At(kLongHistory / 2));
}
BENCHMARK(GetPast);

// A million rows of file statistics and 50,000 files: the file list of a planner.
void ListFiles(benchmark::State& state) {
  const auto catalog = OpenOrDie(DataFileCatalog(kFiles, kStatColumns, kSnapshots));
  const ReadView view = catalog->Current();
  uint64_t rows = 0;
  for (auto _ : state) {
    rows += ScanAll(view, kDataFile);
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}
BENCHMARK(ListFiles)->Unit(benchmark::kMillisecond);

// One column's statistics over all files, visible through their parents.
void OneColumnStatistics(benchmark::State& state) {
  const auto catalog = OpenOrDie(DataFileCatalog(kFiles, kStatColumns, kSnapshots));
  const ReadView view = catalog->Current();
  const RelationRef relation = view.relations().FindById(kFileColumnStats);
  uint64_t rows = 0;
  for (auto _ : state) {
    ScanOptions options;
    options.key_prefix = {Datum::Int64(7), Datum::Int64(3)};
    auto scan = view.Scan(relation, std::move(options));
    ScanBatch batch;
    while (*(*scan)->Next(&batch)) {
      rows += batch.num_rows();
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}
BENCHMARK(OneColumnStatistics)->Unit(benchmark::kMillisecond);

// Opening a catalog of 1,051,001 rows and taking the first view.
void OpenMillionRows(benchmark::State& state) {
  const std::string& path = DataFileCatalog(kFiles, kStatColumns, kSnapshots);
  for (auto _ : state) {
    const auto catalog = OpenOrDie(path);
    benchmark::DoNotOptimize(catalog->Current().snapshot());
  }
}
BENCHMARK(OpenMillionRows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

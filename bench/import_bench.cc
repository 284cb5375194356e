// Importing: a catalog of a million rows as CSV files in, the row store out.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/peak_memory.h"
#include "catalog/interchange/export.h"
#include "catalog/interchange/import.h"

namespace varve::bench {
namespace {

constexpr int64_t kFiles = 50'000;
constexpr int64_t kStatColumns = 20;
constexpr int64_t kSnapshots = 1'000;

// The directory to import: VARVE_BENCH_CSV, or a generated catalog of 1,051,001 rows.
std::string CsvDirectory() {
  if (const char* given = std::getenv("VARVE_BENCH_CSV"); given != nullptr) {
    return given;
  }
  std::string directory = FreshPath("csv");
  const auto catalog = OpenOrDie(DataFileCatalog(kFiles, kStatColumns, kSnapshots));
  const auto exported =
      ExportCatalog(catalog->Current(), StrCat("csv:", directory), {.history = true});
  if (!exported.ok()) {
    std::cerr << exported.status() << "\n";
    std::exit(1);
  }
  return directory;
}

void ImportCsv(benchmark::State& state) {
  static const std::string directory = CsvDirectory();
  uint64_t rows = 0;
  ResetPeakMemory();
  for (auto _ : state) {
    const auto imported = ImportCatalog(StrCat("csv:", directory), FreshPath("imported"), {});
    if (!imported.ok()) {
      state.SkipWithError(imported.status().ToString().c_str());
      return;
    }
    rows += imported->load.rows;
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
  state.counters["peak_MiB"] = PeakMemory();
}
BENCHMARK(ImportCsv)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace varve::bench

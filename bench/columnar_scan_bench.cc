// Scans of the columnar tier, in processor time of the thread, what is compared turn by turn: clean
// reads against the normal path, columnar files against the row store, current scans beside a
// history, scans of the past, and the columns of a file by themselves.

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/lake_catalog.h"
#include "bench/write_rows.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "columnar/columnar_table_reader.h"

namespace varve::bench {
namespace {

ScanOptions Columnar(std::vector<size_t> columns) {
  return {.columns = std::move(columns), .path = ScanPath::kColumnar, .with_intervals = false};
}

// Times a scan; `result` gets what it read.
double TimeScan(const ReadView& view, RelationId relation, const ScanOptions& options,
                ScanResult* result, ReadTexts texts = ReadTexts::kLengths) {
  return MeasureCpu([&] { *result = ReadAll(view, relation, options, texts); });
}

// Two columns of sixteen of the current data files, with clean read and without, on the same L2
// files. Cold: the first scan of a catalog just opened (its caches are empty, the kernel's is not).
void CleanRead(benchmark::State& state) {
  const std::string& path = LakeCatalog();
  std::array<std::vector<double>, 2> cold;
  std::array<std::vector<double>, 2> warm;
  std::array<ScanResult, 2> first;
  for (auto _ : state) {
    for (const bool clean : {true, false}) {
      const auto catalog = OpenWithMemory(path);
      const ReadView view = catalog->Current();
      ScanOptions options =
          Columnar(ColumnsNamed(view, kDataFile, {"record_count", "file_size_bytes"}));
      options.clean_read = clean;
      const size_t i = clean ? 1 : 0;
      cold[i].push_back(TimeScan(view, kDataFile, options, &first[i]));
      ScanResult again;
      for (int round = 0; round < 3; ++round) {
        warm[i].push_back(TimeScan(view, kDataFile, options, &again));
      }
    }
    if (first[0].rows != first[1].rows || first[0].sum != first[1].sum) {
      state.SkipWithError("clean read and the normal path differ");
      return;
    }
    state.SetIterationTime(cold[1].back());
  }
  const ColumnarScanCounters& clean = first[1].stats.columnar;
  const ColumnarScanCounters& normal = first[0].stats.columnar;
  state.counters["rows"] = static_cast<double>(first[1].rows);
  state.counters["packs_clean"] = static_cast<double>(clean.packs_clean);
  state.counters["packs_normal"] = static_cast<double>(clean.packs_normal);
  state.counters["clean_bytes"] = static_cast<double>(clean.bytes_read);
  state.counters["normal_bytes"] = static_cast<double>(normal.bytes_read);
  state.counters["mvcc_bytes_of_clean"] = static_cast<double>(clean.mvcc_bytes_read);
  state.counters["clean_cold_ms"] = Median(&cold[1]) * 1e3;
  state.counters["clean_warm_ms"] = Median(&warm[1]) * 1e3;
  state.counters["times_cold"] = Median(&cold[0]) / Median(&cold[1]);
  state.counters["times_warm"] = Median(&warm[0]) / Median(&warm[1]);
  state.counters["share_of_bytes"] =
      static_cast<double>(clean.bytes_read) / static_cast<double>(normal.bytes_read);
}
BENCHMARK(CleanRead)->Iterations(7)->UseManualTime()->Unit(benchmark::kMillisecond);

// The current scan of a catalog whose tables have so many versions each, against one without
// history.
void ColumnarScanBesideHistory(benchmark::State& state) {
  constexpr int64_t kTables = 100'000;
  std::vector<std::unique_ptr<Catalog>> catalogs;
  std::vector<std::vector<double>> times(2);
  for (const int64_t versions : {int64_t{1}, state.range(0)}) {
    catalogs.push_back(
        OpenWithMemory(TableHistoryCatalog({.tables = kTables, .versions = versions})));
    CheckOk(RebuildColumns(*catalogs.back()));
  }
  ScanResult result;
  for (auto _ : state) {
    for (size_t i = 0; i < catalogs.size(); ++i) {
      const ReadView view = catalogs[i]->Current();
      const ScanOptions options = Columnar(ColumnsNamed(view, kTable, {"table_name", "path"}));
      times[i].push_back(TimeScan(view, kTable, options, &result));
      if (result.rows != kTables) {
        state.SkipWithError("a scan has not found all tables");
        return;
      }
    }
    state.SetIterationTime(times[1].back());
  }
  state.counters["packs_skipped"] = static_cast<double>(result.stats.columnar.packs_skipped);
  state.counters["alone_ms"] = Median(&times[0]) * 1e3;
  state.counters["times_alone"] = Median(&times[1]) / Median(&times[0]);
}
BENCHMARK(ColumnarScanBesideHistory)
    ->Arg(51)
    ->Iterations(101)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Path, size and record count of the files at the middle snapshot, in key order and in any, against
// the current ones; per row that is returned. Who reads the values reads the lengths of the paths
// alone, or all of their bytes. Cold: the first scan of a catalog just opened.
void ColumnarTimeTravel(benchmark::State& state, ReadTexts texts) {
  struct Scan {
    const char* name;
    bool past;
    ScanOrder order;
    std::vector<double> cold;
    std::vector<double> warm;
    ScanResult result;
  };
  std::array<Scan, 3> scans = {{{"current", false, ScanOrder::kKey, {}, {}, {}},
                                {"past", true, ScanOrder::kKey, {}, {}, {}},
                                {"past_any_order", true, ScanOrder::kAny, {}, {}, {}}}};
  const std::string& path = LakeCatalog();
  for (auto _ : state) {
    double total = 0;
    for (const bool cold : {true, false}) {
      std::unique_ptr<Catalog> catalog;
      for (int round = 0; round < (cold ? 1 : 4); ++round) {
        for (Scan& scan : scans) {
          if (cold || catalog == nullptr) {
            catalog.reset();  // one at a time may have it open
            catalog = OpenWithMemory(path);
          }
          const auto view = scan.past ? catalog->At(kLakeSnapshots / 2)
                                      : absl::StatusOr<ReadView>(catalog->Current());
          CheckOk(view);
          ScanOptions options =
              Columnar(ColumnsNamed(*view, kDataFile, {"path", "file_size_bytes", "record_count"}));
          options.order = scan.order;
          const double time = TimeScan(*view, kDataFile, options, &scan.result, texts);
          total += time;
          if (cold || round > 0) {  // the first round fills the caches
            (cold ? scan.cold : scan.warm).push_back(time / static_cast<double>(scan.result.rows));
          }
        }
      }
    }
    if (scans[1].result.rows != scans[2].result.rows ||
        scans[1].result.sum != scans[2].result.sum) {
      state.SkipWithError("the order makes a difference");
      return;
    }
    state.SetIterationTime(total);
  }
  for (Scan& scan : scans) {
    const ColumnarScanCounters& counters = scan.result.stats.columnar;
    const std::string name = scan.name;
    state.counters[name + "_rows"] = static_cast<double>(scan.result.rows);
    state.counters[name + "_packs_clean"] = static_cast<double>(counters.packs_clean);
    state.counters[name + "_packs_normal"] = static_cast<double>(counters.packs_normal);
    state.counters[name + "_packs_skipped"] = static_cast<double>(counters.packs_skipped);
    state.counters[name + "_cold_ns"] = Median(&scan.cold) * 1e9;
    state.counters[name + "_ns"] = Median(&scan.warm) * 1e9;
    state.counters[name + "_times"] = Median(&scan.warm) / Median(&scans[0].warm);
    state.counters[name + "_times_cold"] = Median(&scan.cold) / Median(&scans[0].cold);
  }
}
BENCHMARK_CAPTURE(ColumnarTimeTravel, lengths, ReadTexts::kLengths)
    ->Iterations(7)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ColumnarTimeTravel, bytes, ReadTexts::kBytes)
    ->Iterations(7)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// One int64 column of the live data files, pack by pack, without a cache, against copying
// memory that no cache holds.
void Int64Column(benchmark::State& state, const char* name) {
  const auto catalog = OpenWithMemory(LakeCatalog());
  const auto view_state = catalog->LatestState();
  const RelationSchema& relation = *view_state->directory->FindById(kDataFile);
  const std::array slots = {SlotOfColumn(relation, *relation.columns.Find(name))};
  const RelationColumns& files = *view_state->columnar->Find(kDataFile);
  constexpr size_t kCopiedBytes = size_t{128} << 20;
  ReadCounters counters;
  std::vector<double> reading;
  std::vector<double> copying;
  uint64_t rows = 0;
  const auto read_all = [&] {
    rows = 0;
    ColumnVector values(PhysicalType::kInt64);
    for (const ColumnarSegment& segment : files.segments) {
      if (!segment.live.has_value()) {
        continue;
      }
      ColumnarTableReader reader(segment.live->file->file(), segment.live->table, &counters);
      size_t ahead = 0;
      for (size_t pack = 0; pack < reader.num_packs(); ++pack) {
        if (pack == ahead) {
          const auto read = reader.ReadAhead(pack, reader.num_packs(), slots);
          CheckOk(read);
          ahead = *read;
        }
        values.Clear();
        CheckOk(reader.ReadPack(pack, slots[0], &values));
        benchmark::DoNotOptimize(values.int64s().data());
        rows += values.size();
      }
    }
  };
  read_all();
  const uint64_t bytes_of_column = counters.bytes_read;
  const std::vector<int64_t> from(kCopiedBytes / sizeof(int64_t), 1);
  std::vector<int64_t> to(from.size(), 2);
  for (auto _ : state) {
    reading.push_back(MeasureCpu(read_all));
    copying.push_back(MeasureCpu([&] {
      std::memcpy(to.data(), from.data(), kCopiedBytes);
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
    }));
    state.SetIterationTime(reading.back());
  }
  const double bytes = static_cast<double>(rows) * sizeof(int64_t);
  state.counters["bytes_per_row"] =
      static_cast<double>(bytes_of_column) / static_cast<double>(rows);
  state.counters["GB_per_s"] = bytes / Median(&reading) / 1e9;
  state.counters["memcpy_GB_per_s"] = kCopiedBytes / Median(&copying) / 1e9;
  state.counters["share_of_memcpy"] = bytes / Median(&reading) / (kCopiedBytes / Median(&copying));
}
BENCHMARK_CAPTURE(Int64Column, record_count, "record_count")
    ->Iterations(51)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Int64Column, file_size_bytes, "file_size_bytes")
    ->Iterations(51)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Int64Column, row_id_start, "row_id_start")
    ->Iterations(51)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

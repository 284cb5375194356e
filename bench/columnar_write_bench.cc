// What columnar files cost: their bytes against the row store's, the speed and the memory of
// rebuilding and compacting, and how often a row is rewritten while files arrive in every table.

#include <benchmark/benchmark.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/lake_catalog.h"
#include "bench/peak_memory.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"

namespace varve::bench {
namespace {

uint64_t BytesOfFamily(const RowStore& store, Family family) {
  rocksdb::ColumnFamilyMetaData meta;
  store.db().GetColumnFamilyMetaData(store.family(family), &meta);
  return meta.size;
}

// The live rows of one relation.
uint64_t BytesOfRelation(const RowStore& store, RelationId relation) {
  const std::string begin = RelationPrefix(relation);
  const std::string end = RelationPrefix(relation + 1);
  const rocksdb::Range range(begin, end);
  rocksdb::SizeApproximationOptions options;
  options.include_files = true;
  uint64_t bytes = 0;
  store.db().GetApproximateSizes(options, store.family(Family::kLive), &range, 1, &bytes);
  return bytes;
}

struct L2Bytes {
  uint64_t files = 0;
  uint64_t statistics = 0;  // files of statistics
  uint64_t keys = 0;        // of them derived columns
};

L2Bytes BytesOfL2(const ColumnarSet& columnar) {
  L2Bytes bytes;
  for (const proto::ColumnarFileEntry& file : columnar.manifest().files()) {
    bytes.files += file.bytes();
    bytes.statistics += file.tables(0).relation() == kFileColumnStats ? file.bytes() : 0;
  }
  for (const ColumnarSegment& segment : columnar.Find(kFileColumnStats)->segments) {
    for (const ColumnarTable::Column& column : segment.live->table->columns()) {
      for (const PackLocation& pack : column.packs) {
        bytes.keys += column.info.id >= kMinKeyColumn ? pack.length : 0;
      }
    }
  }
  return bytes;
}

// The lake's files, as its bulk load (sorted, at the lowest level, zstd) and the rebuild left them.
void ColumnarBytes(benchmark::State& state) {
  const auto catalog = OpenWithMemory(LakeCatalog());
  const auto view_state = catalog->LatestState();
  for (auto _ : state) {
    const RowStore& store = *view_state->store;
    const L2Bytes l2 = BytesOfL2(*view_state->columnar);
    const auto rows = static_cast<double>(BytesOfFamily(store, Family::kLive) +
                                          BytesOfFamily(store, Family::kEnded));
    const auto statistics = static_cast<double>(BytesOfRelation(store, kFileColumnStats));
    constexpr double kMiB = 1 << 20;
    state.counters["row_store_MiB"] = rows / kMiB;
    state.counters["l2_MiB"] = static_cast<double>(l2.files) / kMiB;
    state.counters["share"] = static_cast<double>(l2.files) / rows;
    state.counters["statistics_MiB"] = static_cast<double>(l2.statistics) / kMiB;
    state.counters["share_statistics"] = static_cast<double>(l2.statistics) / statistics;
    state.counters["share_without_keys"] =
        static_cast<double>(l2.statistics - l2.keys) / statistics;
  }
}
BENCHMARK(ColumnarBytes)->Iterations(1);

// Making all L2 files of the lake from the row store; done once, by the first who needs the lake.
void ColumnarRebuild(benchmark::State& state) {
  const RebuildFigures& figures = LakeRebuild();
  for (auto _ : state) {
    state.SetIterationTime(figures.cpu_seconds);
  }
  state.SetItemsProcessed(static_cast<int64_t>(figures.rows));
  state.counters["MiB_before"] = figures.before_mib;
  state.counters["peak_MiB"] = figures.peak_mib;
}
BENCHMARK(ColumnarRebuild)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

// --- Files that arrive ---------------------------------------------------------------------------

constexpr int64_t kArrivingTables = 1'000;

RelationRef Find(const Catalog& catalog, RelationId relation) {
  return catalog.LatestState()->directory->FindById(relation);
}

// One snapshot in which every table gets a file with its statistics. File ids lie above the lake's.
int64_t AddFileToEachTable(Catalog& catalog, int64_t snapshot) {
  const Datum null;
  ChangeSet changes;
  const int64_t first_file = (int64_t{1} << 40) + snapshot * kArrivingTables;
  changes.Insert(Find(catalog, kSnapshot),
                 Row(std::array{Datum::Int64(snapshot), Datum::Int64(snapshot * 4'000'000'000'000),
                                Datum::Int64(0), Datum::Int64(kLakeTables * (kLakeColumns + 1)),
                                Datum::Int64(first_file + kArrivingTables)}));
  const RelationRef data_file = Find(catalog, kDataFile);
  const RelationRef file_statistics = Find(catalog, kFileColumnStats);
  int64_t statistics_added = 0;
  for (int64_t table = 0; table < kArrivingTables; ++table) {
    LakeFile file{
        .id = first_file + table,
        .table = table,
        .begin = snapshot,
        .path = StrCat("ducklake-01a22b99-c2b8-7a11-b09b-", first_file + table, ".parquet"),
        .record_count = 5'000 + table,
        .file_size_bytes = 36'822,
        .footer_size = 611,
        .row_id_start = snapshot * 5'000};
    changes.Insert(
        data_file,
        Row(std::array{Datum::Int64(file.id), Datum::Int64(table), Datum::Int64(snapshot), null,
                       null, Datum::Bytes(file.path), Datum::Bool(true), Datum::Bytes("parquet"),
                       Datum::Int64(file.record_count), Datum::Int64(file.file_size_bytes),
                       Datum::Int64(file.footer_size), Datum::Int64(file.row_id_start), null, null,
                       null, null}));
    for (const LakeStatistics& column : StatisticsOf(file)) {
      changes.Put(
          file_statistics,
          Row(std::array{Datum::Int64(file.id), Datum::Int64(table), Datum::Int64(column.column),
                         Datum::Int64(column.column_size_bytes), Datum::Int64(file.record_count),
                         Datum::Int64(column.null_count), Datum::Bytes(column.min_value),
                         Datum::Bytes(column.max_value), null, null}));
      ++statistics_added;
    }
  }
  CheckOk(catalog.Apply(changes));
  return statistics_added;
}

// A full compaction of the lake's data files and statistics, after every table got a file: L1 rows
// that fall into every segment.
void ColumnarCompaction(benchmark::State& state) {
  const std::string path = FreshPath("compacted");
  std::filesystem::copy(LakeCatalog(), path, std::filesystem::copy_options::recursive);
  const auto catalog = OpenWithMemory(path);
  uint64_t rows = 0;
  for (auto _ : state) {
    AddFileToEachTable(*catalog, static_cast<int64_t>(catalog->Current().snapshot()) + 1);
    CheckOk(FlushMemory(*catalog));
    CompactionOptions options;
    options.relations = {kDataFile, kFileColumnStats};
    options.full = true;
    state.counters["MiB_before"] = MemoryNow();
    ResetPeakMemory();
    state.SetIterationTime(MeasureCpu([&] {
      const auto summary = CompactColumns(*catalog, options);
      CheckOk(summary);
      rows += summary->rows_read;
    }));
    state.counters["peak_MiB"] = PeakMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(rows));
}
BENCHMARK(ColumnarCompaction)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

// A catalog without files, and with columns of as many tables.
std::string ArrivalCatalog() {
  std::string path = FreshPath("arrival");
  CheckOk(Catalog::Init(path, {.data_path = "/lake/"}));
  const auto catalog = OpenWithMemory(path);
  const Datum null;
  ChangeSet changes;
  for (int64_t table = 0; table < kArrivingTables; ++table) {
    for (int64_t column = 1; column <= kLakeColumns; ++column) {
      changes.Insert(Find(*catalog, kColumn),
                     Row(std::array{Datum::Int64(column), Datum::Int64(0), null,
                                    Datum::Int64(table), Datum::Int64(column), Datum::Bytes("c"),
                                    Datum::Bytes(LakeColumnType(column)), null, null,
                                    Datum::Bool(true), null, null, null}));
    }
  }
  CheckOk(catalog->Apply(changes));
  return path;
}

// Statistics of files that every one of 1,000 tables gets, in 150 flushes, each followed by a
// compaction: how often a row is written by compactions. A model of 100 million statistics at a
// scale of 1 to 33: segments and packs are smaller by the same number, so that there are as many.
void WriteAmplification(benchmark::State& state) {
  constexpr int kFlushes = 150;
  constexpr uint64_t kScale = 33;
  uint64_t arrived = 0;
  uint64_t rewritten = 0;
  uint64_t merged_l1 = 0;
  double cpu_seconds = 0;
  for (auto _ : state) {
    const auto catalog = OpenWithMemory(ArrivalCatalog());
    CompactionOptions options;
    options.segment_bytes /= kScale;
    options.min_rows /= kScale;
    options.table.rows_per_pack /= kScale;
    FlushOptions flush;
    flush.table = options.table;
    for (int64_t round = 1; round <= kFlushes; ++round) {
      arrived += static_cast<uint64_t>(AddFileToEachTable(*catalog, round)) + kArrivingTables;
      CheckOk(FlushMemory(*catalog, flush));
      cpu_seconds += MeasureCpu([&] {
        const auto summary = CompactColumns(*catalog, options);
        CheckOk(summary);
        rewritten += summary->rows_written;
        merged_l1 += summary->l1_files_merged;
      });
    }
    state.SetIterationTime(cpu_seconds);
    state.counters["segments"] = static_cast<double>(
        catalog->LatestState()->columnar->Find(kFileColumnStats)->segments.size());
  }
  state.counters["rows"] = static_cast<double>(arrived);
  state.counters["l1_merged"] = static_cast<double>(merged_l1);
  state.counters["times_rewritten"] = static_cast<double>(rewritten) / static_cast<double>(arrived);
  state.counters["rows_per_s"] = static_cast<double>(rewritten) / cpu_seconds;
}
BENCHMARK(WriteAmplification)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

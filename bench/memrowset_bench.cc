// MemRowSets: inserting, scanning, a row that is changed over and over, memory; beside RocksDB's
// memtable with the same rows.
//
// What is compared is measured turn by turn in one run, in processor time of the thread, and the
// medians are divided: what others do on the machine strikes both.

#include "mvcc/memrowset.h"

#include <benchmark/benchmark.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "base/coding.h"
#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/write_rows.h"
#include "catalog/payload_codec.h"

namespace varve::bench {
namespace {

constexpr int64_t kRounds = 3;
constexpr int64_t kBatchRows = 1'000;  // of RocksDB's write batches
constexpr size_t kKeySize = 8;

template <typename Status>
void CheckOk(const Status& status) {
  if (!status.ok()) {
    std::cerr << "bench: " << status.ToString() << "\n";
    std::exit(1);
  }
}

// --- Rows: an 8-byte key, int64 columns ---

RelationRef MakeRelation(size_t columns) {
  std::vector<ColumnSchema> schema = {{.name = "id", .type = TypeKind::kInt64, .nullable = false}};
  for (size_t column = 1; column <= columns; ++column) {
    schema.push_back({.name = StrCat("c", column), .type = TypeKind::kInt64, .nullable = false});
  }
  auto relation = MakeDynamicRelation("rows", std::move(schema), {"id"});
  CheckOk(relation.status());
  return std::make_shared<const RelationSchema>(*std::move(relation));
}

std::shared_ptr<const Schema> CellsOf(const RelationSchema& relation) {
  const std::vector<ColumnSchema>& columns = relation.columns.columns();
  return std::make_shared<const Schema>(
      std::vector<ColumnSchema>(columns.begin() + 1, columns.end()));
}

// In key order, or all over the key space.
enum class KeyOrder : uint8_t { kAscending, kScattered };

uint64_t KeyOf(int64_t row, KeyOrder order) {
  constexpr uint64_t kScatter = 0x9E3779B97F4A7C15;  // odd: no two rows get the same key
  const auto number = static_cast<uint64_t>(row);
  return order == KeyOrder::kAscending ? number : number * kScatter;
}

// Values of the size that ids, counts and sizes have.
int64_t CellOf(int64_t row, size_t column) {
  return row * 5'000 + static_cast<int64_t>(column);
}

std::string_view EncodeKey(uint64_t key, std::string* buffer) {
  buffer->clear();
  PutBigEndian(buffer, key);
  return *buffer;
}

std::shared_ptr<MemRowSet> FillMemRowSet(const RelationSchema& relation, int64_t rows,
                                         KeyOrder order) {
  auto set = MemRowSet::Create(CellsOf(relation));
  std::vector<Datum> cells(set->schema().num_columns());
  std::string key;
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < cells.size(); ++column) {
      cells[column] = Datum::Int64(CellOf(row, column));
    }
    CheckOk(set->Insert(1, RowKeyProbe(EncodeKey(KeyOf(row, order), &key)), cells));
  }
  return set;
}

// RocksDB with everything in one memtable. `payload` makes a row's value.
std::unique_ptr<rocksdb::DB> FillMemtable(
    int64_t rows, KeyOrder order, const std::function<void(int64_t, std::string*)>& payload) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = size_t{8} << 30;
  options.arena_block_size = size_t{1} << 20;
  rocksdb::DB* opened = nullptr;
  CheckOk(rocksdb::DB::Open(options, FreshPath("memtable"), &opened));
  std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions without_log;
  without_log.disableWAL = true;
  rocksdb::WriteBatch batch;
  std::string key;
  std::string value;
  for (int64_t row = 0; row < rows; ++row) {
    value.clear();
    payload(row, &value);
    CheckOk(batch.Put(rocksdb::Slice(EncodeKey(KeyOf(row, order), &key)), rocksdb::Slice(value)));
    if ((row + 1) % kBatchRows == 0 || row + 1 == rows) {
      CheckOk(db->Write(without_log, &batch));
      batch.Clear();
    }
  }
  return db;
}

// --- Inserting ---

// 4 million rows of three columns. RocksDB's values are the bare 24 bytes of the cells: nothing has
// to be encoded for it.
void MemRowSetInsert(benchmark::State& state, KeyOrder order) {
  constexpr int64_t kRows = 4'000'000;
  const RelationRef relation = MakeRelation(3);
  std::vector<double> memrowset;
  std::vector<double> memtable;
  for (auto _ : state) {
    std::shared_ptr<MemRowSet> set;
    memrowset.push_back(MeasureCpu([&] { set = FillMemRowSet(*relation, kRows, order); }));
    set.reset();
    std::unique_ptr<rocksdb::DB> db;
    memtable.push_back(MeasureCpu([&] {
      db = FillMemtable(kRows, order, [](int64_t row, std::string* value) {
        for (size_t column = 0; column < 3; ++column) {
          PutBigEndian(value, static_cast<uint64_t>(CellOf(row, column)));
        }
      });
    }));
    state.SetIterationTime(memrowset.back());
  }
  const double seconds = Median(&memrowset);
  state.counters["rows/s"] = kRows / seconds;
  state.counters["memtable_rows/s"] = kRows / Median(&memtable);
  state.counters["times_memtable"] = Median(&memtable) / seconds;
}
BENCHMARK_CAPTURE(MemRowSetInsert, ascending, KeyOrder::kAscending)
    ->UseManualTime()
    ->Iterations(kRounds)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(MemRowSetInsert, scattered, KeyOrder::kScattered)
    ->UseManualTime()
    ->Iterations(kRounds)
    ->Unit(benchmark::kMillisecond);

// --- Scanning ---

constexpr size_t kScanColumns = 8;
constexpr std::array<size_t, 3> kProjection = {1, 4, 6};  // of the cells

int64_t SumOfBatch(const ColumnBatch& batch) {
  int64_t sum = 0;
  for (size_t column = 0; column < batch.num_columns(); ++column) {
    for (const int64_t value : batch.column(column).int64s()) {
      sum += value;
    }
  }
  return sum;
}

// Every scan adds up what it read, so that nothing can be left out.
int64_t ScanMemRowSet(const MemRowSet& set) {
  const auto it = set.NewIterator({.projection = {kProjection.begin(), kProjection.end()}});
  RowBlock block;
  int64_t sum = 0;
  while (it->Next(&block)) {
    sum += SumOfBatch(block.columns);
  }
  return sum;
}

int64_t ScanMemtable(rocksdb::DB* db, const RowDecoder& decoder) {
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  constexpr size_t kRows = 1'024;
  ColumnBatch batch(decoder.types());
  std::vector<Datum> values(decoder.columns().size());
  DecodedHandle scratch;
  int64_t sum = 0;
  size_t rows = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    CheckOk(decoder.Decode({it->key().data(), it->key().size()}, 0, kNoEnd,
                           {it->value().data(), it->value().size()}, &scratch, values));
    for (size_t i = 0; i < values.size(); ++i) {
      batch.mutable_column(i).AppendInt64(values[i].int64_value());
    }
    if (++rows == kRows) {
      sum += SumOfBatch(batch);
      batch.Clear();
      rows = 0;
    }
  }
  return sum + SumOfBatch(batch);
}

// A fifth of the rows gets five updates each of a column that the scan reads.
void UpdateRows(MemRowSet* set, int64_t rows) {
  const uint32_t column = set->schema().column(kProjection[1]).field;
  std::string key;
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  for (Timestamp at = 2; at < 7; ++at) {
    for (int64_t row = 0; row < rows; row += 5) {
      encoder.SetToUpdate();
      encoder.AddColumn(column, Datum::Int64(row + static_cast<int64_t>(at)));
      CheckOk(set->Mutate(at, RowKeyProbe(EncodeKey(KeyOf(row, KeyOrder::kAscending), &key)),
                          encoder.list()));
    }
  }
}

// Median times of the scans of two row sets, turn by turn.
struct Pair {
  double first = 0;
  double second = 0;
};

Pair ScanBoth(const MemRowSet& first, const MemRowSet& second) {
  std::vector<double> of_first;
  std::vector<double> of_second;
  for (int64_t round = 0; round < kRounds; ++round) {
    of_first.push_back(MeasureCpu([&] { benchmark::DoNotOptimize(ScanMemRowSet(first)); }));
    of_second.push_back(MeasureCpu([&] { benchmark::DoNotOptimize(ScanMemRowSet(second)); }));
  }
  return {Median(&of_first), Median(&of_second)};
}

// Three of eight columns of 10 million rows, of row sets and of a memtable with payloads as the row
// store has them. One row set is then frozen and the other one changed: each is compared with
// itself as it was, for it lies where it lay; the other one says how fast the machine was
// meanwhile.
void MemRowSetScan(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const RelationRef relation = MakeRelation(kScanColumns);
  const auto one = FillMemRowSet(*relation, rows, KeyOrder::kAscending);
  const auto other = FillMemRowSet(*relation, rows, KeyOrder::kAscending);
  std::vector<Datum> values(kScanColumns + 1);
  const auto db = FillMemtable(rows, KeyOrder::kAscending, [&](int64_t row, std::string* value) {
    values[0] = Datum::Int64(row);
    for (size_t column = 0; column < kScanColumns; ++column) {
      values[column + 1] = Datum::Int64(CellOf(row, column));
    }
    AppendPayload(*relation, values, value);
  });
  std::vector<size_t> columns(kProjection.begin(), kProjection.end());
  for (size_t& column : columns) {
    ++column;  // the relation's first column is the key
  }
  const RowDecoder decoder(relation, columns);
  const size_t bytes = one->memory_footprint();
  for (auto _ : state) {
    std::vector<double> memtable;
    std::vector<double> memrowset;
    for (int64_t round = 0; round < kRounds; ++round) {
      int64_t sum = 0;
      memtable.push_back(MeasureCpu([&] { sum = ScanMemtable(db.get(), decoder); }));
      memrowset.push_back(MeasureCpu([&] { sum -= ScanMemRowSet(*one); }));
      if (sum != 0) {
        state.SkipWithError("the scans disagree");
        return;
      }
    }
    const Pair open = ScanBoth(*one, *other);
    one->Freeze();
    const Pair frozen = ScanBoth(*one, *other);
    UpdateRows(other.get(), rows);
    const Pair updated = ScanBoth(*one, *other);
    const auto count = static_cast<double>(rows);
    state.counters["rows/s"] = count / Median(&memrowset);
    state.counters["memtable_rows/s"] = count / Median(&memtable);
    state.counters["times_memtable"] = Median(&memtable) / Median(&memrowset);
    state.counters["frozen_times"] = (open.first / open.second) / (frozen.first / frozen.second);
    state.counters["updated_times"] =
        (frozen.second / frozen.first) / (updated.second / updated.first);
    state.counters["bytes_times"] =
        static_cast<double>(bytes) / (count * (kKeySize + kScanColumns * sizeof(int64_t)));
    state.SetIterationTime(Median(&memrowset));
  }
}
BENCHMARK(MemRowSetScan)
    ->Arg(10'000'000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// --- One hot row ---

// 5,000 updates of one row; the first 500 beside the last 500.
void MemRowSetHotRow(benchmark::State& state) {
  constexpr int64_t kUpdates = 5'000;
  constexpr int64_t kPart = 500;
  const RelationRef relation = MakeRelation(3);
  std::string buffer;
  std::string key;
  RowChangeListEncoder encoder(&buffer);
  std::vector<double> first;
  std::vector<double> last;
  for (auto _ : state) {
    const auto set = FillMemRowSet(*relation, kBatchRows, KeyOrder::kAscending);
    const RowKeyProbe probe(EncodeKey(kBatchRows / 2, &key));
    const uint32_t column = set->schema().column(1).field;
    double whole = 0;
    for (int64_t part = 0; part < kUpdates / kPart; ++part) {
      const double seconds = MeasureCpu([&] {
        for (int64_t i = 0; i < kPart; ++i) {
          const int64_t number = part * kPart + i;
          encoder.SetToUpdate();
          encoder.AddColumn(column, Datum::Int64(number));
          CheckOk(set->Mutate(static_cast<Timestamp>(2 + number), probe, encoder.list()));
        }
      });
      whole += seconds;
      if (part == 0) {
        first.push_back(seconds);
      }
      if (part + 1 == kUpdates / kPart) {
        last.push_back(seconds);
      }
    }
    state.SetIterationTime(whole);
  }
  state.counters["first_ns"] = Median(&first) / kPart * 1e9;
  state.counters["last_ns"] = Median(&last) / kPart * 1e9;
  state.counters["last_to_first"] = Median(&last) / Median(&first);
}
BENCHMARK(MemRowSetHotRow)->UseManualTime()->Iterations(200)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace varve::bench

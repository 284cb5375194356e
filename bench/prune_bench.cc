// Pruning the files of a table by the range of one column: 1,000,000 files, of which about 100
// remain, against PostgreSQL with the same rows and the query DuckLake's client sends.
//
// Columns of the table:
//   1  int64    ascending with the files, as a time or a key is that rows arrive by
//   2  int64    ranges that lie anywhere: every pack of statistics has to be looked into
//   3  varchar  anywhere, with common beginnings

#include <benchmark/benchmark.h>
#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/write_rows.h"
#include "catalog/load/bulk_loader.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/prune.h"
#include "tests/catalog/postgres_server.h"

namespace varve::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kPrunedFiles = 1'000'000;
constexpr int64_t kPrunedTable = 7;
constexpr int64_t kPrunedColumns = 3;
constexpr int64_t kRemaining = 100;
constexpr int64_t kWidth = 5'000;  // of a file's range

template <typename StatusOr>
void CheckOk(const StatusOr& result) {
  if (!result.ok()) {
    std::cerr << "bench: " << result.status() << "\n";
    std::exit(1);
  }
}

struct FileBounds {
  std::string min;
  std::string max;
};

// The bounds of a file's columns; `visit(column, bounds)`.
template <typename Visit>
void VisitBounds(int64_t file, const Visit& visit) {
  std::mt19937_64 random(static_cast<uint64_t>(file));
  visit(1, FileBounds{StrCat(file * kWidth), StrCat(file * kWidth + kWidth - 1)});
  const auto place = static_cast<int64_t>(random() % kPrunedFiles);
  visit(2, FileBounds{StrCat(place * kWidth), StrCat(place * kWidth + kWidth - 1)});
  const auto name = [](int64_t number) {
    return StrCat("customer-", std::to_string(10'000'000'000 + number));
  };
  visit(3, FileBounds{name(place * kWidth), name(place * kWidth + kWidth - 1)});
}

// The range of a column that about kRemaining files meet.
FileBounds AskedRange(int64_t column) {
  const int64_t low = kPrunedFiles / 2 * kWidth;
  const int64_t high = low + kRemaining * kWidth - 1;
  return column == 3 ? FileBounds{StrCat("customer-", 10'000'000'000 + low),
                                  StrCat("customer-", 10'000'000'000 + high)}
                     : FileBounds{StrCat(low), StrCat(high)};
}

void LoadPruned(const std::string& path) {
  auto loader = BulkLoader::Create(path, BulkLoadOptions());
  CheckOk(loader);
  const auto add = [&](RelationId relation, std::span<const Datum> row) {
    const absl::Status status = (*loader)->AddRow(*BuiltinRelationById(relation), row, 0, 0);
    if (!status.ok()) {
      std::cerr << "bench: " << status << "\n";
      std::exit(1);
    }
  };
  const Datum null;
  add(kMetadata, std::array{Datum::Bytes("version"), Datum::Bytes("1.0"), null, null});
  add(kSnapshot, std::array{Datum::Int64(0), Datum::Int64(0), Datum::Int64(0), Datum::Int64(8),
                            Datum::Int64(kPrunedFiles)});
  for (int64_t column = 1; column <= kPrunedColumns; ++column) {
    const std::string name = StrCat("c", column);
    add(kColumn, std::array{Datum::Int64(column), Datum::Int64(0), null, Datum::Int64(kPrunedTable),
                            Datum::Int64(column), Datum::Bytes(name),
                            Datum::Bytes(column == 3 ? "varchar" : "int64"), null, null,
                            Datum::Bool(true), null, null, null});
  }
  for (int64_t file = 0; file < kPrunedFiles; ++file) {
    const std::string name =
        StrCat("ducklake-01a22b99-c2b8-7a11-b09b-", 219'000'000'000 + file, ".parquet");
    add(kDataFile, std::array{Datum::Int64(file), Datum::Int64(kPrunedTable), Datum::Int64(0), null,
                              null, Datum::Bytes(name), Datum::Bool(true), Datum::Bytes("parquet"),
                              Datum::Int64(kWidth), Datum::Int64(36'822), Datum::Int64(611),
                              Datum::Int64(file * kWidth), null, null, null, null});
    VisitBounds(file, [&](int64_t column, const FileBounds& bounds) {
      add(kFileColumnStats,
          std::array{Datum::Int64(file), Datum::Int64(kPrunedTable), Datum::Int64(column),
                     Datum::Int64(20'802), Datum::Int64(kWidth), Datum::Int64(0),
                     Datum::Bytes(bounds.min), Datum::Bytes(bounds.max), null, null});
    });
  }
  CheckOk((*loader)->Finish());
}

Catalog& PrunedCatalog() {
  static Catalog& catalog = [&]() -> Catalog& {
    const std::string path = FreshPath("prune");
    LoadPruned(path);
    static const std::unique_ptr<Catalog> opened = OpenOrDie(path);
    const absl::Status status = opened->WaitForMemory();
    if (!status.ok()) {
      std::cerr << "bench: " << status << "\n";
      std::exit(1);
    }
    CheckOk(RebuildColumns(*opened));
    return *opened;
  }();
  return catalog;
}

// What the statistics take in L2, and how much of it derived columns are.
void CountBytes(const Catalog& catalog, benchmark::State& state) {
  uint64_t all = 0;
  uint64_t derived = 0;
  const auto columnar = catalog.LatestState()->columnar;
  for (const ColumnarSegment& segment : columnar->Find(kFileColumnStats)->segments) {
    for (const ColumnarTable::Column& column : segment.live->table->columns()) {
      for (const PackLocation& pack : column.packs) {
        all += pack.length;
        derived += column.info.id >= kMinKeyColumn ? pack.length : 0;
      }
    }
  }
  state.counters["l2_bytes_per_row"] = static_cast<double>(all) / (kPrunedFiles * kPrunedColumns);
  state.counters["of_them_keys"] = static_cast<double>(derived) / (kPrunedFiles * kPrunedColumns);
}

void Prune(benchmark::State& state) {
  Catalog& catalog = PrunedCatalog();
  const ReadView view = catalog.Current();
  const int64_t column = state.range(0);
  const FileBounds asked = AskedRange(column);
  ValueRange range;
  if (column == 3) {
    range = {.lower = Datum::Bytes(asked.min), .upper = Datum::Bytes(asked.max)};
  } else {
    range = {.lower = Datum::Int64(std::stoll(asked.min)),
             .upper = Datum::Int64(std::stoll(asked.max))};
  }
  const ColumnFilter filter = {.ranges = {range}};
  std::vector<double> times;
  std::vector<double> cpu_times;
  for (auto _ : state) {
    const auto begin = Clock::now();
    const double cpu_begin = CpuSeconds();
    const auto pruned = PruneFiles(view, kPrunedTable, column, filter);
    cpu_times.push_back(CpuSeconds() - cpu_begin);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    state.SetIterationTime(times.back());
    CheckOk(pruned);
    state.counters["files"] = static_cast<double>(pruned->files.size());
    state.counters["packs_read"] = static_cast<double>(pruned->packs_read);
    state.counters["packs_skipped"] = static_cast<double>(pruned->packs_skipped);
  }
  state.counters["first_ms"] = times.front() * 1e3;
  state.counters["median_ms"] = Median(&times) * 1e3;
  state.counters["median_cpu_ms"] = Median(&cpu_times) * 1e3;
  CountBytes(catalog, state);
}
BENCHMARK(Prune)
    ->DenseRange(1, kPrunedColumns)
    ->Iterations(50)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// --- PostgreSQL ----------------------------------------------------------------------------------

class Connection {
 public:
  explicit Connection(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
      Fail();
    }
  }
  ~Connection() { PQfinish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns the number of rows.
  int64_t Run(const std::string& sql) {
    PGresult* const result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN) {
      Fail();
    }
    const int64_t rows = PQntuples(result);
    PQclear(result);
    return rows;
  }
  void Copy(const std::string& text) {
    if (PQputCopyData(connection_, text.data(), static_cast<int>(text.size())) != 1) {
      Fail();
    }
  }
  void EndCopy() {
    if (PQputCopyEnd(connection_, nullptr) != 1) {
      Fail();
    }
    PGresult* const result = PQgetResult(connection_);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
      Fail();
    }
    PQclear(result);
    PQclear(PQgetResult(connection_));  // null: the end
  }

 private:
  [[noreturn]] void Fail() {
    std::cerr << "bench: " << PQerrorMessage(connection_) << "\n";
    std::exit(1);
  }
  PGconn* connection_;
};

const std::string& PrunedDatabase() {
  static const std::string& made = *new std::string([] {
    static const auto server = PostgresServer::Start({});
    CheckOk(server);
    const auto conninfo = (*server)->CreateDatabase();
    CheckOk(conninfo);
    Connection connection(*conninfo);
    connection.Run(R"(
        CREATE TABLE ducklake_data_file(data_file_id BIGINT PRIMARY KEY, table_id BIGINT,
            begin_snapshot BIGINT, end_snapshot BIGINT, path VARCHAR, record_count BIGINT,
            file_size_bytes BIGINT);
        CREATE TABLE ducklake_file_column_stats(data_file_id BIGINT, table_id BIGINT,
            column_id BIGINT, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT,
            min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR);)");
    connection.Run("COPY ducklake_data_file FROM STDIN");
    for (int64_t file = 0; file < kPrunedFiles; ++file) {
      connection.Copy(StrCat(file, "\t", kPrunedTable,
                             "\t0\t\\N\tducklake-01a22b99-c2b8-7a11-b09b-", 219'000'000'000 + file,
                             ".parquet\t", kWidth, "\t36822\n"));
    }
    connection.EndCopy();
    connection.Run("COPY ducklake_file_column_stats FROM STDIN");
    for (int64_t file = 0; file < kPrunedFiles; ++file) {
      VisitBounds(file, [&](int64_t column, const FileBounds& bounds) {
        connection.Copy(StrCat(file, "\t", kPrunedTable, "\t", column, "\t20802\t", kWidth, "\t0\t",
                               bounds.min, "\t", bounds.max, "\t\\N\t\\N\n"));
      });
    }
    connection.EndCopy();
    connection.Run("VACUUM ANALYZE");
    return *conninfo;
  }());
  return made;
}

// Arguments: the column; whether (table_id, column_id) is indexed by hand.
void PostgresPrune(benchmark::State& state) {
  Connection connection(PrunedDatabase());
  connection.Run("SET max_parallel_workers_per_gather = 0");  // one thread, as ours
  connection.Run("DROP INDEX IF EXISTS by_column");
  if (state.range(1) != 0) {
    connection.Run("CREATE INDEX by_column ON ducklake_file_column_stats(table_id, column_id)");
  }
  const int64_t column = state.range(0);
  const FileBounds asked = AskedRange(column);
  const std::string type = column == 3 ? "VARCHAR COLLATE \"C\"" : "BIGINT";
  const std::string query = StrCat(
      "SELECT data_file_id FROM ducklake_data_file WHERE table_id = ", kPrunedTable,
      " AND 0 >= begin_snapshot AND (0 < end_snapshot OR end_snapshot IS NULL) AND data_file_id IN "
      "(SELECT data_file_id FROM ducklake_file_column_stats WHERE table_id = ",
      kPrunedTable, " AND column_id = ", column,
      " AND (min_value IS NULL OR max_value IS NULL OR ('", asked.max, "'::", type,
      " >= min_value::", type, " AND '", asked.min, "'::", type, " <= max_value::", type, ")))");
  connection.Run(query);  // warms
  std::vector<double> times;
  for (auto _ : state) {
    const auto begin = Clock::now();
    const int64_t rows = connection.Run(query);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    state.SetIterationTime(times.back());
    state.counters["files"] = static_cast<double>(rows);
  }
  state.counters["median_ms"] = Median(&times) * 1e3;
}
BENCHMARK(PostgresPrune)
    ->ArgsProduct({{1, 2, 3}, {0, 1}})
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

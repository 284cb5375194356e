// The current listing of all data files (path, size, record count), turn by turn: by columnar files
// and by the row store, by PostgreSQL and by a native table of DuckDB with the same rows.
//
// PostgreSQL's answer comes as binary COPY through libpq, from another process: there time that
// passes is compared, the least of all rounds, for that is disturbed least by what else runs.
// Elsewhere it is processor time of the thread, the median.

#include <benchmark/benchmark.h>
#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/duckdb_library.h"
#include "bench/lake_catalog.h"
#include "bench/write_rows.h"
#include "tests/catalog/postgres_server.h"

namespace varve::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The last snapshot is the current one.
const std::string& VisibleNow() {
  static const std::string& predicate =
      *new std::string(StrCat(kLakeSnapshots, " >= begin_snapshot AND (", kLakeSnapshots,
                              " < end_snapshot OR end_snapshot IS NULL)"));
  return predicate;
}

ScanOptions Listing(const ReadView& view, ScanPath path) {
  return {.columns = ColumnsNamed(view, kDataFile, {"path", "file_size_bytes", "record_count"}),
          .path = path,
          .with_intervals = false};
}

double MeasureTime(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Least(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

// Counters of what was compared: `sum` as ReadAll adds it up.
struct Listed {
  uint64_t rows = 0;
  uint64_t sum = 0;
  bool operator==(const Listed&) const = default;
};

Listed ListColumnar(const ReadView& view, ScanPath path) {
  const ScanResult result = ReadAll(view, kDataFile, Listing(view, path));
  return {.rows = result.rows, .sum = result.sum};
}

// The cache is large enough for both: with less, each would drive the other out.
void ListingByPaths(benchmark::State& state) {
  const auto catalog = OpenWithMemory(LakeCatalog(), {.block_cache_bytes = uint64_t{1} << 30});
  const ReadView view = catalog->Current();
  std::vector<double> columnar;
  std::vector<double> row;
  for (auto _ : state) {
    Listed by_columns;
    Listed by_rows;
    columnar.push_back(MeasureCpu([&] { by_columns = ListColumnar(view, ScanPath::kColumnar); }));
    row.push_back(MeasureCpu([&] { by_rows = ListColumnar(view, ScanPath::kRow); }));
    if (by_columns != by_rows) {
      state.SkipWithError("columnar files and the row store differ");
      return;
    }
    state.counters["rows"] = static_cast<double>(by_columns.rows);
    state.SetIterationTime(columnar.back());
  }
  state.counters["cold_ms"] = columnar.front() * 1e3;
  state.counters["columnar_ms"] = Median(&columnar) * 1e3;
  state.counters["row_ms"] = Median(&row) * 1e3;
  state.counters["times_row_path"] = Median(&row) / Median(&columnar);
}
BENCHMARK(ListingByPaths)->Iterations(11)->UseManualTime()->Unit(benchmark::kMillisecond);

// --- PostgreSQL ----------------------------------------------------------------------------------

class ListingDatabase {
 public:
  explicit ListingDatabase(const std::string& conninfo)
      : connection_(PQconnectdb(conninfo.c_str())) {
    Check(PQstatus(connection_) == CONNECTION_OK);
    Run("CREATE TABLE ducklake_data_file(data_file_id BIGINT PRIMARY KEY, table_id BIGINT, "
        "begin_snapshot BIGINT, end_snapshot BIGINT, path VARCHAR, record_count BIGINT, "
        "file_size_bytes BIGINT)");
    Run("COPY ducklake_data_file FROM STDIN (FORMAT csv)");
    std::ifstream rows(LakeFilesCsv());
    std::string piece(size_t{1} << 20, '\0');
    while (rows.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
           rows.gcount() > 0) {
      Check(PQputCopyData(connection_, piece.data(), static_cast<int>(rows.gcount())) == 1);
    }
    Check(PQputCopyEnd(connection_, nullptr) == 1);
    TakeResult();
    Run("CREATE INDEX ON ducklake_data_file(table_id)");
    Run("VACUUM ANALYZE");
    Run("SET max_parallel_workers_per_gather = 0");
  }
  ~ListingDatabase() { PQfinish(connection_); }
  ListingDatabase(const ListingDatabase&) = delete;
  ListingDatabase& operator=(const ListingDatabase&) = delete;

  Listed List() {
    Run(StrCat("COPY (SELECT path, file_size_bytes, record_count FROM ducklake_data_file WHERE ",
               VisibleNow(), ") TO STDOUT (FORMAT binary)"));
    Listed listed;
    size_t skip = 19;  // the header comes with the first row
    while (true) {
      char* message = nullptr;
      const int size = PQgetCopyData(connection_, &message, 0);
      if (size == -1) {
        break;
      }
      Check(size >= 0);
      AddRow(std::string_view(message, static_cast<size_t>(size)).substr(skip), &listed);
      PQfreemem(message);
      skip = 0;
    }
    TakeResult();
    return listed;
  }

 private:
  // A count of fields, then each with its length; the end is marked by a count of -1.
  static void AddRow(std::string_view row, Listed* listed) {
    const auto number = [&](size_t at, size_t width) {
      uint64_t value = 0;
      for (size_t i = 0; i < width; ++i) {
        value = value << 8 | static_cast<uint8_t>(row[at + i]);
      }
      return value;
    };
    if (number(0, 2) != 3) {
      return;
    }
    const uint64_t length = number(2, 4);
    const size_t size_at = 2 + 4 + length + 4;
    ++listed->rows;
    listed->sum += length + number(size_at, 8) + number(size_at + 8 + 4, 8);
  }
  void Run(const std::string& sql) {
    PGresult* const result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    Check(status == PGRES_COMMAND_OK || status == PGRES_COPY_IN || status == PGRES_COPY_OUT);
    PQclear(result);
  }
  void TakeResult() {
    PGresult* const result = PQgetResult(connection_);
    Check(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    PQclear(PQgetResult(connection_));  // null: the end
  }
  void Check(bool ok) {
    if (!ok) {
      std::cerr << "bench: " << PQerrorMessage(connection_) << "\n";
      std::exit(1);
    }
  }
  PGconn* connection_;
};

void ListingAgainstPostgres(benchmark::State& state) {
  const auto server = PostgresServer::Start({});
  CheckOk(server);
  const auto conninfo = (*server)->CreateDatabase();
  CheckOk(conninfo);
  ListingDatabase database(*conninfo);
  const auto catalog = OpenWithMemory(LakeCatalog());
  const ReadView view = catalog->Current();
  ListColumnar(view, ScanPath::kColumnar);  // warms, as PostgreSQL was by its loading
  std::vector<double> ours;
  std::vector<double> theirs;
  for (auto _ : state) {
    Listed by_columns;
    Listed by_postgres;
    ours.push_back(MeasureTime([&] { by_columns = ListColumnar(view, ScanPath::kColumnar); }));
    theirs.push_back(MeasureTime([&] { by_postgres = database.List(); }));
    if (by_columns != by_postgres) {
      state.SkipWithError("the listing of PostgreSQL is another one");
      return;
    }
    state.SetIterationTime(ours.back());
  }
  state.counters["postgres_ms"] = Least(theirs) * 1e3;
  state.counters["columnar_ms"] = Least(ours) * 1e3;
  state.counters["times_postgres"] = Least(theirs) / Least(ours);
}
BENCHMARK(ListingAgainstPostgres)->Iterations(9)->UseManualTime()->Unit(benchmark::kMillisecond);

// --- DuckDB --------------------------------------------------------------------------------------

Listed ListDuckDb(DuckDb* database) {
  Listed listed;
  CheckOk(database->Query(
      StrCat("SELECT path, file_size_bytes, record_count FROM ducklake_data_file WHERE ",
             VisibleNow()),
      [&](const DuckDb::Chunk& chunk) {
        const int64_t* const sizes = chunk.int64s(1);
        const int64_t* const counts = chunk.int64s(2);
        for (uint64_t row = 0; row < chunk.rows(); ++row) {
          listed.sum += chunk.length_of_string(0, row) + static_cast<uint64_t>(sizes[row]) +
                        static_cast<uint64_t>(counts[row]);
        }
        listed.rows += chunk.rows();
      }));
  return listed;
}

void ListingAgainstDuckDb(benchmark::State& state) {
  const auto database = DuckDb::Create(StrCat(FreshPath("duck"), ".db"));
  if (!database.ok()) {
    state.SkipWithError(database.status().ToString().c_str());
    return;
  }
  CheckOk((*database)->Run(
      "CREATE TABLE ducklake_data_file(data_file_id BIGINT, table_id BIGINT, begin_snapshot "
      "BIGINT, "
      "end_snapshot BIGINT, path VARCHAR, record_count BIGINT, file_size_bytes BIGINT)"));
  CheckOk((*database)->Run(
      StrCat("COPY ducklake_data_file FROM '", LakeFilesCsv(), "' (FORMAT csv, HEADER false)")));
  CheckOk((*database)->Run("CHECKPOINT"));
  const auto catalog = OpenWithMemory(LakeCatalog());
  const ReadView view = catalog->Current();
  ListColumnar(view, ScanPath::kColumnar);  // warms both
  ListDuckDb(database->get());
  std::vector<double> ours;
  std::vector<double> theirs;
  for (auto _ : state) {
    Listed by_columns;
    Listed by_duckdb;
    ours.push_back(MeasureCpu([&] { by_columns = ListColumnar(view, ScanPath::kColumnar); }));
    theirs.push_back(MeasureCpu([&] { by_duckdb = ListDuckDb(database->get()); }));
    if (by_columns != by_duckdb) {
      state.SkipWithError("the listing of DuckDB is another one");
      return;
    }
    state.SetIterationTime(ours.back());
  }
  state.counters["duckdb_ms"] = Median(&theirs) * 1e3;
  state.counters["columnar_ms"] = Median(&ours) * 1e3;
  state.counters["times_duckdb"] = Median(&theirs) / Median(&ours);
}
BENCHMARK(ListingAgainstDuckDb)->Iterations(11)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

// The commits of write_bench.cc to DuckLake's tables in PostgreSQL, through libpq: the same rows,
// prepared statements sent in pipelines, one transaction a commit. PostgreSQL has the best of it:
// ids come from sequences and every writer has a table of its own, so that no writer waits for
// another's rows, nor has its commit refused.

#include <benchmark/benchmark.h>
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "bench/bench_catalog.h"
#include "bench/write_rows.h"
#include "tests/catalog/postgres_server.h"

namespace varve::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The tables that a commit of data files writes to, as DuckLake creates them.
constexpr const char* kTables = R"(
CREATE SEQUENCE snapshot_ids; CREATE SEQUENCE file_ids;
CREATE TABLE ducklake_snapshot(snapshot_id BIGINT PRIMARY KEY, snapshot_time TIMESTAMPTZ,
    schema_version BIGINT, next_catalog_id BIGINT, next_file_id BIGINT);
CREATE TABLE ducklake_snapshot_changes(snapshot_id BIGINT PRIMARY KEY, changes_made VARCHAR,
    author VARCHAR, commit_message VARCHAR, commit_extra_info VARCHAR);
CREATE TABLE ducklake_data_file(data_file_id BIGINT PRIMARY KEY, table_id BIGINT,
    begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT, path VARCHAR,
    path_is_relative BOOLEAN, file_format VARCHAR, record_count BIGINT, file_size_bytes BIGINT,
    footer_size BIGINT, row_id_start BIGINT, partition_id BIGINT, encryption_key VARCHAR,
    mapping_id BIGINT, partial_max BIGINT);
CREATE TABLE ducklake_file_column_stats(data_file_id BIGINT, table_id BIGINT, column_id BIGINT,
    column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR,
    max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR);
CREATE TABLE ducklake_table_stats(table_id BIGINT, record_count BIGINT, next_row_id BIGINT,
    file_size_bytes BIGINT);
CREATE TABLE ducklake_table_column_stats(table_id BIGINT, column_id BIGINT, contains_null BOOLEAN,
    contains_nan BOOLEAN, min_value VARCHAR, max_value VARCHAR, extra_stats VARCHAR);
)";

struct Prepared {
  const char* name;
  const char* sql;
  int parameters;
};
constexpr Prepared kBegin = {"b", "BEGIN", 0};
constexpr Prepared kSnapshot = {
    "s", "INSERT INTO ducklake_snapshot VALUES (nextval('snapshot_ids'), now(), 1, 2, 3)", 0};
constexpr Prepared kChanges = {
    "c",
    "INSERT INTO ducklake_snapshot_changes VALUES (currval('snapshot_ids'), "
    "'inserted_into_table:' || $1, NULL, NULL, NULL)",
    1};
constexpr Prepared kFile = {"f",
                            "INSERT INTO ducklake_data_file VALUES (nextval('file_ids'), $1, "
                            "currval('snapshot_ids'), NULL, "
                            "NULL, $2, true, 'parquet', $3, $4, $5, $6, NULL, NULL, NULL, NULL)",
                            6};
constexpr Prepared kStatistics = {"t",
                                  "INSERT INTO ducklake_file_column_stats VALUES "
                                  "(currval('file_ids'), $1, $2, $3, $4, $5, $6, $7, "
                                  "NULL, NULL)",
                                  7};
constexpr Prepared kTableStatistics = {
    "u",
    "UPDATE ducklake_table_stats SET record_count = record_count + $2, next_row_id = next_row_id + "
    "$2, file_size_bytes = file_size_bytes + $3 WHERE table_id = $1",
    3};
constexpr Prepared kColumnStatistics = {
    "v",
    "UPDATE ducklake_table_column_stats SET max_value = $3 WHERE table_id = $1 AND column_id = $2",
    3};
constexpr Prepared kCommit = {"e", "COMMIT", 0};

void Fail(PGconn* connection) {
  std::cerr << "bench: " << PQerrorMessage(connection) << "\n";
  std::exit(1);
}

class Writer {
 public:
  explicit Writer(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
      Fail(connection_);
    }
    for (const Prepared& statement : {kBegin, kSnapshot, kChanges, kFile, kStatistics,
                                      kTableStatistics, kColumnStatistics, kCommit}) {
      Check(PQprepare(connection_, statement.name, statement.sql, statement.parameters, nullptr));
    }
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { PQfinish(connection_); }

  void Run(const std::string& sql) { Check(PQexec(connection_, sql.c_str())); }

  // Files of table `table`, whose next row id is known to its only writer.
  void Commit(int64_t table, const std::vector<DataFile>& files, int64_t next_row_id) {
    if (PQenterPipelineMode(connection_) != 1) {
      Fail(connection_);
    }
    const std::string id = StrCat(table);
    Send(kBegin, {});
    Send(kSnapshot, {});
    int64_t rows = 0;
    int64_t bytes = 0;
    for (const DataFile& file : files) {
      Send(kFile, {id, file.path, StrCat(file.record_count), StrCat(file.file_size_bytes),
                   StrCat(file.footer_size), StrCat(next_row_id + rows)});
      for (const ColumnStatistics& column : file.columns) {
        Send(kStatistics, {id, StrCat(column.column_id), StrCat(*column.column_size_bytes),
                           StrCat(*column.value_count), StrCat(*column.null_count),
                           *column.min_value, *column.max_value});
      }
      rows += file.record_count;
      bytes += file.file_size_bytes;
    }
    Send(kTableStatistics, {id, StrCat(rows), StrCat(bytes)});
    for (const ColumnStatistics& column : files.back().columns) {
      Send(kColumnStatistics, {id, StrCat(column.column_id), *column.max_value});
    }
    Send(kChanges, {id});
    Send(kCommit, {});
    Drain();
    if (PQexitPipelineMode(connection_) != 1) {
      Fail(connection_);
    }
  }

 private:
  // Answers are taken in before they fill the socket.
  static constexpr int kPipelined = 500;

  void Send(const Prepared& statement, std::initializer_list<std::string> parameters) {
    const char* values[8] = {};
    int count = 0;
    for (const std::string& parameter : parameters) {
      values[count++] = parameter.c_str();
    }
    if (PQsendQueryPrepared(connection_, statement.name, count, values, nullptr, nullptr, 0) != 1) {
      Fail(connection_);
    }
    if (++sent_ == kPipelined) {
      Drain();
    }
  }

  void Drain() {
    if (PQpipelineSync(connection_) != 1) {
      Fail(connection_);
    }
    for (; sent_ > 0; --sent_) {
      Check(PQgetResult(connection_));
      PQgetResult(connection_);  // null: the end of this statement's answer
    }
    PGresult* const sync = PQgetResult(connection_);
    if (PQresultStatus(sync) != PGRES_PIPELINE_SYNC) {
      Fail(connection_);
    }
    PQclear(sync);
  }

  void Check(PGresult* result) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
      Fail(connection_);
    }
    PQclear(result);
  }

  PGconn* connection_;
  int sent_ = 0;
};

// A database with statistics of `tables` tables; returns how to reach it.
std::string MakeDatabase(int64_t tables, int64_t columns) {
  static const absl::StatusOr<std::unique_ptr<PostgresServer>> server = PostgresServer::Start({});
  if (!server.ok()) {
    std::cerr << "bench: " << server.status() << "\n";
    std::exit(1);
  }
  const absl::StatusOr<std::string> conninfo = (*server)->CreateDatabase();
  if (!conninfo.ok()) {
    std::cerr << "bench: " << conninfo.status() << "\n";
    std::exit(1);
  }
  PGconn* const connection = PQconnectdb(conninfo->c_str());
  PQclear(PQexec(connection, kTables));
  PQfinish(connection);
  Writer writer(*conninfo);
  for (int64_t table = 0; table < tables; ++table) {
    writer.Run(StrCat("INSERT INTO ducklake_table_stats VALUES (", table, ", 0, 0, 0)"));
    for (int64_t column = 1; column <= columns; ++column) {
      writer.Run(StrCat("INSERT INTO ducklake_table_column_stats VALUES (", table, ", ", column,
                        ", false, NULL, '0', '0', NULL)"));
    }
  }
  return *conninfo;
}

void PostgresCommits(benchmark::State& state) {
  constexpr auto kDuration = std::chrono::seconds(2);
  const int64_t writers = state.range(0);
  const std::string conninfo = MakeDatabase(writers, kSmallColumns);
  std::atomic<int64_t> committed = 0;
  int64_t round = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<Writer>> connections;
    for (int64_t writer = 0; writer < writers; ++writer) {
      connections.push_back(std::make_unique<Writer>(conninfo));
    }
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (int64_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] {
        for (int64_t number = round * 1'000'000; Clock::now() < begin + kDuration; ++number) {
          connections[static_cast<size_t>(writer)]->Commit(
              writer, {FileToWrite(writer, number, kSmallColumns)}, number * kRowsOfFile);
          ++committed;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    ++round;
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  state.SetItemsProcessed(committed);
}
BENCHMARK(PostgresCommits)->Arg(1)->Arg(8)->Iterations(2)->UseManualTime();

void PostgresThousandFiles(benchmark::State& state) {
  Writer writer(MakeDatabase(1, kLargeColumns));
  std::vector<double> commits;
  int64_t number = 0;
  for (auto _ : state) {
    const std::vector<DataFile> files = FilesToWrite(number, kLargeFiles, kLargeColumns);
    const auto begin = Clock::now();
    writer.Commit(0, files, number * kRowsOfFile);
    commits.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    state.SetIterationTime(commits.back());
    number += kLargeFiles;
  }
  state.counters["median_ms"] = Median(&commits) * 1e3;
}
BENCHMARK(PostgresThousandFiles)->UseManualTime()->Iterations(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace varve::bench

// Brings a whole DuckLake catalog in, from CSV files, SQLite or PostgreSQL.
//
// All or nothing: the catalog appears at its path when everything has been read and checked. Memory
// stays bounded whatever the size: rows stream from the source into the loader's sorted files.
//
// Taken are catalogs of version 0.3 to 1.0, their stages (0.4-dev1) included.
//   - Tables and columns that the source's version has not got are marked absent: they read as
//   empty
//     and NULL, and are left out of exports.
//   - A column that DuckLake 1.0 has not got is kept as an extra column when a declaration
//     (schema.sql, the database's own) names it; in a header alone it is an error.
//   - Every other table named ducklake_… is kept as a dynamic relation.
//
// Thread-safety: free functions; one import into one path at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/interchange/source.h"
#include "catalog/load/bulk_loader.h"

namespace varve {

struct ImportProgress {
  enum class Phase : uint8_t { kReading, kSorting };
  Phase phase = Phase::kReading;
  std::string_view relation;  // kReading: what is being read
  uint64_t rows = 0;          // rows read, or rows sorted and written
  uint64_t bytes = 0;         // of the source; 0 while unknown
  uint64_t total_bytes = 0;   // 0: unknown
  uint64_t total_rows = 0;    // kSorting: all of them
};

struct ImportOptions {
  // Takes duplicate keys and overlapping intervals where the relation has no declared key.
  bool keep_anomalies = false;
  // Memory for sorting, in bytes.
  uint64_t memory_bytes = uint64_t{128} << 20;
  // Called every few thousand rows.
  std::function<void(const ImportProgress&)> on_progress;
};

struct ImportSummary {
  std::string version;             // of the catalog that came in
  uint64_t relations = 0;          // tables read
  uint64_t dynamic_relations = 0;  // … of them not DuckLake's own
  BulkLoadSummary load;
};

// Imports "csv:DIR", "sqlite:FILE" or "postgres:CONNINFO[?schema=NAME]" into a new catalog at
// `path`. Errors: InvalidArgument for what is wrong with the source or a row of it (file, line and
// column named), FailedPrecondition for a version that is not taken, AlreadyExists when something
// is at `path`, and those of opening the source.
absl::StatusOr<ImportSummary> ImportCatalog(std::string_view from, const std::string& path,
                                            const ImportOptions& options = {});

// The same from an open source.
absl::StatusOr<ImportSummary> ImportFrom(CatalogSource& source, const std::string& path,
                                         const ImportOptions& options = {});

}  // namespace varve

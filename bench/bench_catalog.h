// Catalogs made for measuring: built once per process in a temporary directory, removed at exit.
//
// Thread-safety: main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "catalog/catalog.h"

namespace varve::bench {

struct TableHistoryShape {
  int64_t tables = 0;
  // Versions of each table: renames, one a snapshot round; the last one is live.
  int64_t versions = 1;
};

// A catalog with `tables` rows in ducklake_table, each with the given number of versions, and
// `versions` snapshots.
const std::string& TableHistoryCatalog(const TableHistoryShape& shape);

// A catalog with `files` data files in one table, `columns` column statistics each, added over
// `snapshots` snapshots.
const std::string& DataFileCatalog(int64_t files, int64_t columns, int64_t snapshots);

// Opens a catalog that must open.
std::unique_ptr<Catalog> OpenOrDie(const std::string& path);

// A fresh path in the benchmark's temporary directory.
std::string FreshPath(const std::string& name);

}  // namespace varve::bench

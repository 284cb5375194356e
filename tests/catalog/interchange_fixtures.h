// What the tests of import and export share: temporary places, small catalogs as CSV, and all rows
// of a catalog as text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "catalog/interchange/export.h"
#include "catalog/interchange/import.h"

namespace varve {

// A new directory, removed with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Names of what is in it, sorted.
  std::vector<std::string> Entries() const;

 private:
  std::string path_;
};

void WriteFile(const std::string& path, std::string_view text);
std::string ReadFile(const std::string& path);
std::vector<std::string> SortedLines(const std::string& text);
// Replaces the one place where `from` stands in the file.
void EditFile(const std::string& path, std::string_view from, std::string_view to);

// The small real catalog in golden/data, written by the DuckLake extension into PostgreSQL.
std::string SmallCatalogDirectory();
// Copies its files into a directory, to be changed there.
void CopySmallCatalog(const std::string& directory);

// Fills a directory with the CSV files of a catalog of the version that holds the bootstrap rows,
// two snapshots more and one table; without schema.sql. 0.3 leaves out what came later.
void WriteTinyCatalog(const std::string& directory, std::string_view version = "1.0");

// The message of importing "csv:…" into a path of its own, "" when it succeeds. Checks that a
// failure leaves nothing at the path.
std::string ImportError(const std::string& from, const ImportOptions& options = {});

// Imports and opens; records a failure and returns nullptr when that is not possible.
std::unique_ptr<Catalog> ImportAndOpen(const std::string& from, const std::string& path);

// Every relation of a view: its columns with their types, its handle, and all its rows of all
// versions as text, in scan order.
using CatalogText = std::map<std::string, std::vector<std::string>>;
CatalogText AllRows(const ReadView& view);
// The rows visible at the view's snapshot, without the heading.
std::vector<std::string> VisibleRows(const ReadView& view, std::string_view relation);

// The first difference, told by relation and row; "" when there is none.
std::string FirstDifference(const CatalogText& expected, const CatalogText& actual);

}  // namespace varve

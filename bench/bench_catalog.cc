#include "bench/bench_catalog.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/strings.h"
#include "catalog/load/bulk_loader.h"

namespace varve::bench {
namespace {

void CheckOk(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << "bench: " << status << "\n";
    std::exit(1);
  }
}

// The directory of this process; removed when it ends.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const auto path = std::filesystem::temp_directory_path() / StrCat("varve-bench-", getpid());
    std::filesystem::create_directories(path);
    path_ = path.string();
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string& Directory() {
  static const TemporaryDirectory directory;
  return directory.path();
}

std::unique_ptr<BulkLoader> StartLoad(const std::string& path, int64_t snapshots) {
  auto loader = BulkLoader::Create(path, BulkLoadOptions());
  CheckOk(loader.status());
  const std::array<Datum, 4> version = {Datum::Bytes("version"), Datum::Bytes("1.0"), Datum::Null(),
                                        Datum::Null()};
  CheckOk((*loader)->AddRow(*BuiltinRelationById(kMetadata), version, 0, 0));
  for (int64_t id = 0; id < snapshots; ++id) {
    const std::array<Datum, 5> row = {Datum::Int64(id), Datum::Int64(id * 1'000'000),
                                      Datum::Int64(0), Datum::Int64(1), Datum::Int64(0)};
    CheckOk((*loader)->AddRow(*BuiltinRelationById(kSnapshot), row, 0, 0));
  }
  return std::move(loader).value();
}

void LoadTableHistory(const std::string& path, const TableHistoryShape& shape) {
  const std::unique_ptr<BulkLoader> loader = StartLoad(path, shape.versions + 1);
  for (int64_t table = 0; table < shape.tables; ++table) {
    for (int64_t version = 0; version < shape.versions; ++version) {
      const std::string name = StrCat("table_", table, "_", version);
      const bool live = version + 1 == shape.versions;
      const std::array<Datum, 8> row = {
          Datum::Int64(table),       Datum::Int128(table),
          Datum::Int64(version + 1), live ? Datum::Null() : Datum::Int64(version + 2),
          Datum::Int64(0),           Datum::Bytes(name),
          Datum::Bytes(name),        Datum::Bool(true)};
      CheckOk(loader->AddRow(*BuiltinRelationById(kTable), row, 0, 0));
    }
  }
  CheckOk(loader->Finish().status());
}

void LoadDataFiles(const std::string& path, int64_t files, int64_t columns, int64_t snapshots) {
  const std::unique_ptr<BulkLoader> loader = StartLoad(path, snapshots + 1);
  for (int64_t file = 0; file < files; ++file) {
    const std::string name =
        StrCat("ducklake-01a22b99-c2b8-7a11-b09b-", 219'000'000'000 + file, ".parquet");
    const int64_t begin = 1 + file * snapshots / files;
    const std::array<Datum, 16> row = {
        Datum::Int64(file), Datum::Int64(7),      Datum::Int64(begin), Datum::Null(),
        Datum::Null(),      Datum::Bytes(name),   Datum::Bool(true),   Datum::Bytes("parquet"),
        Datum::Int64(5000), Datum::Int64(36'822), Datum::Int64(611),   Datum::Int64(file * 5000),
        Datum::Null(),      Datum::Null(),        Datum::Null(),       Datum::Null()};
    CheckOk(loader->AddRow(*BuiltinRelationById(kDataFile), row, 0, 0));
    for (int64_t column = 1; column <= columns; ++column) {
      const std::string low = std::to_string(file * 5000);
      const std::string high = std::to_string(file * 5000 + 4999);
      const std::array<Datum, 10> stats = {
          Datum::Int64(file), Datum::Int64(7), Datum::Int64(column), Datum::Int64(20'802),
          Datum::Int64(5000), Datum::Int64(0), Datum::Bytes(low),    Datum::Bytes(high),
          Datum::Null(),      Datum::Null()};
      CheckOk(loader->AddRow(*BuiltinRelationById(kFileColumnStats), stats, 0, 0));
    }
  }
  CheckOk(loader->Finish().status());
}

}  // namespace

std::string FreshPath(const std::string& name) {
  static int number = 0;
  return StrCat(Directory(), "/", name, "-", ++number);
}

const std::string& TableHistoryCatalog(const TableHistoryShape& shape) {
  static auto& made = *new std::map<std::pair<int64_t, int64_t>, std::string>();
  std::string& path = made[{shape.tables, shape.versions}];
  if (path.empty()) {
    path = FreshPath("tables");
    LoadTableHistory(path, shape);
  }
  return path;
}

const std::string& DataFileCatalog(int64_t files, int64_t columns, int64_t snapshots) {
  static auto& made = *new std::map<std::array<int64_t, 3>, std::string>();
  std::string& path = made[{files, columns, snapshots}];
  if (path.empty()) {
    path = FreshPath("files");
    LoadDataFiles(path, files, columns, snapshots);
  }
  return path;
}

std::unique_ptr<Catalog> OpenOrDie(const std::string& path) {
  auto catalog = Catalog::Open(path);
  CheckOk(catalog.status());
  return std::move(catalog).value();
}

}  // namespace varve::bench

// A catalog with the shape of a large lake, for the figures of the columnar tier.
//
// A thousand tables: one has a quarter of the files, the others ever fewer. Files arrive over
// 10,000 snapshots, tables mixed; every eleventh was merged away again. Each file has statistics of
// 20 columns of several types.
//
// Thread-safety: main thread only. Ownership: catalogs and files lie in the temporary directory of
// the process, which is removed when it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/scan.h"

namespace varve::bench {

inline constexpr int64_t kLakeTables = 1'000;
inline constexpr int64_t kLakeColumns = 20;
inline constexpr int64_t kLakeSnapshots = 10'000;

// The live files of the lake: VARVE_BENCH_FILES, or 200,000.
int64_t LakeFiles();

struct LakeFile {
  int64_t id = 0;
  int64_t table = 0;
  int64_t begin = 0;
  std::optional<int64_t> end;
  std::string path;
  int64_t record_count = 0;
  int64_t file_size_bytes = 0;
  int64_t footer_size = 0;
  int64_t row_id_start = 0;
};

// The files in the order of their ids: the same ones each time.
void VisitLakeFiles(const std::function<void(const LakeFile&)>& visit);

// The type of column 1 … kLakeColumns of every table.
const char* LakeColumnType(int64_t column);

struct LakeStatistics {
  int64_t column = 0;
  int64_t column_size_bytes = 0;
  int64_t null_count = 0;
  std::string min_value;
  std::string max_value;
};
// Of all columns of a file.
std::vector<LakeStatistics> StatisticsOf(const LakeFile& file);

// The lake, its columns rebuilt; made on the first call.
const std::string& LakeCatalog();
// What rebuilding them took.
struct RebuildFigures {
  uint64_t rows = 0;
  double cpu_seconds = 0;
  double peak_mib = 0;  // of the process, the open catalog and its caches included
  double before_mib = 0;
};
const RebuildFigures& LakeRebuild();

// The data files as CSV without a header: data_file_id, table_id, begin_snapshot, end_snapshot
// (empty: none), path, record_count, file_size_bytes.
const std::string& LakeFilesCsv();

// Opens a catalog and waits for its MemRowSets.
std::unique_ptr<Catalog> OpenWithMemory(const std::string& path,
                                        const CatalogOptions& options = {});

void CheckOk(const absl::Status& status);
template <typename T>
void CheckOk(const absl::StatusOr<T>& result) {
  CheckOk(result.status());
}

std::vector<size_t> ColumnsNamed(const ReadView& view, RelationId relation,
                                 std::initializer_list<std::string_view> names);

// Reads a scan to its end. What was read is added up, so that nothing can be left out: of int64
// columns the values, of bytes the lengths, and the bytes themselves where they are asked for.
enum class ReadTexts : uint8_t { kLengths, kBytes };
struct ScanResult {
  uint64_t rows = 0;
  uint64_t sum = 0;         // of values and lengths
  uint64_t text_words = 0;  // of the bytes, eight at a time
  ScanStats stats;
};
ScanResult ReadAll(const ReadView& view, RelationId relation, ScanOptions options,
                   ReadTexts texts = ReadTexts::kLengths);

}  // namespace varve::bench

#include "bench/lake_catalog.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>

#include "base/strings.h"
#include "bench/bench_catalog.h"
#include "bench/cpu_time.h"
#include "bench/peak_memory.h"
#include "catalog/load/bulk_loader.h"
#include "catalog/tiers/compaction.h"

namespace varve::bench {
namespace {

// 2025-01-01, in seconds since 1970; snapshots come every half an hour.
constexpr int64_t kFirstTime = 1'735'689'600;
constexpr int64_t kSnapshotSeconds = 1'800;

template <typename... Args>
std::string Format(const char* format, Args... args) {
  std::array<char, 128> text{};
  const int size = std::snprintf(text.data(), text.size(), format, args...);
  return std::string(text.data(), static_cast<size_t>(size));
}

// YYYY-MM-DD.
std::string DateOf(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return Format("%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string TimestampOf(int64_t seconds) {
  return StrCat(DateOf(seconds),
                Format(" %02d:%02d:%02d", static_cast<int>(seconds / 3600 % 24),
                       static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60)));
}

constexpr std::array<const char*, 5> kTypes = {"int64", "timestamp", "decimal(12,2)", "varchar",
                                               "int32"};
int64_t DrawTable(std::mt19937_64* random) {
  std::uniform_real_distribution<double> uniform;
  if (uniform(*random) < 0.25) {
    return 0;
  }
  const double place = uniform(*random);
  return 1 + static_cast<int64_t>(place * place * static_cast<double>(kLakeTables - 1));
}

LakeFile DrawFile(int64_t id, int64_t files, std::mt19937_64* random) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>((*random)() % static_cast<uint64_t>(n));
  };
  LakeFile file;
  file.id = id;
  file.table = DrawTable(random);
  file.begin = 1 + id * (kLakeSnapshots - 1) / files;
  if (id % 11 == 3) {
    file.end = std::min(kLakeSnapshots, file.begin + 1 + below(500));
  }
  const int64_t seconds = kFirstTime + file.begin * kSnapshotSeconds;
  // A UUID of version 7: the time in milliseconds, then bits at random.
  file.path = StrCat(
      "data/day=", DateOf(seconds), "/ducklake-",
      Format("%08llx-%04llx-7%03llx-%04llx-%012llx", (seconds * 1000LL) >> 16,
             (seconds * 1000LL + below(1000)) & 0xffff, static_cast<long long>(below(0x1000)),
             static_cast<long long>(0x8000 + below(0x4000)),
             static_cast<long long>(below(1LL << 48))),
      ".parquet");
  // Small commits of a stream: they differ little.
  file.record_count = 100 + below(42);
  file.file_size_bytes = 3'000 + file.record_count * 30 + below(1'000);
  file.footer_size = 1'800 + below(64);
  return file;
}

void AddRow(BulkLoader* loader, RelationId relation, std::span<const Datum> row) {
  CheckOk(loader->AddRow(*BuiltinRelationById(relation), row, 0, 0));
}

void LoadTables(BulkLoader* loader) {
  const Datum null;
  AddRow(loader, kMetadata, std::array{Datum::Bytes("version"), Datum::Bytes("1.0"), null, null});
  for (int64_t id = 0; id <= kLakeSnapshots; ++id) {
    AddRow(
        loader, kSnapshot,
        std::array{Datum::Int64(id), Datum::Int64((kFirstTime + id * kSnapshotSeconds) * 1'000'000),
                   Datum::Int64(0), Datum::Int64(kLakeTables * (kLakeColumns + 1)),
                   Datum::Int64(LakeFiles() * 2)});
  }
  for (int64_t table = 0; table < kLakeTables; ++table) {
    const std::string name = StrCat("table_", table);
    AddRow(loader, kTable,
           std::array{Datum::Int64(table), Datum::Int128(table), Datum::Int64(0), null,
                      Datum::Int64(0), Datum::Bytes(name), Datum::Bytes(name), Datum::Bool(true)});
    for (int64_t column = 1; column <= kLakeColumns; ++column) {
      const std::string column_name = StrCat("c", column);
      AddRow(loader, kColumn,
             std::array{Datum::Int64(column), Datum::Int64(0), null, Datum::Int64(table),
                        Datum::Int64(column), Datum::Bytes(column_name),
                        Datum::Bytes(LakeColumnType(column)), null, null, Datum::Bool(true), null,
                        null, null});
    }
  }
}

void LoadFile(BulkLoader* loader, const LakeFile& file) {
  const Datum null;
  AddRow(loader, kDataFile,
         std::array{Datum::Int64(file.id), Datum::Int64(file.table), Datum::Int64(file.begin),
                    file.end ? Datum::Int64(*file.end) : null, null, Datum::Bytes(file.path),
                    Datum::Bool(true), Datum::Bytes("parquet"), Datum::Int64(file.record_count),
                    Datum::Int64(file.file_size_bytes), Datum::Int64(file.footer_size),
                    Datum::Int64(file.row_id_start), null, null, null, null});
  for (const LakeStatistics& column : StatisticsOf(file)) {
    AddRow(loader, kFileColumnStats,
           std::array{Datum::Int64(file.id), Datum::Int64(file.table), Datum::Int64(column.column),
                      Datum::Int64(column.column_size_bytes), Datum::Int64(file.record_count),
                      Datum::Int64(column.null_count), Datum::Bytes(column.min_value),
                      Datum::Bytes(column.max_value), null, null});
  }
}

// The sum of all bytes, eight at a time.
uint64_t SumOfWords(std::string_view bytes) {
  uint64_t sum = 0;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum += word;
  }
  for (; at < bytes.size(); ++at) {
    sum += static_cast<uint8_t>(bytes[at]);
  }
  return sum;
}

RebuildFigures& FiguresOfRebuild() {
  static RebuildFigures& figures = *new RebuildFigures;
  return figures;
}

}  // namespace

int64_t LakeFiles() {
  const char* const given = std::getenv("VARVE_BENCH_FILES");
  return given != nullptr ? std::atoll(given) : 200'000;
}

void VisitLakeFiles(const std::function<void(const LakeFile&)>& visit) {
  const int64_t files = LakeFiles() + LakeFiles() / 10;
  std::mt19937_64 random(1);
  std::vector<int64_t> rows_of_table(kLakeTables);
  for (int64_t id = 0; id < files; ++id) {
    LakeFile file = DrawFile(id, files, &random);
    int64_t& rows = rows_of_table[static_cast<size_t>(file.table)];
    file.row_id_start = rows;
    rows += file.record_count;
    visit(file);
  }
}

const char* LakeColumnType(int64_t column) {
  return kTypes[static_cast<size_t>(column - 1) % kTypes.size()];
}

std::vector<LakeStatistics> StatisticsOf(const LakeFile& file) {
  std::mt19937_64 random(static_cast<uint64_t>(file.id));
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<LakeStatistics> all;
  for (int64_t column = 1; column <= kLakeColumns; ++column) {
    LakeStatistics statistics{
        .column = column,
        .column_size_bytes = 40 + file.record_count * (1 + column % 4) + below(16),
        .null_count = column % 6 == 0 ? below(8) : 0};
    const int64_t seconds = kFirstTime + file.begin * kSnapshotSeconds;
    switch ((column - 1) % static_cast<int64_t>(kTypes.size())) {
      case 0:  // keys that grow with the rows
        statistics.min_value = StrCat(file.row_id_start + column);
        statistics.max_value = StrCat(file.row_id_start + column + file.record_count - 1);
        break;
      case 1:  // times of the half hour before
        statistics.min_value = TimestampOf(seconds - kSnapshotSeconds + below(60));
        statistics.max_value = TimestampOf(seconds - below(60));
        break;
      case 2:  // prices
        statistics.min_value =
            Format("%d.%02d", static_cast<int>(below(3)), static_cast<int>(below(100)));
        statistics.max_value =
            Format("%d.%02d", static_cast<int>(9'000 + below(1'000)), static_cast<int>(below(100)));
        break;
      case 3:  // names
        statistics.min_value = StrCat("customer-", Format("%06d", static_cast<int>(below(2'000))));
        statistics.max_value =
            StrCat("customer-", Format("%06d", static_cast<int>(998'000 + below(2'000))));
        break;
      default:  // codes
        statistics.min_value = StrCat(below(4));
        statistics.max_value = StrCat(250 + below(6));
        break;
    }
    all.push_back(std::move(statistics));
  }
  return all;
}

const std::string& LakeCatalog() {
  static const std::string& made = *new std::string([] {
    std::string path = FreshPath("lake");
    auto loader = BulkLoader::Create(path, BulkLoadOptions());
    CheckOk(loader);
    LoadTables(loader->get());
    VisitLakeFiles([&](const LakeFile& file) { LoadFile(loader->get(), file); });
    CheckOk((*loader)->Finish());
    const auto catalog = OpenWithMemory(path);
    RebuildFigures& figures = FiguresOfRebuild();
    figures.before_mib = MemoryNow();
    ResetPeakMemory();
    figures.cpu_seconds = MeasureCpu([&] {
      const auto summary = RebuildColumns(*catalog);
      CheckOk(summary);
      figures.rows = summary->rows_read;
    });
    figures.peak_mib = PeakMemory();
    return path;
  }());
  return made;
}

const RebuildFigures& LakeRebuild() {
  LakeCatalog();
  return FiguresOfRebuild();
}

const std::string& LakeFilesCsv() {
  static const std::string& made = *new std::string([] {
    std::string path = StrCat(FreshPath("data_files"), ".csv");
    std::ofstream out(path);
    VisitLakeFiles([&](const LakeFile& file) {
      out << file.id << ',' << file.table << ',' << file.begin << ',';
      if (file.end.has_value()) {
        out << *file.end;
      }
      out << ',' << file.path << ',' << file.record_count << ',' << file.file_size_bytes << '\n';
    });
    if (!out.flush()) {
      std::cerr << "bench: cannot write " << path << "\n";
      std::exit(1);
    }
    return path;
  }());
  return made;
}

std::unique_ptr<Catalog> OpenWithMemory(const std::string& path, const CatalogOptions& options) {
  auto catalog = Catalog::Open(path, options);
  CheckOk(catalog);
  CheckOk((*catalog)->WaitForMemory());
  return *std::move(catalog);
}

void CheckOk(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << "bench: " << status << "\n";
    std::exit(1);
  }
}

std::vector<size_t> ColumnsNamed(const ReadView& view, RelationId relation,
                                 std::initializer_list<std::string_view> names) {
  std::vector<size_t> columns;
  for (const std::string_view name : names) {
    columns.push_back(*view.relations().FindById(relation)->columns.Find(name));
  }
  return columns;
}

ScanResult ReadAll(const ReadView& view, RelationId relation, ScanOptions options,
                   ReadTexts texts) {
  const auto scan = view.Scan(view.relations().FindById(relation), std::move(options));
  CheckOk(scan);
  ScanBatch batch;
  ScanResult result;
  while (true) {
    const auto more = (*scan)->Next(&batch);
    CheckOk(more);
    if (!*more) {
      break;
    }
    result.rows += batch.num_rows();
    for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
      const ColumnVector& column = batch.columns.column(i);
      if (column.type() == PhysicalType::kInt64) {
        for (const int64_t value : column.int64s()) {
          result.sum += static_cast<uint64_t>(value);
        }
      } else if (column.type() == PhysicalType::kBytes) {
        size_t start = 0;
        for (const size_t end : column.ends()) {
          result.sum += end - start;
          start = end;
        }
        if (texts == ReadTexts::kBytes) {
          result.text_words += SumOfWords(column.heap());
        }
      }
    }
  }
  result.stats = (*scan)->stats();
  return result;
}

}  // namespace varve::bench

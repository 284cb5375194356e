// What the write benchmarks commit, to Varve and to PostgreSQL alike: data files with statistics.
//
// Thread-safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/transaction/transaction.h"

namespace varve::bench {

inline constexpr int64_t kSmallColumns = 5;   // of tables that small commits go to
inline constexpr int64_t kLargeColumns = 20;  // of the table that 1,000 files go to
inline constexpr int64_t kLargeFiles = 1'000;
inline constexpr int64_t kRowsOfFile = 5'000;

// The path of DuckLake's client: ducklake-<uuid>.parquet.
inline std::string PathOfFile(int64_t writer, int64_t number) {
  return StrCat("ducklake-01a22b99-c2b8-7a11-", 1'000 + writer, "-", 219'000'000'000 + number,
                ".parquet");
}

// File `number` of a writer: its statistics are in the order of the columns, as a writer's are.
inline DataFile FileToWrite(int64_t writer, int64_t number, int64_t columns) {
  DataFile file;
  file.path = PathOfFile(writer, number);
  file.record_count = kRowsOfFile;
  file.file_size_bytes = 36'822;
  file.footer_size = 611;
  file.columns.reserve(static_cast<size_t>(columns));
  for (int64_t column = 1; column <= columns; ++column) {
    const int64_t low = number * kRowsOfFile + column;
    file.columns.push_back({.column_id = column,
                            .column_size_bytes = 20'802,
                            .value_count = kRowsOfFile,
                            .null_count = 0,
                            .min_value = StrCat(low),
                            .max_value = StrCat(low + kRowsOfFile - 1)});
  }
  return file;
}

inline std::vector<DataFile> FilesToWrite(int64_t first, int64_t count, int64_t columns) {
  std::vector<DataFile> files;
  for (int64_t number = first; number < first + count; ++number) {
    files.push_back(FileToWrite(0, number, columns));
  }
  return files;
}

// The value in the middle; sorts.
double Median(std::vector<double>* values);

}  // namespace varve::bench

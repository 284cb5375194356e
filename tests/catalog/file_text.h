// Data files for tests, as text:
//
//   file    PATH ROWS BYTES { ; statistics } { ; partition VALUE … }
//   stats   COLUMN MIN MAX NULLS       - is unset; value_count is that of the rows
//
//   a.parquet 100 2000; 1 0 99 0; 2 a - 3; partition eu 2025
//
// And what `varve verify` has against a catalog that transactions wrote.
//
// Thread-safety: functions without state. Text that does not read fails the running test.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/transaction/transaction.h"

namespace varve {

DataFile FileOf(std::string_view text);
std::vector<DataFile> FilesOf(std::initializer_list<std::string_view> texts);

// Of a data file: PATH DELETES BYTES.
DeleteFile DeletesOf(int64_t data_file_id, std::string_view text);

// The errors (not notes) that Verify finds in a view, as "rule: relation key: message".
std::vector<std::string> ErrorsFoundIn(const ReadView& view);

}  // namespace varve

// Rows of columnar tables for tests: read from and printed as a small text language, made at
// random, written to files and read back.
//
// A row is `handle [begin,end) value…`, a live one `handle [begin,) value…`; `!` for all values
// makes it a delete marker. Rows are separated by ` | `. NULL is a value. Example, of a table with
// one column:
//
//   1 [0,5) 10 | 1 [5,) 11 | 2 [3,) ! | 3 [7,) NULL
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/columnar_file.h"
#include "columnar/columnar_file_writer.h"
#include "columnar/columnar_rows.h"
#include "columnar/columnar_schema.h"
#include "columnar/columnar_table_reader.h"
#include "tests/base/random_values.h"
#include "tests/columnar/memory_file_system.h"

namespace varve {

inline constexpr char kTestFile[] = "1.vcol";

// Columns of the types bigint and varchar.
ColumnarTableSchema TestSchema(HandleType handle, uint32_t relation = 7);

// Requires: columns of physical types int64 and bytes.
ColumnarRows RowsOf(const ColumnarTableSchema& schema, std::string_view text);
std::string TextOf(const ColumnarRows& rows);

struct RandomRowsOptions {
  size_t rows = 100;
  // One row in so many has the handle of the row before it, is ended, is erased; 0: none.
  uint64_t one_in_repeats = 3;
  uint64_t one_in_ended = 3;
  uint64_t one_in_erased = 0;
};
// `random` keeps the bytes.
ColumnarRows RandomRows(const ColumnarTableSchema& schema, const RandomRowsOptions& options,
                        RandomValues* random);
// A schema with up to six columns of any type.
ColumnarTableSchema RandomSchema(uint32_t relation, RandomValues* random);

// A file with one table.
ColumnarFileProperties WriteFile(MemoryFileSystem* file_system, const ColumnarTableSchema& schema,
                                 const ColumnarRows& rows,
                                 const ColumnarFileWriterOptions& options = {});
std::shared_ptr<const ColumnarFile> OpenFile(MemoryFileSystem* file_system,
                                             const std::string& path = kTestFile);

// All rows of a table, the columns being those of `schema`.
absl::StatusOr<ColumnarRows> ReadTable(ColumnarTableReader* reader,
                                       const ColumnarTableSchema& schema);
absl::StatusOr<ColumnarRows> ReadTable(const std::shared_ptr<const ColumnarFile>& file,
                                       const ColumnarTableSchema& schema);

// Reports the first difference as a failure of the test; the bits of floats count.
void ExpectSameRows(const ColumnarRows& rows, const ColumnarRows& expected);
void ExpectSameValues(const ColumnVector& values, const ColumnVector& expected);

}  // namespace varve

// Rows on their way into a columnar file.
//
// Invariants: all vectors are equally long (`erased` may be empty instead: no row is erased); rows
// ascend by (handle, begin), and no two have both equal.
//
// Thread-safety: none. Ownership: owns its values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column_batch.h"
#include "columnar/columnar_schema.h"
#include "mvcc/visibility.h"

namespace varve {

struct ColumnarRows {
  ColumnarRows() = default;
  explicit ColumnarRows(const ColumnarTableSchema& schema);

  ColumnVector handles{PhysicalType::kInt64};  // kInt64 or kBytes, no NULL
  std::vector<SnapshotId> begins;
  std::vector<SnapshotId> ends;  // kNoEnd: live
  std::vector<uint8_t> erased;   // 1: a delete marker (L1 only); empty: no row is one
  ColumnBatch columns;           // in the order of the schema

  size_t num_rows() const { return begins.size(); }
  bool is_erased(size_t row) const { return !erased.empty() && erased[row] != 0; }

  void Clear();
  // Appends the rows [from, to) of `rows`, which has the same columns.
  void Append(const ColumnarRows& rows, size_t from, size_t to);
};

// The hash that bloom filters of handles are asked with: XXH3-64 of the handle's bytes, those of an
// integer in little-endian order. Requires: not NULL.
uint64_t HashOfHandle(const Datum& handle);

}  // namespace varve

// Statistics of whole tables: counted up and widened in place, as data comes in.
//
// Thread-safety: functions without state.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "base/type.h"
#include "golden/lake_edit.h"

namespace varve::golden {

// The type of a column by DuckLake's name for it ("int64", "decimal(12,2)"); that of nested types
// and of names unknown here is varchar, as in inlined tables (DuckLake 1.0 specification, data
// inlining).
Type TypeOfColumn(std::string_view ducklake_type);

// The row id the next row of the table gets.
int64_t NextRowId(const LakeEdit& lake, int64_t table_id);

// Counts rows and bytes that came in; their row ids are taken.
absl::Status CountRows(int64_t table_id, int64_t rows, int64_t bytes, LakeEdit* lake);

// What values of one column came in.
struct ColumnBounds {
  bool has_null = false;
  Literal min;  // nullopt: not a single value, or unknown
  Literal max;
};

// Widens `bounds` by `other`, comparing as values of `type`.
absl::Status Widen(const Type& type, const ColumnBounds& other, ColumnBounds* bounds);

// Widens the statistics of a table's column.
absl::Status WidenColumn(const LakeRow& column, const ColumnBounds& bounds, LakeEdit* lake);

// contains_nan of a column without NaN: false for floats, NULL (unknown) for other types.
Literal ContainsNan(const LakeRow& column);

}  // namespace varve::golden

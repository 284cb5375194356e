// Statistics of whole tables: counted up and widened in place, never narrowed (DuckLake 1.0
// specification, ducklake_table_stats and ducklake_table_column_stats).
//
// A transaction collects what it adds as a delta; the commit applies it to whatever the statistics
// are by then. So appends to one table do not conflict.
//
// Thread-safety: value types and free functions.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "base/row.h"
#include "base/type.h"

namespace varve {

// What is known of the values of a column, or added to it.
struct ColumnBounds {
  std::optional<bool> contains_null;  // unset: unknown
  std::optional<bool> contains_nan;   // unset: unknown, or not a float
  // Whether there may be values other than NULL. If so, an unset bound is unknown and stays so.
  bool has_values = true;
  std::optional<std::string> min_value;
  std::optional<std::string> max_value;
  std::optional<std::string> extra_stats;
};

// The type a column's bounds are compared by: its DuckLake type ("int64", "decimal(12,2)"); VARCHAR
// for nested types and names unknown here.
Type TypeOfColumn(std::string_view ducklake_type);
// Whether `ducklake_type` is a type of DuckLake 1.0, nested ones by their bare name.
bool IsDuckLakeType(std::string_view ducklake_type);
// Whether values of the type have an order, so that bounds say something.
bool HasBounds(std::string_view ducklake_type);

// Reads a bound as DuckLake's client writes it: blobs as ASCII with \xNN for other bytes,
// everything else as base/text.h does. `scratch` as for ParseDatum. InvalidArgument: no value of
// the type.
absl::Status ParseBound(const Type& type, std::string_view text, std::string* scratch,
                        Datum* value);
// Writes one: the text given, except for blobs. `value` is what `text` reads as.
std::string BoundText(const Type& type, const Datum& value, std::string_view text);

// Whether one of two is true; unknown if one of them is.
inline std::optional<bool> EitherIs(std::optional<bool> a, std::optional<bool> b) {
  return a.has_value() && b.has_value() ? std::optional(*a || *b) : std::nullopt;
}

// Bounds that cover both. A bound that is no value of the type: InvalidArgument.
absl::Status Widen(const Type& type, const ColumnBounds& added, ColumnBounds* bounds);

// The sum, or the nearest number there is: totals are approximations, never an error.
inline int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) {
    return sum;
  }
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

struct TableStatisticsDelta {
  int64_t record_count = 0;
  int64_t row_ids = 0;  // how many row ids were taken
  int64_t file_size_bytes = 0;
  struct Column {
    Type type = TypeKind::kVarchar;
    ColumnBounds bounds;
  };
  std::map<int64_t, Column> columns;  // by column id
};

// The row of ducklake_table_stats (its columns in order) after the delta. `row` is the stored one;
// nullopt: there is none yet.
Row ApplyToTableStats(int64_t table_id, const std::optional<Row>& row,
                      const TableStatisticsDelta& delta);
// The same of ducklake_table_column_stats. A row has no place for "unknown": bounds that are
// unknown beside NULLs are written as contains_null unknown, so that they are not taken for those
// of a column of nothing but NULLs. Stored bounds that are no values of the type (it was another
// one once) become unknown.
absl::StatusOr<Row> ApplyToColumnStats(int64_t table_id, int64_t column_id,
                                       const std::optional<Row>& row,
                                       const TableStatisticsDelta::Column& delta);

}  // namespace varve

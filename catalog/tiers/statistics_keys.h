// The bounds of file column statistics as values and as order-preserving numbers.
//
// ducklake_file_column_stats has bounds as texts of the column's type, whose order is not that of
// the texts. L2 has them once more as keys, so that whole packs are compared as numbers:
//
//   integers, dates, times, timestamps, booleans    the number
//   decimals                                        the number times 10^scale
//   uint64, uint128, UUIDs                          their physical number (base/type.h)
//   floats                                          their ordered bits (base/float_order.h)
//   strings, blobs                                  the first 15 bytes, big-endian: a prefix
//
// Bounds may be trusted, never required: a text that is no value of the type, a lower bound above
// the upper one, and the upper bound of floats that may hold NaN (which sorts last) are unknown,
// which is NULL. Types without an order that both sides agree on have no bounds: nested ones, and
// intervals, which DuckDB compares with months taken for 30 days.
//
// Two numbers need care. -0.0 and 0.0 are equal in SQL and become 0.0. A column that was float32
// once is float64 later, while the bounds of its old files remain texts of float32: "0.1" then
// stands for 0.100000001490116. So a bound of a float64 is widened to what its text is as a
// float32.
//
// Thread-safety: free functions; objects belong to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "base/datum.h"
#include "base/int128.h"
#include "base/type.h"
#include "catalog/read_view.h"
#include "catalog/tiers/bound_texts.h"
#include "catalog/tiers/columnar_writer.h"

namespace varve {

// The type that bounds of a column are compared by; nullopt: they cannot be.
std::optional<Type> OrderedType(std::string_view ducklake_type);

// Of bytes a key has so many, NULs behind shorter ones.
inline constexpr size_t kKeyPrefixSize = 15;

// The key of a value. Requires: not NULL, of an ordered type.
int128_t StatisticsKey(const Type& type, const Datum& value);
// Whether values of the type with one key are equal.
bool HasExactKeys(const Type& type);
// The value with a key; nullopt: none has it. Requires: a type with exact keys.
std::optional<Datum> ValueOfKey(const Type& type, int128_t key);

// What the column key_type says of keys made for a type: kind | precision << 8 | scale << 16.
int64_t KeyTypeOf(const Type& type);
// The inverse; nullopt: no type has it.
std::optional<Type> TypeOfKeys(int64_t key_type);
// Whether keys of a key_type compare with those of `type`: integers of all widths do.
bool KeysCompare(int64_t key_type, const Type& type);

// -0.0 as 0.0; other values as they are.
Datum WithoutNegativeZero(const Datum& value);

// Reads the bounds of rows of statistics.
class StatisticsBounds {
 public:
  // Requires: an ordered type.
  explicit StatisticsBounds(Type type) : type_(type) {}

  // Of columns min_value, max_value and contains_nan. The texts outlive the bounds.
  void Read(const Datum& min_text, const Datum& max_text, const Datum& contains_nan);

  // At or below, at or above every value of the file that is not NULL. NULL: unknown.
  const Datum& min() const { return min_; }
  const Datum& max() const { return max_; }

 private:
  // NULL unless it is a value of the type.
  Datum Parse(const Datum& text, std::string* scratch) const;
  // What the text is as a float32, if that is a number.
  static std::optional<double> AsFloat32(const Datum& text);

  const Type type_;
  Datum min_;
  Datum max_;
  std::string min_scratch_;
  std::string max_scratch_;
};

// The types of columns in the latest of their versions that a state has, table by table.
class ColumnTypes {
 public:
  explicit ColumnTypes(std::shared_ptr<const StoreState> state);

  // nullopt: the column is not known, or has no ordered type.
  absl::StatusOr<std::optional<Type>> Find(int64_t table_id, int64_t column_id);

 private:
  absl::Status LoadTable(int64_t table_id);

  const ReadView view_;
  std::optional<int64_t> table_id_;  // whose types are loaded
  absl::flat_hash_map<int64_t, Type> types_;
};

// The columns min_key, max_key, key_type and key_texts of file column statistics, and the columns
// of the texts, which have only what the keys do not say (bound_texts.h).
class StatisticsKeys : public DerivedColumns {
 public:
  StatisticsKeys(const RelationSchema& relation, std::shared_ptr<const StoreState> state);

  std::span<const ColumnarColumn> columns() const override { return columns_; }
  std::span<const size_t> rewritten() const override { return rewritten_; }
  absl::Status Append(const VersionBlock& block, std::span<const uint32_t> rows, size_t first,
                      ColumnBatch* out) override;

 private:
  struct Column {
    int64_t table_id = 0;
    int64_t column_id = 0;
    std::optional<StatisticsBounds> bounds;  // nullopt: no ordered type
    Type type;
  };

  // Whether the block's rows have keys that were made for the types their columns have now.
  absl::StatusOr<bool> HasCurrentKeys(const VersionBlock& block, std::span<const uint32_t> rows);
  // Sets current_ to the column.
  absl::Status FindColumn(int64_t table_id, int64_t column_id);
  // Appends a bound's key to `keys`, its text, or what is left of it, to `texts`; returns the mark
  // for key_texts.
  int64_t AppendBound(BoundSide side, const Datum& bound, const Datum& text, ColumnVector* keys,
                      ColumnVector* texts);

  const std::vector<ColumnarColumn> columns_;
  std::vector<size_t> read_;  // where the columns it needs are in blocks
  std::vector<size_t> rewritten_;
  size_t num_relation_columns_ = 0;  // of blocks
  ColumnVector restored_min_{PhysicalType::kBytes};
  ColumnVector restored_max_{PhysicalType::kBytes};
  std::string scratch_;
  ColumnTypes types_;
  std::optional<Column> current_;  // rows of one column follow one another
};

// The derived columns of a relation's tables in L2, made by what `state` knows; null: it has none.
std::unique_ptr<DerivedColumns> DerivedColumnsOf(const RelationSchema& relation,
                                                 std::shared_ptr<const StoreState> state);

}  // namespace varve

// The smallest and largest value of each pack of a column: what lets a predicate skip a pack.
//
// Order is that of CompareDatums (base/datum.h), the one predicates compare by: it is total, NaN
// comes last and -0.0 before 0.0, so a pack with NaNs has an upper bound like any other.
//
// The bounds of bytes are kept to kMaxBoundSize bytes: a lower bound is cut, an upper bound is cut
// and rounded up, and one that cannot be (all FF) is left open. So bounds hold every value but are
// not always values themselves.
//
// Delete markers have no values and are left out, for values; handles count every row. Which of the
// two is the builder's caller's to say.
//
// Thread-safety: an index is immutable once parsed; a builder belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column_batch.h"
#include "base/datum.h"
#include "base/type.h"

namespace varve {

// What is known of the values of one pack. All rows of a pack are NULL iff it has no value; it has
// neither when every row of it is a delete marker.
struct PackMinMax {
  bool has_null = false;
  bool has_value = false;
  Datum min;                 // at or below every value; NULL without a value
  Datum max;                 // at or above every value; NULL without a value or when open
  bool max_is_open = false;  // nothing is known about the upper end
};

// The section min_max_idx of a column:
// version(1) = 1 | num_packs(4) | flags(1) × num_packs | mins_len(4) | mins | maxs_len(4) | maxs
//
// Flags: 1 has_null, 2 has_value, 4 max_is_open. Mins and maxs are encoded packs (pack_codec.h) of
// num_packs rows of the column's type, NULL where there is none.
class MinMaxIndex {
 public:
  static constexpr size_t kMaxBoundSize = 64;

  // nullopt unless the value is of version 1, whole, and of exactly `num_packs` packs.
  static std::optional<MinMaxIndex> Parse(std::string_view value, PhysicalType type,
                                          size_t num_packs);

  size_t num_packs() const { return flags_.size(); }
  // The datums borrow from the index.
  PackMinMax pack(size_t pack) const;

 private:
  MinMaxIndex(std::vector<uint8_t> flags, ColumnVector mins, ColumnVector maxs)
      : flags_(std::move(flags)), mins_(std::move(mins)), maxs_(std::move(maxs)) {}

  std::vector<uint8_t> flags_;
  ColumnVector mins_;
  ColumnVector maxs_;
};

class MinMaxIndexBuilder {
 public:
  explicit MinMaxIndexBuilder(PhysicalType type) : mins_(type), maxs_(type) {}

  // Adds a pack of all rows of `column` but those marked in `left_out` (empty: none is).
  void AddPack(const ColumnVector& column, std::span<const uint8_t> left_out);
  std::string Encode() const;

 private:
  void AppendUpper(const Datum& value, uint8_t* flags);

  std::vector<uint8_t> flags_;
  ColumnVector mins_;
  ColumnVector maxs_;
};

}  // namespace varve

// Which values of a column are asked for, and whether a file can have one.
//
// Thread-safety: value types; a FilterJudge belongs to one thread. Ownership: the datums of a
// filter borrow, what they point to outlives filter and judge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "base/int128.h"
#include "base/type.h"
#include "catalog/predicate.h"
#include "catalog/tiers/statistics_keys.h"

namespace varve {

// The values between two bounds of the column's type, in the order of CompareDatums, but -0.0
// equals 0.0. A NULL bound is open. NULL is in no range.
struct ValueRange {
  Datum lower;
  Datum upper;
  bool includes_lower = true;
  bool includes_upper = true;
};

// The values of any of the ranges, and NULL if it is asked for.
struct ColumnFilter {
  std::vector<ValueRange> ranges;
  bool null = false;

  // What the terms of a predicate about one column let through: comparisons are narrowed to one
  // range, the smallest one that has all values they let through. nullopt: nothing that bounds
  // could decide (<>, is not null).
  static std::optional<ColumnFilter> Of(std::span<const Term* const> terms);
};

class FilterJudge {
 public:
  // A range above the largest or below the smallest number is left out: nothing is in it.
  // InvalidArgument: a bound is no value of the type. `type`: nullopt for columns whose bounds
  // cannot be compared; then nothing is known of ranges.
  static absl::StatusOr<FilterJudge> Make(const std::optional<Type>& type,
                                          const ColumnFilter& filter);

  // A file with values between `min` and `max` (NULL: unknown) can have one that is asked for.
  bool MayMatch(const Datum& min, const Datum& max) const;
  // The same of keys: every file that can have one has min <= upper and max >= lower for one of
  // these. Where keys are exact, no other file has.
  struct KeyRange {
    int128_t lower = kInt128Min;
    int128_t upper = kInt128Max;
  };
  std::span<const KeyRange> key_ranges() const { return key_ranges_; }

  bool asks_for_null() const { return filter_.null; }
  // No file is left out, whatever its statistics.
  bool lets_all_through() const { return lets_all_through_; }
  bool has_ranges() const { return !filter_.ranges.empty(); }
  // Requires: has_ranges().
  const Type& type() const { return *type_; }

 private:
  FilterJudge() = default;

  std::optional<Type> type_;
  ColumnFilter filter_;
  std::vector<KeyRange> key_ranges_;
  bool lets_all_through_ = false;
};

}  // namespace varve

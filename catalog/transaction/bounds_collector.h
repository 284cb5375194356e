// Collects the bounds of one column over many files or rows, without copying until the end. Private
// to catalog/transaction.
//
// Thread-safety: one thread. Ownership: texts given to Add are borrowed until Take.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/datum.h"
#include "base/type.h"
#include "catalog/transaction/table_statistics.h"

namespace varve {

class BoundsCollector {
 public:
  explicit BoundsCollector(const Type& type) : type_(type) {}

  // A bound as it is written, and what it reads as (ParseBound).
  struct Bound {
    std::string_view text;
    Datum value;
  };
  // The same as in ColumnBounds.
  struct Added {
    std::optional<bool> contains_null;
    std::optional<bool> contains_nan;
    bool has_values = true;
    std::optional<Bound> min_value;
    std::optional<Bound> max_value;
    std::optional<std::string_view> extra_stats;
  };
  void Add(const Added& added);

  const Type& type() const { return type_; }
  bool empty() const { return empty_; }
  // Requires: not empty.
  ColumnBounds Take() const;

 private:
  // A bound that is kept: the bytes of a blob are no part of its text.
  struct Kept {
    std::string_view text;
    Datum value;
    std::string blob;
  };
  void Keep(const Bound& bound, std::optional<Kept>* kept) const;
  void Widen(const std::optional<Bound>& added, std::strong_ordering beyond,
             std::optional<Kept>* kept) const;
  Datum ValueOf(const Kept& kept) const;
  std::optional<std::string> TextOf(const std::optional<Kept>& kept) const;

  Type type_;
  bool empty_ = true;
  std::optional<bool> contains_null_;
  std::optional<bool> contains_nan_;
  bool has_values_ = false;
  std::optional<Kept> min_;
  std::optional<Kept> max_;
  std::optional<std::string_view> extra_stats_;
};

// Adds what was collected to a delta.
absl::Status AddBounds(int64_t column_id, const Type& type, const ColumnBounds& bounds,
                       TableStatisticsDelta* delta);

}  // namespace varve

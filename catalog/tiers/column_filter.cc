#include "catalog/tiers/column_filter.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// Raises the lower bound of a range, if it is not above already.
void RaiseLower(const Datum& bound, bool included, ValueRange* range) {
  const auto order = CompareDatums(bound, range->lower);
  if (range->lower.is_null() || order > 0) {
    range->lower = bound;
    range->includes_lower = included;
  } else if (order == 0) {
    range->includes_lower = range->includes_lower && included;
  }
}

void CutUpper(const Datum& bound, bool included, ValueRange* range) {
  const auto order = CompareDatums(bound, range->upper);
  if (range->upper.is_null() || order < 0) {
    range->upper = bound;
    range->includes_upper = included;
  } else if (order == 0) {
    range->includes_upper = range->includes_upper && included;
  }
}

bool IsOpen(const ValueRange& range) {
  return range.lower.is_null() && range.upper.is_null();
}

// nullopt: there are no values above the lower or below the upper bound.
std::optional<FilterJudge::KeyRange> KeysOf(const Type& type, const ValueRange& range) {
  FilterJudge::KeyRange keys;
  const bool exact = HasExactKeys(type);
  if (!range.lower.is_null()) {
    keys.lower = StatisticsKey(type, range.lower);
    if (exact && !range.includes_lower && __builtin_add_overflow(keys.lower, 1, &keys.lower)) {
      return std::nullopt;
    }
  }
  if (!range.upper.is_null()) {
    keys.upper = StatisticsKey(type, range.upper);
    if (exact && !range.includes_upper && __builtin_sub_overflow(keys.upper, 1, &keys.upper)) {
      return std::nullopt;
    }
  }
  return keys;
}

}  // namespace

std::optional<ColumnFilter> ColumnFilter::Of(std::span<const Term* const> terms) {
  ColumnFilter filter;
  ValueRange hull;             // of all comparisons
  const Term* list = nullptr;  // the shortest IN
  bool compares = false;       // NULL satisfies no comparison …
  bool impossible = false;     // … and nothing satisfies one with NULL
  for (const Term* const term : terms) {
    if (term->op == Comparison::kIsNull) {
      filter.null = true;
      continue;
    }
    compares = true;
    if (term->op == Comparison::kIn) {
      const auto& values = term->constants.values();
      impossible = impossible || values.empty();
      if (!values.empty()) {
        RaiseLower(WithoutNegativeZero(values.front()), true, &hull);
        CutUpper(WithoutNegativeZero(values.back()), true, &hull);
        if (list == nullptr || values.size() < list->constants.values().size()) {
          list = term;
        }
      }
      continue;
    }
    if (term->op == Comparison::kNotEqual || term->op == Comparison::kIsNotNull) {
      continue;
    }
    const Datum constant = WithoutNegativeZero(term->constants[0]);
    if (constant.is_null()) {
      impossible = true;
      continue;
    }
    switch (term->op) {
      case Comparison::kEqual:
        RaiseLower(constant, true, &hull);
        CutUpper(constant, true, &hull);
        break;
      case Comparison::kLess: CutUpper(constant, false, &hull); break;
      case Comparison::kLessOrEqual: CutUpper(constant, true, &hull); break;
      case Comparison::kGreater: RaiseLower(constant, false, &hull); break;
      case Comparison::kGreaterOrEqual: RaiseLower(constant, true, &hull); break;
      default: break;
    }
  }
  if (filter.null && compares) {
    filter.null = false;  // NULL and a value at once: no row
    return filter;
  }
  if (filter.null || impossible) {
    return filter;
  }
  if (list == nullptr) {
    if (IsOpen(hull)) {
      return std::nullopt;
    }
    filter.ranges.push_back(hull);
    return filter;
  }
  for (const Datum& listed : list->constants.values()) {
    const Datum value = WithoutNegativeZero(listed);
    ValueRange range = hull;
    RaiseLower(value, true, &range);
    CutUpper(value, true, &range);
    if (CompareDatums(range.lower, value) == 0 && CompareDatums(range.upper, value) == 0) {
      filter.ranges.push_back(range);
    }
  }
  return filter;
}

absl::StatusOr<FilterJudge> FilterJudge::Make(const std::optional<Type>& type,
                                              const ColumnFilter& filter) {
  FilterJudge judge;
  judge.type_ = type;
  judge.filter_.null = filter.null;
  for (ValueRange range : filter.ranges) {
    judge.lets_all_through_ = judge.lets_all_through_ || !type.has_value() || IsOpen(range);
    if (!type.has_value()) {
      continue;
    }
    for (Datum* const bound : {&range.lower, &range.upper}) {
      if (!bound->is_null() && bound->physical() != type->physical()) {
        return absl::InvalidArgumentError(
            StrCat("a bound of the range is no value of type ", TypeName(*type)));
      }
      *bound = WithoutNegativeZero(*bound);
    }
    if (const std::optional<KeyRange> keys = KeysOf(*type, range); keys.has_value()) {
      judge.filter_.ranges.push_back(range);
      judge.key_ranges_.push_back(*keys);
    }
  }
  return judge;
}

bool FilterJudge::MayMatch(const Datum& min, const Datum& max) const {
  return std::any_of(filter_.ranges.begin(), filter_.ranges.end(), [&](const ValueRange& range) {
    const auto above = [](const Datum& value, const Datum& bound, bool included) {
      const auto order = CompareDatums(value, bound);
      return included ? order >= 0 : order > 0;
    };
    return (max.is_null() || range.lower.is_null() ||
            above(max, range.lower, range.includes_lower)) &&
           (min.is_null() || range.upper.is_null() ||
            above(range.upper, min, range.includes_upper));
  });
}

}  // namespace varve

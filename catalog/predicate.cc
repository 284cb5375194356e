#include "catalog/predicate.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "base/float_order.h"

namespace varve {
namespace {

bool HoldsFor(Comparison op, std::strong_ordering order) {
  switch (op) {
    case Comparison::kEqual: return order == 0;
    case Comparison::kNotEqual: return order != 0;
    case Comparison::kLess: return order < 0;
    case Comparison::kLessOrEqual: return order <= 0;
    case Comparison::kGreater: return order > 0;
    case Comparison::kGreaterOrEqual: return order >= 0;
    default: return false;
  }
}

// Keeps the selected rows for which `holds(row)`; in place, without branches on the outcome.
template <typename Holds>
size_t Keep(std::span<uint32_t> selection, const Holds& holds) {
  size_t kept = 0;
  for (const uint32_t row : selection) {
    selection[kept] = row;
    kept += holds(row) ? 1 : 0;
  }
  return kept;
}

// One term over a vector whose values are read by `value_at(row)` and whose constants by
// `value_of(datum)`, both giving a type that orders as CompareDatums does. The value at a NULL row
// is readable (zero), so the null byte is just one more factor.
template <typename ValueAt, typename ValueOf>
size_t FilterTyped(const Term& term, const ColumnVector& column, std::span<uint32_t> selection,
                   const ValueAt& value_at, const ValueOf& value_of) {
  const std::span<const uint8_t> nulls = column.nulls();
  if (term.op == Comparison::kIn) {
    const std::span<const Datum> constants = term.constants.values();
    return Keep(selection, [&](uint32_t row) {
      if (nulls[row] != 0) {
        return false;
      }
      const auto value = value_at(row);
      const auto it = std::lower_bound(
          constants.begin(), constants.end(), value,
          [&](const Datum& constant, const auto& v) { return value_of(constant) < v; });
      return it != constants.end() && value_of(*it) == value;
    });
  }
  const auto constant = value_of(term.constants[0]);
  const auto compare = [&](const auto& holds) {
    return Keep(selection, [&](uint32_t row) {
      return static_cast<bool>(static_cast<int>(nulls[row] == 0) &
                               static_cast<int>(holds(value_at(row), constant)));
    });
  };
  switch (term.op) {
    case Comparison::kEqual: return compare(std::equal_to<>());
    case Comparison::kNotEqual: return compare(std::not_equal_to<>());
    case Comparison::kLess: return compare(std::less<>());
    case Comparison::kLessOrEqual: return compare(std::less_equal<>());
    case Comparison::kGreater: return compare(std::greater<>());
    case Comparison::kGreaterOrEqual: return compare(std::greater_equal<>());
    default: return 0;
  }
}

size_t FilterTerm(const Term& term, const ColumnVector& column, std::span<uint32_t> selection) {
  const std::span<const uint8_t> nulls = column.nulls();
  if (term.op == Comparison::kIsNull) {
    return Keep(selection, [&](uint32_t row) { return nulls[row] != 0; });
  }
  if (term.op == Comparison::kIsNotNull) {
    return Keep(selection, [&](uint32_t row) { return nulls[row] == 0; });
  }
  if (term.constants.size() == 0 || term.constants[0].is_null()) {
    return 0;  // IN (), or a comparison with NULL: never true
  }
  switch (column.type()) {
    case PhysicalType::kBool:
      return FilterTyped(
          term, column, selection,
          [values = column.bools()](uint32_t row) { return values[row] != 0; },
          [](const Datum& d) { return d.bool_value(); });
    case PhysicalType::kInt64:
      return FilterTyped(
          term, column, selection, [values = column.int64s()](uint32_t row) { return values[row]; },
          [](const Datum& d) { return d.int64_value(); });
    case PhysicalType::kInt128:
      return FilterTyped(
          term, column, selection,
          [values = column.int128s()](uint32_t row) { return values[row]; },
          [](const Datum& d) { return d.int128_value(); });
    case PhysicalType::kFloat64:
      return FilterTyped(
          term, column, selection,
          [values = column.float64s()](uint32_t row) { return OrderedBitsOfFloat(values[row]); },
          [](const Datum& d) { return OrderedBitsOfFloat(d.float64_value()); });
    case PhysicalType::kBytes:
      return FilterTyped(
          term, column, selection, [&column](uint32_t row) { return column.bytes(row); },
          [](const Datum& d) { return d.bytes(); });
  }
  return 0;
}

void NormaliseIn(Term* term) {
  std::vector<Datum> values;
  for (const Datum& value : term->constants.values()) {
    if (!value.is_null()) {
      values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end(),
            [](const Datum& a, const Datum& b) { return CompareDatums(a, b) < 0; });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  term->constants = Row(std::span<const Datum>(values));
}

}  // namespace

Predicate::Predicate(std::vector<Term> terms) : terms_(std::move(terms)) {
  for (Term& term : terms_) {
    if (term.op == Comparison::kIn) {
      NormaliseIn(&term);
    }
  }
}

std::vector<Datum> Predicate::HandlePrefix(const RelationSchema& relation) const {
  std::vector<Datum> prefix;
  for (const size_t column : relation.handle) {
    const auto term = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) {
      return t.column == column && t.op == Comparison::kEqual && !t.constants[0].is_null();
    });
    if (term == terms_.end()) {
      break;
    }
    prefix.push_back(term->constants[0]);
  }
  return prefix;
}

size_t Predicate::Filter(const ColumnBatch& batch, std::span<const size_t> slots,
                         std::span<uint32_t> selection) const {
  size_t kept = selection.size();
  for (const Term& term : terms_) {
    kept = FilterTerm(term, batch.column(slots[term.column]), selection.first(kept));
  }
  return kept;
}

bool Predicate::TermMatches(const Term& term, const Datum& value) {
  if (term.op == Comparison::kIsNull) {
    return value.is_null();
  }
  if (value.is_null()) {
    return false;
  }
  if (term.op == Comparison::kIsNotNull) {
    return true;
  }
  const std::span<const Datum> constants = term.constants.values();
  if (term.op == Comparison::kIn) {
    return std::any_of(constants.begin(), constants.end(),
                       [&](const Datum& constant) { return constant == value; });
  }
  assert(constants.size() == 1);
  return !constants[0].is_null() && HoldsFor(term.op, CompareDatums(value, constants[0]));
}

}  // namespace varve

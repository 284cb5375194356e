// Simple predicates: a conjunction of comparisons of a column with constants.
//
// Thread-safety: immutable once built; a Predicate owns its constants.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "base/row.h"
#include "catalog/relation.h"

namespace varve {

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIsNull,
  kIsNotNull,
  kIn,
};

// column op constant. As in SQL, a comparison with a NULL value is never true.
struct Term {
  size_t column = 0;
  Comparison op = Comparison::kEqual;
  // One value; none for IS [NOT] NULL; any number for IN. Of the column's physical type, or NULL.
  Row constants;
};

class Predicate {
 public:
  Predicate() = default;  // always true
  // The constants of IN terms are sorted and freed of NULLs and duplicates.
  explicit Predicate(std::vector<Term> terms);

  // Parses `a = 1 and b < 'x' and c is not null and d between 2 and 5 and e in ('u', 'v')` against
  // a relation's columns; constants are read by the column's type. The error points at the column
  // of the text (in characters, from 1) where it goes wrong. predicate_parser.cc has the grammar.
  static absl::StatusOr<Predicate> Parse(std::string_view text, const RelationSchema& relation);

  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }

  // The values that `column = constant` terms give the leading handle columns, in key order: the
  // key prefix that bounds the rows that can match. The datums borrow from the predicate.
  std::vector<Datum> HandlePrefix(const RelationSchema& relation) const;

  // Whether one row's values satisfy every term; `value_of(column)` gives a Datum.
  template <typename ValueOf>
  bool Matches(const ValueOf& value_of) const {
    for (const Term& term : terms_) {
      if (!TermMatches(term, value_of(term.column))) {
        return false;
      }
    }
    return true;
  }

  // Keeps in `selection` (ascending row numbers of `batch`) the rows that match; returns how many.
  // `slots[c]` is the position in the batch of relation column c.
  size_t Filter(const ColumnBatch& batch, std::span<const size_t> slots,
                std::span<uint32_t> selection) const;

  static bool TermMatches(const Term& term, const Datum& value);

 private:
  std::vector<Term> terms_;
};

}  // namespace varve

#include "catalog/interchange/csv/type_guess.h"

#include "base/text.h"

namespace varve {

void TypeGuess::Add(std::string_view text) {
  seen_ = true;
  // Whether the text is the canonical one of a value of the type.
  const auto is_canonical = [&](const Type& type) {
    Datum value;
    std::string parse_scratch;
    if (!ParseDatum(type, text, BlobText::kHex, &parse_scratch, &value).ok()) {
      return false;
    }
    scratch_.clear();
    AppendText(type, value, &scratch_);
    return scratch_ == text;
  };
  boolean_ = boolean_ && (text == "t" || text == "f" || text == "true" || text == "false");
  bigint_ = bigint_ && is_canonical(TypeKind::kInt64);
  // An integer is a double only as far as printing shows: 5 may print as 5 or 5.0, both are fine
  // beside 5.5.
  float64_ = float64_ && (is_canonical(TypeKind::kFloat64) || is_canonical(TypeKind::kInt32));
}

std::string_view TypeGuess::SqlType() const {
  if (!seen_) {
    return "varchar";
  }
  return bigint_ ? "bigint" : boolean_ ? "boolean" : float64_ ? "double precision" : "varchar";
}

}  // namespace varve

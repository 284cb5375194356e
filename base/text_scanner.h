// A cursor over a text that is being parsed, and what parsers of value texts have to report.
//
// Thread-safety: none. Ownership: borrows the text. A Take that returns false has taken nothing,
// unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/strings.h"

namespace varve {

// Why a text is no value of a type.
enum class TextFault : uint8_t {
  kNone,
  kMalformed,
  kOutOfRange,
  kTooPrecise,  // digits after the point that the type cannot hold
  kNoSuchDay,   // 2023-02-29
  kHasZone,     // a timestamp without zone that names an offset
  kNotUtf8,
};

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }

  bool Take(std::string_view literal) {
    if (!rest_.starts_with(literal)) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }

  bool TakeIgnoringCase(std::string_view literal) {
    if (!StartsWithIgnoreCase(rest_, literal)) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Takes as many digits as there are, up to `most`. Requires: most <= 18.
  bool TakeDigits(size_t least, size_t most, int64_t* value) {
    const size_t digits = CountDigits();
    const size_t taken = digits < most ? digits : most;
    if (taken < least) {
      return false;
    }
    int64_t result = 0;
    for (size_t i = 0; i < taken; ++i) {
      result = result * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(taken);
    *value = result;
    return true;
  }

  // Takes a point and one to nine digits, if there is a point, as billionths. After false the point
  // may be taken.
  bool TakeFraction(int64_t* billionths) {
    *billionths = 0;
    if (!Take(".")) {
      return true;
    }
    const size_t digits = CountDigits();
    if (digits > 9 || !TakeDigits(1, 9, billionths)) {
      return false;
    }
    for (size_t i = digits; i < 9; ++i) {
      *billionths *= 10;
    }
    return true;
  }

  // The letters that come next, possibly none.
  std::string_view TakeLetters() {
    size_t n = 0;
    while (n < rest_.size() && absl::ascii_isalpha(static_cast<unsigned char>(rest_[n]))) {
      ++n;
    }
    const std::string_view letters = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return letters;
  }

  // Returns whether there were any.
  bool SkipSpaces() {
    bool any = false;
    while (Take(" ")) {
      any = true;
    }
    return any;
  }

  // The character behind the digits that come next; '\0' at the end.
  char PeekBehindDigits() const {
    const size_t digits = CountDigits();
    return digits < rest_.size() ? rest_[digits] : '\0';
  }

 private:
  size_t CountDigits() const {
    size_t n = 0;
    while (n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9') {
      ++n;
    }
    return n;
  }

  std::string_view rest_;
};

}  // namespace varve

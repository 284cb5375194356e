#include "base/int128.h"

#include <array>

namespace varve {

std::optional<uint128_t> ParseUInt128(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  uint128_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, static_cast<uint128_t>(c - '0'), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<int128_t> ParseInt128(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) {
    text.remove_prefix(1);
  }
  const std::optional<uint128_t> magnitude = ParseUInt128(text);
  if (!magnitude.has_value()) {
    return std::nullopt;
  }
  if (negative) {
    if (*magnitude > kInt128SignBit) {
      return std::nullopt;
    }
    return static_cast<int128_t>(~*magnitude + 1);
  }
  if (*magnitude >= kInt128SignBit) {
    return std::nullopt;
  }
  return static_cast<int128_t>(*magnitude);
}

void AppendUInt128(uint128_t value, std::string* out) {
  std::array<char, 40> digits;
  size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  out->append(digits.data() + at, digits.size() - at);
}

void AppendInt128(int128_t value, std::string* out) {
  auto magnitude = static_cast<uint128_t>(value);
  if (value < 0) {
    out->push_back('-');
    magnitude = ~magnitude + 1;
  }
  AppendUInt128(magnitude, out);
}

}  // namespace varve

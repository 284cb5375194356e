#include "base/int128.h"

#include <array>
#include <charconv>
#include <limits>

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
  // What 64 bits hold is printed as such: dividing 128 bits takes ten times as long.
  constexpr uint64_t kPart = 10'000'000'000'000'000'000U;
  constexpr size_t kPartDigits = 19;
  const bool is_first = value <= std::numeric_limits<uint64_t>::max();
  if (!is_first) {
    AppendUInt128(value / kPart, out);
    value %= kPart;
  }
  std::array<char, 20> digits;
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<uint64_t>(value)).ptr;
  const auto count = static_cast<size_t>(end - digits.data());
  if (!is_first) {
    out->append(kPartDigits - count, '0');
  }
  out->append(digits.data(), count);
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

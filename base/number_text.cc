#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "base/strings.h"

namespace varve {
namespace {

constexpr int kMaxDecimalDigits = 38;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Whether the text is a sign, possibly none, and digits: a number, if not one in range.
bool LooksLikeInteger(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

constexpr auto kPowersOfTen = [] {
  std::array<int128_t, kMaxDecimalDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) {
    powers[i] = powers[i - 1] * 10;
  }
  return powers;
}();

// Finite numbers by from_chars; the names of the others by hand, since from_chars accepts more of
// them than any system writes.
template <typename T>
TextFault ParseFloat(std::string_view text, double* value) {
  std::string_view unsigned_text = text;
  const bool negative = unsigned_text.starts_with('-');
  if (negative || unsigned_text.starts_with('+')) {
    unsigned_text.remove_prefix(1);
  }
  if (EqualsIgnoreCase(unsigned_text, "nan")) {
    *value = std::numeric_limits<double>::quiet_NaN();
    return TextFault::kNone;
  }
  if (EqualsIgnoreCase(unsigned_text, "inf") || EqualsIgnoreCase(unsigned_text, "infinity")) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    *value = negative ? -kInf : kInf;
    return TextFault::kNone;
  }
  if (unsigned_text.empty() || (!IsDigit(unsigned_text.front()) && unsigned_text.front() != '.')) {
    return TextFault::kMalformed;
  }
  T number = 0;
  const char* end = unsigned_text.data() + unsigned_text.size();
  const auto [stopped, error] = std::from_chars(unsigned_text.data(), end, number);
  if (error == std::errc::invalid_argument || stopped != end) {
    return TextFault::kMalformed;
  }
  if (error != std::errc()) {
    return TextFault::kOutOfRange;
  }
  *value = static_cast<double>(negative ? -number : number);
  return TextFault::kNone;
}

template <typename T>
void AppendFloat(T value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-Infinity" : "Infinity");
    return;
  }
  const T magnitude = std::abs(value);
  const bool plain = magnitude == 0 || (magnitude >= T{1e-5} && magnitude < T{1e15});
  std::array<char, 64> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  plain ? std::chars_format::fixed : std::chars_format::scientific)
                        .ptr;
  out->append(digits.data(), static_cast<size_t>(end - digits.data()));
}

}  // namespace

TextFault ParseInteger(std::string_view text, int64_t least, int64_t most, int64_t* value) {
  if (text.size() > 1 && text.front() == '+' && IsDigit(text[1])) {
    text.remove_prefix(1);
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument || stopped != end) {
    return TextFault::kMalformed;
  }
  if (error != std::errc() || number < least || number > most) {
    return TextFault::kOutOfRange;
  }
  *value = number;
  return TextFault::kNone;
}

TextFault ParseWideInteger(std::string_view text, int128_t least, int128_t most, int128_t* value) {
  const std::optional<int128_t> number = ParseInt128(text);
  if (!number.has_value()) {
    return LooksLikeInteger(text) ? TextFault::kOutOfRange : TextFault::kMalformed;
  }
  if (*number < least || *number > most) {
    return TextFault::kOutOfRange;
  }
  *value = *number;
  return TextFault::kNone;
}

TextFault ParseUnsigned128(std::string_view text, uint128_t* value) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  const std::optional<uint128_t> number = ParseUInt128(digits);
  if (!number.has_value() || (negative && *number != 0)) {
    return LooksLikeInteger(text) ? TextFault::kOutOfRange : TextFault::kMalformed;
  }
  *value = *number;
  return TextFault::kNone;
}

void AppendInteger(int64_t value, std::string* out) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out->append(digits.data(), static_cast<size_t>(end - digits.data()));
}

void AppendPadded(uint64_t value, int width, std::string* out) {
  if (width == 2 && value < 100) {
    const std::array<char, 2> digits = {static_cast<char>('0' + value / 10),
                                        static_cast<char>('0' + value % 10)};
    out->append(digits.data(), digits.size());
    return;
  }
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const auto count = static_cast<int>(end - digits.data());
  if (count < width) {
    out->append(static_cast<size_t>(width - count), '0');
  }
  out->append(digits.data(), static_cast<size_t>(count));
}

TextFault ParseDecimal(std::string_view text, uint8_t precision, uint8_t scale, int128_t* value) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if ((whole.empty() && fraction.empty()) || !std::all_of(whole.begin(), whole.end(), IsDigit) ||
      !std::all_of(fraction.begin(), fraction.end(), IsDigit)) {
    return TextFault::kMalformed;
  }
  while (fraction.size() > scale && fraction.back() == '0') {
    fraction.remove_suffix(1);
  }
  if (fraction.size() > scale) {
    return TextFault::kTooPrecise;
  }
  const int128_t limit = kPowersOfTen[precision];
  int128_t number = 0;
  for (const std::string_view digits : {whole, fraction}) {
    for (const char c : digits) {
      if (number >= limit / 10) {
        return TextFault::kOutOfRange;
      }
      number = number * 10 + (c - '0');
    }
  }
  const int128_t factor = kPowersOfTen[scale - fraction.size()];
  if (number > (limit - 1) / factor) {
    return TextFault::kOutOfRange;
  }
  *value = number * (negative ? -factor : factor);
  return TextFault::kNone;
}

void AppendDecimal(int128_t value, uint8_t scale, std::string* out) {
  auto magnitude = static_cast<uint128_t>(value);
  if (value < 0) {
    out->push_back('-');
    magnitude = ~magnitude + 1;
  }
  const auto unit = static_cast<uint128_t>(kPowersOfTen[scale]);
  constexpr uint64_t k64Bits = std::numeric_limits<uint64_t>::max();
  if (scale > 0 && magnitude <= k64Bits && unit <= k64Bits) {
    const auto narrow = static_cast<uint64_t>(magnitude);
    AppendPadded(narrow / static_cast<uint64_t>(unit), 1, out);
    out->push_back('.');
    AppendPadded(narrow % static_cast<uint64_t>(unit), scale, out);
    return;
  }
  AppendUInt128(magnitude / unit, out);
  if (scale == 0) {
    return;
  }
  out->push_back('.');
  std::string fraction;
  AppendUInt128(magnitude % unit, &fraction);
  out->append(scale - fraction.size(), '0');
  out->append(fraction);
}

TextFault ParseFloat32(std::string_view text, double* value) {
  return ParseFloat<float>(text, value);
}

TextFault ParseFloat64(std::string_view text, double* value) {
  return ParseFloat<double>(text, value);
}

void AppendFloat32(double value, std::string* out) {
  AppendFloat(static_cast<float>(value), out);
}

void AppendFloat64(double value, std::string* out) {
  AppendFloat(value, out);
}

}  // namespace varve

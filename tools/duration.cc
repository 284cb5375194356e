#include "tools/duration.h"

#include <array>
#include <cstdint>

#include "base/strings.h"

namespace varve {
namespace {

struct Unit {
  char letter = 's';
  absl::Duration length;
};

constexpr std::array<Unit, 5> kUnits = {{{'w', absl::Hours(7 * 24)},
                                         {'d', absl::Hours(24)},
                                         {'h', absl::Hours(1)},
                                         {'m', absl::Minutes(1)},
                                         {'s', absl::Seconds(1)}}};

const Unit* FindUnit(char letter) {
  for (const Unit& unit : kUnits) {
    if (unit.letter == letter) {
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<absl::Duration> ParseDuration(std::string_view text) {
  absl::Duration sum;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == std::string_view::npos) {
      return std::nullopt;
    }
    const std::optional<int64_t> number = ParseNumber<int64_t>(text.substr(0, digits));
    const Unit* const unit = FindUnit(text[digits]);
    if (!number.has_value() || unit == nullptr) {
      return std::nullopt;
    }
    sum += *number * unit->length;  // absl saturates
    if (sum > kLongestDuration) {
      return std::nullopt;
    }
    text.remove_prefix(digits + 1);
  }
  return sum;
}

}  // namespace varve

#include "base/interval.h"

#include <array>
#include <limits>

#include "base/clock.h"
#include "base/number_text.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr uint32_t kSign32 = uint32_t{1} << 31;
constexpr uint64_t kSign64 = uint64_t{1} << 63;

struct IntervalUnit {
  std::string_view name;  // singular
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};

constexpr auto kIntervalUnits = std::to_array<IntervalUnit>({
    {.name = "year", .months = 12},
    {.name = "month", .months = 1},
    {.name = "mon", .months = 1},
    {.name = "week", .days = 7},
    {.name = "day", .days = 1},
    {.name = "hour", .micros = 3600 * kMicrosPerSecond},
    {.name = "minute", .micros = 60 * kMicrosPerSecond},
    {.name = "min", .micros = 60 * kMicrosPerSecond},
    {.name = "second", .micros = kMicrosPerSecond},
    {.name = "sec", .micros = kMicrosPerSecond},
    {.name = "millisecond", .micros = 1000},
    {.name = "microsecond", .micros = 1},
});

const IntervalUnit* FindUnit(std::string_view word) {
  for (const IntervalUnit& unit : kIntervalUnits) {
    if (EqualsIgnoreCase(word, unit.name) ||
        (EqualsIgnoreCase(word.substr(0, unit.name.size()), unit.name) &&
         EqualsIgnoreCase(word.substr(unit.name.size()), "s"))) {
      return &unit;
    }
  }
  return nullptr;
}

// Sums wider than the fields, so that the range is checked once, at the end.
struct WideInterval {
  int128_t months = 0;
  int128_t days = 0;
  int128_t micros = 0;
};

TextFault ScanClockOfInterval(TextScanner* in, int sign, WideInterval* sum) {
  Clock clock;
  const TextFault fault = ScanClock(in, std::numeric_limits<int64_t>::max(), &clock);
  if (fault != TextFault::kNone) {
    return fault;
  }
  if (clock.nanos % 1000 != 0) {
    return TextFault::kTooPrecise;
  }
  sum->micros +=
      sign * (static_cast<int128_t>(clock.seconds) * kMicrosPerSecond + clock.nanos / 1000);
  return TextFault::kNone;
}

TextFault ScanNumberWithUnit(TextScanner* in, int sign, WideInterval* sum) {
  int64_t number = 0;
  int64_t nanos = 0;
  if (!in->TakeDigits(1, 18, &number) || !in->TakeFraction(&nanos)) {
    return TextFault::kMalformed;
  }
  in->SkipSpaces();
  const IntervalUnit* unit = FindUnit(in->TakeLetters());
  if (unit == nullptr || (nanos != 0 && unit->micros != kMicrosPerSecond)) {
    return TextFault::kMalformed;
  }
  if (nanos % 1000 != 0) {
    return TextFault::kTooPrecise;
  }
  const int128_t signed_number = static_cast<int128_t>(number) * sign;
  sum->months += signed_number * unit->months;
  sum->days += signed_number * unit->days;
  sum->micros += signed_number * unit->micros + static_cast<int128_t>(nanos / 1000) * sign;
  return TextFault::kNone;
}

template <typename T>
bool Narrow(int128_t value, T* out) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
    return false;
  }
  *out = static_cast<T>(value);
  return true;
}

// Writes the fields of an interval one after the other.
class IntervalWriter {
 public:
  explicit IntervalWriter(std::string* out) : out_(out) {}

  void AppendField(int32_t value, std::string_view unit) {
    if (value == 0) {
      return;
    }
    AppendSign(value < 0);
    AppendPadded(Magnitude(value), 1, out_);
    out_->push_back(' ');
    out_->append(unit);
    if (value != 1) {
      out_->push_back('s');
    }
  }

  // Requires: after the other fields.
  void AppendMicros(int64_t micros) {
    if (micros == 0 && !is_empty_) {
      return;
    }
    AppendSign(micros < 0);
    AppendClock(Magnitude(micros), kMicrosPerSecond, out_);
  }

 private:
  void AppendSign(bool negative) {
    if (!is_empty_) {
      out_->push_back(' ');
    }
    if (negative) {
      out_->push_back('-');
    } else if (after_negative_) {
      out_->push_back('+');
    }
    is_empty_ = false;
    after_negative_ = negative;
  }

  std::string* out_;
  bool is_empty_ = true;
  bool after_negative_ = false;
};

}  // namespace

int128_t PackInterval(const Interval& interval) {
  const auto months = static_cast<uint128_t>(static_cast<uint32_t>(interval.months));
  const auto days = static_cast<uint128_t>(static_cast<uint32_t>(interval.days) ^ kSign32);
  const auto micros = static_cast<uint128_t>(static_cast<uint64_t>(interval.micros) ^ kSign64);
  return static_cast<int128_t>(months << 96 | days << 64 | micros);
}

Interval UnpackInterval(int128_t packed) {
  const auto bits = static_cast<uint128_t>(packed);
  return {.months = static_cast<int32_t>(static_cast<uint32_t>(bits >> 96)),
          .days = static_cast<int32_t>(static_cast<uint32_t>(bits >> 64) ^ kSign32),
          .micros = static_cast<int64_t>(static_cast<uint64_t>(bits) ^ kSign64)};
}

TextFault ParseInterval(std::string_view text, Interval* interval) {
  TextScanner in(text);
  WideInterval sum;
  bool has_clock = false;
  in.SkipSpaces();
  if (in.empty()) {
    return TextFault::kMalformed;
  }
  while (!in.empty()) {
    const bool negative = in.Take("-");
    if (!negative) {
      in.Take("+");
    }
    const int sign = negative ? -1 : 1;
    const bool is_clock = in.PeekBehindDigits() == ':';
    if (is_clock && has_clock) {
      return TextFault::kMalformed;
    }
    has_clock |= is_clock;
    const TextFault fault =
        is_clock ? ScanClockOfInterval(&in, sign, &sum) : ScanNumberWithUnit(&in, sign, &sum);
    if (fault != TextFault::kNone) {
      return fault;
    }
    if (!in.empty() && !in.SkipSpaces()) {
      return TextFault::kMalformed;
    }
  }
  Interval result;
  if (!Narrow(sum.months, &result.months) || !Narrow(sum.days, &result.days) ||
      !Narrow(sum.micros, &result.micros)) {
    return TextFault::kOutOfRange;
  }
  *interval = result;
  return TextFault::kNone;
}

void AppendInterval(const Interval& interval, std::string* out) {
  IntervalWriter writer(out);
  writer.AppendField(interval.months / 12, "year");
  writer.AppendField(interval.months % 12, "mon");
  writer.AppendField(interval.days, "day");
  writer.AppendMicros(interval.micros);
}

}  // namespace varve

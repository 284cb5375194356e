#include "base/temporal.h"

#include <array>

#include "base/clock.h"
#include "base/int128.h"
#include "base/number_text.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

constexpr int64_t kDaysPer400Years = 146'097;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

// Days from 0000-03-01, where years are counted from March, to 1970-01-01.
constexpr int64_t kEpochFromMarchOfYear0 = 719'468;

constexpr int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr int64_t FloorModulo(int64_t a, int64_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

// Months counted from March, 0..11, start after this many days: the pattern 31 30 31 30 31 repeats.
constexpr int64_t DaysBeforeMonth(int64_t month_from_march) {
  return (153 * month_from_march + 2) / 5;
}

bool IsLeapYear(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int DaysInMonth(int64_t year, int month) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

// Reads a date without its trailing " BC", which the caller has looked for.
TextFault ScanDate(TextScanner* in, bool before_christ, int64_t* days) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!in->TakeDigits(4, 7, &year) || !in->Take("-") || !in->TakeDigits(2, 2, &month) ||
      !in->Take("-") || !in->TakeDigits(2, 2, &day)) {
    return TextFault::kMalformed;
  }
  if (in->Take(" (BC)")) {
    if (before_christ) {
      return TextFault::kMalformed;
    }
    before_christ = true;
  }
  if (year == 0 || month < 1 || month > 12) {
    return TextFault::kNoSuchDay;
  }
  const int64_t astronomical_year = before_christ ? 1 - year : year;
  if (day < 1 || day > DaysInMonth(astronomical_year, static_cast<int>(month))) {
    return TextFault::kNoSuchDay;
  }
  const int64_t result =
      DaysFromCivil(astronomical_year, static_cast<int>(month), static_cast<int>(day));
  if (result > kMaxDate || result < -kMaxDate) {
    return TextFault::kOutOfRange;
  }
  *days = result;
  return TextFault::kNone;
}

// Reads what may follow a time of day: nothing, Z, UTC, or an offset of hours, minutes, seconds.
bool ScanOffset(TextScanner* in, bool* present, int64_t* offset_seconds) {
  *offset_seconds = 0;
  *present = !in->empty();
  if (in->empty() || in->TakeIgnoringCase("z") || in->TakeIgnoringCase("utc") ||
      in->TakeIgnoringCase(" utc")) {
    return true;
  }
  const bool negative = in->Take("-");
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  if ((!negative && !in->Take("+")) || !in->TakeDigits(2, 2, &hours)) {
    return false;
  }
  if (in->Take(":")) {
    if (!in->TakeDigits(2, 2, &minutes) || (in->Take(":") && !in->TakeDigits(2, 2, &seconds))) {
      return false;
    }
  } else if (!in->empty() && !in->TakeDigits(2, 2, &minutes)) {
    return false;
  }
  if (hours > 15 || minutes > 59 || seconds > 59) {
    return false;
  }
  const int64_t magnitude = hours * 3600 + minutes * 60 + seconds;
  *offset_seconds = negative ? -magnitude : magnitude;
  return true;
}

bool ParseInfinity(std::string_view text, int64_t* value) {
  if (EqualsIgnoreCase(text, "infinity")) {
    *value = kInfinity;
    return true;
  }
  if (EqualsIgnoreCase(text, "-infinity")) {
    *value = kMinusInfinity;
    return true;
  }
  return false;
}

bool AppendInfinity(int64_t value, std::string* out) {
  if (value == kInfinity) {
    out->append("infinity");
  } else if (value == kMinusInfinity) {
    out->append("-infinity");
  }
  return value == kInfinity || value == kMinusInfinity;
}

// PostgreSQL writes BC at the very end, behind the time and the offset.
bool TakeTrailingBc(std::string_view* text) {
  constexpr std::string_view kBc = " BC";
  if (!text->ends_with(kBc)) {
    return false;
  }
  text->remove_suffix(kBc.size());
  return true;
}

}  // namespace

int64_t DaysFromCivil(int64_t year, int month, int day) {
  // Years start in March here, so that the leap day is the last day of a year.
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t month_from_march = (month + 9) % 12;
  return 365 * y + FloorDivide(y, 4) - FloorDivide(y, 100) + FloorDivide(y, 400) +
         DaysBeforeMonth(month_from_march) + day - 1 - kEpochFromMarchOfYear0;
}

CivilDay CivilFromDays(int64_t days) {
  // Cycles of 400 years first, then the offset of the epoch inside a cycle: no sum overflows.
  int64_t cycle = FloorDivide(days, kDaysPer400Years);
  int64_t rest = FloorModulo(days, kDaysPer400Years) + kEpochFromMarchOfYear0;
  cycle += rest / kDaysPer400Years;
  rest %= kDaysPer400Years;
  // The last century of a cycle and the last year of four are a day longer than the others.
  const int64_t century = rest / 36'524 < 3 ? rest / 36'524 : 3;
  rest -= century * 36'524;
  const int64_t four_years = rest / 1'461;
  rest -= four_years * 1'461;
  const int64_t year_of_four = rest / 365 < 3 ? rest / 365 : 3;
  rest -= year_of_four * 365;
  const int64_t month_from_march = (5 * rest + 2) / 153;
  CivilDay civil;
  civil.day = static_cast<int>(rest - DaysBeforeMonth(month_from_march) + 1);
  civil.month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  civil.year =
      cycle * 400 + century * 100 + four_years * 4 + year_of_four + (civil.month <= 2 ? 1 : 0);
  return civil;
}

TextFault ParseDate(std::string_view text, int64_t* days) {
  if (ParseInfinity(text, days)) {
    return TextFault::kNone;
  }
  const bool before_christ = TakeTrailingBc(&text);
  TextScanner in(text);
  int64_t result = 0;
  const TextFault fault = ScanDate(&in, before_christ, &result);
  if (fault != TextFault::kNone) {
    return fault;
  }
  if (!in.empty()) {
    return TextFault::kMalformed;
  }
  *days = result;
  return TextFault::kNone;
}

void AppendDate(int64_t days, std::string* out) {
  if (AppendInfinity(days, out)) {
    return;
  }
  const CivilDay civil = CivilFromDays(days);
  const bool before_christ = civil.year <= 0;
  AppendPadded(static_cast<uint64_t>(before_christ ? 1 - civil.year : civil.year), 4, out);
  out->push_back('-');
  AppendPadded(static_cast<uint64_t>(civil.month), 2, out);
  out->push_back('-');
  AppendPadded(static_cast<uint64_t>(civil.day), 2, out);
  if (before_christ) {
    out->append(" (BC)");
  }
}

TextFault ParseTime(std::string_view text, int64_t* micros) {
  TextScanner in(text);
  Clock clock;
  const TextFault fault = ScanClock(&in, 24, &clock);
  if (fault != TextFault::kNone) {
    return fault;
  }
  if (!in.empty()) {
    return TextFault::kMalformed;
  }
  if (clock.nanos % 1000 != 0) {
    return TextFault::kTooPrecise;
  }
  const int64_t result = clock.seconds * kMicrosPerSecond + clock.nanos / 1000;
  if (result > kMicrosPerDay) {
    return TextFault::kOutOfRange;
  }
  *micros = result;
  return TextFault::kNone;
}

void AppendTime(int64_t micros, std::string* out) {
  if (micros < 0) {
    out->push_back('-');
  }
  AppendClock(Magnitude(micros), kMicrosPerSecond, out);
}

TextFault ParseTimestamp(std::string_view text, TimestampFormat format, int64_t* ticks) {
  if (ParseInfinity(text, ticks)) {
    return TextFault::kNone;
  }
  const bool before_christ = TakeTrailingBc(&text);
  TextScanner in(text);
  int64_t days = 0;
  TextFault fault = ScanDate(&in, before_christ, &days);
  if (fault != TextFault::kNone) {
    return fault;
  }
  Clock clock;
  bool has_offset = false;
  int64_t offset = 0;
  if (!in.empty()) {
    if (!in.Take(" ") && !in.Take("T")) {
      return TextFault::kMalformed;
    }
    fault = ScanClock(&in, 23, &clock);
    if (fault != TextFault::kNone) {
      return fault;
    }
    if (!ScanOffset(&in, &has_offset, &offset) || !in.empty()) {
      return TextFault::kMalformed;
    }
  }
  if (!format.with_zone && offset != 0) {
    return TextFault::kHasZone;
  }
  const int64_t nanos_per_tick = kNanosPerSecond / format.ticks_per_second;
  if (clock.nanos % nanos_per_tick != 0) {
    return TextFault::kTooPrecise;
  }
  const int128_t result = static_cast<int128_t>(days * kSecondsPerDay + clock.seconds - offset) *
                              format.ticks_per_second +
                          clock.nanos / nanos_per_tick;
  if (result >= kInfinity || result <= kMinusInfinity) {
    return TextFault::kOutOfRange;
  }
  *ticks = static_cast<int64_t>(result);
  return TextFault::kNone;
}

void AppendTimestamp(int64_t ticks, TimestampFormat format, std::string* out) {
  if (AppendInfinity(ticks, out)) {
    return;
  }
  const int64_t ticks_per_day = kSecondsPerDay * format.ticks_per_second;
  AppendDate(FloorDivide(ticks, ticks_per_day), out);
  out->push_back(' ');
  AppendClock(static_cast<uint64_t>(FloorModulo(ticks, ticks_per_day)), format.ticks_per_second,
              out);
  if (format.with_zone) {
    out->append("+00");
  }
}

}  // namespace varve

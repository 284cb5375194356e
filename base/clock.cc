#include "base/clock.h"

#include "base/number_text.h"

namespace varve {
namespace {

int FractionDigits(int64_t ticks_per_second) {
  int digits = 0;
  for (; ticks_per_second > 1; ticks_per_second /= 10) {
    ++digits;
  }
  return digits;
}

// Appends ".25" for 25 hundredths (width 2) and nothing for none.
void AppendFraction(uint64_t fraction, int width, std::string* out) {
  if (fraction == 0) {
    return;
  }
  for (; fraction % 10 == 0; --width) {
    fraction /= 10;
  }
  out->push_back('.');
  AppendPadded(fraction, width, out);
}

}  // namespace

TextFault ScanClock(TextScanner* in, int64_t max_hours, Clock* clock) {
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!in->TakeDigits(2, 10, &hours) || !in->Take(":") || !in->TakeDigits(2, 2, &minutes)) {
    return TextFault::kMalformed;
  }
  if (in->Take(":") && (!in->TakeDigits(2, 2, &seconds) || !in->TakeFraction(&nanos))) {
    return TextFault::kMalformed;
  }
  if (hours > max_hours || minutes > 59 || seconds > 59) {
    return TextFault::kOutOfRange;
  }
  *clock = {.seconds = hours * 3600 + minutes * 60 + seconds, .nanos = nanos};
  return TextFault::kNone;
}

void AppendClock(uint64_t ticks, int64_t ticks_per_second, std::string* out) {
  const auto unit = static_cast<uint64_t>(ticks_per_second);
  const uint64_t seconds = ticks / unit;
  AppendPadded(seconds / 3600, 2, out);
  out->push_back(':');
  AppendPadded(seconds / 60 % 60, 2, out);
  out->push_back(':');
  AppendPadded(seconds % 60, 2, out);
  AppendFraction(ticks % unit, FractionDigits(ticks_per_second), out);
}

}  // namespace varve

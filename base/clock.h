// Clock times (HH:MM:SS.fraction) as text: the part that times of day, timestamps and intervals
// have in common. Used by temporal.cc and interval.cc only; pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "base/text_scanner.h"

namespace varve {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;

// A clock time as read. The fraction stands apart, since it may be finer than the unit of the type.
struct Clock {
  int64_t seconds = 0;
  int64_t nanos = 0;
};

// Reads HH:MM[:SS[.fraction]] with hours up to `max_hours`. The scanner may have moved after a
// fault.
TextFault ScanClock(TextScanner* in, int64_t max_hours, Clock* clock);

// Appends HH:MM:SS, with more digits of hours where it needs them, and the fraction without zeros
// at its end, none if it is zero. Requires: ticks_per_second is a power of ten up to 10^9.
void AppendClock(uint64_t ticks, int64_t ticks_per_second, std::string* out);

// |value|, also of the smallest number.
constexpr uint64_t Magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

}  // namespace varve

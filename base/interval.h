// Intervals: months, days and microseconds, which do not convert into each other.
//
// Pure functions; any thread. base/text.h parses and prints values of any type by these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/int128.h"
#include "base/text_scanner.h"

namespace varve {

struct Interval {
  int32_t months = 0;
  int32_t days = 0;
  int64_t micros = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// The physical form: months << 96 | (days + 2^31) << 64 | (micros + 2^63). Its signed order is the
// order by months, then days, then microseconds; every 128-bit number is the form of one interval.
int128_t PackInterval(const Interval& interval);
Interval UnpackInterval(int128_t packed);

// Signed numbers with units and at most one signed clock time, in any order:
// "1 year 2 mons -3 days -04:05:06.789", "1 month", "90 minutes". Equal units add up. Leaves
// `interval` alone unless it returns kNone.
TextFault ParseInterval(std::string_view text, Interval* interval);

// As PostgreSQL's default style prints it: "1 year 2 mons -3 days -04:05:06.789", "-1 days
// +00:00:01" (a field behind a negative one shows its sign), "00:00:00".
void AppendInterval(const Interval& interval, std::string* out);

}  // namespace varve

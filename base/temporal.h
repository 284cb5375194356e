// Dates, times of day and timestamps: calendar arithmetic and text.
//
// base/text.h is the way to parse and print values of any type; this header is what it is made of,
// and what code needs that builds temporal values itself. The calendar is the proleptic Gregorian
// one; there are no leap seconds and no zones other than offsets. Pure functions; any thread.
//
// Physical values: a date counts days since 1970-01-01; a time, microseconds since midnight (up to
// 24:00:00 inclusive); a timestamp, ticks of its unit since 1970-01-01 00:00:00. For dates and
// timestamps of every unit kInfinity and kMinusInfinity are the two infinities.
//
// The parsers leave their output alone unless they return TextFault::kNone. The printers print any
// number, also one that no parser returns.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/text_scanner.h"

namespace varve {

inline constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();

// The last day there is, 5881580-07-10; the first is as far on the other side. (DuckDB's range,
// which contains PostgreSQL's.)
inline constexpr int64_t kMaxDate = std::numeric_limits<int32_t>::max() - 1;

inline constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;

struct CivilDay {
  int64_t year = 0;
  int month = 0;
  int day = 0;
};
// The inverse of DaysFromCivil (base/text.h).
CivilDay CivilFromDays(int64_t days);

// 2026-11-30, 0044-03-15 (BC), 0044-03-15 BC, infinity, -infinity.
TextFault ParseDate(std::string_view text, int64_t* days);
void AppendDate(int64_t days, std::string* out);

// 23:59, 23:59:59, 23:59:59.999999, 24:00:00.
TextFault ParseTime(std::string_view text, int64_t* micros);
void AppendTime(int64_t micros, std::string* out);

// A kind of timestamp: 1, 10^3, 10^6 or 10^9 ticks a second; with or without zone. With a zone the
// value counts from 1970-01-01 00:00:00 UTC, and a text without an offset is UTC.
struct TimestampFormat {
  int64_t ticks_per_second = kMicrosPerSecond;
  bool with_zone = false;
};

// A date, then after ' ' or 'T' a time, then an offset (+05:30, -08, Z, UTC). A date alone is its
// midnight. "BC" stands behind the date or at the end.
TextFault ParseTimestamp(std::string_view text, TimestampFormat format, int64_t* ticks);
void AppendTimestamp(int64_t ticks, TimestampFormat format, std::string* out);

}  // namespace varve

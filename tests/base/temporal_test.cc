#include "base/temporal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/text.h"
#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::string DateText(int64_t days) {
  std::string text;
  AppendDate(days, &text);
  return text;
}

// A calendar that counts days one by one.
class DayByDay {
 public:
  DayByDay(int64_t year, int month, int day) : day_{.year = year, .month = month, .day = day} {}

  const CivilDay& day() const { return day_; }

  void Advance() {
    if (++day_.day <= DaysInMonth()) {
      return;
    }
    day_.day = 1;
    if (++day_.month <= 12) {
      return;
    }
    day_.month = 1;
    ++day_.year;
  }

 private:
  int DaysInMonth() const {
    switch (day_.month) {
      case 4:
      case 6:
      case 9:
      case 11: return 30;
      case 2: {
        const bool leap = day_.year % 400 == 0 || (day_.year % 4 == 0 && day_.year % 100 != 0);
        return leap ? 29 : 28;
      }
      default: return 31;
    }
  }

  CivilDay day_;
};

// Year 0 is 1 BC, -1 is 2 BC.
std::string PlainText(const CivilDay& day) {
  char text[40];
  std::snprintf(text, sizeof(text), "%04lld-%02d-%02d%s",
                static_cast<long long>(day.year > 0 ? day.year : 1 - day.year), day.month, day.day,
                day.year > 0 ? "" : " (BC)");
  return text;
}

TEST(TemporalTest, DatesFollowADayByDayCalendar) {
  DayByDay calendar(1970, 1, 1);
  for (int64_t days = 0; days < 12'000 * 366; ++days, calendar.Advance()) {
    const CivilDay& day = calendar.day();
    ASSERT_EQ(DaysFromCivil(day.year, day.month, day.day), days) << PlainText(day);
    const CivilDay back = CivilFromDays(days);
    ASSERT_TRUE(back.year == day.year && back.month == day.month && back.day == day.day) << days;
    if (days % 97 == 0 || (day.year < 2100 && day.year > 2000)) {
      ASSERT_EQ(DateText(days), PlainText(day));
      int64_t parsed = 0;
      ASSERT_EQ(ParseDate(PlainText(day), &parsed), TextFault::kNone) << PlainText(day);
      ASSERT_EQ(parsed, days);
    }
  }
}

TEST(TemporalTest, DatesBefore1970FollowADayByDayCalendar) {
  DayByDay calendar(-4800, 1, 1);
  const int64_t first = DaysFromCivil(-4800, 1, 1);
  for (int64_t days = first; days <= 0; ++days, calendar.Advance()) {
    const CivilDay& day = calendar.day();
    ASSERT_EQ(DaysFromCivil(day.year, day.month, day.day), days) << PlainText(day);
    const CivilDay back = CivilFromDays(days);
    ASSERT_TRUE(back.year == day.year && back.month == day.month && back.day == day.day) << days;
    if (days % 97 == 0 || (day.year < 3 && day.year > -3)) {
      ASSERT_EQ(DateText(days), PlainText(day));
      int64_t parsed = 0;
      ASSERT_EQ(ParseDate(PlainText(day), &parsed), TextFault::kNone) << PlainText(day);
      ASSERT_EQ(parsed, days);
    }
  }
  EXPECT_EQ(calendar.day().year, 1970);
  EXPECT_EQ(calendar.day().day, 2);
}

TEST(TemporalTest, DatesAgreeWithTheStandardLibrary) {
  using std::chrono::sys_days;
  for (int64_t days = -12'000'000; days < 11'000'000; days += 1'009) {
    const std::chrono::year_month_day expected{sys_days(std::chrono::days(static_cast<int>(days)))};
    const CivilDay day = CivilFromDays(days);
    ASSERT_EQ(day.year, static_cast<int>(expected.year()));
    ASSERT_EQ(static_cast<unsigned>(day.month), static_cast<unsigned>(expected.month()));
    ASSERT_EQ(static_cast<unsigned>(day.day), static_cast<unsigned>(expected.day()));
  }
}

TEST(TemporalTest, CivilDaysInvertAtAnyDistance) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 50'000; ++i) {
    const int64_t days = random.Int64();
    const CivilDay day = CivilFromDays(days);
    ASSERT_GE(day.month, 1);
    ASSERT_LE(day.month, 12);
    ASSERT_GE(day.day, 1);
    ASSERT_LE(day.day, 31);
    if (day.year > -1'000'000'000'000'000 && day.year < 1'000'000'000'000'000) {
      ASSERT_EQ(DaysFromCivil(day.year, day.month, day.day), days);
    }
  }
}

TEST(TemporalTest, TheRangeOfDatesIsThatOfDuckDb) {
  EXPECT_EQ(DateText(kMaxDate), "5881580-07-10");
  EXPECT_EQ(DateText(-kMaxDate), "5877642-06-25 (BC)");
  int64_t days = 0;
  EXPECT_EQ(ParseDate("5881580-07-11", &days), TextFault::kOutOfRange);
  EXPECT_EQ(ParseDate("5877642-06-24 (BC)", &days), TextFault::kOutOfRange);
  EXPECT_EQ(ParseDate("9999999-12-31", &days), TextFault::kOutOfRange);
}

TEST(TemporalTest, FaultsOfDates) {
  int64_t days = 77;
  for (const char* text :
       {"2023-02-29", "2024-02-30", "1900-02-29", "2024-04-31", "2024-00-10", "2024-13-01",
        "2024-01-00", "2024-01-32", "0000-01-01", "0000-01-01 (BC)", "0002-02-29 (BC)"}) {
    EXPECT_EQ(ParseDate(text, &days), TextFault::kNoSuchDay) << text;
  }
  for (const char* text :
       {"", "2024", "2024-01", "2024-1-1", "24-01-01", "2024-01-01 ", " 2024-01-01", "2024/01/01",
        "20240101", "2024-01-01 00:00:00", "-2024-01-01", "2024-01-01 (BC) BC", "2024-01-01(BC)",
        "2024-01-01 bc", "12345678-01-01", "infinit", "-", "today"}) {
    EXPECT_EQ(ParseDate(text, &days), TextFault::kMalformed) << text;
  }
  EXPECT_EQ(days, 77);
}

TEST(TemporalTest, LeapDaysBeforeChrist) {
  // 1 BC is the year 0, and leap; so is 5 BC.
  int64_t days = 0;
  EXPECT_EQ(ParseDate("0001-02-29 (BC)", &days), TextFault::kNone);
  EXPECT_EQ(DateText(days), "0001-02-29 (BC)");
  EXPECT_EQ(ParseDate("0005-02-29 BC", &days), TextFault::kNone);
  EXPECT_EQ(DateText(days), "0005-02-29 (BC)");
  EXPECT_EQ(ParseDate("0001-12-31 (BC)", &days), TextFault::kNone);
  EXPECT_EQ(DateText(days + 1), "0001-01-01");
}

TEST(TemporalTest, TimesToTheMicrosecond) {
  int64_t micros = 0;
  EXPECT_EQ(ParseTime("23:59:59.999999", &micros), TextFault::kNone);
  EXPECT_EQ(micros, kMicrosPerDay - 1);
  EXPECT_EQ(ParseTime("24:00:00", &micros), TextFault::kNone);
  EXPECT_EQ(micros, kMicrosPerDay);
  EXPECT_EQ(ParseTime("12:30", &micros), TextFault::kNone);
  EXPECT_EQ(micros, (12 * 60 + 30) * 60 * kMicrosPerSecond);
  EXPECT_EQ(ParseTime("00:00:00.000001000", &micros), TextFault::kNone);
  EXPECT_EQ(micros, 1);
  EXPECT_EQ(ParseTime("00:00:00.0000001", &micros), TextFault::kTooPrecise);
  for (const char* text : {"24:00:00.000001", "24:00:01", "25:00:00", "12:60:00", "12:00:60"}) {
    EXPECT_EQ(ParseTime(text, &micros), TextFault::kOutOfRange) << text;
  }
  for (const char* text : {"", "12", "1:00:00", "12:0:00", "12:00:0", "12:00:00.", "-12:00:00",
                           "12:00:00+00", "12:00:00 ", "12:00:00.0000000000"}) {
    EXPECT_EQ(ParseTime(text, &micros), TextFault::kMalformed) << text;
  }
  EXPECT_EQ(micros, 1);
}

constexpr TimestampFormat kSeconds = {.ticks_per_second = 1};
constexpr TimestampFormat kMillis = {.ticks_per_second = 1'000};
constexpr TimestampFormat kMicros = {};
constexpr TimestampFormat kNanos = {.ticks_per_second = 1'000'000'000};
constexpr TimestampFormat kUtc = {.with_zone = true};

std::string TimestampText(int64_t ticks, TimestampFormat format) {
  std::string text;
  AppendTimestamp(ticks, format, &text);
  return text;
}

TEST(TemporalTest, TimestampsOfEveryUnit) {
  const std::string_view text = "2026-11-30 08:37:06";
  constexpr int64_t kSecondsOfText = 1'796'027'826;
  for (const TimestampFormat& format : {kSeconds, kMillis, kMicros, kNanos}) {
    int64_t ticks = 0;
    ASSERT_EQ(ParseTimestamp(text, format, &ticks), TextFault::kNone);
    EXPECT_EQ(ticks, kSecondsOfText * format.ticks_per_second);
    EXPECT_EQ(TimestampText(ticks, format), text);
  }
}

TEST(TemporalTest, FractionsMustFitTheUnit) {
  int64_t ticks = 0;
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.000", kSeconds, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, 1);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.5", kSeconds, &ticks), TextFault::kTooPrecise);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.5", kMillis, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, 1'500);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.0005", kMillis, &ticks), TextFault::kTooPrecise);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.0000005", kMicros, &ticks), TextFault::kTooPrecise);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.000000005", kNanos, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, 1'000'000'005);
}

TEST(TemporalTest, PrintingLeavesOutZerosAtTheEnd) {
  EXPECT_EQ(TimestampText(331'149, kMicros), "1970-01-01 00:00:00.331149");
  EXPECT_EQ(TimestampText(330'000, kMicros), "1970-01-01 00:00:00.33");
  EXPECT_EQ(TimestampText(-1, kMicros), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(TimestampText(-1, kNanos), "1969-12-31 23:59:59.999999999");
  EXPECT_EQ(TimestampText(1, kUtc), "1970-01-01 00:00:00.000001+00");
}

TEST(TemporalTest, OffsetsOfTimestampsWithZone) {
  const auto ticks_of = [](std::string_view text) {
    int64_t ticks = -1;
    EXPECT_EQ(ParseTimestamp(text, kUtc, &ticks), TextFault::kNone) << text;
    return ticks;
  };
  const int64_t noon = 12 * 3600 * kMicrosPerSecond;
  for (const char* text :
       {"1970-01-01 12:00:00", "1970-01-01T12:00:00Z", "1970-01-01 12:00:00z",
        "1970-01-01 12:00:00 UTC", "1970-01-01 12:00:00UTC", "1970-01-01 12:00:00+00",
        "1970-01-01 12:00:00-00:00", "1970-01-01 17:30:00+05:30", "1970-01-01 17:30:00+0530",
        "1970-01-01 04:00:00-08", "1970-01-01 12:53:28+00:53:28", "1970-01-02 03:59:59+15:59:59"}) {
    EXPECT_EQ(ticks_of(text), noon) << text;
  }
  EXPECT_EQ(ticks_of("1970-01-01"), 0);
  EXPECT_EQ(ticks_of("1970-01-01 00:00+01"), -3600 * kMicrosPerSecond);
}

TEST(TemporalTest, TimestampsWithoutZoneRefuseOffsets) {
  int64_t ticks = 0;
  EXPECT_EQ(ParseTimestamp("2024-01-01 00:00:00+02", kMicros, &ticks), TextFault::kHasZone);
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01+00", kMicros, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, kMicrosPerSecond);
}

TEST(TemporalTest, BeforeChristStandsBehindTheDateOrAtTheEnd) {
  const int64_t noon_of_ides =
      DaysFromCivil(-43, 3, 15) * kMicrosPerDay + 12 * 3600 * kMicrosPerSecond;
  for (const char* text :
       {"0044-03-15 (BC) 12:00:00+00", "0044-03-15 12:00:00+00 BC", "0044-03-15 12:00:00 BC"}) {
    int64_t ticks = 0;
    EXPECT_EQ(ParseTimestamp(text, kUtc, &ticks), TextFault::kNone) << text;
    EXPECT_EQ(ticks, noon_of_ides) << text;
  }
  EXPECT_EQ(TimestampText(noon_of_ides, kUtc), "0044-03-15 (BC) 12:00:00+00");
}

TEST(TemporalTest, FaultsOfTimestamps) {
  int64_t ticks = 77;
  for (const char* text :
       {"", "2024-01-01 ", "2024-01-01T", "2024-01-01 12", "2024-01-01  12:00:00",
        "2024-01-01t12:00:00", "2024-01-01 12:00:00 ", "2024-01-01 12:00:00.", "now",
        "2024-01-01 12:00:00+", "2024-01-01 12:00:00+1",
        "2024-01-01 12:00:00+01:", "2024-01-01 12:00:00+01:60", "2024-01-01 12:00:00+16",
        "2024-01-01 12:00:00-16:00", "2024-01-01 12:00:00+00 Europe", "2024-01-01 12:00:00 CET",
        "2024-01-01 12:00:00.1234567890"}) {
    EXPECT_EQ(ParseTimestamp(text, kUtc, &ticks), TextFault::kMalformed) << text;
  }
  EXPECT_EQ(ParseTimestamp("2024-01-01 24:00:00", kUtc, &ticks), TextFault::kOutOfRange);
  EXPECT_EQ(ParseTimestamp("2024-02-30 12:00:00", kUtc, &ticks), TextFault::kNoSuchDay);
  EXPECT_EQ(ticks, 77);
}

TEST(TemporalTest, TheRangeOfTimestampsEndsBeforeTheInfinities) {
  int64_t ticks = 0;
  EXPECT_EQ(ParseTimestamp("294247-01-10 04:00:54.775806", kMicros, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, kInfinity - 1);
  EXPECT_EQ(ParseTimestamp("294247-01-10 04:00:54.775807", kMicros, &ticks),
            TextFault::kOutOfRange);
  EXPECT_EQ(TimestampText(kMinusInfinity + 1, kMicros), "290309-12-21 (BC) 19:59:05.224193");
  EXPECT_EQ(ParseTimestamp("290309-12-21 (BC) 19:59:05.224193", kMicros, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, kMinusInfinity + 1);
  EXPECT_EQ(ParseTimestamp("290309-12-21 (BC) 19:59:05.224192", kMicros, &ticks),
            TextFault::kOutOfRange);
  EXPECT_EQ(ParseTimestamp("2262-04-11 23:47:16.854775806", kNanos, &ticks), TextFault::kNone);
  EXPECT_EQ(ticks, kInfinity - 1);
  EXPECT_EQ(ParseTimestamp("2262-04-11 23:47:16.854775807", kNanos, &ticks),
            TextFault::kOutOfRange);
}

TEST(TemporalTest, InfinitiesAreTheExtremes) {
  for (const TimestampFormat& format : {kSeconds, kMillis, kMicros, kNanos, kUtc}) {
    int64_t ticks = 0;
    EXPECT_EQ(ParseTimestamp("infinity", format, &ticks), TextFault::kNone);
    EXPECT_EQ(ticks, kInfinity);
    EXPECT_EQ(TimestampText(ticks, format), "infinity");
    EXPECT_EQ(ParseTimestamp("-Infinity", format, &ticks), TextFault::kNone);
    EXPECT_EQ(ticks, kMinusInfinity);
    EXPECT_EQ(TimestampText(ticks, format), "-infinity");
  }
  int64_t days = 0;
  EXPECT_EQ(ParseDate("infinity", &days), TextFault::kNone);
  EXPECT_EQ(days, kInfinity);
  EXPECT_EQ(DateText(days), "infinity");
  EXPECT_EQ(ParseDate("-infinity", &days), TextFault::kNone);
  EXPECT_EQ(DateText(days), "-infinity");
}

// Damaged rows must print, too.
TEST(TemporalTest, PrintsNumbersThatNoParserReturns) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int64_t number = random.Int64();
    std::string text;
    AppendDate(number, &text);
    AppendTime(number, &text);
    for (const TimestampFormat& format : {kSeconds, kMillis, kMicros, kNanos, kUtc}) {
      AppendTimestamp(number, format, &text);
    }
    ASSERT_GT(text.size(), 40U);
  }
}

}  // namespace
}  // namespace varve

#include "base/interval.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3'600 * kSecond;

std::string Text(const Interval& interval) {
  std::string text;
  AppendInterval(interval, &text);
  return text;
}

Interval Random(RandomValues* random) {
  const auto bits = static_cast<int32_t>(random->Int64());
  return {.months = random->OneIn(3) ? 0 : bits,
          .days = random->OneIn(3) ? 0 : static_cast<int32_t>(random->Int64()),
          .micros = random->OneIn(3) ? 0 : random->Int64()};
}

TEST(IntervalTest, ParsesWhatTheSystemsWrite) {
  const std::vector<std::pair<const char*, Interval>> table = {
      {"00:00:00", {}},
      {"1 mon 2 days 00:00:03", {.months = 1, .days = 2, .micros = 3 * kSecond}},
      {"1 month 2 days 00:00:03", {.months = 1, .days = 2, .micros = 3 * kSecond}},
      {"1 year 2 mons -3 days -04:05:06.789",
       {.months = 14, .days = -3, .micros = -(4 * kHour + 306 * kSecond + 789'000)}},
      {"-1 years -2 mons +3 days", {.months = -14, .days = 3}},
      {"-1 days +02:03:00", {.days = -1, .micros = 2 * kHour + 180 * kSecond}},
      {"2 years 3 months", {.months = 27}},
      {"2562047788:00:54.775807", {.micros = std::numeric_limits<int64_t>::max()}},
      {"3 weeks", {.days = 21}},
      {"1 day 1 day", {.days = 2}},
      {"90 minutes", {.micros = 90 * 60 * kSecond}},
      {"1.5 seconds", {.micros = 1'500'000}},
      {"-1.5 sec", {.micros = -1'500'000}},
      {"250 milliseconds 7 microseconds", {.micros = 250'007}},
      {"1DAY", {.days = 1}},
      {"12:30", {.micros = 12 * kHour + 1'800 * kSecond}},
  };
  for (const auto& [text, expected] : table) {
    Interval interval;
    EXPECT_EQ(ParseInterval(text, &interval), TextFault::kNone) << text;
    EXPECT_EQ(interval, expected) << text << " read as " << Text(interval);
  }
}

TEST(IntervalTest, RefusesOtherTexts) {
  Interval interval = {.days = 9};
  for (const char* text : {"", " ", "1", "day", "1 fortnight", "1 days2 hours", "1.5 days",
                           "1:00:00", "00:00:00 00:00:00", "- 1 day", "1 day,", "P1D", "1 dayss",
                           "1 day ago", "00:00:00:00", "00:00:00.", "1234567890123456789 days"}) {
    EXPECT_EQ(ParseInterval(text, &interval), TextFault::kMalformed) << text;
  }
  for (const char* text : {"2147483648 days", "-2147483649 mons", "178956971 years",
                           "2562047788:00:54.775808", "00:60:00", "00:00:60"}) {
    EXPECT_EQ(ParseInterval(text, &interval), TextFault::kOutOfRange) << text;
  }
  EXPECT_EQ(ParseInterval("00:00:00.0000001", &interval), TextFault::kTooPrecise);
  EXPECT_EQ(ParseInterval("0.0000001 seconds", &interval), TextFault::kTooPrecise);
  EXPECT_EQ(interval, (Interval{.days = 9}));
}

TEST(IntervalTest, PrintsAsPostgresDoes) {
  EXPECT_EQ(Text({}), "00:00:00");
  EXPECT_EQ(Text({.months = 1, .days = 2, .micros = 3 * kSecond}), "1 mon 2 days 00:00:03");
  EXPECT_EQ(Text({.months = 14}), "1 year 2 mons");
  EXPECT_EQ(Text({.months = -14}), "-1 years -2 mons");
  EXPECT_EQ(Text({.months = -1, .days = 1, .micros = -1}), "-1 mons +1 day -00:00:00.000001");
  EXPECT_EQ(Text({.days = -1, .micros = kSecond / 2}), "-1 days +00:00:00.5");
  EXPECT_EQ(Text({.micros = -25 * kHour}), "-25:00:00");
}

TEST(IntervalTest, ReadsBackWhatItPrints) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const Interval interval = Random(&random);
    Interval read;
    ASSERT_EQ(ParseInterval(Text(interval), &read), TextFault::kNone) << Text(interval);
    ASSERT_EQ(read, interval) << Text(interval);
  }
}

TEST(IntervalTest, PackedOrderIsByMonthsThenDaysThenMicros) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 50'000; ++i) {
    const Interval a = Random(&random);
    Interval b = Random(&random);
    if (random.OneIn(2)) {
      b.months = a.months;
      b.days = random.OneIn(2) ? a.days : b.days;
    }
    const auto fields_of = [](const Interval& x) { return std::tie(x.months, x.days, x.micros); };
    ASSERT_EQ(PackInterval(a) < PackInterval(b), fields_of(a) < fields_of(b))
        << Text(a) << " and " << Text(b);
    ASSERT_EQ(UnpackInterval(PackInterval(a)), a);
  }
}

TEST(IntervalTest, EveryNumberIsOneInterval) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int128_t packed = random.Int128();
    ASSERT_TRUE(PackInterval(UnpackInterval(packed)) == packed);
  }
  EXPECT_TRUE(PackInterval({.months = std::numeric_limits<int32_t>::min(),
                            .days = std::numeric_limits<int32_t>::min(),
                            .micros = std::numeric_limits<int64_t>::min()}) == kInt128Min);
}

}  // namespace
}  // namespace varve

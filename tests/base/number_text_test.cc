#include "base/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::string Float64Text(double value) {
  std::string text;
  AppendFloat64(value, &text);
  return text;
}

std::string DecimalText(int128_t value, uint8_t scale) {
  std::string text;
  AppendDecimal(value, scale, &text);
  return text;
}

TEST(NumberTextTest, IntegersReadBackWithinTheirBounds) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int64_t value = random.Int64();
    const int64_t bound = random.Int64();
    std::string text;
    AppendInteger(value, &text);
    ASSERT_EQ(text, std::to_string(value));
    int64_t read = 0;
    const TextFault fault = ParseInteger(text, bound, std::numeric_limits<int64_t>::max(), &read);
    ASSERT_EQ(fault, value >= bound ? TextFault::kNone : TextFault::kOutOfRange);
    ASSERT_EQ(read, value >= bound ? value : 0);
  }
}

// strtod is an independent reader; the C library rounds correctly.
TEST(NumberTextTest, FloatsReadBackByTheCLibraryToo) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const double value = random.Float64();
    const std::string text = Float64Text(value);
    double read = 0;
    ASSERT_EQ(ParseFloat64(text, &read), TextFault::kNone) << text;
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(read));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(value)) << text;
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

TEST(NumberTextTest, ExponentsOnlyWhereNumbersAreVeryLargeOrSmall) {
  EXPECT_EQ(Float64Text(999'999'999'999'999), "999999999999999");
  EXPECT_EQ(Float64Text(1e15), "1e+15");
  EXPECT_EQ(Float64Text(1e-5), "0.00001");
  EXPECT_EQ(Float64Text(-9e-6), "-9e-06");
  EXPECT_EQ(Float64Text(-0.0), "-0");
}

TEST(NumberTextTest, DecimalsAreIntegersWithAPoint) {
  EXPECT_EQ(DecimalText(-5, 3), "-0.005");
  EXPECT_EQ(DecimalText(12'345, 2), "123.45");
  EXPECT_EQ(DecimalText(12'345, 0), "12345");
  EXPECT_EQ(DecimalText(0, 4), "0.0000");
  // Beyond any precision, as damage could make it.
  EXPECT_EQ(DecimalText(kInt128Min, 38), "-1.70141183460469231731687303715884105728");
}

TEST(NumberTextTest, DecimalsAreCheckedAgainstTheirPrecision) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const auto precision = static_cast<uint8_t>(1 + random.Below(38));
    const auto scale = static_cast<uint8_t>(random.Below(precision + 1U));
    const int128_t value = random.Int128();
    int128_t read = 0;
    const TextFault fault = ParseDecimal(DecimalText(value, scale), precision, scale, &read);
    std::string magnitude;
    AppendUInt128(value < 0 ? ~static_cast<uint128_t>(value) + 1 : static_cast<uint128_t>(value),
                  &magnitude);
    const bool fits = magnitude.size() <= precision;
    ASSERT_EQ(fault, fits ? TextFault::kNone : TextFault::kOutOfRange)
        << DecimalText(value, scale) << " for " << int{precision} << "," << int{scale};
    ASSERT_TRUE(read == (fits ? value : 0));
  }
}

}  // namespace
}  // namespace varve

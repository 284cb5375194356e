#include "base/int128.h"

#include <gtest/gtest.h>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::string Text(int128_t value) {
  std::string text;
  AppendInt128(value, &text);
  return text;
}

std::string UnsignedText(uint128_t value) {
  std::string text;
  AppendUInt128(value, &text);
  return text;
}

TEST(Int128Test, PrintsExtremes) {
  EXPECT_EQ(Text(0), "0");
  EXPECT_EQ(Text(-1), "-1");
  EXPECT_EQ(Text(kInt128Max), "170141183460469231731687303715884105727");
  EXPECT_EQ(Text(kInt128Min), "-170141183460469231731687303715884105728");
  EXPECT_EQ(UnsignedText(0), "0");
  EXPECT_EQ(UnsignedText(~static_cast<uint128_t>(0)), "340282366920938463463374607431768211455");
}

TEST(Int128Test, PrintsZerosInTheMiddle) {
  const uint128_t ten_to_19 = 10'000'000'000'000'000'000U;
  EXPECT_EQ(UnsignedText(ten_to_19 - 1), "9999999999999999999");
  EXPECT_EQ(UnsignedText(ten_to_19), "10000000000000000000");
  EXPECT_EQ(UnsignedText((uint128_t{1} << 64) - 1), "18446744073709551615");
  EXPECT_EQ(UnsignedText(uint128_t{1} << 64), "18446744073709551616");
  EXPECT_EQ(UnsignedText(ten_to_19 * 3 + 7), "30000000000000000007");
  EXPECT_EQ(UnsignedText(ten_to_19 * ten_to_19), "100000000000000000000000000000000000000");
}

TEST(Int128Test, PrintingAppends) {
  std::string text = "x=";
  AppendInt128(-12, &text);
  EXPECT_EQ(text, "x=-12");
}

TEST(Int128Test, RefusesOnePastTheExtremes) {
  EXPECT_TRUE(ParseInt128("170141183460469231731687303715884105727") == kInt128Max);
  EXPECT_FALSE(ParseInt128("170141183460469231731687303715884105728").has_value());
  EXPECT_TRUE(ParseInt128("-170141183460469231731687303715884105728") == kInt128Min);
  EXPECT_FALSE(ParseInt128("-170141183460469231731687303715884105729").has_value());
  EXPECT_TRUE(ParseUInt128("340282366920938463463374607431768211455") ==
              ~static_cast<uint128_t>(0));
  EXPECT_FALSE(ParseUInt128("340282366920938463463374607431768211456").has_value());
  EXPECT_FALSE(ParseUInt128("3402823669209384634633746074317682114550").has_value());
}

TEST(Int128Test, AcceptsSignsAndLeadingZeros) {
  EXPECT_TRUE(ParseInt128("+7") == 7);
  EXPECT_TRUE(ParseInt128("-0") == 0);
  EXPECT_TRUE(ParseInt128("00000000000000000000000000000000000000000000000007") == 7);
  EXPECT_TRUE(ParseUInt128("007") == 7U);
}

TEST(Int128Test, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "+", "--1", "+-1", "1 ", " 1", "1.0", "0x1", "1e3", "a"}) {
    EXPECT_FALSE(ParseInt128(text).has_value()) << "'" << text << "'";
  }
  for (const char* text : {"", "-1", "+1", "1 ", "a"}) {
    EXPECT_FALSE(ParseUInt128(text).has_value()) << "'" << text << "'";
  }
}

TEST(Int128Test, RandomValuesReadBack) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int128_t value = random.Int128();
    ASSERT_TRUE(ParseInt128(Text(value)) == value) << Text(value);
    const auto bits = static_cast<uint128_t>(value);
    ASSERT_TRUE(ParseUInt128(UnsignedText(bits)) == bits) << UnsignedText(bits);
  }
}

}  // namespace
}  // namespace varve

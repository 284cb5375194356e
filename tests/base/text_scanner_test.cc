#include "base/text_scanner.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

TEST(TextScannerTest, TakesLiterals) {
  TextScanner in("abCD");
  EXPECT_FALSE(in.Take("b"));
  EXPECT_TRUE(in.Take("ab"));
  EXPECT_FALSE(in.Take("cd"));
  EXPECT_TRUE(in.TakeIgnoringCase("cd"));
  EXPECT_TRUE(in.empty());
  EXPECT_FALSE(in.Take("x"));
}

TEST(TextScannerTest, TakesDigitsUpToAMost) {
  TextScanner in("0123456x");
  int64_t value = -1;
  EXPECT_FALSE(in.TakeDigits(8, 9, &value));
  EXPECT_EQ(value, -1);
  EXPECT_TRUE(in.TakeDigits(2, 4, &value));
  EXPECT_EQ(value, 123);
  EXPECT_TRUE(in.TakeDigits(1, 18, &value));
  EXPECT_EQ(value, 456);
  EXPECT_FALSE(in.TakeDigits(1, 18, &value));
  EXPECT_EQ(in.TakeLetters(), "x");
}

TEST(TextScannerTest, FractionsAreBillionths) {
  int64_t billionths = -1;
  TextScanner none("x");
  EXPECT_TRUE(none.TakeFraction(&billionths));
  EXPECT_EQ(billionths, 0);
  TextScanner half(".5");
  EXPECT_TRUE(half.TakeFraction(&billionths));
  EXPECT_EQ(billionths, 500'000'000);
  TextScanner nine(".123456789");
  EXPECT_TRUE(nine.TakeFraction(&billionths));
  EXPECT_EQ(billionths, 123'456'789);
  EXPECT_FALSE(TextScanner(".1234567890").TakeFraction(&billionths));
  EXPECT_FALSE(TextScanner(".").TakeFraction(&billionths));
  EXPECT_FALSE(TextScanner(".x").TakeFraction(&billionths));
}

TEST(TextScannerTest, PeeksBehindDigits) {
  EXPECT_EQ(TextScanner("12:30").PeekBehindDigits(), ':');
  EXPECT_EQ(TextScanner("12").PeekBehindDigits(), '\0');
  EXPECT_EQ(TextScanner("day").PeekBehindDigits(), 'd');
}

TEST(TextScannerTest, SkipsSpacesAndSaysWhether) {
  TextScanner in("  a");
  EXPECT_TRUE(in.SkipSpaces());
  EXPECT_FALSE(in.SkipSpaces());
  EXPECT_EQ(in.TakeLetters(), "a");
  EXPECT_EQ(in.TakeLetters(), "");
}

}  // namespace
}  // namespace varve

#include "base/strings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace varve {
namespace {

TEST(StringsTest, ConcatenatesViewsStringsLiteralsAndNumbers) {
  const std::string text = "text";
  EXPECT_EQ(StrCat("a", std::string_view("b"), text, 1, int64_t{-2}, uint64_t{3}), "abtext1-23");
  std::string out = "x";
  StrAppend(&out, std::string_view("y"), 4);
  EXPECT_EQ(out, "xy4");
  EXPECT_EQ(StrCat(), "");
}

TEST(StringsTest, JoinsRanges) {
  EXPECT_EQ(StrJoin(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(StrJoin(std::vector<int>{1, 2}, "-"), "1-2");
  EXPECT_EQ(StrJoin(std::vector<std::string>{}, ", "), "");
}

TEST(StringsTest, IgnoresTheCaseOfAsciiOnly) {
  EXPECT_EQ(AsciiStrToLower("AbC Ä"), "abc Ä");
  EXPECT_TRUE(EqualsIgnoreCase("BIGINT", "bigint"));
  EXPECT_FALSE(EqualsIgnoreCase("bigint", "bigin"));
  EXPECT_TRUE(StartsWithIgnoreCase("DuckLake_table", "ducklake_"));
  EXPECT_FALSE(StartsWithIgnoreCase("duck", "ducklake"));
}

TEST(StringsTest, HexDigitsAreLowerCase) {
  EXPECT_EQ(BytesToHexString(std::string_view("\x00\xAB", 2)), "00ab");
}

TEST(StringsTest, ParsesWholeNumbersOnly) {
  EXPECT_EQ(ParseNumber<int>("-12"), -12);
  EXPECT_EQ(ParseNumber<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseNumber<uint64_t>("18446744073709551616"), std::nullopt);
  for (const char* text : {"", "1 ", " 1", "1x", "x", "+1"}) {
    EXPECT_EQ(ParseNumber<int>(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(StringsTest, MessagesOfStatusesAreTheirText) {
  EXPECT_EQ(MessageOf(absl::NotFoundError("no such table")), "no such table");
  EXPECT_EQ(MessageOf(absl::OkStatus()), "");
}

}  // namespace
}  // namespace varve

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace varve {
namespace {

// UTF-8 as its definition has it: the bits of a code point spread over one to four bytes.
std::string Encode(uint32_t code_point, int length) {
  if (length == 1) {
    return std::string(1, static_cast<char>(code_point));
  }
  std::string bytes(static_cast<size_t>(length), '\0');
  for (int i = length - 1; i > 0; --i) {
    bytes[static_cast<size_t>(i)] = static_cast<char>(0x80 | (code_point & 0x3f));
    code_point >>= 6;
  }
  const uint32_t marker = (0xff00U >> length) & 0xff;
  bytes[0] = static_cast<char>(marker | code_point);
  return bytes;
}

int ShortestLength(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

TEST(Utf8Test, AcceptsEveryCodePointExceptSurrogates) {
  for (uint32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    const bool is_surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
    ASSERT_EQ(IsValidUtf8(Encode(code_point, ShortestLength(code_point))), !is_surrogate)
        << code_point;
  }
}

TEST(Utf8Test, RefusesOverlongForms) {
  for (uint32_t code_point = 0; code_point < 0x10000; ++code_point) {
    for (int length = ShortestLength(code_point) + 1; length <= 4; ++length) {
      ASSERT_FALSE(IsValidUtf8(Encode(code_point, length))) << code_point << " in " << length;
    }
  }
}

TEST(Utf8Test, RefusesCodePointsBeyondTheLast) {
  for (uint32_t code_point = 0x110000; code_point < 0x200000; code_point += 61) {
    ASSERT_FALSE(IsValidUtf8(Encode(code_point, 4))) << code_point;
  }
}

TEST(Utf8Test, RefusesTruncatedCharactersAndStrayContinuations) {
  for (const std::string& character : {std::string("é"), std::string("€"), std::string("😀")}) {
    for (size_t n = 1; n < character.size(); ++n) {
      EXPECT_FALSE(IsValidUtf8(character.substr(0, n)));
      EXPECT_FALSE(IsValidUtf8(character.substr(0, n) + "a"));
      EXPECT_FALSE(IsValidUtf8(character.substr(n)));
    }
  }
}

TEST(Utf8Test, FindsTheBadByteWhereverItStands) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      EXPECT_TRUE(IsValidUtf8(text));
      text[at] = '\xff';
      EXPECT_FALSE(IsValidUtf8(text)) << at << " of " << size;
    }
  }
}

TEST(Utf8Test, AcceptsEmptyAndMixedText) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("Größe in m² kostet 3 € 😀 und mehr, weit über acht Zeichen"));
  EXPECT_TRUE(IsValidUtf8(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace varve

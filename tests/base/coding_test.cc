#include "base/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/int128.h"
#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

using namespace std::string_view_literals;

std::string Varint(uint64_t value) {
  std::string out;
  PutVarint64(&out, value);
  return out;
}

TEST(CodingTest, VarintsHaveTheBytesOfProtobuf) {
  EXPECT_EQ(Varint(0), "\x00"sv);
  EXPECT_EQ(Varint(127), "\x7f"sv);
  EXPECT_EQ(Varint(128), "\x80\x01"sv);
  EXPECT_EQ(Varint(300), "\xac\x02"sv);
  EXPECT_EQ(Varint(std::numeric_limits<uint64_t>::max()),
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);
}

TEST(CodingTest, VarintsReadBackAndLeaveWhatFollows) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<uint64_t>(random.BitsOfAnyLength(64));
    std::string bytes = Varint(value);
    bytes.append("rest");
    std::string_view in = bytes;
    uint64_t read = 0;
    ASSERT_TRUE(GetVarint64(&in, &read));
    ASSERT_EQ(read, value);
    ASSERT_EQ(in, "rest");
  }
}

TEST(CodingTest, TruncatedAndOverlongVarintsAreRefusedAndTouchNothing) {
  const std::string longest = Varint(std::numeric_limits<uint64_t>::max());
  std::vector<std::string> malformed = {
      "", std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),  // 65 bits
      std::string(11, '\x80')};
  for (size_t n = 0; n < longest.size(); ++n) {
    malformed.push_back(longest.substr(0, n));
  }
  for (const std::string& bytes : malformed) {
    std::string_view in = bytes;
    uint64_t value = 42;
    EXPECT_FALSE(GetVarint64(&in, &value));
    EXPECT_EQ(value, 42U);
    EXPECT_EQ(in, bytes);
  }
}

TEST(CodingTest, ZigZagKeepsSmallMagnitudesSmall) {
  EXPECT_EQ(ZigZagEncode(0), 0U);
  EXPECT_EQ(ZigZagEncode(-1), 1U);
  EXPECT_EQ(ZigZagEncode(1), 2U);
  EXPECT_EQ(ZigZagEncode(std::numeric_limits<int64_t>::max()),
            std::numeric_limits<uint64_t>::max() - 1);
  EXPECT_EQ(ZigZagEncode(std::numeric_limits<int64_t>::min()),
            std::numeric_limits<uint64_t>::max());
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int64_t value = random.Int64();
    ASSERT_EQ(ZigZagDecode(ZigZagEncode(value)), value);
  }
}

TEST(CodingTest, FixedWidthBytesAreInTheSaidOrder) {
  std::string big;
  PutBigEndian<uint32_t>(&big, 0x01020304);
  EXPECT_EQ(big, "\x01\x02\x03\x04"sv);
  std::string little;
  PutLittleEndian<uint32_t>(&little, 0x01020304);
  EXPECT_EQ(little, "\x04\x03\x02\x01"sv);
  std::string negative;
  PutBigEndian<int16_t>(&negative, -2);
  EXPECT_EQ(negative, "\xff\xfe"sv);
}

template <typename T>
class FixedWidthTest : public testing::Test {};
using FixedWidthTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t, uint128_t, int8_t,
                                       int16_t, int32_t, int64_t, int128_t>;
TYPED_TEST_SUITE(FixedWidthTest, FixedWidthTypes);

TYPED_TEST(FixedWidthTest, ReadsBackAndRefusesTruncation) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 2'000; ++i) {
    const auto value = static_cast<TypeParam>(random.Int128());
    std::string big;
    PutBigEndian(&big, value);
    std::string little;
    PutLittleEndian(&little, value);
    ASSERT_EQ(big, std::string(little.rbegin(), little.rend()));

    std::string_view in = big;
    TypeParam read = 0;
    ASSERT_TRUE(GetBigEndian(&in, &read));
    ASSERT_TRUE(read == value && in.empty());
    in = little;
    ASSERT_TRUE(GetLittleEndian(&in, &read));
    ASSERT_TRUE(read == value && in.empty());

    in = std::string_view(big).substr(1);
    ASSERT_FALSE(GetBigEndian(&in, &read));
    ASSERT_FALSE(GetLittleEndian(&in, &read));
    ASSERT_TRUE(read == value);
    ASSERT_EQ(in.size(), sizeof(TypeParam) - 1);
  }
}

TEST(CodingTest, BigEndianBytesSortAsUnsignedNumbers) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const auto a = static_cast<uint64_t>(random.BitsOfAnyLength(64));
    const auto b = static_cast<uint64_t>(random.BitsOfAnyLength(64));
    std::string a_bytes;
    std::string b_bytes;
    PutBigEndian(&a_bytes, a);
    PutBigEndian(&b_bytes, b);
    ASSERT_EQ(a_bytes < b_bytes, a < b);
  }
}

}  // namespace
}  // namespace varve

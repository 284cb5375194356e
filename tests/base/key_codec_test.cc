#include "base/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

using namespace std::string_view_literals;

std::string Key(std::span<const Datum> values) {
  std::string key;
  for (const Datum& value : values) {
    AppendKey(value, &key);
  }
  return key;
}

std::string Key(const Datum& value) {
  return Key(std::span(&value, 1));
}

std::strong_ordering CompareTuples(std::span<const Datum> a, std::span<const Datum> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const auto order = CompareDatums(a[i], b[i]);
    if (order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

std::strong_ordering CompareBytes(std::string_view a, std::string_view b) {
  return a.compare(b) <=> 0;
}

std::string Hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(c) & 0xf]);
    hex.push_back(' ');
  }
  return hex;
}

TEST(KeyCodecTest, HasTheDocumentedBytes) {
  EXPECT_EQ(Key(Datum::Null()), "\x00"sv);
  EXPECT_EQ(Key(Datum::Bytes("ab")),
            "\x01"
            "ab\x00"sv);
  EXPECT_EQ(Key(Datum::Bytes("\x00\x01\x02"sv)), "\x01\x01\x01\x01\x02\x02\x00"sv);
  EXPECT_EQ(Key(Datum::Int64(0)), "\x20"sv);
  EXPECT_EQ(Key(Datum::Int64(255)), "\x21\xff"sv);
  EXPECT_EQ(Key(Datum::Int64(256)), "\x22\x01\x00"sv);
  EXPECT_EQ(Key(Datum::Int64(-1)), "\x1f\xfe"sv);
  EXPECT_EQ(Key(Datum::Int64(-255)), "\x1f\x00"sv);
  EXPECT_EQ(Key(Datum::Int64(-256)), "\x1e\xfe\xff"sv);
  EXPECT_EQ(Key(Datum::Float64(0.0)), "\x40\x80\x00\x00\x00\x00\x00\x00\x00"sv);
  EXPECT_EQ(Key(Datum::Bool(false)), "\x50"sv);
  EXPECT_EQ(Key(Datum::Bool(true)), "\x51"sv);
  const std::vector<Datum> tuple = {Datum::Int64(7), Datum::Int64(300), Datum::Null()};
  EXPECT_EQ(Key(tuple), "\x21\x07\x22\x01\x2c\x00"sv);
}

TEST(KeyCodecTest, ExtremeIntegersKeepTheirOrder) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<Datum> ascending = {Datum::Null(),
                                        Datum::Int128(kInt128Min),
                                        Datum::Int128(kInt128Min + 1),
                                        Datum::Int128(kMin),
                                        Datum::Int128(-65536),
                                        Datum::Int128(-65535),
                                        Datum::Int128(-256),
                                        Datum::Int128(-255),
                                        Datum::Int128(-1),
                                        Datum::Int128(0),
                                        Datum::Int128(1),
                                        Datum::Int128(255),
                                        Datum::Int128(256),
                                        Datum::Int128(65535),
                                        Datum::Int128(65536),
                                        Datum::Int128(kMax),
                                        Datum::Int128(static_cast<int128_t>(kMax) + 1),
                                        Datum::Int128(kInt128Max - 1),
                                        Datum::Int128(kInt128Max)};
  for (size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(Key(ascending[i - 1]), Key(ascending[i])) << i;
  }
}

class KeyCodecPropertyTest : public testing::TestWithParam<PhysicalType> {};

INSTANTIATE_TEST_SUITE_P(EveryPhysicalType, KeyCodecPropertyTest,
                         testing::ValuesIn(kAllPhysicalTypes));

TEST_P(KeyCodecPropertyTest, BytesOrderAsValuesAndNoneBeginsAnother) {
  RandomValues random(TestSeed());
  std::vector<Datum> values;
  std::vector<std::string> keys;
  for (int i = 0; i < 600; ++i) {
    values.push_back(random.Next(GetParam()));
    keys.push_back(Key(values.back()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      ASSERT_EQ(CompareBytes(keys[i], keys[j]), CompareDatums(values[i], values[j]))
          << Hex(keys[i]) << "and " << Hex(keys[j]);
      ASSERT_TRUE(!keys[i].starts_with(keys[j]) || keys[i] == keys[j])
          << Hex(keys[j]) << "begins " << Hex(keys[i]);
    }
  }
}

TEST_P(KeyCodecPropertyTest, ReadsBackAndLeavesWhatFollows) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 5'000; ++i) {
    const Datum value = random.Next(GetParam());
    const std::string key = Key(value);
    const std::string rest = random.Bytes();
    const std::string bytes = key + rest;

    std::string_view in = bytes;
    std::string scratch = "kept";
    Datum read;
    ASSERT_TRUE(ReadKey(&in, GetParam(), &scratch, &read)) << Hex(key);
    ASSERT_EQ(read.is_null(), value.is_null());
    ASSERT_EQ(read, value) << Hex(key);
    ASSERT_EQ(in, rest);
    ASSERT_TRUE(scratch.starts_with("kept"));

    in = bytes;
    ASSERT_TRUE(SkipKey(&in)) << Hex(key);
    ASSERT_EQ(in, rest);
  }
}

TEST_P(KeyCodecPropertyTest, EveryTruncationIsRefused) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = Key(random.Next(GetParam()));
    for (size_t n = 0; n < key.size(); ++n) {
      std::string_view in = std::string_view(key).substr(0, n);
      std::string scratch;
      Datum read;
      ASSERT_FALSE(ReadKey(&in, GetParam(), &scratch, &read)) << Hex(key) << "cut to " << n;
      in = std::string_view(key).substr(0, n);
      ASSERT_FALSE(SkipKey(&in)) << Hex(key) << "cut to " << n;
    }
  }
}

// What is read from damaged bytes must be what those bytes encode: a value has one encoding only.
TEST_P(KeyCodecPropertyTest, DamagedBytesAreRefusedOrTheEncodingOfWhatIsRead) {
  RandomValues random(TestSeed());
  int read_anyway = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string key = Key(random.Next(GetParam()));
    if (random.OneIn(4)) {
      key = random.Bytes() + random.Bytes();
    } else if (random.OneIn(2)) {
      key.insert(random.Below(key.size() + 1), 1, static_cast<char>(random.Bits()));
    } else {
      key[random.Below(key.size())] = static_cast<char>(random.Bits());
    }
    std::string_view in = key;
    std::string scratch;
    Datum read;
    if (ReadKey(&in, GetParam(), &scratch, &read)) {
      ++read_anyway;
      const std::string_view consumed = std::string_view(key).substr(0, key.size() - in.size());
      ASSERT_EQ(Hex(Key(read)), Hex(consumed));
      std::string_view skipped = key;
      ASSERT_TRUE(SkipKey(&skipped));
      ASSERT_EQ(skipped.size(), in.size());
    }
  }
  EXPECT_GT(read_anyway, 0);
}

TEST_P(KeyCodecPropertyTest, OtherTypesAreRefused) {
  RandomValues random(TestSeed());
  const auto is_integer = [](PhysicalType type) {
    return type == PhysicalType::kInt64 || type == PhysicalType::kInt128;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string key = Key(random.NonNull(GetParam()));
    for (const PhysicalType other : kAllPhysicalTypes) {
      if (other == GetParam() || (is_integer(other) && is_integer(GetParam()))) {
        continue;
      }
      std::string_view in = key;
      std::string scratch;
      Datum read;
      ASSERT_FALSE(ReadKey(&in, other, &scratch, &read)) << Hex(key);
    }
  }
}

TEST(KeyCodecTest, Int64RefusesWiderIntegers) {
  constexpr int128_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int128_t kMax = std::numeric_limits<int64_t>::max();
  for (const int128_t value : {kMin - 1, kMax + 1, kInt128Min, kInt128Max}) {
    const std::string key = Key(Datum::Int128(value));
    std::string_view in = key;
    std::string scratch;
    Datum read;
    EXPECT_FALSE(ReadKey(&in, PhysicalType::kInt64, &scratch, &read)) << Hex(key);
  }
}

TEST(KeyCodecTest, TuplesOrderColumnByColumn) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    const std::vector<PhysicalType> types = random.Types(1 + random.Below(4));
    std::vector<std::vector<Datum>> tuples;
    std::vector<std::string> keys;
    for (int i = 0; i < 80; ++i) {
      tuples.push_back(random.Tuple(types));
      // Often share leading columns with an earlier tuple, so that later columns decide.
      if (i > 0 && random.OneIn(2)) {
        const std::vector<Datum>& other = tuples[random.Below(static_cast<uint64_t>(i))];
        const size_t shared = random.Below(types.size() + 1);
        std::copy_n(other.begin(), shared, tuples.back().begin());
      }
      keys.push_back(Key(tuples.back()));
    }
    for (size_t i = 0; i < tuples.size(); ++i) {
      for (size_t j = 0; j < tuples.size(); ++j) {
        ASSERT_EQ(CompareBytes(keys[i], keys[j]), CompareTuples(tuples[i], tuples[j]))
            << Hex(keys[i]) << "and " << Hex(keys[j]);
      }
    }
  }
}

// The property that makes a scan of a byte prefix a scan of the rows with those leading values.
TEST(KeyCodecTest, BytePrefixOfLeadingColumnsMeansEqualLeadingColumns) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    const std::vector<PhysicalType> types = random.Types(1 + random.Below(4));
    const size_t leading = 1 + random.Below(types.size());
    std::vector<std::vector<Datum>> tuples;
    for (int i = 0; i < 80; ++i) {
      tuples.push_back(random.Tuple(types));
    }
    for (const std::vector<Datum>& a : tuples) {
      const std::span<const Datum> a_leading = std::span(a).first(leading);
      const std::string prefix = Key(a_leading);
      const std::string successor = PrefixSuccessor(prefix);
      for (const std::vector<Datum>& b : tuples) {
        const std::string key = Key(b);
        const bool equal = CompareTuples(a_leading, std::span(b).first(leading)) == 0;
        ASSERT_EQ(key.starts_with(prefix), equal) << Hex(prefix) << "and " << Hex(key);
        ASSERT_EQ(key >= prefix && key < successor, equal) << Hex(prefix) << "and " << Hex(key);
      }
    }
  }
}

TEST(KeyCodecTest, TuplesReadBack) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 3'000; ++round) {
    const std::vector<PhysicalType> types = random.Types(random.Below(6));
    const std::vector<Datum> tuple = random.Tuple(types);
    const std::string key = Key(tuple);
    std::string_view in = key;
    for (size_t i = 0; i < types.size(); ++i) {
      std::string scratch;
      Datum read;
      ASSERT_TRUE(ReadKey(&in, types[i], &scratch, &read));
      ASSERT_EQ(read, tuple[i]);
    }
    ASSERT_TRUE(in.empty());
  }
}

TEST(KeyCodecTest, IntHandlesOrderAndReadBack) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const int64_t a = random.Int64();
    const int64_t b = random.Int64();
    std::string a_bytes;
    std::string b_bytes;
    AppendIntHandle(a, &a_bytes);
    AppendIntHandle(b, &b_bytes);
    ASSERT_EQ(a_bytes.size(), kIntHandleSize);
    ASSERT_EQ(CompareBytes(a_bytes, b_bytes), a <=> b);
    ASSERT_EQ(IntOfHandleBits(IntHandleBits(a)), a);
    std::string_view in = a_bytes;
    int64_t read = 0;
    ASSERT_TRUE(ReadIntHandle(&in, &read));
    ASSERT_EQ(read, a);
    ASSERT_TRUE(in.empty());
  }
}

TEST(KeyCodecTest, ShortIntHandlesAreRefused) {
  std::string_view in = "1234567";
  int64_t value = 5;
  EXPECT_FALSE(ReadIntHandle(&in, &value));
  EXPECT_EQ(value, 5);
  EXPECT_EQ(in, "1234567");
}

TEST(KeyCodecTest, PrefixSuccessorExamples) {
  EXPECT_EQ(PrefixSuccessor("ab"), "ac");
  EXPECT_EQ(PrefixSuccessor("a\xff"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xff\xff"), "b");
  EXPECT_EQ(PrefixSuccessor("\x7f"), "\x80");
  EXPECT_EQ(PrefixSuccessor("\0"sv), "\x01");
  EXPECT_EQ(PrefixSuccessor(""), "");
  EXPECT_EQ(PrefixSuccessor("\xff\xff"), "");
}

TEST(KeyCodecTest, PrefixSuccessorIsTheLeastBeyondThePrefix) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const std::string prefix = random.Bytes();
    const std::string successor = PrefixSuccessor(prefix);
    const std::string other = random.OneIn(2) ? prefix + random.Bytes() : random.Bytes();
    if (successor.empty()) {
      ASSERT_EQ(prefix.find_first_not_of('\xff'), std::string::npos);
      continue;
    }
    ASSERT_EQ(other >= prefix && other < successor, other.starts_with(prefix))
        << Hex(prefix) << "and " << Hex(other);
  }
}

}  // namespace
}  // namespace varve

// Which encoding a pack gets, and how small it is then.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/key_codec.h"
#include "base/strings.h"
#include "columnar/encoding/compression.h"
#include "columnar/pack_codec.h"

namespace varve {
namespace {

constexpr size_t kRows = 8192;

// A column whose row r has value_of(r), and what became of it.
template <typename ValueOf>
PackDescription Pack(PhysicalType type, const ValueOf& value_of) {
  ColumnVector column(type);
  for (size_t row = 0; row < kRows; ++row) {
    const auto value = value_of(row);
    if constexpr (std::is_same_v<decltype(value), const std::string>) {
      column.AppendBytes(value);
    } else if (type == PhysicalType::kBool) {
      column.AppendBool(value != 0);
    } else if (type == PhysicalType::kInt128) {
      column.AppendInt128(value);
    } else if (type == PhysicalType::kFloat64) {
      column.AppendFloat64(static_cast<double>(value));
    } else {
      column.AppendInt64(static_cast<int64_t>(value));
    }
  }
  PackEncoder encoder;
  std::string encoded;
  encoder.Encode(column, 0, kRows, &encoded);
  const absl::StatusOr<PackDescription> description = DescribePack(encoded, type);
  EXPECT_TRUE(description.ok()) << MessageOf(description.status());
  return description.ok() ? *description : PackDescription{};
}

TEST(PackEncodingTest, OneValueTakesAFewBytes) {
  for (const PhysicalType type :
       {PhysicalType::kBool, PhysicalType::kInt64, PhysicalType::kInt128, PhysicalType::kFloat64}) {
    const PackDescription pack = Pack(type, [](size_t) { return 1; });
    EXPECT_EQ(pack.encoding, PackEncoding::kConstant);
    EXPECT_LE(pack.bytes, 20U);
  }
  const PackDescription pack =
      Pack(PhysicalType::kBytes, [](size_t) -> std::string { return "main"; });
  EXPECT_EQ(pack.encoding, PackEncoding::kConstant);
  EXPECT_EQ(pack.bytes, 8U);
}

TEST(PackEncodingTest, EvenStepsTakeAFewBytes) {
  const PackDescription int64s =
      Pack(PhysicalType::kInt64, [](size_t row) { return 1000000 - 7 * static_cast<int>(row); });
  EXPECT_EQ(int64s.encoding, PackEncoding::kDelta);
  EXPECT_LE(int64s.bytes, 24U);
  const PackDescription int128s = Pack(PhysicalType::kInt128, [](size_t row) {
    return (static_cast<int128_t>(1) << 100) * static_cast<int128_t>(row);
  });
  EXPECT_EQ(int128s.encoding, PackEncoding::kDelta);
  EXPECT_LE(int128s.bytes, 40U);
}

TEST(PackEncodingTest, AscendingNumbersAreDelta) {
  std::mt19937_64 random(1);
  int64_t sum = 0;
  const PackDescription pack = Pack(
      PhysicalType::kInt64, [&](size_t) { return sum += static_cast<int64_t>(random() % 64); });
  EXPECT_EQ(pack.encoding, PackEncoding::kDelta);
  EXPECT_LE(pack.bytes, kRows * 6 / 8 + 30);
}

TEST(PackEncodingTest, LongRunsAreRunLength) {
  const auto run = [](size_t row) { return row / 300; };
  EXPECT_EQ(Pack(PhysicalType::kInt64, [&](size_t row) { return run(row) * 7919 % 1000; }).encoding,
            PackEncoding::kRunLength);
  const PackDescription strings =
      Pack(PhysicalType::kBytes, [&](size_t row) { return StrCat("table ", run(row)); });
  EXPECT_EQ(strings.encoding, PackEncoding::kRunLength);
  EXPECT_LE(strings.bytes, 400U);
}

TEST(PackEncodingTest, NumbersInANarrowBandAreFrameOfReference) {
  std::mt19937_64 random(1);
  const PackDescription int64s =
      Pack(PhysicalType::kInt64, [&](size_t) { return 5000000000 + random() % 1024; });
  EXPECT_EQ(int64s.encoding, PackEncoding::kFrameOfReference);
  EXPECT_EQ(int64s.bytes, kRows * 10 / 8 + 13);
  const PackDescription bools =
      Pack(PhysicalType::kBool, [&](size_t) { return static_cast<int>(random() % 2); });
  EXPECT_EQ(bools.encoding, PackEncoding::kFrameOfReference);
  EXPECT_EQ(bools.bytes, kRows / 8 + 13);
}

TEST(PackEncodingTest, FewValuesInAnyOrderAreDictionary) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> numbers(100);
  for (uint64_t& number : numbers) {
    number = random();
  }
  const PackDescription int64s =
      Pack(PhysicalType::kInt64, [&](size_t) { return numbers[random() % numbers.size()]; });
  EXPECT_EQ(int64s.encoding, PackEncoding::kDictionary);
  EXPECT_LE(int64s.bytes, kRows * 7 / 8 + 100 * 8 + 20);
  const PackDescription strings = Pack(
      PhysicalType::kBytes, [&](size_t) { return StrCat("a rather long name ", random() % 100); });
  EXPECT_EQ(strings.encoding, PackEncoding::kDictionary);
  EXPECT_LE(strings.uncompressed_bytes, kRows * 7 / 8 + 100 * 21 + 60);
}

// A pack of a relation that is ordered by table has rows of many tables, each with numbers of its
// own: one width for all would be 40 bits.
TEST(PackEncodingTest, StretchesOfOtherNumbersAreFrames) {
  std::mt19937_64 random(1);
  const PackDescription int64s = Pack(PhysicalType::kInt64, [&](size_t row) {
    return (row / 700 * 7919 % 12) * 100000000000 + random() % 64;
  });
  EXPECT_EQ(int64s.encoding, PackEncoding::kFrames);
  EXPECT_LE(int64s.bytes, kRows * 6 / 8 + 12 * 30 + 40);
  const PackDescription int128s = Pack(PhysicalType::kInt128, [&](size_t row) {
    return (static_cast<int128_t>(row / 700 * 7919 % 12) << 90) +
           static_cast<int128_t>(random() % 64);
  });
  EXPECT_EQ(int128s.encoding, PackEncoding::kFrames);
  EXPECT_LE(int128s.bytes, kRows * 6 / 8 + 12 * 40 + 40);
}

TEST(PackEncodingTest, AscendingStretchesAreDeltaFrames) {
  std::mt19937_64 random(1);
  int64_t sum = 0;
  const PackDescription pack = Pack(PhysicalType::kInt64, [&](size_t row) {
    if (row % 700 == 0) {
      sum = static_cast<int64_t>(random() >> 20);
    }
    return sum += static_cast<int64_t>(1000 + random() % 64);
  });
  EXPECT_EQ(pack.encoding, PackEncoding::kDeltaFrames);
  EXPECT_LE(pack.bytes, kRows * 6 / 8 + 24 * 30 + 40);
}

TEST(PackEncodingTest, WhatAllNumbersAreMultiplesOfIsTakenOut) {
  std::mt19937_64 random(1);
  const PackDescription seconds = Pack(PhysicalType::kInt64, [&](size_t) {
    return 1735689600123456 + static_cast<int64_t>(random() % 86400) * 1000000;
  });
  EXPECT_EQ(seconds.encoding, PackEncoding::kFrames);
  EXPECT_LE(seconds.bytes, kRows * 17 / 8 + 16 * 30);
}

TEST(PackEncodingTest, ASequenceThatComesAgainIsSaidOnce) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> numbers(700);
  for (uint64_t& number : numbers) {
    number = random() % 4096;
  }
  const PackDescription pack =
      Pack(PhysicalType::kInt64, [&](size_t row) { return numbers[row % numbers.size()]; });
  EXPECT_EQ(pack.compression, PackCompression::kZstd);
  EXPECT_LE(pack.bytes, numbers.size() * 2 + 200);
}

// Found by a random column: with offsets as wide as the integers a base is too much.
TEST(PackEncodingTest, WideIntegersThatComeAgainArePlain) {
  std::mt19937_64 random(1);
  std::vector<int64_t> numbers(3000);
  for (int64_t& number : numbers) {
    number = static_cast<int64_t>(random());
  }
  const PackDescription pack =
      Pack(PhysicalType::kInt64, [&](size_t row) { return numbers[row % numbers.size()]; });
  EXPECT_EQ(pack.encoding, PackEncoding::kPlain);
  EXPECT_EQ(pack.compression, PackCompression::kZstd);
  EXPECT_LE(pack.bytes, numbers.size() * 8 + 500);
}

TEST(PackEncodingTest, KeysOfIdsAreTuples) {
  const PackDescription pack = Pack(PhysicalType::kBytes, [](size_t row) {
    std::string key;
    AppendKey(Datum::Int64(7), &key);
    AppendKey(Datum::Int64(static_cast<int64_t>(row / 3000)), &key);
    AppendKey(Datum::Int64(static_cast<int64_t>(row % 3000 * 5)), &key);
    return key;
  });
  EXPECT_EQ(pack.encoding, PackEncoding::kKeyTuples);
  EXPECT_LE(pack.bytes, 300U);
}

TEST(PackEncodingTest, KeysOfOtherValuesAreNotTuples) {
  for (const Datum& other : {Datum(), Datum::Int64(-1), Datum::Bytes("a"), Datum::Bool(true)}) {
    const PackDescription pack = Pack(PhysicalType::kBytes, [&](size_t row) {
      std::string key;
      AppendKey(Datum::Int64(static_cast<int64_t>(row)), &key);
      AppendKey(row == kRows - 1 ? other : Datum::Int64(1), &key);
      return key;
    });
    EXPECT_NE(pack.encoding, PackEncoding::kKeyTuples);
  }
}

TEST(PackEncodingTest, NoiseIsPlainAndNotCompressed) {
  std::mt19937_64 random(1);
  const PackDescription int64s = Pack(PhysicalType::kInt64, [&](size_t) { return random(); });
  EXPECT_EQ(int64s.encoding, PackEncoding::kPlain);
  EXPECT_EQ(int64s.compression, PackCompression::kNone);
  EXPECT_EQ(int64s.bytes, kRows * 8 + 4);
  const PackDescription strings = Pack(PhysicalType::kBytes, [&](size_t) {
    const uint64_t bits = random();
    return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
  });
  EXPECT_EQ(strings.encoding, PackEncoding::kPlain);
  EXPECT_EQ(strings.compression, PackCompression::kNone);
}

TEST(PackEncodingTest, WhatRepeatsOtherwiseIsCompressed) {
  std::mt19937_64 random(1);
  const PackDescription paths = Pack(PhysicalType::kBytes, [&](size_t) {
    return StrCat("data/main/orders/part-", random() % 1000000000, ".parquet");
  });
  EXPECT_EQ(paths.encoding, PackEncoding::kPlain);
  EXPECT_EQ(paths.compression, PackCompression::kZstd);
  EXPECT_LT(paths.bytes, paths.uncompressed_bytes * 9 / 10);
  const PackDescription cycle = Pack(PhysicalType::kInt64, [](size_t row) { return row % 30; });
  EXPECT_EQ(cycle.compression, PackCompression::kZstd);
  EXPECT_LE(cycle.bytes, 200U);
}

TEST(PackEncodingTest, NullsCostNothingWhenNoRowOrEveryRowIsOne) {
  ColumnVector column(PhysicalType::kInt64);
  for (size_t row = 0; row < kRows; ++row) {
    column.AppendNull();
  }
  PackEncoder encoder;
  std::string all;
  encoder.Encode(column, 0, kRows, &all);
  EXPECT_EQ(all.size(), 12U);
  EXPECT_EQ(DescribePack(all, PhysicalType::kInt64)->null_count, kRows);
  column.AppendInt64(0);
  std::string some;
  encoder.Encode(column, 0, kRows + 1, &some);
  EXPECT_EQ(some.size(), 12U + kRows / 8 + 1);
}

TEST(PackEncodingTest, LongEqualValuesStayWithinTheBoundOfExpansion) {
  // As a constant 100,000 bytes would expand to 200 MB.
  constexpr size_t kManyRows = 2000;
  const std::string value(100000, 'x');
  ColumnVector column(PhysicalType::kBytes);
  for (size_t row = 0; row < kManyRows; ++row) {
    column.AppendBytes(value);
  }
  PackEncoder encoder;
  std::string encoded;
  encoder.Encode(column, 0, kManyRows, &encoded);
  EXPECT_TRUE(ExpansionIsBounded(kManyRows * value.size(), encoded.size()));

  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kBytes);
  ASSERT_TRUE(decoder.Decode(encoded, PhysicalType::kBytes, kManyRows, &decoded).ok());
  EXPECT_EQ(decoded.heap(), column.heap());
}

TEST(PackEncodingTest, EveryEncodingHasAName) {
  EXPECT_EQ(PackEncodingName(PackEncoding::kPlain), "plain");
  EXPECT_EQ(PackEncodingName(PackEncoding::kConstant), "constant");
  EXPECT_EQ(PackEncodingName(PackEncoding::kRunLength), "run-length");
  EXPECT_EQ(PackEncodingName(PackEncoding::kDelta), "delta");
  EXPECT_EQ(PackEncodingName(PackEncoding::kFrameOfReference), "frame of reference");
  EXPECT_EQ(PackEncodingName(PackEncoding::kDictionary), "dictionary");
  EXPECT_EQ(PackEncodingName(PackEncoding::kFrames), "frames");
  EXPECT_EQ(PackEncodingName(PackEncoding::kDeltaFrames), "delta frames");
  EXPECT_EQ(PackEncodingName(PackEncoding::kKeyTuples), "key tuples");
}

}  // namespace
}  // namespace varve

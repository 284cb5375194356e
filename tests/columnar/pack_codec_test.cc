// Round trips of packs: whole, ranges and selections.
#include "columnar/pack_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "base/strings.h"
#include "tests/columnar/column_shapes.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::string Encode(const ColumnVector& column, size_t from, size_t to) {
  PackEncoder encoder;
  std::string out;
  encoder.Encode(column, from, to, &out);
  return out;
}

std::vector<size_t> RowsFrom(size_t from, size_t to) {
  std::vector<size_t> rows(to - from);
  std::iota(rows.begin(), rows.end(), from);
  return rows;
}

// The pack of all rows of `column`, after it was checked that it decodes to them.
std::string RoundTrip(const ColumnVector& column) {
  const std::string encoded = Encode(column, 0, column.size());
  // A buffer of its own, so that a sanitizer sees any byte read beyond it.
  const std::vector<char> bytes(encoded.begin(), encoded.end());
  PackDecoder decoder;
  ColumnVector decoded(column.type());
  const absl::Status status = decoder.Decode(std::string_view(bytes.data(), bytes.size()),
                                             column.type(), column.size(), &decoded);
  EXPECT_TRUE(status.ok()) << MessageOf(status);
  ExpectRows(column, RowsFrom(0, column.size()), decoded);
  return encoded;
}

ColumnVector Int64s(const std::vector<int64_t>& values) {
  ColumnVector column(PhysicalType::kInt64);
  for (const int64_t value : values) {
    column.AppendInt64(value);
  }
  return column;
}

ColumnVector Strings(const std::vector<std::string>& values) {
  ColumnVector column(PhysicalType::kBytes);
  for (const std::string& value : values) {
    column.AppendBytes(value);
  }
  return column;
}

TEST(PackCodecTest, ColumnsOfEveryTypeAndShapeComeBack) {
  ColumnShapes shapes(TestSeed());
  for (const PhysicalType type : kAllPhysicalTypes) {
    for (const Shape shape : kAllShapes) {
      for (const NullShape nulls : {NullShape::kNone, NullShape::kAll, NullShape::kSome}) {
        for (const size_t rows : {1, 2, 3, 63, 64, 65, 1000, 8192, 10000}) {
          SCOPED_TRACE(StrCat("type ", static_cast<int>(type), " shape ", static_cast<int>(shape),
                              " nulls ", static_cast<int>(nulls), " rows ", rows));
          const ColumnVector column = shapes.Make(type, shape, nulls, rows);
          const std::string encoded = RoundTrip(column);
          const absl::StatusOr<PackDescription> description = DescribePack(encoded, type);
          ASSERT_TRUE(description.ok());
          ASSERT_EQ(description->rows, rows);
          ASSERT_EQ(description->bytes, encoded.size());
          ASSERT_EQ(description->null_count, static_cast<size_t>(std::count(
                                                 column.nulls().begin(), column.nulls().end(), 1)));
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

TEST(PackCodecTest, RangesAndSelectionsEqualTheWhole) {
  ColumnShapes shapes(TestSeed());
  RandomValues& random = shapes.random();
  for (const PhysicalType type : kAllPhysicalTypes) {
    for (const Shape shape : kAllShapes) {
      for (const size_t rows : {1, 100, 3000}) {
        SCOPED_TRACE(StrCat("type ", static_cast<int>(type), " shape ", static_cast<int>(shape),
                            " rows ", rows));
        const ColumnVector column = shapes.Make(type, shape, NullShape::kSome, rows);
        const std::string encoded = Encode(column, 0, rows);
        PackDecoder decoder;
        ColumnVector decoded(type);
        for (int i = 0; i < 20; ++i) {
          const size_t from = random.Below(rows + 1);
          const size_t to = from + random.Below(rows + 1 - from);
          decoded.Clear();
          const absl::Status status = decoder.DecodeRange(encoded, type, rows, from, to, &decoded);
          ASSERT_TRUE(status.ok()) << status;
          ExpectRows(column, RowsFrom(from, to), decoded);

          const uint64_t one_in = uint64_t{1} << random.Below(10);  // dense to sparse
          std::vector<uint32_t> selection;
          for (size_t row = from; row < to; ++row) {
            if (random.OneIn(one_in)) {
              selection.push_back(static_cast<uint32_t>(row));
            }
          }
          decoded.Clear();
          ASSERT_TRUE(decoder.DecodeSelected(encoded, type, rows, selection, &decoded).ok());
          ExpectRows(column, {selection.begin(), selection.end()}, decoded);
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

TEST(PackCodecTest, AnyRowsOfAColumnMakeAPackAndAppendToOne) {
  ColumnShapes shapes(TestSeed());
  for (const PhysicalType type : kAllPhysicalTypes) {
    const ColumnVector column = shapes.Make(type, Shape::kRandom, NullShape::kSome, 500);
    PackEncoder encoder;
    PackDecoder decoder;
    ColumnVector decoded(type);
    for (const auto& [from, to] : {std::pair{0, 100}, {100, 101}, {101, 101}, {101, 500}}) {
      std::string encoded;
      encoder.Encode(column, from, to, &encoded);
      ASSERT_TRUE(decoder.Decode(encoded, type, to - from, &decoded).ok());
    }
    ExpectRows(column, RowsFrom(0, 500), decoded);
  }
}

TEST(PackCodecTest, EveryWidthOfNumbersComesBack) {
  std::mt19937_64 random(TestSeed());
  for (int width = 0; width <= 64; ++width) {
    ColumnVector int64s(PhysicalType::kInt64);
    ColumnVector int128s(PhysicalType::kInt128);
    for (int i = 0; i < 150; ++i) {
      const uint64_t bits = width == 0 ? 0 : random() >> (64 - width);
      int64s.AppendInt64(static_cast<int64_t>(bits + 0x123456789abcdef0));
      int128s.AppendInt128(static_cast<int128_t>((kInt128SignBit >> 3) + bits));
    }
    RoundTrip(int64s);
    RoundTrip(int128s);
  }
}

TEST(PackCodecTest, ExtremesOfInt64ComeBack) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RoundTrip(Int64s({kMin, kMax}));
  RoundTrip(Int64s({kMax, kMin, 0, -1, 1}));
  RoundTrip(Int64s({kMin, kMin + 1, kMin + 2}));
  std::vector<int64_t> alternating;
  for (int i = 0; i < 1000; ++i) {
    alternating.push_back(i % 2 == 0 ? kMin : kMax);  // steps of -1 and 1, modulo 2^64
  }
  RoundTrip(Int64s(alternating));
}

TEST(PackCodecTest, BitsOfFloatsComeBack) {
  ColumnVector column(PhysicalType::kFloat64);
  column.AppendFloat64(-0.0);
  column.AppendFloat64(0.0);
  column.AppendFloat64(std::bit_cast<double>(uint64_t{0x7ff8000000abcdef}));  // NaN
  column.AppendFloat64(std::bit_cast<double>(uint64_t{0xfff0000000000001}));  // signalling NaN
  column.AppendFloat64(-std::numeric_limits<double>::infinity());
  column.AppendFloat64(std::numeric_limits<double>::denorm_min());
  RoundTrip(column);
}

TEST(PackCodecTest, StringsOfAnyLengthComeBack) {
  RoundTrip(Strings({"", "", ""}));
  RoundTrip(Strings({"", "a", "", std::string("\0\0", 2), ""}));
  RoundTrip(Strings({std::string(3000000, 'x')}));
  RoundTrip(Strings({"", std::string(1000000, 'x'), "short", std::string(500000, 'y'), ""}));
  std::mt19937_64 random(TestSeed());
  std::vector<std::string> incompressible;
  for (int i = 0; i < 50; ++i) {
    std::string& value = incompressible.emplace_back(random() % 5000, '\0');
    for (char& byte : value) {
      byte = static_cast<char>(random());
    }
  }
  RoundTrip(Strings(incompressible));
}

TEST(PackCodecTest, ValuesUnderNullsAreKept) {
  ColumnVector begins = Int64s({100, 200, 300, 400});
  begins.SetNull(1);
  begins.SetNull(3);
  const std::string encoded = RoundTrip(begins);

  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kInt64);
  ASSERT_TRUE(decoder.Decode(encoded, PhysicalType::kInt64, 4, &decoded).ok());
  EXPECT_TRUE(decoded.is_null(1));
  EXPECT_EQ(decoded.int64s()[1], 200);
  EXPECT_EQ(decoded.int64s()[3], 400);
}

TEST(PackCodecTest, DecodingAppends) {
  const std::string encoded = Encode(Int64s({7, 8}), 0, 2);
  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kInt64);
  decoded.AppendNull();
  ASSERT_TRUE(decoder.Decode(encoded, PhysicalType::kInt64, 2, &decoded).ok());
  ASSERT_TRUE(decoder.Decode(encoded, PhysicalType::kInt64, 2, &decoded).ok());
  ASSERT_EQ(decoded.size(), 5U);
  EXPECT_TRUE(decoded.is_null(0));
  EXPECT_EQ(decoded.at(2), Datum::Int64(8));
  EXPECT_EQ(decoded.at(4), Datum::Int64(8));
}

TEST(PackCodecTest, APackOfTwoRowsByteForByte) {
  // Frame of reference, no NULL, two rows; base 5, width 1, offsets 0 and 1.
  EXPECT_EQ(Encode(Int64s({5, 6}), 0, 2),
            std::string("\x04\x00\x02\x05\x00\x00\x00\x00\x00\x00\x00\x01\x02", 13));
  // Plain, row 1 NULL; lengths: base 0, width 2, 2 and 0; heap.
  ColumnVector strings(PhysicalType::kBytes);
  strings.AppendBytes("ab");
  strings.AppendNull();
  EXPECT_EQ(Encode(strings, 0, 2),
            std::string("\x00\x02\x02\x02\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02"
                        "ab",
                        16));
}

}  // namespace
}  // namespace varve

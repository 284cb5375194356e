#include "columnar/min_max_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/strings.h"
#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

ColumnVector Column(PhysicalType type, std::initializer_list<Datum> values) {
  ColumnVector column(type);
  for (const Datum& value : values) {
    column.Append(value);
  }
  return column;
}

// The index of packs of one column, written and read.
MinMaxIndex IndexOf(std::initializer_list<ColumnVector> packs) {
  MinMaxIndexBuilder builder(packs.begin()->type());
  for (const ColumnVector& pack : packs) {
    builder.AddPack(pack, {});
  }
  std::optional<MinMaxIndex> index =
      MinMaxIndex::Parse(builder.Encode(), packs.begin()->type(), packs.size());
  EXPECT_TRUE(index.has_value());
  return *index;
}

Datum Int(int64_t value) {
  return Datum::Int64(value);
}
ColumnVector Ints(std::initializer_list<Datum> values) {
  return Column(PhysicalType::kInt64, values);
}

TEST(MinMaxIndexTest, SaysWhatEachPackHolds) {
  const MinMaxIndex index = IndexOf({Ints({Int(5), Int(-3), Int(8)}), Ints({Int(1), Datum::Null()}),
                                     Ints({Datum::Null(), Datum::Null()})});
  ASSERT_EQ(index.num_packs(), 3U);
  EXPECT_TRUE(index.pack(0).has_value);
  EXPECT_FALSE(index.pack(0).has_null);
  EXPECT_EQ(index.pack(0).min, Int(-3));
  EXPECT_EQ(index.pack(0).max, Int(8));
  EXPECT_TRUE(index.pack(1).has_null);
  EXPECT_EQ(index.pack(1).min, Int(1));
  EXPECT_EQ(index.pack(1).max, Int(1));
  EXPECT_TRUE(index.pack(2).has_null);
  EXPECT_FALSE(index.pack(2).has_value);
  EXPECT_TRUE(index.pack(2).min.is_null());
  EXPECT_TRUE(index.pack(2).max.is_null());
}

TEST(MinMaxIndexTest, RowsThatAreLeftOutCountForNothing) {
  MinMaxIndexBuilder builder(PhysicalType::kInt64);
  const ColumnVector column = Ints({Int(100), Int(5), Datum::Null(), Int(-100)});
  builder.AddPack(column, std::vector<uint8_t>{1, 0, 1, 1});
  builder.AddPack(column, std::vector<uint8_t>{1, 1, 1, 1});
  const auto index = MinMaxIndex::Parse(builder.Encode(), PhysicalType::kInt64, 2);
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->pack(0).min, Int(5));
  EXPECT_EQ(index->pack(0).max, Int(5));
  EXPECT_FALSE(index->pack(0).has_null);
  EXPECT_FALSE(index->pack(1).has_value);
  EXPECT_FALSE(index->pack(1).has_null);
}

TEST(MinMaxIndexTest, NaNIsTheLargestFloatAndZerosDiffer) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto floats = [](std::initializer_list<Datum> values) {
    return Column(PhysicalType::kFloat64, values);
  };
  const MinMaxIndex index =
      IndexOf({floats({Datum::Float64(nan), Datum::Float64(2)}),
               floats({Datum::Float64(2), Datum::Float64(nan)}), floats({Datum::Float64(nan)}),
               floats({Datum::Float64(infinity), Datum::Float64(-infinity)}),
               floats({Datum::Float64(0.0), Datum::Float64(-0.0)})});
  for (const size_t pack : {0, 1}) {
    EXPECT_EQ(index.pack(pack).min, Datum::Float64(2));
    EXPECT_TRUE(std::isnan(index.pack(pack).max.float64_value()));
  }
  EXPECT_TRUE(std::isnan(index.pack(2).min.float64_value()));
  EXPECT_EQ(index.pack(3).min, Datum::Float64(-infinity));
  EXPECT_EQ(index.pack(3).max, Datum::Float64(infinity));
  EXPECT_TRUE(std::signbit(index.pack(4).min.float64_value()));
  EXPECT_FALSE(std::signbit(index.pack(4).max.float64_value()));
}

TEST(MinMaxIndexTest, LongBytesAreCutBelowAndRoundedUpAbove) {
  const std::string low = std::string(100, 'a');
  const std::string high = std::string(63, 'z') + "y" + "more";
  const MinMaxIndex index =
      IndexOf({Column(PhysicalType::kBytes, {Datum::Bytes(high), Datum::Bytes(low)})});
  EXPECT_EQ(index.pack(0).min.bytes(), low.substr(0, 64));
  EXPECT_EQ(index.pack(0).max.bytes(), std::string(64, 'z'));
  EXPECT_FALSE(index.pack(0).max_is_open);
}

TEST(MinMaxIndexTest, AnUpperBoundThatCannotBeRoundedUpIsOpen) {
  const std::string high(65, '\xff');
  const MinMaxIndex index =
      IndexOf({Column(PhysicalType::kBytes, {Datum::Bytes("a"), Datum::Bytes(high)}),
               Column(PhysicalType::kBytes, {Datum::Bytes(std::string(64, '\xff'))})});
  EXPECT_TRUE(index.pack(0).has_value);
  EXPECT_TRUE(index.pack(0).max_is_open);
  EXPECT_TRUE(index.pack(0).max.is_null());
  EXPECT_FALSE(index.pack(1).max_is_open) << "short enough to be kept";
  EXPECT_EQ(index.pack(1).max.bytes(), std::string(64, '\xff'));
}

TEST(MinMaxIndexTest, BoundsHoldEveryValue) {
  RandomValues random(TestSeed());
  for (const PhysicalType type : kAllPhysicalTypes) {
    for (int round = 0; round < 100; ++round) {
      ColumnVector column(type);
      std::vector<uint8_t> left_out;
      bool has_null = false;
      bool has_value = false;
      const size_t rows = 1 + random.Below(20);
      for (size_t row = 0; row < rows; ++row) {
        column.Append(random.Next(type));
        left_out.push_back(random.OneIn(4) ? 1 : 0);
        has_null |= left_out.back() == 0 && column.is_null(row);
        has_value |= left_out.back() == 0 && !column.is_null(row);
      }
      MinMaxIndexBuilder builder(type);
      builder.AddPack(column, left_out);
      const auto index = MinMaxIndex::Parse(builder.Encode(), type, 1);
      ASSERT_TRUE(index.has_value());
      const PackMinMax pack = index->pack(0);
      ASSERT_EQ(pack.has_null, has_null);
      ASSERT_EQ(pack.has_value, has_value);
      for (size_t row = 0; row < rows; ++row) {
        if (left_out[row] != 0 || column.is_null(row)) {
          continue;
        }
        ASSERT_TRUE(CompareDatums(pack.min, column.at(row)) <= 0) << "row " << row;
        ASSERT_TRUE(pack.max_is_open || CompareDatums(column.at(row), pack.max) <= 0)
            << "row " << row;
      }
    }
  }
}

TEST(MinMaxIndexTest, AnIndexThatDoesNotFitIsIgnored) {
  MinMaxIndexBuilder builder(PhysicalType::kInt64);
  builder.AddPack(Ints({Int(1), Int(2)}), {});
  builder.AddPack(Ints({Int(3), Int(4)}), {});
  const std::string value = builder.Encode();
  ASSERT_TRUE(MinMaxIndex::Parse(value, PhysicalType::kInt64, 2).has_value());
  EXPECT_FALSE(MinMaxIndex::Parse(value, PhysicalType::kInt64, 1).has_value());
  EXPECT_FALSE(MinMaxIndex::Parse(value, PhysicalType::kInt64, 3).has_value());
  EXPECT_FALSE(MinMaxIndex::Parse(value + "x", PhysicalType::kInt64, 2).has_value());
  for (size_t size = 0; size < value.size(); ++size) {
    EXPECT_FALSE(MinMaxIndex::Parse(value.substr(0, size), PhysicalType::kInt64, 2).has_value())
        << size;
  }
  std::string later = value;
  later[0] = 2;
  EXPECT_FALSE(MinMaxIndex::Parse(later, PhysicalType::kInt64, 2).has_value());
  std::string contradicting = value;
  contradicting[5] = 1;  // pack 0 has no value, and yet bounds
  EXPECT_FALSE(MinMaxIndex::Parse(contradicting, PhysicalType::kInt64, 2).has_value());
}

}  // namespace
}  // namespace varve

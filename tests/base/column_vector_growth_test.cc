// Whole-vector appends and NULLs that keep their value.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/column_batch.h"

namespace varve {
namespace {

TEST(ColumnVectorGrowthTest, GrownRowsFollowThoseThereAndAreNotNull) {
  ColumnVector column(PhysicalType::kInt64);
  column.AppendNull();
  const std::span<int64_t> grown = column.GrowInt64s(2);
  ASSERT_EQ(grown.size(), 2U);
  grown[0] = 5;
  grown[1] = -6;
  ASSERT_EQ(column.size(), 3U);
  EXPECT_TRUE(column.is_null(0));
  EXPECT_EQ(column.at(1), Datum::Int64(5));
  EXPECT_EQ(column.at(2), Datum::Int64(-6));
}

TEST(ColumnVectorGrowthTest, RowsGrownAfterClearHoldZeroAgain) {
  ColumnVector column(PhysicalType::kFloat64);
  column.AppendFloat64(1.5);
  column.SetNull(0);
  column.Clear();
  column.GrowFloat64s(1);
  EXPECT_EQ(column.at(0), Datum::Float64(0));
}

TEST(ColumnVectorGrowthTest, EveryFixedWidthTypeGrows) {
  ColumnVector bools(PhysicalType::kBool);
  bools.GrowBools(1)[0] = 1;
  EXPECT_EQ(bools.at(0), Datum::Bool(true));
  ColumnVector int128s(PhysicalType::kInt128);
  int128s.GrowInt128s(1)[0] = kInt128Min;
  EXPECT_EQ(int128s.at(0), Datum::Int128(kInt128Min));
}

TEST(ColumnVectorGrowthTest, GrownBytesEndWhereTheWholeHeapSays) {
  ColumnVector column(PhysicalType::kBytes);
  column.AppendBytes("abc");
  const ColumnVector::GrownBytes grown = column.GrowBytes(2, 3);
  ASSERT_EQ(grown.ends.size(), 2U);
  ASSERT_EQ(grown.heap.size(), 3U);
  ASSERT_EQ(grown.heap_start, 3U);
  std::copy_n("xyz", 3, grown.heap.begin());
  grown.ends[0] = grown.heap_start + 1;
  grown.ends[1] = grown.heap_start + 3;
  EXPECT_EQ(column.bytes(0), "abc");
  EXPECT_EQ(column.bytes(1), "x");
  EXPECT_EQ(column.bytes(2), "yz");
  EXPECT_EQ(column.heap(), "abcxyz");
  EXPECT_EQ(column.ends()[2], 6U);
}

TEST(ColumnVectorGrowthTest, SetNullKeepsTheValueUnderneath) {
  ColumnVector column(PhysicalType::kInt64);
  column.AppendInt64(42);
  column.SetNull(0);
  EXPECT_TRUE(column.at(0).is_null());
  EXPECT_EQ(column.int64s()[0], 42);
}

TEST(ColumnVectorGrowthTest, NullMarksCanBeWrittenAtOnce) {
  ColumnVector column(PhysicalType::kInt64);
  column.GrowInt64s(3);
  std::fill(column.mutable_nulls().begin() + 1, column.mutable_nulls().end(), uint8_t{1});
  EXPECT_FALSE(column.is_null(0));
  EXPECT_TRUE(column.is_null(1));
  EXPECT_TRUE(column.is_null(2));
}

}  // namespace
}  // namespace varve

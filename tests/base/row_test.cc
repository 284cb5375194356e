#include "base/row.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

TEST(RowTest, ColumnsStartAsNull) {
  const Row row(3);
  ASSERT_EQ(row.size(), 3U);
  for (size_t i = 0; i < row.size(); ++i) {
    EXPECT_TRUE(row[i].is_null());
  }
}

TEST(RowTest, OwnsTheBytesItIsGiven) {
  Row row(2);
  {
    const std::string gone = "a string that is long enough to live on the heap";
    row.Set(0, Datum::Bytes(gone));
    row.SetBytes(1, std::string(gone, 0, 8));
  }
  EXPECT_EQ(row[0].bytes(), "a string that is long enough to live on the heap");
  EXPECT_EQ(row[1].bytes(), "a string");
}

TEST(RowTest, ColumnsCanBeSetFromTheRowItself) {
  Row row(2);
  row.SetBytes(0, "first");
  row.Set(1, row[0]);
  row.SetBytes(0, row[0].bytes().substr(1));
  EXPECT_EQ(row[0].bytes(), "irst");
  EXPECT_EQ(row[1].bytes(), "first");
}

TEST(RowTest, BytesStayWhereTheyAreWhenTheRowMoves) {
  Row row(1);
  row.SetBytes(0, "short");
  const std::string_view before = row[0].bytes();
  const Row moved = std::move(row);
  EXPECT_EQ(moved[0].bytes().data(), before.data());
  EXPECT_EQ(before, "short");
}

TEST(RowTest, CopiesOwnTheirBytes) {
  Row copy;
  Row assigned(7);
  {
    Row row(2);
    row.SetBytes(0, "short");
    row.Set(1, Datum::Int64(4));
    copy = Row(row);
    assigned = row;
    EXPECT_NE(copy[0].bytes().data(), row[0].bytes().data());
  }
  EXPECT_EQ(copy[0].bytes(), "short");
  EXPECT_EQ(copy[1].int64_value(), 4);
  EXPECT_EQ(assigned, copy);
}

TEST(RowTest, SelfAssignmentKeepsTheRow) {
  Row row(1);
  row.SetBytes(0, "value");
  const Row& same = row;
  row = same;
  EXPECT_EQ(row[0].bytes(), "value");
}

TEST(RowTest, BorrowedDatumsPointIntoKeptBuffers) {
  Row row(2);
  const std::string& buffer = row.Keep("leftright");
  row.SetBorrowed(0, Datum::Bytes(std::string_view(buffer).substr(0, 4)));
  row.SetBorrowed(1, Datum::Bytes(std::string_view(buffer).substr(4)));
  const Row moved = std::move(row);
  EXPECT_EQ(moved[0].bytes(), "left");
  EXPECT_EQ(moved[1].bytes(), "right");
  EXPECT_EQ(moved[0].bytes().data(), buffer.data());
}

TEST(RowTest, EqualityComparesValuesAndLength) {
  Row a(2);
  Row b(2);
  EXPECT_EQ(a, b);
  a.Set(0, Datum::Int64(1));
  EXPECT_FALSE(a == b);
  b.Set(0, Datum::Int64(1));
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a == Row(3));
}

TEST(RowTest, RandomRowsEqualTheirSource) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 1'000; ++i) {
    const std::vector<Datum> tuple = random.Tuple(random.Types(random.Below(9)));
    const Row row{std::span<const Datum>(tuple)};
    ASSERT_EQ(row.size(), tuple.size());
    for (size_t c = 0; c < tuple.size(); ++c) {
      ASSERT_EQ(row[c].is_null(), tuple[c].is_null());
      ASSERT_EQ(row[c], tuple[c]);
    }
    ASSERT_EQ(row.values().size(), tuple.size());
  }
}

}  // namespace
}  // namespace varve

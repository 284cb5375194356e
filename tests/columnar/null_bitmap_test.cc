#include "columnar/encoding/null_bitmap.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/seed.h"

namespace varve {
namespace {

TEST(NullBitmapTest, LowestBitOfTheFirstByteIsTheFirstRow) {
  std::string bitmap;
  AppendNullBitmap(std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 1, 0, 0, 1}, &bitmap);
  EXPECT_EQ(bitmap, std::string("\x41\x02", 2));
}

TEST(NullBitmapTest, MarksComeBackFromAnyRow) {
  std::mt19937_64 random(TestSeed());
  for (size_t rows = 0; rows < 70; ++rows) {
    std::vector<uint8_t> marks(rows);
    size_t count = 0;
    for (uint8_t& mark : marks) {
      mark = random() % 2;
      count += mark;
    }
    std::string bitmap;
    AppendNullBitmap(marks, &bitmap);
    ASSERT_EQ(bitmap.size(), NullBitmapBytes(rows));
    ASSERT_EQ(CountNulls(marks), count);
    ASSERT_EQ(CountNullBits(bitmap), count);
    for (size_t from = 0; from <= rows; ++from) {
      std::vector<uint8_t> part(rows - from, 7);
      ReadNullBitmap(bitmap, from, part);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), marks.begin() + static_cast<long>(from)));
    }
    for (size_t row = 0; row < rows; ++row) {
      ASSERT_EQ(NullBit(bitmap, row), marks[row] != 0);
    }
  }
}

}  // namespace
}  // namespace varve

#include "columnar/encoding/bit_packing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/seed.h"

namespace varve {
namespace {

std::vector<uint64_t> RandomValuesOfWidth(int width, size_t count, std::mt19937_64* random) {
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values) {
    value = width == 0 ? 0 : (*random)() >> (64 - width);
  }
  if (count > 0 && width > 0) {
    values[0] = ~uint64_t{0} >> (64 - width);  // the largest
  }
  return values;
}

TEST(BitPackingTest, TheExampleOfTheFormat) {
  std::string packed;
  PackBits(std::vector<uint64_t>{1, 2, 3, 4}, 3, &packed);
  EXPECT_EQ(packed, std::string("\xD1\x08", 2));
}

TEST(BitPackingTest, WidthIsWhatTheLargestNeeds) {
  EXPECT_EQ(PackedWidth(0), 0);
  EXPECT_EQ(PackedWidth(1), 1);
  EXPECT_EQ(PackedWidth(255), 8);
  EXPECT_EQ(PackedWidth(256), 9);
  EXPECT_EQ(PackedWidth(~uint64_t{0}), 64);
}

TEST(BitPackingTest, EveryWidthAndManyCountsComeBack) {
  std::mt19937_64 random(TestSeed());
  for (int width = 0; width <= kMaxPackedWidth; ++width) {
    for (const size_t count : {0, 1, 7, 8, 9, 63, 64, 65, 128, 200, 1000}) {
      const std::vector<uint64_t> values = RandomValuesOfWidth(width, count, &random);
      std::string packed = "before";
      PackBits(values, width, &packed);
      ASSERT_EQ(packed.size(), 6 + PackedBytes(count, width));
      // A buffer of its own, so that a sanitizer sees any byte read beyond it.
      const std::vector<char> bytes(packed.begin() + 6, packed.end());
      const std::string_view view(bytes.data(), bytes.size());

      std::vector<uint64_t> unpacked(count);
      UnpackBits(view, width, 0, count, 0, unpacked.data());
      ASSERT_EQ(unpacked, values) << "width " << width << " count " << count;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(UnpackOne(view, width, i), values[i]) << "width " << width << " index " << i;
      }
    }
  }
}

TEST(BitPackingTest, ARangeIsThatPartOfAll) {
  std::mt19937_64 random(TestSeed());
  for (int width = 0; width <= kMaxPackedWidth; ++width) {
    const std::vector<uint64_t> values = RandomValuesOfWidth(width, 300, &random);
    std::string packed;
    PackBits(values, width, &packed);
    for (int i = 0; i < 20; ++i) {
      const size_t from = random() % 301;
      const size_t to = from + random() % (301 - from);
      std::vector<uint64_t> part(to - from);
      UnpackBits(packed, width, from, to, 0, part.data());
      ASSERT_TRUE(std::equal(part.begin(), part.end(), values.begin() + static_cast<long>(from)))
          << "width " << width << " from " << from << " to " << to;
    }
  }
}

TEST(BitPackingTest, TheBaseIsAddedModulo64Bits) {
  std::string packed;
  PackBits(std::vector<uint64_t>{0, 1, 2}, 2, &packed);
  std::vector<uint64_t> values(3);
  UnpackBits(packed, 2, 0, 3, ~uint64_t{0}, values.data());
  EXPECT_EQ(values, (std::vector<uint64_t>{~uint64_t{0}, 0, 1}));
}

}  // namespace
}  // namespace varve

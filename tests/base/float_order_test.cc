#include "base/float_order.h"

#include <gtest/gtest.h>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

TEST(FloatOrderTest, ZerosAreApart) {
  EXPECT_LT(OrderedBitsOfFloat(-0.0), OrderedBitsOfFloat(0.0));
  EXPECT_EQ(OrderedBitsOfFloat(-0.0) + 1, OrderedBitsOfFloat(0.0));
}

TEST(FloatOrderTest, AllNansAreOneNumberAboveInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const uint64_t ordered = OrderedBitsOfFloat(nan);
  EXPECT_GT(ordered, OrderedBitsOfFloat(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(OrderedBitsOfFloat(-nan), ordered);
  EXPECT_EQ(OrderedBitsOfFloat(std::bit_cast<double>(uint64_t{0xfff8000000000123})), ordered);
  EXPECT_TRUE(std::isnan(FloatOfOrderedBits(ordered)));
}

TEST(FloatOrderTest, OrderIsThatOfNumbers) {
  RandomValues random(TestSeed());
  for (int i = 0; i < 100'000; ++i) {
    const double a = random.Float64();
    const double b = random.Float64();
    if (a < b) {
      ASSERT_LT(OrderedBitsOfFloat(a), OrderedBitsOfFloat(b)) << a << " and " << b;
    }
    if (!std::isnan(a)) {
      ASSERT_EQ(std::bit_cast<uint64_t>(FloatOfOrderedBits(OrderedBitsOfFloat(a))),
                std::bit_cast<uint64_t>(a));
    }
  }
}

}  // namespace
}  // namespace varve

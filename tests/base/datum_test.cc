#include "base/datum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Checks that each datum compares less than all that follow it.
void ExpectAscending(const std::vector<Datum>& datums) {
  for (size_t i = 0; i < datums.size(); ++i) {
    for (size_t j = 0; j < datums.size(); ++j) {
      EXPECT_EQ(CompareDatums(datums[i], datums[j]), i <=> j) << i << " and " << j;
    }
  }
}

TEST(DatumTest, DefaultIsNull) {
  EXPECT_TRUE(Datum().is_null());
  EXPECT_EQ(Datum(), Datum::Null());
}

TEST(DatumTest, AccessorsReturnWhatWasPutIn) {
  EXPECT_TRUE(Datum::Bool(true).bool_value());
  EXPECT_FALSE(Datum::Bool(false).bool_value());
  EXPECT_EQ(Datum::Int64(-5).int64_value(), -5);
  EXPECT_TRUE(Datum::Int128(kInt128Min).int128_value() == kInt128Min);
  EXPECT_TRUE(Datum::Int128(kInt128Max).int128_value() == kInt128Max);
  EXPECT_TRUE(Datum::Int128(-1).int128_value() == -1);
  EXPECT_EQ(Datum::Float64(0.1).float64_value(), 0.1);
  EXPECT_EQ(Datum::Bytes("ab").bytes(), "ab");
  EXPECT_EQ(Datum::Bytes({}).bytes(), "");
  EXPECT_EQ(Datum::Bytes("").physical(), PhysicalType::kBytes);
}

TEST(DatumTest, EmptyBytesAreNotNull) {
  EXPECT_FALSE(Datum::Bytes({}).is_null());
  EXPECT_FALSE(Datum::Bytes({}) == Datum::Null());
}

TEST(DatumTest, OrdersIntegersByValue) {
  ExpectAscending({Datum::Null(), Datum::Int64(std::numeric_limits<int64_t>::min()),
                   Datum::Int64(-1), Datum::Int64(0), Datum::Int64(1),
                   Datum::Int64(std::numeric_limits<int64_t>::max())});
  ExpectAscending({Datum::Null(), Datum::Int128(kInt128Min), Datum::Int128(-1), Datum::Int128(0),
                   Datum::Int128(static_cast<int128_t>(1) << 64), Datum::Int128(kInt128Max)});
}

TEST(DatumTest, OrdersBytesAsUnsignedAndPrefixesFirst) {
  using namespace std::string_view_literals;
  ExpectAscending({Datum::Null(), Datum::Bytes(""sv), Datum::Bytes("\0"sv), Datum::Bytes("\0\0"sv),
                   Datum::Bytes("a"sv), Datum::Bytes("a\0"sv), Datum::Bytes("a\x7f"sv),
                   Datum::Bytes("a\x80"sv), Datum::Bytes("b"sv), Datum::Bytes("\xff"sv)});
}

TEST(DatumTest, OrdersFloatsTotally) {
  using Limits = std::numeric_limits<double>;
  ExpectAscending({Datum::Null(), Datum::Float64(-Limits::infinity()),
                   Datum::Float64(Limits::lowest()), Datum::Float64(-Limits::denorm_min()),
                   Datum::Float64(-0.0), Datum::Float64(0.0), Datum::Float64(Limits::denorm_min()),
                   Datum::Float64(Limits::max()), Datum::Float64(Limits::infinity()),
                   Datum::Float64(Limits::quiet_NaN())});
  EXPECT_EQ(Datum::Float64(Limits::quiet_NaN()), Datum::Float64(-Limits::quiet_NaN()));
}

TEST(DatumTest, OrdersBooleans) {
  ExpectAscending({Datum::Null(), Datum::Bool(false), Datum::Bool(true)});
}

// A strict weak order must be antisymmetric and transitive, or sorting by it is undefined.
TEST(DatumTest, RandomDatumsAreTotallyOrdered) {
  RandomValues random(TestSeed());
  for (const PhysicalType type : kAllPhysicalTypes) {
    std::vector<Datum> datums;
    for (int i = 0; i < 300; ++i) {
      datums.push_back(random.Next(type));
    }
    std::sort(datums.begin(), datums.end(),
              [](const Datum& a, const Datum& b) { return CompareDatums(a, b) < 0; });
    for (size_t i = 0; i < datums.size(); ++i) {
      for (size_t j = i; j < datums.size(); ++j) {
        const auto order = CompareDatums(datums[i], datums[j]);
        ASSERT_TRUE(order <= 0);
        ASSERT_EQ(CompareDatums(datums[j], datums[i]), 0 <=> order);
        ASSERT_EQ(datums[i] == datums[j], order == 0);
      }
    }
  }
}

}  // namespace
}  // namespace varve

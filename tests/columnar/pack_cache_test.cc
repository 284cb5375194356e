#include "columnar/pack_cache.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

std::shared_ptr<const ColumnVector> Pack(int64_t value, size_t rows = 1) {
  auto pack = std::make_shared<ColumnVector>(PhysicalType::kInt64);
  for (size_t row = 0; row < rows; ++row) {
    pack->AppendInt64(value);
  }
  return pack;
}

TEST(PackCacheTest, FindsAPackByEveryPartOfItsKey) {
  const PackCache cache(rocksdb::NewLRUCache(1 << 20));
  const PackKey key{.file_id = 1, .relation = 2, .column_id = 3, .pack = 4};
  cache.Insert(key, Pack(42));
  ASSERT_NE(cache.Lookup(key), nullptr);
  EXPECT_EQ(cache.Lookup(key)->int64s()[0], 42);
  for (const PackKey& other : {PackKey{.file_id = 9, .relation = 2, .column_id = 3, .pack = 4},
                               PackKey{.file_id = 1, .relation = 9, .column_id = 3, .pack = 4},
                               PackKey{.file_id = 1, .relation = 2, .column_id = 9, .pack = 4},
                               PackKey{.file_id = 1, .relation = 2, .column_id = 3, .pack = 9}}) {
    EXPECT_FALSE(cache.Contains(other));
  }
}

TEST(PackCacheTest, StaysWithinTheBudgetOfTheCache) {
  constexpr size_t kCapacity = 1 << 20;
  const std::shared_ptr<rocksdb::Cache> shared = rocksdb::NewLRUCache(kCapacity, 0);
  const PackCache cache(shared);
  for (uint32_t pack = 0; pack < 100; ++pack) {
    cache.Insert({.pack = pack}, Pack(pack, 8'192));
  }
  EXPECT_LE(shared->GetUsage(), kCapacity);
  EXPECT_GT(shared->GetUsage(), kCapacity / 2);
  EXPECT_FALSE(cache.Contains({.pack = 0})) << "pushed out";
  EXPECT_TRUE(cache.Contains({.pack = 99}));
}

TEST(PackCacheTest, APackInUseOutlivesItsPlace) {
  const std::shared_ptr<rocksdb::Cache> shared = rocksdb::NewLRUCache(1 << 20, 0);
  const PackCache cache(shared);
  cache.Insert({.pack = 1}, Pack(42));
  const std::shared_ptr<const ColumnVector> held = cache.Lookup({.pack = 1});
  shared->EraseUnRefEntries();
  EXPECT_FALSE(cache.Contains({.pack = 1}));
  EXPECT_EQ(held->int64s()[0], 42);
}

TEST(PackCacheTest, AFullCacheWithAStrictLimitKeepsNothing) {
  const PackCache cache(rocksdb::NewLRUCache(/*capacity=*/16, 0, /*strict_capacity_limit=*/true));
  cache.Insert({.pack = 1}, Pack(42, 1'000));
  EXPECT_FALSE(cache.Contains({.pack = 1}));
}

TEST(PackCacheTest, MemoryCountsValuesAndBytes) {
  ColumnVector bytes(PhysicalType::kBytes);
  const size_t empty = MemoryOf(bytes);
  bytes.AppendBytes(std::string(1'000, 'x'));
  EXPECT_GE(MemoryOf(bytes), empty + 1'000);
  EXPECT_GE(MemoryOf(*Pack(1, 100)), 800U);
}

}  // namespace
}  // namespace varve

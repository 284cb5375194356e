#include "columnar/bloom_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/seed.h"

namespace varve {
namespace {

std::string FilterOf(const std::vector<uint64_t>& hashes, BloomFilterOptions options = {}) {
  BloomFilterBuilder builder(options);
  for (const uint64_t hash : hashes) {
    builder.Add(hash);
  }
  std::string bytes;
  builder.Finish(&bytes);
  return bytes;
}

std::vector<uint64_t> RandomHashes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) {
    hash = random();
  }
  return hashes;
}

TEST(BloomFilterTest, FindsEveryKeyAdded) {
  for (const size_t count : {1, 2, 50, 52, 1000, 30000}) {
    const std::vector<uint64_t> hashes = RandomHashes(count, TestSeed());
    const BloomFilter filter(FilterOf(hashes));
    ASSERT_TRUE(filter.valid());
    for (const uint64_t hash : hashes) {
      ASSERT_TRUE(filter.MayContain(hash));
    }
  }
}

TEST(BloomFilterTest, AboutOneAbsentKeyInAHundredIsAnsweredMaybe) {
  const BloomFilter filter(FilterOf(RandomHashes(20000, 1)));
  size_t maybe = 0;
  for (const uint64_t hash : RandomHashes(100000, 2)) {
    maybe += filter.MayContain(hash) ? 1 : 0;
  }
  EXPECT_LT(maybe, 2000U);
  EXPECT_GT(maybe, 100U);
}

TEST(BloomFilterTest, TakesTheBitsPerKeyAskedForInBlocksOf64Bytes) {
  // 1,000 keys of 10 bits: 20 blocks of 512 bits, and 20 bytes around them.
  EXPECT_EQ(FilterOf(RandomHashes(1000, 1)).size(), 20U * 64 + 20);
  EXPECT_EQ(FilterOf(RandomHashes(1000, 1), {.bits_per_key = 20}).size(), 40U * 64 + 20);
}

TEST(BloomFilterTest, NeighboursThatAreEqualCountOnce) {
  BloomFilterBuilder builder;
  builder.Add(7);
  builder.Add(7);
  builder.Add(8);
  EXPECT_EQ(builder.num_keys(), 2U);
}

TEST(BloomFilterTest, AFilterOfNoKeysAnswersNo) {
  const BloomFilter filter(FilterOf({}));
  EXPECT_TRUE(filter.valid());
  EXPECT_FALSE(filter.MayContain(0));
  EXPECT_FALSE(filter.MayContain(~uint64_t{0}));
}

TEST(BloomFilterTest, ABuilderStartsAnewAfterFinish) {
  BloomFilterBuilder builder;
  builder.Add(1);
  std::string first;
  builder.Finish(&first);
  std::string second;
  builder.Finish(&second);
  EXPECT_EQ(builder.num_keys(), 0U);
  EXPECT_EQ(second, FilterOf({}));
}

TEST(BloomFilterTest, BytesAfterTheFilterAreIgnored) {
  const std::vector<uint64_t> hashes = RandomHashes(100, 1);
  const BloomFilter filter(FilterOf(hashes) + "what follows");
  EXPECT_TRUE(filter.valid());
  EXPECT_TRUE(filter.MayContain(hashes[0]));
}

TEST(BloomFilterTest, NoFilterAnswersMaybe) {
  EXPECT_TRUE(BloomFilter().MayContain(1));
  EXPECT_FALSE(BloomFilter().valid());
}

TEST(BloomFilterTest, ADamagedFilterAnswersMaybe) {
  const std::string bytes = FilterOf(RandomHashes(60, 1));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    const BloomFilter filter(std::string_view(cut.data(), cut.size()));
    ASSERT_FALSE(filter.valid()) << size << " bytes";
    ASSERT_TRUE(filter.MayContain(1));
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const BloomFilter filter(damaged);
    ASSERT_FALSE(filter.valid()) << "bit " << bit;
    ASSERT_TRUE(filter.MayContain(1));
  }
}

}  // namespace
}  // namespace varve

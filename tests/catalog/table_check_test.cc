#include "catalog/store/table_check.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/store/checked_file_system.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/temp_dir.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr size_t kFooter = 53;  // kind of checksum, 40 bytes of handles, version, magic

class TableCheck : public ::testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    const rocksdb::Options options(rocksdb::DBOptions(), FamilyOptions(GetParam(), nullptr));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ASSERT_TRUE(writer.Open(path_).ok());
    for (int i = 100; i < 400; ++i) {
      ASSERT_TRUE(writer.Put(StrCat("key", i), std::string(static_cast<size_t>(i), 'v')).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_GT(bytes_.size(), kFooter);
  }

  absl::Status CheckBytes(const std::string& bytes) {
    std::ofstream(dir_ / "copy.sst", std::ios::binary) << bytes;
    return CheckTable(dir_ / "copy.sst");
  }
  absl::Status CheckFlipped(size_t at) {
    std::string flipped = bytes_;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 + random_() % 255));
    return CheckBytes(flipped);
  }

  TempDir dir_;
  std::string path_ = dir_ / "table.sst";
  std::string bytes_;
  std::mt19937_64 random_{TestSeed()};
};

TEST_P(TableCheck, FilesOfOurFamiliesAreIntact) {
  EXPECT_TRUE(CheckTable(path_).ok()) << CheckTable(path_);
}

// From the first property to the footer, and the footer but for its padding and the handle of the
// index block, which has a checksum that RocksDB looks at.
TEST_P(TableCheck, AnyFlippedByteOfPropertiesMetaindexAndFooterIsDamage) {
  const size_t properties = bytes_.find("rocksdb.");
  ASSERT_LT(properties, bytes_.size() - kFooter);
  int unnoticed = 0;
  for (size_t at = properties; at < bytes_.size(); ++at) {
    const absl::Status status = CheckFlipped(at);
    const size_t in_footer = at + kFooter - bytes_.size();
    if (at >= bytes_.size() - kFooter && in_footer >= 1 && in_footer < 41) {
      unnoticed += status.ok() ? 1 : 0;
      continue;
    }
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << "byte " << at;
    ASSERT_NE(MessageOf(status).find("copy.sst"), std::string_view::npos) << status;
  }
  EXPECT_LT(unnoticed, 40) << "the handle of the metaindex block matters";
}

TEST_P(TableCheck, ACutOrEmptyFileIsDamage) {
  for (const size_t size :
       {size_t{0}, size_t{1}, kFooter - 1, kFooter, bytes_.size() / 2, bytes_.size() - 1}) {
    EXPECT_EQ(CheckBytes(bytes_.substr(0, size)).code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST_P(TableCheck, ADamagedTableCannotBeOpenedThroughTheCheckedEnvironment) {
  const std::string damaged = dir_ / "other.sst";
  std::ofstream(damaged, std::ios::binary) << bytes_.substr(1);
  std::unique_ptr<rocksdb::RandomAccessFile> file;
  const rocksdb::Status refused =
      CheckedEnvironment()->NewRandomAccessFile(damaged, &file, rocksdb::EnvOptions());
  EXPECT_TRUE(refused.IsCorruption()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("other.sst"), std::string::npos) << refused.ToString();
  EXPECT_TRUE(CheckedEnvironment()->NewRandomAccessFile(path_, &file, rocksdb::EnvOptions()).ok());
}

// What a crash or a writer beside us leaves unfinished does not belong to the database.
TEST_P(TableCheck, AnUnfinishedTableBesideTheDatabaseIsNoObstacle) {
  const std::string catalog = dir_ / "catalog";
  ASSERT_TRUE(Catalog::Init(catalog, {.data_path = "/lake/"}).ok());
  std::ofstream(catalog + "/rows/099999.sst", std::ios::binary) << bytes_.substr(0, 100);
  EXPECT_TRUE(Catalog::Open(catalog, {.read_only = true}).ok());
  EXPECT_TRUE(Catalog::Open(catalog).ok());
}

INSTANTIATE_TEST_SUITE_P(Families, TableCheck, ::testing::Values(Family::kLive, Family::kEnded),
                         [](const auto& family) {
                           return std::string(kFamilyNames[static_cast<size_t>(family.param)]);
                         });

}  // namespace
}  // namespace varve

#include "catalog/store/log_check.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "base/strings.h"
#include "tests/catalog/temp_dir.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr size_t kBlock = 32 << 10;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Logs as RocksDB itself writes them: small records, and one of several blocks.
class LogCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, dir_ / "db", &raw).ok());
    db_.reset(raw);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(db_->Put({}, StrCat("key", i), std::string(i * 10, 'v')).ok());
    }
    ASSERT_TRUE(db_->Put({}, "large", std::string(kBlock * 3 / 2, 'v')).ok());
    ASSERT_TRUE(db_->Put({}, "last", "value").ok());
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "db")) {
      if (entry.path().extension() == ".log") {
        log_ = entry.path().string();
      }
    }
    bytes_ = ReadWhole(log_);
    ASSERT_GT(bytes_.size(), kBlock * 3 / 2);
  }

  absl::Status CheckBytes(const std::string& bytes) {
    WriteWhole(dir_ / "copy", bytes);
    return CheckLog(dir_ / "copy");
  }

  TempDir dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::string log_;
  std::string bytes_;
};

TEST_F(LogCheck, LogsThatRocksDbWroteAreIntact) {
  EXPECT_TRUE(CheckLog(log_).ok()) << CheckLog(log_);
  EXPECT_TRUE(CheckLogs(dir_ / "db").ok());
  EXPECT_TRUE(CheckBytes("").ok());
}

TEST_F(LogCheck, ALogMayEndAnywhere) {
  std::mt19937_64 random(TestSeed());
  for (size_t size = 0; size < bytes_.size(); size += size < 1000 ? 1 : 1 + random() % 2000) {
    const absl::Status status = CheckBytes(bytes_.substr(0, size));
    ASSERT_TRUE(status.ok()) << size << ": " << status;
  }
}

TEST_F(LogCheck, RoomSetAsideAtTheEndIsNoDamage) {
  EXPECT_TRUE(CheckBytes(bytes_ + std::string(100'000, '\0')).ok());
  EXPECT_EQ(CheckBytes(bytes_ + std::string(100'000, '\0') + "x").code(),
            absl::StatusCode::kDataLoss);
}

// A flipped byte in what a record holds is damage wherever it lies. The padding at the end of a
// block holds nothing.
TEST_F(LogCheck, AnyFlippedByteIsDamage) {
  std::mt19937_64 random(TestSeed());
  const auto flip = [&](size_t at) {
    std::string flipped = bytes_;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 + random() % 255));
    const absl::Status status = CheckBytes(flipped);
    const bool padding = at % kBlock >= kBlock - 6 && bytes_[at] == '\0';
    ASSERT_TRUE(padding || status.code() == absl::StatusCode::kDataLoss) << at << ": " << status;
  };
  for (size_t at = 0; at < bytes_.size(); at += at < 2000 ? 1 : 1 + random() % 200) {
    flip(at);
  }
  for (size_t from_end = 1; from_end < 100; ++from_end) {  // the last record: RocksDB drops these
    flip(bytes_.size() - from_end);
  }
}

TEST_F(LogCheck, TheManifestAndEveryLogOfADatabaseAreChecked) {
  db_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(dir_ / "db")) {
    const std::string path = entry.path().string();
    const bool is_log = entry.path().extension() == ".log";
    if (!is_log && !entry.path().filename().string().starts_with("MANIFEST-")) {
      continue;
    }
    const std::string whole = ReadWhole(path);
    if (whole.empty()) {
      continue;
    }
    std::string flipped = whole;
    flipped[whole.size() / 2] ^= 0x20;
    WriteWhole(path, flipped);
    const absl::Status status = CheckLogs(dir_ / "db");
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << path;
    EXPECT_NE(MessageOf(status).find(path), std::string_view::npos) << status;
    WriteWhole(path, whole);
  }
  EXPECT_TRUE(CheckLogs(dir_ / "db").ok());
}

}  // namespace
}  // namespace varve

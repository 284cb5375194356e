#include "columnar/file_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "columnar/format.h"
#include "tests/columnar/columnar_test_rows.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kRows[] = "1 [1,) 10 a | 2 [1,) 10 b | 3 [1,) NULL c | 4 [1,) NULL d";

std::shared_ptr<const ColumnarFile> Write(MemoryFileSystem* file_system,
                                          std::function<void(std::vector<Property>*)> edit = {}) {
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = 2;
  options.table.edit_properties = std::move(edit);
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  WriteFile(file_system, schema, RowsOf(schema, kRows), options);
  return OpenFile(file_system);
}

TEST(FileDescription, CountsEncodingsNullsAndBytesOfAColumn) {
  MemoryFileSystem file_system;
  const auto file = Write(&file_system);
  const ColumnarTable& table = file->tables()[0];
  const auto numbers = DescribeColumn(*file, table, table.columns()[0]);
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  EXPECT_EQ(numbers->encodings, (std::map<PackEncoding, uint64_t>{{PackEncoding::kConstant, 2}}));
  EXPECT_EQ(numbers->nulls, 2U);
  EXPECT_EQ(numbers->bytes,
            table.columns()[0].packs[0].length + table.columns()[0].packs[1].length);
  EXPECT_EQ(numbers->uncompressed_bytes, numbers->bytes) << "too small to be compressed";
  EXPECT_EQ(numbers->compressed_packs, 0U);
  EXPECT_EQ(numbers->damaged_packs, 0U);
}

TEST(FileDescription, CountsDamagedPacks) {
  MemoryFileSystem file_system;
  const auto file = Write(&file_system);
  const ColumnarTable& table = file->tables()[0];
  file_system.contents(kTestFile)[table.columns()[1].packs[1].offset] ^= 1;
  const auto texts = DescribeColumn(*file, table, table.columns()[1]);
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_EQ(texts->damaged_packs, 1U);
  EXPECT_EQ(DescribeColumn(*file, table, table.columns()[0])->damaged_packs, 0U);
}

TEST(FileDescription, NamesPropertiesThatAReaderHasNoUseOf) {
  MemoryFileSystem file_system;
  const auto whole = Write(&file_system);
  EXPECT_THAT(*PropertyDefects(*whole, whole->tables()[0]), IsEmpty());
  const auto file = Write(&file_system, [](std::vector<Property>* properties) {
    std::erase_if(*properties, [](const Property& p) { return p.key == kPropMaxVersion; });
    for (Property& property : *properties) {
      if (property.key == kPropPackSnapshotBounds) {
        property.value.pop_back();
      } else if (property.key == kPropPackLastHandle) {
        property.value[0] = 9;  // a later version
      } else if (property.key == kPropHandleBloom) {
        property.value.pop_back();
      }
    }
  });
  EXPECT_THAT(*PropertyDefects(*file, file->tables()[0]),
              ElementsAre("max_ver is missing",
                          "pack_snapshot_bounds_v1 is malformed or of a later version",
                          "pack_last_handle_v1 is malformed or of a later version",
                          "handle_bloom_v1 is malformed or of a later version"));
}

TEST(FileDescription, ATableNeedsNoFilterOfItsHandles) {
  MemoryFileSystem file_system;
  const auto file = Write(&file_system, [](std::vector<Property>* properties) {
    std::erase_if(*properties, [](const Property& p) { return p.key == kPropHandleBloom; });
  });
  EXPECT_THAT(*PropertyDefects(*file, file->tables()[0]), IsEmpty());
}

TEST(FileDescription, SaysThatStatisticsContradictEachOther) {
  MemoryFileSystem file_system;
  const auto file = Write(&file_system, [](std::vector<Property>* properties) {
    for (Property& property : *properties) {
      if (property.key == kPropPackMvccStats) {
        property.value.back() = kPackHasDelete;  // the bounds know of no end
      }
    }
  });
  EXPECT_THAT(*PropertyDefects(*file, file->tables()[0]),
              ElementsAre("statistics of pack 1 contradict each other"));
}

}  // namespace
}  // namespace varve

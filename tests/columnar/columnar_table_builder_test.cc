#include "columnar/columnar_table_builder.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "tests/columnar/columnar_test_rows.h"
#include "tests/seed.h"

namespace varve {
namespace {

ColumnarFileWriterOptions SmallPacks(size_t rows_per_pack) {
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = rows_per_pack;
  return options;
}

// The number of rows of each pack of a file with one table.
std::vector<size_t> PackSizes(const ColumnarFile& file) {
  std::vector<size_t> sizes;
  for (size_t pack = 0; pack < file.tables()[0].num_packs(); ++pack) {
    sizes.push_back(file.tables()[0].rows_of_pack(pack));
  }
  return sizes;
}

TEST(ColumnarTableBuilderTest, AFullPackIsFinishedWhenTheHandleDiffers) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  WriteFile(&file_system, schema,
            RowsOf(schema,
                   "1 [0,) 1 a | 2 [0,3) 1 a | 2 [3,4) 1 a | 2 [4,) 1 a | 3 [0,) 1 a | "
                   "4 [0,) 1 a | 5 [0,) 1 a"),
            SmallPacks(2));
  EXPECT_EQ(PackSizes(*OpenFile(&file_system)), (std::vector<size_t>{4, 2, 1}));
}

TEST(ColumnarTableBuilderTest, TheVersionsOfAHandleAreNotSplitAcrossAppends) {
  for (const HandleType handle : {HandleType::kInt, HandleType::kCommon}) {
    MemoryFileSystem file_system;
    const ColumnarTableSchema schema = TestSchema(handle);
    auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, SmallPacks(2));
    ASSERT_TRUE(writer->BeginTable(schema).ok());
    for (const char* rows :
         {"1 [0,) 1 a | 2 [0,3) 1 a", "2 [3,4) 1 a", "", "2 [4,) 1 a | 3 [0,) 1 a"}) {
      ASSERT_TRUE(writer->Append(RowsOf(schema, rows)).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
    const auto file = OpenFile(&file_system);
    EXPECT_EQ(PackSizes(*file), (std::vector<size_t>{4, 1}));
    EXPECT_EQ(file->tables()[0].mvcc_stats(),
              PackMvccStats({kPackHasDelete | kPackHasMultiVersion, 0}));
  }
}

TEST(ColumnarTableBuilderTest, HowRowsAreCutIntoAppendsDoesNotChangeTheFile) {
  RandomValues random(TestSeed());
  for (const HandleType handle : {HandleType::kInt, HandleType::kCommon}) {
    const ColumnarTableSchema schema = TestSchema(handle);
    const ColumnarRows rows =
        RandomRows(schema, {.rows = 200, .one_in_repeats = 2, .one_in_erased = 5}, &random);
    MemoryFileSystem whole;
    WriteFile(&whole, schema, rows, SmallPacks(10));
    MemoryFileSystem cut;
    auto writer = *ColumnarFileWriter::Create(&cut, kTestFile, SmallPacks(10));
    ASSERT_TRUE(writer->BeginTable(schema).ok());
    for (size_t from = 0; from < rows.num_rows();) {
      const size_t to = std::min(rows.num_rows(), from + random.Below(7));
      ASSERT_TRUE(writer->Append(rows, from, to).ok());
      from = to;
    }
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_TRUE(cut.contents(kTestFile) == whole.contents(kTestFile));
  }
}

TEST(ColumnarTableBuilderTest, RowsThatDoNotAscendAreRefused) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  struct Case {
    const char* first;
    const char* second;
  };
  for (const Case& wrong : {Case{"2 [0,) 1 a", "1 [0,) 1 a"}, Case{"2 [5,) 1 a", "2 [4,5) 1 a"},
                            Case{"2 [5,) 1 a", "2 [5,) 1 a"}, Case{"", "2 [0,) 1 a | 1 [0,) 1 a"},
                            // The row before is in a finished pack.
                            Case{"1 [0,) 1 a | 2 [0,) 1 a | 3 [0,) 1 a", "2 [1,) 1 a"}}) {
    auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, SmallPacks(1));
    ASSERT_TRUE(writer->BeginTable(schema).ok());
    ASSERT_TRUE(writer->Append(RowsOf(schema, wrong.first)).ok());
    EXPECT_EQ(writer->Append(RowsOf(schema, wrong.second)).code(),
              absl::StatusCode::kInvalidArgument)
        << wrong.second;
  }
}

TEST(ColumnarTableBuilderTest, RowsOfAnotherSchemaAreRefused) {
  MemoryFileSystem file_system;
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, {});
  ASSERT_TRUE(writer->BeginTable(TestSchema(HandleType::kInt)).ok());
  const ColumnarTableSchema other = TestSchema(HandleType::kCommon);
  EXPECT_EQ(writer->Append(RowsOf(other, "a [0,) 1 a")).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ColumnarTableBuilderTest, RowsBeforeATableAndARelationTwiceAreRefused) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, {});
  EXPECT_EQ(writer->Append(RowsOf(schema, "1 [0,) 1 a")).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(writer->BeginTable(schema).ok());
  EXPECT_EQ(writer->BeginTable(schema).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ColumnarTableBuilderTest, AGroupHoldsPacksOfOneColumnSideBySide) {
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  const ColumnarRows rows = RowsOf(schema, "1 [0,) 1 a | 2 [0,) 1 a | 3 [0,) 1 a");
  MemoryFileSystem together;
  WriteFile(&together, schema, rows, SmallPacks(1));
  MemoryFileSystem apart;
  ColumnarFileWriterOptions options = SmallPacks(1);
  options.table.group_bytes = 0;
  WriteFile(&apart, schema, rows, options);
  const auto next_in_column = [](const ColumnarFile& file) {
    const auto& packs = file.tables()[0].columns()[0].packs;
    return packs[0].offset + packs[0].length == packs[1].offset;
  };
  const auto next_in_pack = [](const ColumnarFile& file) {
    const ColumnarTable& table = file.tables()[0];
    const PackLocation& first = table.columns()[0].packs[1];
    return first.offset + first.length == table.columns()[1].packs[1].offset;
  };
  EXPECT_TRUE(next_in_column(*OpenFile(&together)));
  EXPECT_FALSE(next_in_column(*OpenFile(&apart)));
  EXPECT_TRUE(next_in_pack(*OpenFile(&apart)));
}

}  // namespace
}  // namespace varve

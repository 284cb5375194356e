#include "columnar/columnar_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/coding.h"
#include "base/strings.h"
#include "columnar/format.h"
#include "tests/columnar/columnar_test_rows.h"
#include "tests/seed.h"

namespace varve {
namespace {

constexpr char kRows[] =
    "1 [0,) 10 a | 2 [1,4) 20 b | 2 [4,) 21 b | 3 [2,) ! "
    "| 5 [12,13) NULL NULL | 8 [3,) 80 long";

ColumnarFileWriterOptions SmallPacks() {
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = 2;
  return options;
}

TEST(ColumnarFileTest, RowsComeBack) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  WriteFile(&file_system, schema, RowsOf(schema, kRows), SmallPacks());
  const auto rows = ReadTable(OpenFile(&file_system), schema);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(TextOf(*rows), kRows);
}

TEST(ColumnarFileTest, FilePropertiesSayWhatWasWritten) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  ColumnarFileWriterOptions options = SmallPacks();
  options.level = 1;
  options.kind = ColumnarFileKind::kMixed;
  options.flushed_csn = 77;
  const ColumnarFileProperties written =
      WriteFile(&file_system, schema, RowsOf(schema, kRows), options);
  const auto file = OpenFile(&file_system);
  EXPECT_EQ(file->properties(), written);
  EXPECT_EQ(written.level, 1);
  EXPECT_EQ(written.flushed_csn, 77U);
  EXPECT_EQ(written.max_version, 12U) << "that of an ended row";
  ASSERT_EQ(written.tables.size(), 1U);
  EXPECT_EQ(written.tables[0].schema, schema);
  EXPECT_EQ(written.tables[0].row_count, 6U);
  EXPECT_EQ(written.tables[0].smallest_handle.int_handle, 1);
  EXPECT_EQ(written.tables[0].largest_handle.int_handle, 8);
  EXPECT_EQ(file->file_size(), file_system.contents(kTestFile).size());
  EXPECT_EQ(file_system.synced_size(kTestFile), file->file_size());
}

TEST(ColumnarFileTest, HoldsSeveralTables) {
  MemoryFileSystem file_system;
  const ColumnarTableSchema ints = TestSchema(HandleType::kInt, 7);
  const ColumnarTableSchema bytes = TestSchema(HandleType::kCommon, 3);
  const ColumnarTableSchema empty = TestSchema(HandleType::kCommon, 9);
  const char kOther[] = "a [5,) 1 x | ab [6,) 2 y";
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, SmallPacks());
  ASSERT_TRUE(writer->BeginTable(ints).ok());
  ASSERT_TRUE(writer->Append(RowsOf(ints, kRows)).ok());
  ASSERT_TRUE(writer->BeginTable(empty).ok());
  ASSERT_TRUE(writer->BeginTable(bytes).ok());
  ASSERT_TRUE(writer->Append(RowsOf(bytes, kOther)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto file = OpenFile(&file_system);
  EXPECT_EQ(TextOf(*ReadTable(file, ints)), kRows);
  EXPECT_EQ(TextOf(*ReadTable(file, bytes)), kOther);
  EXPECT_EQ(TextOf(*ReadTable(file, empty)), "");
  EXPECT_EQ(file->FindTable(4), nullptr);
  EXPECT_EQ(file->FindTable(3)->max_version(), 6U) << "not that of the file";
  EXPECT_EQ(file->properties().max_version, 12U);
  EXPECT_EQ(file->FindTable(9)->num_packs(), 0U);
  EXPECT_EQ(file->FindTable(9)->max_version(), std::nullopt);
  EXPECT_EQ(file->FindTable(9)->SeekPack(Datum::Bytes("a")), 0U);
  EXPECT_FALSE(file->FindTable(9)->MayContain(Datum::Bytes("a")));
}

TEST(ColumnarFileTest, AFileWithoutTablesCanBeRead) {
  MemoryFileSystem file_system;
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, {});
  ASSERT_TRUE(writer->Finish().ok());
  const auto file = OpenFile(&file_system);
  EXPECT_TRUE(file->tables().empty());
  EXPECT_EQ(file->properties().max_version, std::nullopt);
}

TEST(ColumnarFileTest, FilesAreToldApart) {
  MemoryFileSystem file_system;
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, {});
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_NE(OpenFile(&file_system)->file_id(), OpenFile(&file_system)->file_id());
  EXPECT_EQ((*ColumnarFile::Open(&file_system, kTestFile, {.file_id = 5}))->file_id(), 5U);
}

TEST(ColumnarFileTest, AMissingFileIsNotFound) {
  MemoryFileSystem file_system;
  const absl::Status status = ColumnarFile::Open(&file_system, "none").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(FromAbsl(status.message()).find("none"), std::string_view::npos);
}

TEST(ColumnarFileTest, ALaterFormatVersionIsNamed) {
  MemoryFileSystem file_system;
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, {});
  ASSERT_TRUE(writer->Finish().ok());
  std::string header(kColumnarHeaderMagic);
  PutLittleEndian<uint32_t>(&header, kColumnarFormatVersion + 1);
  PutLittleEndian(&header, SectionChecksum(header));
  file_system.contents(kTestFile).replace(0, header.size(), header);
  EXPECT_EQ(ColumnarFile::Open(&file_system, kTestFile).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ColumnarFileTest, AnErrorOfAnyWritingCallIsReported) {
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  const ColumnarRows rows = RowsOf(schema, kRows);
  const auto write = [&](MemoryFileSystem* file_system) -> absl::Status {
    auto writer = ColumnarFileWriter::Create(file_system, kTestFile, SmallPacks());
    if (!writer.ok()) return writer.status();
    if (absl::Status status = (*writer)->BeginTable(schema); !status.ok()) return status;
    if (absl::Status status = (*writer)->Append(rows); !status.ok()) return status;
    return (*writer)->Finish().status();
  };
  uint64_t calls = 0;
  for (;; ++calls) {
    MemoryFileSystem file_system;
    file_system.FailWritingCall(calls);
    const absl::Status status = write(&file_system);
    if (!file_system.has_failed()) {
      EXPECT_TRUE(status.ok()) << status;
      break;
    }
    EXPECT_FALSE(status.ok()) << "call " << calls;
  }
  EXPECT_GT(calls, 8U) << "creating, header, packs of five columns, meta, footer, sync, close";
}

// Damage.

struct DamagedFile {
  ColumnarTableSchema ints = TestSchema(HandleType::kInt, 7);
  ColumnarTableSchema bytes = TestSchema(HandleType::kCommon, 3);
  std::string contents;
};

DamagedFile SmallFile() {
  DamagedFile file;
  MemoryFileSystem file_system;
  auto writer = *ColumnarFileWriter::Create(&file_system, kTestFile, SmallPacks());
  EXPECT_TRUE(writer->BeginTable(file.ints).ok());
  EXPECT_TRUE(writer->Append(RowsOf(file.ints, kRows)).ok());
  EXPECT_TRUE(writer->BeginTable(file.bytes).ok());
  EXPECT_TRUE(writer->Append(RowsOf(file.bytes, kRows)).ok());
  EXPECT_TRUE(writer->Finish().ok());
  file.contents = file_system.contents(kTestFile);
  return file;
}

TEST(ColumnarFileDamageTest, AFlippedByteAnywhereIsFoundAndNeverGivesAWrongRow) {
  const DamagedFile small = SmallFile();
  RandomValues random(TestSeed());
  MemoryFileSystem file_system;
  for (size_t at = 0; at < small.contents.size(); ++at) {
    for (const uint64_t mask : {uint64_t{0xff}, 1 + random.Below(255)}) {
      SCOPED_TRACE(StrCat("byte ", at, " xor ", mask));
      std::string& contents = file_system.contents(kTestFile);
      contents = small.contents;
      contents[at] = static_cast<char>(contents[at] ^ static_cast<char>(mask));
      const auto file = ColumnarFile::Open(&file_system, kTestFile);
      if (!file.ok()) {
        ASSERT_EQ(file.status().code(), absl::StatusCode::kDataLoss) << file.status();
        ASSERT_NE(FromAbsl(file.status().message()).find(kTestFile), std::string_view::npos);
        continue;
      }
      size_t found = 0;
      for (const ColumnarTableSchema* schema : {&small.ints, &small.bytes}) {
        const auto rows = ReadTable(*file, *schema);
        if (rows.ok()) {
          ASSERT_EQ(TextOf(*rows), kRows);
        } else {
          ASSERT_EQ(rows.status().code(), absl::StatusCode::kDataLoss) << rows.status();
          ++found;
        }
      }
      ASSERT_EQ(found, 1U) << "every byte belongs to a pack, a meta, the header or the footer";
    }
  }
}

TEST(ColumnarFileDamageTest, ADamagedPackIsNamedAndTheOthersStayReadable) {
  const DamagedFile small = SmallFile();
  MemoryFileSystem file_system;
  file_system.contents(kTestFile) = small.contents;
  const auto whole = OpenFile(&file_system);
  ASSERT_EQ(whole->FindTable(7)->num_packs(), 3U);
  const PackLocation location = whole->FindTable(7)->FindColumn(2)->packs[1];
  file_system.contents(kTestFile)[location.offset + 1] ^= 0x10;

  const auto file = OpenFile(&file_system);
  ReadCounters counters;
  ColumnarTableReader reader(file, file->FindTable(7), &counters);
  ColumnVector paths(PhysicalType::kBytes);
  EXPECT_EQ(reader.ReadPack(1, ColumnSlot::Data(2), &paths).message(),
            "columnar file 1.vcol is damaged: table 7, column path, pack 1: "
            "its checksum does not "
            "match");
  EXPECT_TRUE(reader.ReadPack(0, ColumnSlot::Data(2), &paths).ok());
  EXPECT_TRUE(reader.ReadPack(2, ColumnSlot::Data(2), &paths).ok());
  ColumnVector sizes(PhysicalType::kInt64);
  EXPECT_TRUE(reader.ReadPack(1, ColumnSlot::Data(1), &sizes).ok());
}

TEST(ColumnarFileDamageTest, AFileCutShortAnywhereIsRefused) {
  const DamagedFile small = SmallFile();
  MemoryFileSystem file_system;
  for (size_t size = 0; size < small.contents.size(); ++size) {
    file_system.contents(kTestFile) = small.contents.substr(0, size);
    ASSERT_EQ(ColumnarFile::Open(&file_system, kTestFile).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
}

TEST(ColumnarFileDamageTest, AFileCutShortWhileItIsOpenIsReported) {
  const DamagedFile small = SmallFile();
  MemoryFileSystem file_system;
  file_system.contents(kTestFile) = small.contents;
  const auto file = OpenFile(&file_system);
  file_system.contents(kTestFile).resize(30);
  EXPECT_EQ(ReadTable(file, small.ints).status().code(), absl::StatusCode::kDataLoss);
}

// What is malformed although its checksum is right: a reader must not crash or take what memory the
// bytes ask for. What it reads may be anything.
TEST(ColumnarFileDamageTest, AMalformedSectionWithARightChecksumDoesNoHarm) {
  const DamagedFile small = SmallFile();
  RandomValues random(TestSeed());
  MemoryFileSystem file_system;
  file_system.contents(kTestFile) = small.contents;
  const ColumnarTableProperties meta = OpenFile(&file_system)->FindTable(7)->properties();
  const size_t tail = small.contents.size() - kColumnarTailSize;
  const auto footer = LoadLittleEndian<uint64_t>(small.contents.data() + tail);
  size_t refused = 0;
  size_t opened = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string& contents = file_system.contents(kTestFile);
    contents = small.contents;
    const bool in_footer = random.OneIn(3);
    const size_t start = in_footer ? footer : meta.meta_offset;
    const size_t size = in_footer ? tail + 8 - footer : meta.meta_length - kChecksumSize;
    for (uint64_t changes = 1 + random.Below(3); changes > 0; --changes) {
      contents[start + random.Below(size)] =
          random.OneIn(3) ? '\xff' : static_cast<char>(random.Below(256));
    }
    std::string checksum;
    PutLittleEndian(&checksum, SectionChecksum(std::string_view(contents).substr(start, size)));
    contents.replace(start + size, checksum.size(), checksum);
    const auto file = ColumnarFile::Open(&file_system, kTestFile);
    refused += file.ok() ? 0 : 1;
    if (file.ok()) {
      ++opened;
      for (const ColumnarTable& table : (*file)->tables()) {
        static_cast<void>(ReadTable(*file, table.schema()));
      }
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(opened, 0U);
}

}  // namespace
}  // namespace varve

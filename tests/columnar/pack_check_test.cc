#include "columnar/pack_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "tests/columnar/columnar_test_rows.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "column:pack what"
std::vector<std::string> Texts(const absl::StatusOr<std::vector<DamagedPack>>& packs) {
  EXPECT_TRUE(packs.ok()) << packs.status();
  std::vector<std::string> texts;
  for (const DamagedPack& pack : packs.value_or(std::vector<DamagedPack>())) {
    texts.push_back(StrCat(pack.column, ":", pack.pack, " ", pack.what));
  }
  return texts;
}

std::vector<const ColumnarTable*> TablesOf(const ColumnarFile& file) {
  std::vector<const ColumnarTable*> tables;
  for (const ColumnarTable& table : file.tables()) {
    tables.push_back(&table);
  }
  return tables;
}

struct Place {
  PackLocation location;
  std::string column;
  size_t pack = 0;
};

std::vector<Place> PlacesOf(const ColumnarTable& table) {
  std::vector<Place> places;
  const auto add = [&](const ColumnarTable::Column& column) {
    for (size_t pack = 0; pack < column.packs.size(); ++pack) {
      places.push_back({column.packs[pack], column.info.name, pack});
    }
  };
  add(table.handle_column());
  add(table.version_column());
  add(table.end_column());
  for (const ColumnarTable::Column& column : table.columns()) {
    add(column);
  }
  return places;
}

class PackCheck : public ::testing::Test {
 protected:
  // A file with three packs of each of five columns.
  void SetUp() override {
    ColumnarFileWriterOptions options;
    options.table.rows_per_pack = 2;
    WriteFile(&file_system_, schema_,
              RowsOf(schema_,
                     "1 [0,) 10 a | 2 [1,4) 20 b | 2 [4,) 21 b | 3 [2,) 30 c | 5 [12,13) NULL NULL"
                     " | 8 [3,) 80 long"),
              options);
    file_ = OpenFile(&file_system_);
  }

  MemoryFileSystem file_system_;
  const ColumnarTableSchema schema_ = TestSchema(HandleType::kInt);
  std::shared_ptr<const ColumnarFile> file_;
};

TEST_F(PackCheck, OfAWholeFileFindsNothingAndReadsItOnce) {
  file_system_.TakeReads();
  uint64_t bytes = 0;
  EXPECT_THAT(Texts(CheckPacks(*file_, TablesOf(*file_),
                               [&](uint64_t read) {
                                 bytes += read;
                                 return absl::OkStatus();
                               })),
              IsEmpty());
  EXPECT_EQ(file_system_.TakeReads().size(), 1U) << "it is smaller than a window";
  EXPECT_GT(bytes, 0U);
  EXPECT_LE(bytes, file_->file_size());
  EXPECT_FALSE(file_->damage_seen());
}

TEST_F(PackCheck, AnyFlippedByteOfAPackIsFoundInThatPackAlone) {
  const std::string whole = file_system_.contents(kTestFile);
  const std::vector<Place> places = PlacesOf(*file_->FindTable(schema_.relation));
  ASSERT_GE(places.size(), 10U);
  for (const Place& place : places) {
    for (uint32_t i = 0; i < place.location.length; ++i) {
      std::string& bytes = file_system_.contents(kTestFile);
      bytes = whole;
      bytes[place.location.offset + i] = static_cast<char>(bytes[place.location.offset + i] ^ 1);
      ASSERT_THAT(
          Texts(CheckPacks(*file_, TablesOf(*file_), nullptr)),
          ElementsAre(StrCat(place.column, ":", place.pack, " its checksum does not match")));
    }
  }
}

TEST_F(PackCheck, OfOtherTablesSaysNothingOfDamage) {
  const ColumnarTable& table = *file_->FindTable(schema_.relation);
  std::string& bytes = file_system_.contents(kTestFile);
  const uint64_t offset = table.handle_column().packs[0].offset;
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
  EXPECT_THAT(Texts(CheckPacks(*file_, {}, nullptr)), IsEmpty());
}

TEST_F(PackCheck, AFileThatWasCutOffSinceIsDamagedWhereItEnds) {
  const std::vector<Place> places = PlacesOf(*file_->FindTable(schema_.relation));
  uint64_t last = 0;
  for (const Place& place : places) {
    last = std::max(last, place.location.offset);
  }
  file_system_.contents(kTestFile).resize(last + 1);
  const auto damaged = CheckPacks(*file_, TablesOf(*file_), nullptr);
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  EXPECT_EQ(damaged->size(), 1U);
  EXPECT_TRUE(file_->damage_seen());
  file_->ForgetDamage();
  EXPECT_FALSE(file_->damage_seen());
}

TEST_F(PackCheck, EndsWithTheErrorOfWhoCountsTheBytes) {
  EXPECT_EQ(CheckPacks(*file_, TablesOf(*file_),
                       [](uint64_t /*bytes*/) { return absl::CancelledError("enough"); })
                .status(),
            absl::CancelledError("enough"));
}

// Packs that are larger than the memory that is used for them, and such as lie across its edges.
TEST(PackCheckTest, PacksOfAnySizeAreReadInPieces) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  ColumnarRows rows(schema);
  RandomValues random(TestSeed());
  for (int64_t handle = 0; handle < 12; ++handle) {
    rows.handles.Append(Datum::Int64(handle));
    rows.begins.push_back(1);
    rows.ends.push_back(kNoEnd);
    rows.columns.mutable_column(0).Append(Datum::Int64(handle));
    std::string noise(700'000, '\0');
    for (char& c : noise) {
      c = static_cast<char>(random.Below(256));
    }
    rows.columns.mutable_column(1).AppendBytes(noise);
  }
  rows.columns.SetNumRows(12);
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = 4;
  WriteFile(&file_system, schema, rows, options);
  const auto file = OpenFile(&file_system);
  ASSERT_GT(file->file_size(), 8U << 20);
  EXPECT_THAT(Texts(CheckPacks(*file, TablesOf(*file), nullptr)), IsEmpty());
  for (const MemoryFileSystem::Read& read : file_system.TakeReads()) {
    EXPECT_LE(read.size, 1U << 20);
  }
  const PackLocation location = file->FindTable(schema.relation)->columns()[1].packs[1];
  ASSERT_GT(location.length, 2U << 20);
  for (const uint64_t at :
       {uint64_t{0}, random.Below(location.length), uint64_t{location.length - 1}}) {
    char& byte = file_system.contents(kTestFile)[location.offset + at];
    byte = static_cast<char>(byte ^ 0x40);
    EXPECT_THAT(Texts(CheckPacks(*file, TablesOf(*file), nullptr)),
                ElementsAre(StrCat(file->FindTable(schema.relation)->columns()[1].info.name,
                                   ":1 its checksum does not match")));
    byte = static_cast<char>(byte ^ 0x40);
  }
}

}  // namespace
}  // namespace varve

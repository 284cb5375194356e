// Rows that must be gone: erased, excised and rewritten ones, looked for in the columnar files
// themselves.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "catalog/relation_directory.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "columnar/columnar_table_reader.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

CompactionOptions Whole() {
  return {.full = true, .segment_bytes = 300, .table = SmallPacks(3)};
}

class Erasure : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
  }
  // The names of all rows of ducklake_table that files of the catalog hold, live and ended ones.
  std::multiset<std::string> NamesInFiles() {
    std::multiset<std::string> names;
    const auto state = catalog_->LatestState();
    for (const auto& [number, file] : state->columnar->files()) {
      const ColumnarTable* const table = file->file()->FindTable(kTable);
      if (table == nullptr) {
        continue;
      }
      ReadCounters counters;
      ColumnarTableReader reader(file->file(), table, &counters);
      for (const ColumnarTable::Column& column : table->columns()) {
        for (size_t pack = 0; column.info.name == "table_name" && pack < table->num_packs();
             ++pack) {
          ColumnVector values(PhysicalType::kBytes);
          EXPECT_TRUE(reader.ReadPack(pack, ColumnSlot::Data(column.info.id), &values).ok());
          for (size_t row = 0; row < values.size(); ++row) {
            names.insert(std::string(values.bytes(row)));
          }
        }
      }
    }
    return names;
  }
  size_t L1Files() const {
    size_t files = 0;
    for (const auto& file : catalog_->LatestState()->columnar->manifest().files()) {
      files += file.level() == 1 ? 1 : 0;
    }
    return files;
  }
  size_t Segments() const {
    return catalog_->LatestState()->columnar->Find(kTable)->segments.size();
  }
  void CompareNow() {
    RandomQuestions questions(TestSeed());
    CompareAll(catalog_->Current(), &questions, 2);
  }
  // Tables 1 … 20 in several segments.
  void MakeSegments() {
    std::string text = "snapshot 1\n";
    for (int n = 1; n <= 20; ++n) {
      StrAppend(&text, "insert table ", n, " | - | 1 | - | 0 | t", n, "\n");
    }
    MustApply(text);
    Flush();
    Compact(Whole());
    ASSERT_GT(Segments(), 2U);
    ASSERT_EQ(L1Files(), 0U);
  }
};

TEST_F(Erasure, AFlushedFileGoesWhenItsRowsAreCompactedIntoOneOfManySegments) {
  MakeSegments();
  MustApply("snapshot 2\n end table 2 @ 2");
  Flush();
  EXPECT_EQ(L1Files(), 1U);
  const CompactionSummary did = Compact(Whole());
  EXPECT_LT(did.rows_read, 20U) << "other segments stay";
  EXPECT_EQ(L1Files(), 0U);
  CompareNow();
}

TEST_F(Erasure, ARowErasedInL1IsGoneFromTheFilesWithTheNextCompaction) {
  MakeSegments();
  EXPECT_EQ(NamesInFiles().count("t7"), 1U);
  MustApply("erase table 7 @ 1");
  Flush();
  CompareNow();  // a marker in L1 hides the row in L2
  const CompactionSummary did = Compact(Whole());
  EXPECT_GE(did.markers_dropped, 1U);
  EXPECT_EQ(NamesInFiles().count("t7"), 0U);
  EXPECT_EQ(NamesInFiles().size(), 19U);
  CompareNow();
}

TEST_F(Erasure, AnErasedIdentityComesBackWithItsNewRow) {
  MakeSegments();
  MustApply("erase table 7 @ 1");
  Flush();
  MustApply("insert table 7 | - | 1 | - | 0 | is back");
  CompareNow();
  Flush();
  CompareNow();  // above a marker above the old row
  MustApply("erase table 8 @ 1\n insert table 8 | - | 1 | - | 0 | at once");
  CompareNow();
  Flush();
  Compact({.max_l1_files = 1, .table = SmallPacks(3)});  // L1 files alone: markers stay
  CompareNow();
  Compact(Whole());
  CompareNow();
  const std::multiset<std::string> names = NamesInFiles();
  EXPECT_EQ(names.count("is back"), 1U);
  EXPECT_EQ(names.count("at once"), 1U);
  EXPECT_EQ(names.count("t7") + names.count("t8"), 0U);
}

TEST_F(Erasure, CompactionLeavesOutWhatNoRetainedSnapshotShows) {
  MakeSegments();
  MustApply("snapshot 2\n end table 7 @ 2");
  MustApply("snapshot 3\n end table 9 @ 3");
  Flush();
  EXPECT_EQ(Compact(Whole()).reclaimed, 0U);
  EXPECT_EQ(NamesInFiles().size(), 20U);
  MustApply("snapshot 4");
  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  EXPECT_EQ(Compact(Whole()).reclaimed, 2U);
  EXPECT_EQ(NamesInFiles().count("t7") + NamesInFiles().count("t9"), 0U);
  EXPECT_EQ(NamesInFiles().size(), 18U);
  CompareNow();
}

TEST_F(Erasure, AnExcisedRowIsInNoFileAfterTheNextCompaction) {
  MakeSegments();
  MustApply("snapshot 2\n end table 7 @ 2");
  Flush();
  Compact(Whole());
  MustApply("snapshot 3\n end table 9 @ 3");
  Flush();  // another one in L1
  MustApply("snapshot 4");
  EXPECT_EQ(NamesInFiles().count("t7"), 1U);
  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  const auto excision = Excise(catalog_.get(), {});
  ASSERT_TRUE(excision.ok()) << excision.status();
  EXPECT_GT(excision->steps, 0U);
  Flush();
  Compact(Whole());
  const std::multiset<std::string> names = NamesInFiles();
  EXPECT_EQ(names.size(), 18U);
  EXPECT_EQ(names.count("t7") + names.count("t9"), 0U);
  EXPECT_EQ(L1Files(), 0U);
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  CompareNow();
}

}  // namespace
}  // namespace varve

// What flushes, compactions and rebuilds do about columnar files that are damaged: each damaged
// relation is found and made anew, and none stands in the way of the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tests/catalog/flip_byte.h"
#include "tests/catalog/random_changes.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using Lines = std::vector<std::string>;

class TiersDamage : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
    Rebuild();
  }
  void ApplyRandom(int sets) {
    for (int i = 0; i < sets; ++i) {
      const absl::Status status = catalog_->Apply(changes_.Next());
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  // Rows in L2, and in L1 above it.
  void FillFiles() {
    ApplyRandom(40);
    Flush();
    CompactAll(3, 1'000);
    ApplyRandom(15);
    Flush();
  }
  const ColumnarSet& set() const { return *catalog_->LatestState()->columnar; }

  // A pack that a part has of a column, damaged in its middle: of the handles when nothing else is
  // said.
  static void DamagePack(const ColumnarPart& part, size_t pack = 0) {
    const PackLocation& location = part.table->handle_column().packs[pack];
    FlipByte(part.file->file()->path(), location.offset + location.length / 2);
  }
  static std::string NameOf(const ColumnarPart& part) {
    return ColumnarFileName(part.file->number());
  }
  CompactionSummary Repair() {
    const auto rebuilt =
        RebuildColumns(*catalog_, {.check = DamageCheck::kAll, .table = SmallPacks(2)});
    EXPECT_TRUE(rebuilt.ok()) << rebuilt.status();
    return rebuilt.value_or(CompactionSummary());
  }
  // Every relation on every path, and whether scans fell back.
  void ExpectSound() {
    RandomQuestions questions(TestSeed());
    CompareAll(catalog_->Current(), &questions, 1);
    EXPECT_THAT(Incomplete(), IsEmpty());
    EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  }
  // The same rows, whatever answers.
  void ExpectSameRows() {
    const ReadView now = catalog_->Current();
    for (const RelationRef& relation : now.relations().relations()) {
      EXPECT_EQ(AnswerOf(now, relation, {}, ScanPath::kAuto),
                AnswerOf(now, relation, {}, ScanPath::kRow))
          << relation->name;
    }
  }
  Lines Incomplete() const {
    Lines names;
    for (const RelationRef& relation : catalog_->LatestState()->directory->relations()) {
      if (!set().IsComplete(relation->id)) {
        names.push_back(relation->name);
      }
    }
    return names;
  }
  static Lines SkippedBy(const CompactionSummary& summary) {
    Lines names;
    for (const CompactionSummary::Skipped& skipped : summary.skipped) {
      names.push_back(skipped.relation);
      EXPECT_THAT(skipped.why, HasSubstr(".vcol"));
    }
    return names;
  }

  RandomChanges changes_{TestSeed()};
};

// --- Rebuilding what is damaged ------------------------------------------------------------------

TEST_F(TiersDamage, ARebuildThatReadsAllFilesHealsWhatIsDamagedInside) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  FillFiles();
  RandomQuestions random(TestSeed());
  for (int round = 0; round < 15; ++round) {
    // Given packs damaged in one to three places, of which opening notices nothing,
    auto state = catalog_->LatestState();
    std::map<std::string, std::set<std::string>> damaged;  // file: relations
    for (uint64_t i = 1 + random.Below(3); i > 0; --i) {
      const auto& files = state->columnar->manifest().files();
      const auto& entry =
          files[static_cast<int>(random.Below(static_cast<uint64_t>(files.size())))];
      const auto& of_table =
          entry.tables(static_cast<int>(random.Below(static_cast<uint64_t>(entry.tables_size()))));
      const RelationRef relation = state->directory->FindById(of_table.relation());
      const ColumnarFile& file = *state->columnar->files().at(entry.number())->file();
      const ColumnarTable& table = *file.FindTable(of_table.relation());
      if (relation == nullptr || damaged.contains(ColumnarFileName(entry.number()))) {
        continue;
      }
      const size_t column = random.Below(table.columns().size() + 1);
      const auto& packs = column == table.columns().size() ? table.end_column().packs
                                                           : table.columns()[column].packs;
      const PackLocation& location = packs[random.Below(packs.size())];
      FlipByte(file.path(), location.offset + random.Below(location.length));
      damaged[ColumnarFileName(entry.number())].insert(relation->name);
    }
    state.reset();
    ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
    EXPECT_THAT(Incomplete(), IsEmpty());
    ExpectSameRows();
    // when all files are read for it,
    const CompactionSummary summary = Repair();
    // then each is found, its relations are made anew, and nothing else is.
    std::map<std::string, std::set<std::string>> found;
    std::set<std::string> rebuilt;
    for (const CompactionSummary::Damage& damage : summary.damaged) {
      found[damage.file].insert(damage.rebuilt.begin(), damage.rebuilt.end());
      rebuilt.insert(damage.rebuilt.begin(), damage.rebuilt.end());
      EXPECT_THAT(damage.what, AllOf(HasSubstr("pack "), HasSubstr("checksum")));
    }
    EXPECT_EQ(found, damaged);
    EXPECT_EQ(summary.relations, rebuilt.size());
    ASSERT_NO_FATAL_FAILURE(ExpectSound());
    EXPECT_THAT(Repair().damaged, IsEmpty());
    ApplyRandom(3);
    Flush();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(TiersDamage, ARebuildNamesFilesThatCannotBeOpenedAndMakesTheirRelationsAnew) {
  FillFiles();
  const ColumnarPart part = set().Find(kSnapshot)->l1.front();
  std::filesystem::resize_file(part.file->file()->path(), 20);
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  EXPECT_THAT(Incomplete(), Contains("ducklake_snapshot"));
  const auto rebuilt = RebuildColumns(*catalog_, {.table = SmallPacks(2)});
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  ASSERT_THAT(rebuilt->damaged, SizeIs(1));
  EXPECT_EQ(rebuilt->damaged[0].file, NameOf(part));
  EXPECT_THAT(rebuilt->damaged[0].rebuilt, Contains("ducklake_snapshot"));
  ExpectSound();
}

TEST_F(TiersDamage, ARebuildReportsWhatItReadsAndCanBeGivenUp) {
  FillFiles();
  uint64_t bytes = 0;
  for (const auto& file : set().manifest().files()) {
    bytes += file.bytes();
  }
  uint64_t last = 0;
  const auto rebuilt = RebuildColumns(
      *catalog_, {.check = DamageCheck::kAll, .on_check = [&](uint64_t done, uint64_t total) {
                    EXPECT_GT(done, last);
                    EXPECT_GE(total, done);
                    EXPECT_EQ(total, bytes);
                    last = done;
                  }});
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_GT(last, bytes / 2);
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(absl::IsCancelled(
      RebuildColumns(*catalog_, {.stop = &stop, .check = DamageCheck::kAll}).status()));
  ExpectSound();
}

// --- Compacting around what is damaged -----------------------------------------------------------

TEST_F(TiersDamage, ACompactionSkipsARelationThatCannotBeReadAndCompactsTheOthers) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  FillFiles();
  // Given one pack of schemas damaged inside,
  DamagePack(set().Find(kSnapshot)->l1.front());
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  // when all is compacted,
  const CompactionSummary summary = CompactAll();
  // then that relation is named, the row store answers for it, and nothing of the others is in L1.
  EXPECT_THAT(SkippedBy(summary), ElementsAre("ducklake_snapshot"));
  EXPECT_GT(summary.relations, 3U);
  EXPECT_THAT(Incomplete(), ElementsAre("ducklake_snapshot"));
  for (const RelationRef& relation : catalog_->LatestState()->directory->relations()) {
    const RelationColumns* const columns = set().Find(relation->id);
    if (columns != nullptr && relation->id != kSnapshot) {
      EXPECT_THAT(columns->l1, IsEmpty()) << relation->name;
    }
  }
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  ExpectSameRows();
  // It stays so while nobody rebuilds it, whatever is committed;
  ApplyRandom(5);
  Flush();
  EXPECT_THAT(SkippedBy(CompactAll()), ElementsAre("ducklake_snapshot"));
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  ExpectSameRows();
  // and a rebuild makes it good without reading anything for it.
  Rebuild();
  ExpectSound();
  EXPECT_THAT(SkippedBy(CompactAll()), IsEmpty());
  ExpectSound();
}

TEST_F(TiersDamage, ACompactionSkipsTheRelationsOfAFileThatCannotBeOpened) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  FillFiles();
  const ColumnarPart part = *set().Find(kSnapshot)->segments.front().live;
  std::filesystem::resize_file(part.file->file()->path(), 20);
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  const Lines damaged = Incomplete();
  ASSERT_THAT(damaged, Contains("ducklake_snapshot"));
  EXPECT_EQ(SkippedBy(CompactAll()), damaged);
  ExpectSameRows();
  Rebuild();
  ExpectSound();
}

// A relation whose rows went to the shared files, and that turned out to be damaged behind them.
TEST_F(TiersDamage, WhatACompactionWroteOfARelationItThenSkippedDoesNotCount) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  for (int snapshot = 1; snapshot <= 40; ++snapshot) {
    MustApply(StrCat("snapshot ", snapshot));
  }
  Flush();
  CompactAll(2, /*segment_bytes=*/1);
  const ColumnarPart part = *set().Find(kSnapshot)->segments.back().live;
  ASSERT_GT(set().Find(kSnapshot)->segments.size(), 1U) << "the first range is compacted before";
  DamagePack(part, part.table->num_packs() - 1);
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  CompactionOptions options = {.relations = {kSnapshot}, .full = true, .table = SmallPacks(2)};
  MustApply("erase snapshot 1 @ 1\n erase snapshot 39 @ 39");
  Flush();
  const CompactionSummary summary = Compact(options);
  EXPECT_THAT(SkippedBy(summary), ElementsAre("ducklake_snapshot"));
  EXPECT_EQ(summary.relations, 0U);
  EXPECT_EQ(summary.rows_written, 0U);
  EXPECT_EQ(summary.bytes_written, 0U);
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  ExpectSameRows();
  Rebuild();
  ExpectSound();
}

TEST_F(TiersDamage, L1FilesAreMergedAroundDamage) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  FillFiles();
  // Not every random change is one of snapshots.
  while (set().Find(kSnapshot)->l1.size() < 5) {
    ApplyRandom(4);
    Flush();
  }
  // Given, among many L1 files, one with a damaged pack and one that cannot be opened,
  const std::vector<ColumnarPart>& l1 = set().Find(kSnapshot)->l1;
  DamagePack(l1[1]);
  std::filesystem::resize_file(l1[2].file->file()->path(), 20);
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  const Lines unreadable = Incomplete();
  // when they are merged,
  const CompactionSummary summary =
      Compact({.min_rows = 1'000'000, .max_l1_files = 1, .table = SmallPacks(2)});
  // then the relations concerned are skipped, and all files that can be opened are one.
  EXPECT_GE(summary.l1_files_merged, 4U);
  EXPECT_THAT(SkippedBy(summary), IsSupersetOf(unreadable));
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  size_t l1_files = 0;
  for (const auto& file : set().manifest().files()) {
    l1_files += file.level() == 1 ? 1 : 0;
  }
  EXPECT_EQ(l1_files, 2U);
  ExpectSameRows();
  // Even if the lost file came back, the relations stay with the row store until they are rebuilt.
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  ExpectSameRows();
  Rebuild();
  ExpectSound();
}

// --- In the background ---------------------------------------------------------------------------

TEST_F(TiersDamage, DamageThatAScanMeetsIsMadeGoodInTheBackground) {
  FillFiles();
  DamagePack(set().Find(kSnapshot)->l1.front());
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory(CatalogOptions()));
  const RelationRef snapshots = catalog_->Current().relations().FindById(kSnapshot);
  const Lines rows = AnswerOf(catalog_->Current(), snapshots, {}, ScanPath::kRow);
  const auto fell_back = [&] {
    ScanStats stats;
    EXPECT_EQ(AnswerOf(catalog_->Current(), snapshots, {}, ScanPath::kAuto, &stats), rows);
    return !stats.fell_back.empty();
  };
  EXPECT_TRUE(fell_back());
  // A scan that goes on while the file is made anew may have seen it once more.
  while (fell_back() || IsDamageSeen(*catalog_->LatestState()->columnar)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ReopenWithMemory();
  EXPECT_THAT(Repair().damaged, IsEmpty());
  ExpectSound();
}

TEST_F(TiersDamage, WhatWasCheckedForIsForgottenThoughTheCheckMetItAgain) {
  FillFiles();
  const auto state = catalog_->LatestState();
  const ColumnarPart part = state->columnar->Find(kSnapshot)->l1.front();
  EXPECT_FALSE(IsDamageSeen(*state->columnar));
  // Given a file that was cut off since it was opened, which a scan notices,
  std::filesystem::resize_file(part.file->file()->path(), 30);
  ExpectSameRows();
  EXPECT_TRUE(IsDamageSeen(*state->columnar));
  // when what was seen is checked, it is found once.
  const auto damaged = FindDamage(*state, DamageCheck::kSeen, nullptr);
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  ASSERT_THAT(*damaged, SizeIs(1));
  EXPECT_EQ((*damaged)[0].name, NameOf(part));
  EXPECT_THAT((*damaged)[0].relations, Contains(kSnapshot));
  EXPECT_FALSE(IsDamageSeen(*state->columnar));
}

// --- What was dropped ----------------------------------------------------------------------------

TEST_F(TiersDamage, FilesOfDroppedRelationsGoWithTheNextFlush) {
  // Given a relation with a file of its own in level 1, and rows in files of others,
  MustApply("snapshot 1");
  Flush();
  MustApply("create heap a bigint\n insert heap 1\n insert heap 2");
  Flush();
  CompactAll();
  MustApply("insert heap 3");
  Flush();
  const RelationId heap = catalog_->Current().relations().FindByName("heap")->id;
  ASSERT_NE(set().Find(heap), nullptr);
  const std::string of_its_own = NameOf(set().Find(heap)->l1.front());
  // when it is dropped, a view that still shows it keeps its files;
  std::optional<ReadView> view = catalog_->Current();
  MustApply("drop heap");
  Flush();
  EXPECT_EQ(set().Find(heap), nullptr);
  EXPECT_FALSE(FilesInManifest().contains(of_its_own));
  EXPECT_TRUE(FilesOnDisk().contains(of_its_own));
  EXPECT_THAT(AnswerOf(*view, view->relations().FindByName("heap"), {}, ScanPath::kColumnar),
              SizeIs(3));
  // then they go.
  view.reset();
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
  ExpectSound();
}

}  // namespace
}  // namespace varve

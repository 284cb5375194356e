// The columnar tier when things go wrong: processes killed at every failpoint, full disks, damaged
// and missing files, readers that hold on to what was replaced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/failpoint.h"
#include "base/status.h"
#include "catalog/relation_directory.h"
#include "catalog/tiers/memory_set.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/fault_file_system.h"
#include "tests/catalog/flip_byte.h"
#include "tests/catalog/random_changes.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Lines = std::vector<std::string>;

CompactionOptions Whole(uint64_t segment_bytes = 1'000) {
  return {.full = true, .segment_bytes = segment_bytes, .table = SmallPacks(3)};
}

class TiersFault : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
    SCOPED_TRACE(StrCat("seed ", TestSeed()));
  }
  void ApplyRandom(int sets) {
    for (int i = 0; i < sets; ++i) {
      const absl::Status status = catalog_->Apply(changes_.Next());
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  // Rows in L2, in L1 above it, and in memory above that.
  void FillAllTiers() {
    ApplyRandom(40);
    Rebuild();
    Flush();
    Compact(Whole());
    ApplyRandom(15);
    Flush();
    ApplyRandom(10);
  }
  // Every relation at the current and at another snapshot, on every path.
  void CompareNow() {
    const ReadView now = catalog_->Current();
    CompareAll(now, &questions_, 0);
    const std::vector<SnapshotId> ids = changes_.model().Snapshots();
    CompareAll(ReadView(now.state(), ids[questions_.Below(ids.size())]), &questions_, 1);
  }
  // kAuto against the row store; how many scans fell back.
  int CompareAuto() {
    int fell_back = 0;
    const ReadView now = catalog_->Current();
    for (const RelationRef& relation : now.relations().relations()) {
      ScanStats stats;
      EXPECT_EQ(AnswerOf(now, relation, {.with_handles = true}, ScanPath::kAuto, &stats),
                AnswerOf(now, relation, {.with_handles = true}, ScanPath::kRow))
          << relation->name;
      fell_back += stats.fell_back.empty() ? 0 : 1;
      ScanOptions options{.order = ScanOrder::kAny, .with_intervals = false, .batch_rows = 4};
      Lines expected = AnswerOf(now, relation, options, ScanPath::kRow);
      Lines in_any_order = AnswerOf(now, relation, options, ScanPath::kAuto);
      std::sort(expected.begin(), expected.end());
      std::sort(in_any_order.begin(), in_any_order.end());
      EXPECT_EQ(in_any_order, expected) << relation->name;
    }
    return fell_back;
  }
  Lines IncompleteRelations() const {
    Lines names;
    const auto state = catalog_->LatestState();
    for (const RelationRef& relation : state->directory->relations()) {
      if (!state->columnar->IsComplete(relation->id)) {
        names.push_back(relation->name);
      }
    }
    return names;
  }
  std::vector<RelationId> AllRelations() const {
    std::vector<RelationId> ids;
    for (const RelationRef& relation : catalog_->LatestState()->directory->relations()) {
      ids.push_back(relation->id);
    }
    return ids;
  }

  RandomChanges changes_{TestSeed()};
  RandomQuestions questions_{TestSeed()};
};

// --- Killed --------------------------------------------------------------------------------------

// "failpoint:n path"
const ChildBody kColumnMaker("tiers: flush and compact", [](const std::string& argument,
                                                            const ChildBody::Say& say) {
  const size_t space = argument.find(' ');
  const auto catalog = Catalog::Open(argument.substr(space + 1));
  if (!catalog.ok() || !(*catalog)->WaitForMemory().ok() ||
      !ArmFailpointFromText(argument.substr(0, space)).ok()) {
    return 2;
  }
  absl::Status status = FlushMemory(**catalog, {.table = SmallPacks(2)}).status();
  if (status.ok()) {
    status = CompactColumns(**catalog, Whole()).status();
  }
  std::fprintf(stderr, "the child ended: %s\n", status.ToString().c_str());
  say(status.ok() ? 'y' : 'n');
  return status.ok() ? 0 : 1;
});

TEST_F(TiersFault, KilledAtEveryFailpointNothingIsLostAndNothingLeft) {
  FillAllTiers();
  std::map<std::string_view, int> kills;
  for (const Failpoint& failpoint : kFailpoints) {
    if (!failpoint.name.starts_with("flush/") && !failpoint.name.starts_with("compaction/")) {
      continue;
    }
    for (int pass = 1; pass <= 4; ++pass) {
      SCOPED_TRACE(StrCat("seed ", TestSeed(), ", killed at ", failpoint.name, ":", pass));
      ApplyRandom(4);
      catalog_.reset();
      ChildProcess child(kColumnMaker, StrCat(failpoint.name, ":", pass, " ", path()));
      const int end = child.Wait();
      ASSERT_TRUE(end == -SIGKILL || end == 0) << end;
      kills[failpoint.name] += end == -SIGKILL ? 1 : 0;
      ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
      EXPECT_EQ(FilesOnDisk(), FilesInManifest());
      CompareNow();
      ASSERT_FALSE(HasFailure());
      if (end == 0) {
        break;
      }
      // What was interrupted is done by the next run.
      Flush();
      Compact(Whole());
      EXPECT_EQ(FilesOnDisk(), FilesInManifest());
      CompareNow();
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(kills[failpoint.name], 0) << failpoint.name << " is never passed";
  }
  EXPECT_EQ(kills.size(), 6U);
}

// --- A disk that fails ---------------------------------------------------------------------------

class FailingDisk : public TiersFault {
 protected:
  void SetUp() override {
    TiersFault::SetUp();
    std::filesystem::create_directory(dir_ / "attic");
    file_system_ = std::make_shared<FaultFileSystem>(dir_ / "attic");
  }
  void TearDown() override { catalog_.reset(); }

  // Has some of the writing calls of `work` fail, one each time: the first ones, the last ones, and
  // others. Whatever failed, the rows are right before and after the next opening, no relation has
  // lost a file, and none is left over.
  void FailEverywhere(const FaultFileSystem::Fault& fault,
                      const std::function<absl::Status()>& work) {
    ReopenWithMemory({.file_system = file_system_});
    ApplyRandom(3);
    file_system_->Arm({});
    ASSERT_TRUE(work().ok());
    const uint64_t calls = file_system_->calls();
    std::set<uint64_t> points = {1, 2, 3};
    for (uint64_t i = 0; i < 8; ++i) {
      points.insert(1 + questions_.Below(calls));
      points.insert(calls > i ? calls - i : 1);
    }
    int failed = 0;
    for (const uint64_t at : points) {
      SCOPED_TRACE(StrCat("seed ", TestSeed(), ", call ", at));
      ApplyRandom(3);
      FaultFileSystem::Fault armed = fault;
      armed.at = at;
      file_system_->Arm(armed);
      const absl::Status status = work();
      const uint64_t failures = file_system_->failures();
      SCOPED_TRACE(StrCat("failed: ", file_system_->failed_calls()));
      file_system_->Arm({});
      ASSERT_TRUE(status.ok() || failures > 0) << status;
      failed += status.ok() ? 0 : 1;
      CompareNow();
      ASSERT_FALSE(HasFailure());
      ASSERT_NO_FATAL_FAILURE(ReopenWithMemory({.file_system = file_system_}));
      EXPECT_EQ(FilesOnDisk(), FilesInManifest());
      EXPECT_THAT(IncompleteRelations(), IsEmpty());
      CompareNow();
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(failed, 3);
    EXPECT_TRUE(work().ok());
    CompareNow();
  }

  std::shared_ptr<FaultFileSystem> file_system_;
};

TEST_F(FailingDisk, FullDuringAFlushNothingIsLost) {
  FillAllTiers();
  FailEverywhere({.kind = FaultFileSystem::Fault::Kind::kNoSpace, .lasting = true},
                 [&] { return FlushMemory(*catalog_, {.table = SmallPacks(2)}).status(); });
}

TEST_F(FailingDisk, FullDuringACompactionNothingIsLostAndSpaceIsGivenBack) {
  FillAllTiers();
  FailEverywhere({.kind = FaultFileSystem::Fault::Kind::kNoSpace, .lasting = true}, [&] {
    const absl::Status flushed = FlushMemory(*catalog_, {.table = SmallPacks(2)}).status();
    return flushed.ok() ? CompactColumns(*catalog_, Whole()).status() : flushed;
  });
}

TEST_F(FailingDisk, AnErrorOfOneCallLosesNothing) {
  FillAllTiers();
  FailEverywhere({.kind = FaultFileSystem::Fault::Kind::kIoError}, [&] {
    const absl::Status flushed = FlushMemory(*catalog_, {.table = SmallPacks(2)}).status();
    return flushed.ok() ? CompactColumns(*catalog_, Whole()).status() : flushed;
  });
}

// An error of the commit itself: whether it took place only the next opening tells, so the files
// must stay until then.
TEST_F(FailingDisk, AfterAnErrorOfTheCommitTheFilesItMayHaveInstalledStay) {
  FillAllTiers();
  Flush();
  CompactionOptions options = Whole();
  for (const RelationId relation : AllRelations()) {  // one that has flushed rows
    const RelationColumns* const columns = catalog_->LatestState()->columnar->Find(relation);
    if (columns != nullptr && !columns->l1.empty()) {
      options.relations = {relation};
    }
  }
  ASSERT_EQ(options.relations.size(), 1U);
  const std::string before = dir_ / "before";
  catalog_.reset();
  std::filesystem::copy(path(), before, std::filesystem::copy_options::recursive);
  // Compacts with one call failing (0: none), and opens the catalog again. How many calls there
  // were; 0: it failed.
  const auto compact = [&](uint64_t failing) {
    catalog_.reset();
    std::filesystem::remove_all(path());
    std::filesystem::copy(before, path(), std::filesystem::copy_options::recursive);
    ReopenWithMemory({.file_system = file_system_});
    file_system_->Arm({.at = failing});
    const absl::Status status = CompactColumns(*catalog_, options).status();
    const uint64_t calls = file_system_->calls();
    file_system_->Arm({});
    ReopenWithMemory({.file_system = file_system_});
    return status.ok() ? calls : 0;
  };
  const uint64_t calls = compact(0);
  int errors = 0;
  // The log comes near the end: behind it replaced files are deleted.
  for (uint64_t at = calls; at > 0 && errors < 2; --at) {
    SCOPED_TRACE(StrCat("seed ", TestSeed(), ", call ", at, " of ", calls));
    errors += compact(at) == 0 ? 1 : 0;  // the first two are the log's sync and append
    const std::set<std::string> files = FilesOnDisk();
    EXPECT_TRUE(std::ranges::includes(files, FilesInManifest())) << "a file is gone";
    EXPECT_THAT(IncompleteRelations(), IsEmpty());
    CompareNow();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(errors, 2);
}

TEST_F(FailingDisk, CompactsBesideSetsThatAFailedFlushLeftFrozen) {
  FillAllTiers();
  ReopenWithMemory({.file_system = file_system_});
  ApplyRandom(5);
  std::filesystem::rename(ColumnarPath(), dir_ / "away");
  std::ofstream(ColumnarPath()) << "no directory";
  EXPECT_FALSE(FlushMemory(*catalog_).ok());
  std::filesystem::remove(ColumnarPath());
  std::filesystem::rename(dir_ / "away", ColumnarPath());
  ASSERT_TRUE(catalog_->FreezeMemory().ok());
  ApplyRandom(5);
  ASSERT_NE(catalog_->LatestState()->memory->older, nullptr);
  Compact(Whole());
  ASSERT_NE(catalog_->LatestState()->memory->older, nullptr);
  CompareNow();
  ASSERT_FALSE(HasFailure());
  Flush();
  EXPECT_EQ(catalog_->LatestState()->memory->older, nullptr);
  CompareNow();
}

// --- Damage --------------------------------------------------------------------------------------

TEST_F(TiersFault, AFlippedByteIsAnsweredAroundAndRebuilt) {
  FillAllTiers();
  int fell_back = 0;
  int damaged_at_open = 0;
  for (int round = 0; round < 25; ++round) {
    std::string file;
    uint64_t offset = 0;
    if (round % 5 == 0) {  // in a pack that every scan of snapshots reads
      const ColumnarPart& part =
          *catalog_->LatestState()->columnar->Find(kSnapshot)->segments[0].live;
      file = part.file->file()->path();
      offset = part.table->version_column().packs[0].offset;
      catalog_.reset();
    } else {
      catalog_.reset();
      const std::set<std::string> names = FilesOnDisk();
      const auto skipped = static_cast<std::ptrdiff_t>(questions_.Below(names.size()));
      file = StrCat(ColumnarPath(), "/", *std::next(names.begin(), skipped));
      offset = questions_.Below(std::filesystem::file_size(file));
    }
    SCOPED_TRACE(StrCat("seed ", TestSeed(), ", ", file, " at ", offset));
    FlipByte(file, offset);
    ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
    fell_back += CompareAuto();
    damaged_at_open += IncompleteRelations().empty() ? 0 : 1;
    Rebuild(AllRelations());
    EXPECT_EQ(CompareAuto(), 0);
    CompareNow();
    ApplyRandom(2);
    Flush();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(fell_back, 0);
  EXPECT_GT(damaged_at_open, 0);
}

TEST_F(TiersFault, AMissingFileIsAnsweredAroundAndRebuilt) {
  FillAllTiers();
  for (const bool level_one : {true, false}) {
    std::string missing;
    for (const auto& file : catalog_->LatestState()->columnar->manifest().files()) {
      const bool counts = catalog_->LatestState()->directory->FindById(file.tables(0).relation()) !=
                          nullptr;  // of a relation that was dropped nothing is missing
      missing =
          counts && (file.level() == 1) == level_one ? ColumnarFileName(file.number()) : missing;
    }
    ASSERT_NE(missing, "");
    catalog_.reset();
    std::filesystem::remove(StrCat(ColumnarPath(), "/", missing));
    ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());
    EXPECT_EQ(CompareAuto(), 0);
    CompareNow();
    EXPECT_THAT(IncompleteRelations(), Not(IsEmpty()));
    Rebuild();
    EXPECT_THAT(IncompleteRelations(), IsEmpty());
    CompareNow();
    EXPECT_EQ(FilesOnDisk(), FilesInManifest());
    ApplyRandom(5);
    Flush();
  }
}

// --- Views that hold on --------------------------------------------------------------------------

TEST_F(TiersFault, AViewKeepsReadingFilesThatWereReplacedAndTheyGoWithIt) {
  FillAllTiers();
  std::optional<ReadView> view = catalog_->Current();
  const Lines seen = SeenBy(*view);
  const std::set<std::string> files = FilesInManifest();
  for (int i = 0; i < 3; ++i) {
    ApplyRandom(5);
    Flush();
    Compact(Whole());
    Rebuild(AllRelations());
    CompareAll(*view, &questions_, 1);
    EXPECT_EQ(SeenBy(*view), seen);
    ASSERT_FALSE(HasFailure());
  }
  std::set<std::string> both = FilesInManifest();
  EXPECT_THAT(both, Not(IsEmpty()));
  both.insert(files.begin(), files.end());
  EXPECT_EQ(FilesOnDisk(), both) << "those between are gone";
  view.reset();
  EXPECT_EQ(FilesOnDisk(), FilesInManifest());
}

}  // namespace
}  // namespace varve

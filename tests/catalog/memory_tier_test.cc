// Memory against the row store: whatever is asked, of whatever state, both give the same rows,
// intervals and handles; and MemRowSets that are rebuilt are those there were.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/catalog_memory.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/flush.h"
#include "catalog/tiers/memory_set.h"
#include "catalog/transaction/transaction.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/lake_operation.h"
#include "tests/catalog/memory_text.h"
#include "tests/catalog/random_changes.h"
#include "tests/catalog/random_lake.h"
#include "tests/catalog/scan_answers.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Lines = std::vector<std::string>;

// --- Asking both ---------------------------------------------------------------------------------

// A view and what was seen through it when it was taken.
struct HeldView {
  ReadView view;
  Lines seen;
};

class MemoryTier : public CatalogFixture {
 protected:
  void NewCatalog() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    CopyNewCatalog(path());
    ReopenWithoutMemory();
  }
  void ReopenWithoutMemory() { Reopen({.memory = MemoryMode::kOnDemand}); }
  void WaitForMemory() {
    const absl::Status status = catalog_->WaitForMemory();
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_NE(catalog_->LatestState()->memory, nullptr);
  }
  Lines Memory() const { return MemoryTexts(*catalog_->LatestState()->memory); }

  // Snapshots that can be read.
  std::vector<SnapshotId> Snapshots() const { return ReadableSnapshots(*catalog_); }

  // Asks one thing on every path.
  void Compare(const ReadView& view, const RelationRef& relation, const ScanOptions& options) {
    SCOPED_TRACE(StrCat(relation->name, " at snapshot ", view.snapshot(), ", csn ", view.csn()));
    const Lines rows = AnswerOf(view, relation, options, ScanPath::kRow);
    ASSERT_EQ(AnswerOf(view, relation, options, ScanPath::kAuto), rows);
    const Lines memory = AnswerOf(view, relation, options, ScanPath::kMemory);
    const StoreState& state = *view.state();
    if (state.memory == nullptr || !state.columnar->IsComplete(relation->id)) {
      const bool wrong_question = rows.size() == 1 && rows[0].starts_with("error: INVALID");
      ASSERT_THAT(memory, ElementsAre(HasSubstr(wrong_question ? "INVALID" : "FAILED_PRECON")));
      ++refused_;
      return;
    }
    // Where rows were flushed, memory is not all.
    if (state.columnar->manifest().files().empty()) {
      ASSERT_EQ(memory, rows);
      ASSERT_EQ(AnswerOf(view, relation, options, ScanPath::kColumnar), rows);
      compared_rows_ += rows.size();
    }
  }

  // Asks everything of every relation, and `questions` more.
  void CompareAll(const ReadView& view, RandomQuestions* random, int questions) {
    for (const RelationRef& relation : view.relations().relations()) {
      for (const ScanRows rows : {ScanRows::kVisible, ScanRows::kAllVersions}) {
        Compare(view, relation, {.rows = rows, .with_handles = true});
      }
      const std::vector<Row> sample = questions > 0 ? RowsOf(view, relation) : std::vector<Row>();
      for (int i = 0; i < questions; ++i) {
        Compare(view, relation, random->Draw(*relation, sample));
      }
      if (HasFatalFailure()) {
        return;
      }
    }
  }

  // Asks at a moment of a history: at one of its snapshots, now, and through views held since.
  void CompareMoment(const ReadView& now, const std::vector<SnapshotId>& ids,
                     const std::deque<HeldView>& held, RandomQuestions* questions) {
    CompareAll(ReadView(now.state(), ids[questions->Below(ids.size())]), questions, 2);
    CompareAll(now, questions, 2);
    for (const HeldView& view : held) {
      ASSERT_EQ(SeenBy(view.view), view.seen);
      CompareAll(view.view, questions, 1);
    }
  }

  size_t compared_rows_ = 0;  // by memory and by the row store
  size_t refused_ = 0;
};

// --- Random histories ----------------------------------------------------------------------------

TEST_F(MemoryTier, GivesTheRowsOfTheRowStoreInRandomHistories) {
  constexpr int kHistories = 3;
  constexpr int kSets = 70;
  for (int history = 0; history < kHistories; ++history) {
    const uint64_t seed = TestSeed() + static_cast<uint64_t>(history);
    SCOPED_TRACE(StrCat("seed of the history: ", seed));
    ASSERT_NO_FATAL_FAILURE(NewCatalog());
    RandomChanges random(seed);
    RandomQuestions questions(seed);
    // Commits before memory is there, and after it.
    const uint64_t wait_after = questions.Below(25);
    std::deque<HeldView> held;
    for (uint64_t i = 0; i < kSets; ++i) {
      if (i == wait_after) {
        ASSERT_NO_FATAL_FAILURE(WaitForMemory());
      }
      ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
      if (i > wait_after && questions.OneIn(15)) {
        ASSERT_TRUE(catalog_->FreezeMemory().ok());
      }
      if (questions.OneIn(12)) {
        held.push_back({catalog_->Current(), SeenBy(catalog_->Current())});
      }
      if (held.size() > 3) {
        held.pop_front();
      }
      if (questions.OneIn(30)) {
        held.clear();  // views keep the store open
        ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
        if (i >= wait_after) {
          ASSERT_NO_FATAL_FAILURE(WaitForMemory());
        }
      }
      if (questions.OneIn(8)) {
        ASSERT_NO_FATAL_FAILURE(
            CompareMoment(catalog_->Current(), random.model().Snapshots(), held, &questions));
      }
    }
    held.clear();
    const ReadView now = catalog_->Current();
    for (const SnapshotId id : random.model().Snapshots()) {
      CompareAll(ReadView(now.state(), id), &questions, 1);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  EXPECT_GT(compared_rows_, 10'000U);
  EXPECT_GT(refused_, 0U);
}

TEST_F(MemoryTier, GivesTheRowsOfTheRowStoreInRandomTransactions) {
  constexpr int kTransactions = 120;
  const uint64_t seed = TestSeed();
  ASSERT_NO_FATAL_FAILURE(NewCatalog());
  RandomLake lake(seed, 0);
  RandomQuestions questions(seed);
  uint64_t excised = 0;
  for (int i = 0; i < kTransactions; ++i) {
    absl::StatusOr<Transaction> transaction = catalog_->Begin();
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    lake.Begin();
    for (uint64_t count = 1 + lake.Below(6); count > 0; --count) {
      std::optional<LakeOperation> operation = lake.Draw(*transaction);
      if (operation.has_value() && Perform(&*operation, &*transaction).ok()) {
        lake.Performed(*operation);
      }
    }
    const auto result = transaction->Commit();
    ASSERT_TRUE(result.ok()) << result.status();
    if (i == 30) {
      ASSERT_NO_FATAL_FAILURE(WaitForMemory());
    }
    if (i % 40 == 39) {
      ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 20}).ok());
      const auto result_of_excision = Excise(catalog_.get(), {.rows_per_step = 9});
      ASSERT_TRUE(result_of_excision.ok()) << result_of_excision.status();
      excised += result_of_excision->steps;
    }
    if (i % 10 == 9) {
      const std::vector<SnapshotId> ids = Snapshots();
      CompareAll(At(ids[questions.Below(ids.size())]), &questions, 1);
      CompareAll(catalog_->Current(), &questions, 1);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  EXPECT_GT(excised, 0U);
  const Lines before = Memory();
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  EXPECT_EQ(Memory(), before);
  for (const SnapshotId id : Snapshots()) {
    CompareAll(At(id), &questions, 1);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(compared_rows_, 10'000U);
}

// --- What memory has -----------------------------------------------------------------------------

TEST_F(MemoryTier, RelationsLoadedInBulkAreTheRowStores) {
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  const ReadView view = catalog_->Current();
  for (const char* name : {"schema", "snapshot", "snapshot_changes", "metadata"}) {
    const RelationRef relation = view.relations().Resolve(name).value();
    EXPECT_THAT(AnswerOf(view, relation, {}, ScanPath::kMemory),
                ElementsAre(HasSubstr("FAILED_PRECONDITION")))
        << name;
    const Lines rows = AnswerOf(view, relation, {}, ScanPath::kRow);
    EXPECT_THAT(rows, Not(IsEmpty())) << name;
    EXPECT_EQ(AnswerOf(view, relation, {}, ScanPath::kAuto), rows) << name;
  }
  const RelationRef table = BuiltinRelationById(kTable);
  EXPECT_EQ(AnswerOf(view, table, {.columns = {{5}}}, ScanPath::kMemory), Lines{"[1, …) | a"});
  // Of a relation nobody wrote to, memory has all there is.
  EXPECT_THAT(AnswerOf(view, BuiltinRelationById(kMacro), {}, ScanPath::kMemory), IsEmpty());
}

TEST_F(MemoryTier, WithoutMemoryTheRowStoreAnswers) {
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  const ReadView before = catalog_->Current();
  const RelationRef table = BuiltinRelationById(kTable);
  EXPECT_THAT(AnswerOf(before, table, {}, ScanPath::kMemory),
              ElementsAre(HasSubstr("there are no MemRowSets")));
  EXPECT_EQ(AnswerOf(before, table, {.columns = {{5}}}, ScanPath::kAuto), Lines{"[1, …) | a"});
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  // A view is what it was when it was taken.
  EXPECT_EQ(before.state()->memory, nullptr);
  EXPECT_EQ(AnswerOf(catalog_->Current(), table, {.columns = {{5}}}, ScanPath::kMemory),
            Lines{"[1, …) | a"});
}

TEST_F(MemoryTier, WhatIsErasedAndInsertedByOneCommitIsTheNewRow) {
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  RandomQuestions questions(TestSeed());
  for (const bool with_memory : {false, true}) {
    MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n put table_stats 4 | 1");
    MustApply(
        "erase table 4 @ 1\n insert table 4 | - | 1 | - | 0 | b\n"
        "erase table_stats 4 @ 0\n put table_stats 4 | 2");
    if (!with_memory) {
      ASSERT_NO_FATAL_FAILURE(WaitForMemory());
    }
    CompareAll(catalog_->Current(), &questions, 0);
    EXPECT_EQ(AnswerOf(catalog_->Current(), BuiltinRelationById(kTable), {.columns = {{5}}},
                       ScanPath::kMemory),
              Lines{"[1, …) | b"});
    if (!with_memory) {
      ASSERT_NO_FATAL_FAILURE(NewCatalog());
      ASSERT_NO_FATAL_FAILURE(WaitForMemory());
    }
  }
}

TEST_F(MemoryTier, DroppedRelationsTakeTheirRowsAlong) {
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  MustApply("create heap a bigint, b varchar");
  MustApply("insert heap 1 | x\n insert heap 2 | y");
  const ReadView before = catalog_->Current();
  const RelationRef heap = before.relations().FindByName("heap");
  MustApply("drop heap");
  MustApply("create heap a bigint");
  MustApply("insert heap 3");
  const ReadView after = catalog_->Current();
  EXPECT_EQ(AnswerOf(before, heap, {}, ScanPath::kMemory),
            (Lines{"[0, …) | 1 | x", "[0, …) | 2 | y"}));
  EXPECT_EQ(after.state()->memory->Find(heap->id), nullptr);
  EXPECT_EQ(AnswerOf(after, after.relations().FindByName("heap"), {}, ScanPath::kMemory),
            Lines{"[0, …) | 3"});
}

TEST_F(MemoryTier, AnExcisionErasesInMemory) {
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a\n insert table 5 | - | 1 | - | 0 | b");
  MustApply("snapshot 2\n end table 4 @ 2");
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  MustApply("snapshot 3\n end table 5 @ 3");
  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  ASSERT_TRUE(Excise(catalog_.get()).ok());
  RandomQuestions questions(TestSeed());
  CompareAll(catalog_->Current(), &questions, 3);
  EXPECT_THAT(AnswerOf(catalog_->Current(), BuiltinRelationById(kTable),
                       {.rows = ScanRows::kAllVersions}, ScanPath::kMemory),
              IsEmpty());
  const Lines before = Memory();
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  EXPECT_EQ(Memory(), before);
}

// --- Rebuilding ----------------------------------------------------------------------------------

TEST_F(MemoryTier, IsRebuiltRowForRowAndChainForChain) {
  constexpr int kSets = 100;
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  RandomChanges random(TestSeed());
  for (int i = 0; i < kSets; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  const Csn last = catalog_->Current().csn();
  std::vector<Lines> chains;
  std::vector<Lines> rows;
  for (Csn csn = 0; csn <= last; ++csn) {
    chains.push_back(MemoryTexts(*catalog_->LatestState()->memory, csn));
    rows.push_back(MemoryRowTexts(*catalog_->LatestState()->memory, csn));
  }
  EXPECT_GT(chains.back().size(), 50U);
  for (const MemoryMode mode : {MemoryMode::kOnDemand, MemoryMode::kAfterOpening}) {
    Reopen({.memory = mode});
    ASSERT_NO_FATAL_FAILURE(WaitForMemory());
    for (Csn csn = 0; csn <= last; ++csn) {
      ASSERT_EQ(MemoryTexts(*catalog_->LatestState()->memory, csn), chains[csn]) << csn;
      ASSERT_EQ(MemoryRowTexts(*catalog_->LatestState()->memory, csn), rows[csn]) << csn;
    }
  }
}

TEST_F(MemoryTier, ReadersAndCommitsWorkBesideTheRebuild) {
  constexpr int kSets = 150;
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  RandomChanges random(TestSeed());
  for (int i = 0; i < kSets; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  Reopen({.memory = MemoryMode::kAfterOpening});
  RandomQuestions questions(TestSeed());
  for (int i = 0; i < 20; ++i) {
    const ReadView view = catalog_->Current();
    for (const RelationRef& relation : view.relations().relations()) {
      ASSERT_EQ(AnswerOf(view, relation, {}, ScanPath::kAuto),
                AnswerOf(view, relation, {}, ScanPath::kRow));
    }
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  CompareAll(catalog_->Current(), &questions, 1);
  const Lines before = Memory();
  ASSERT_NO_FATAL_FAILURE(ReopenWithoutMemory());
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  EXPECT_EQ(Memory(), before);
}

TEST_F(MemoryTier, ClosingGivesUpARebuild) {
  RandomChanges random(TestSeed());
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  for (int i = 0; i < 20; ++i) {
    Reopen({.memory = MemoryMode::kAfterOpening});
  }
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  RandomQuestions questions(TestSeed());
  CompareAll(catalog_->Current(), &questions, 0);
}

TEST_F(MemoryTier, ReadersBesideAWriterSeeTheCsnOfTheirView) {
  constexpr int kSets = 120;
  constexpr int kReaders = 2;
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  std::array<size_t, kReaders> compared{};
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&, r] {
      RandomQuestions questions(TestSeed() + static_cast<uint64_t>(r));
      do {
        const ReadView view = catalog_->Current();
        const std::vector<RelationRef>& relations = view.relations().relations();
        for (int i = 0; i < 20; ++i) {
          const RelationRef& relation = relations[questions.Below(relations.size())];
          if (view.state()->columnar->IsComplete(relation->id)) {
            const ScanOptions options = {.rows = ScanRows::kAllVersions, .with_handles = true};
            EXPECT_EQ(AnswerOf(view, relation, options, ScanPath::kMemory),
                      AnswerOf(view, relation, options, ScanPath::kRow));
            ++compared[static_cast<size_t>(r)];
          }
        }
      } while (!done);
    });
  }
  RandomChanges random(TestSeed());
  for (int i = 0; i < kSets; ++i) {
    EXPECT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  for (const size_t count : compared) {
    EXPECT_GT(count, 0U);
  }
}

// --- Sets behind each other ----------------------------------------------------------------------

// Memory beside a catalog that has none: there every change brings its pre-image along, as it does
// after a freeze.
class FrozenSets : public MemoryTier {
 protected:
  void SetUp() override {
    MemoryTier::SetUp();
    ASSERT_NO_FATAL_FAILURE(Restart());
  }
  void Restart() {
    NewCatalog();
    writer_ = std::make_unique<MemoryWriter>(kBulkLoadCsn);
  }
  // The current state, with memory.
  ReadView View() {
    const auto state = catalog_->LatestState();
    const absl::Status status = ApplyChangeLog(*state, never_, writer_.get());
    EXPECT_TRUE(status.ok()) << status;
    return {WithMemory(*state, writer_->set()), state->last_snapshot};
  }
  void Freeze() {
    View();
    writer_->Freeze();
  }
  Lines Tables(ScanRows rows = ScanRows::kVisible) {
    return AnswerOf(View(), BuiltinRelationById(kTable), {.columns = {{5}}, .rows = rows},
                    ScanPath::kMemory);
  }

  std::unique_ptr<MemoryWriter> writer_;
  const std::atomic<bool> never_ = false;
};

TEST_F(FrozenSets, TheNewerImageCounts) {
  MustApply(R"(
    snapshot 1
    insert table 1 | - | 1 | - | 0 | stays
    insert table 2 | - | 1 | - | 0 | ends
    insert table 3 | - | 1 | - | 0 | goes
    insert table 4 | - | 1 | - | 0 | is rewritten
  )");
  Freeze();
  EXPECT_EQ(Tables().size(), 4U);
  MustApply(R"(
    snapshot 2
    end table 2 @ 2
    erase table 3 @ 1
    erase table 4 @ 1
    insert table 4 | - | 1 | - | 0 | was rewritten
    insert table 5 | - | 2 | - | 0 | came
  )");
  EXPECT_EQ(Tables(), (Lines{"[1, …) | stays", "[1, …) | was rewritten", "[2, …) | came"}));
  EXPECT_EQ(Tables(ScanRows::kAllVersions),
            (Lines{"[1, …) | stays", "[1, 2) | ends", "[1, …) | was rewritten", "[2, …) | came"}));
  Freeze();
  // A third one: what went comes back, what came goes, what has not changed lies two sets behind.
  MustApply(R"(
    insert table 3 | - | 1 | - | 0 | is back
    erase table 5 @ 2
  )");
  EXPECT_EQ(Tables(ScanRows::kAllVersions), (Lines{"[1, …) | stays", "[1, 2) | ends",
                                                   "[1, …) | is back", "[1, …) | was rewritten"}));
}

TEST_F(FrozenSets, ADroppedRelationGoesFromAllOfThem) {
  MustApply("create heap a bigint");
  MustApply("insert heap 1");
  Freeze();
  MustApply("insert heap 2");
  const ReadView before = View();
  const RelationRef heap = before.relations().FindByName("heap");
  MustApply("drop heap");
  const ReadView after = View();
  EXPECT_EQ(AnswerOf(before, heap, {}, ScanPath::kMemory), (Lines{"[0, …) | 1", "[0, …) | 2"}));
  EXPECT_EQ(after.state()->memory->Find(heap->id), nullptr);
  EXPECT_EQ(after.state()->memory->older->Find(heap->id), nullptr);
}

TEST_F(FrozenSets, GiveTheRowsOfTheRowStoreInRandomHistories) {
  constexpr int kHistories = 3;
  constexpr int kSets = 60;
  for (int history = 0; history < kHistories; ++history) {
    const uint64_t seed = TestSeed() + static_cast<uint64_t>(history);
    SCOPED_TRACE(StrCat("seed of the history: ", seed));
    ASSERT_NO_FATAL_FAILURE(Restart());
    RandomChanges random(seed);
    RandomQuestions questions(seed);
    std::deque<HeldView> held;
    for (int i = 0; i < kSets; ++i) {
      ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
      if (questions.OneIn(9)) {
        Freeze();
      }
      if (questions.OneIn(12)) {
        held.push_back({View(), SeenBy(catalog_->Current())});
      }
      if (questions.OneIn(8)) {
        ASSERT_NO_FATAL_FAILURE(
            CompareMoment(View(), random.model().Snapshots(), held, &questions));
      }
    }
    held.clear();
  }
  EXPECT_GT(compared_rows_, 1'000U);
}

// --- Beside a writer -----------------------------------------------------------------------------

class MemoryBesideWriter : public MemoryTier {
 protected:
  void SetUp() override {
    MemoryTier::SetUp();
    ReopenWithoutMemory();
  }
  void OpenReader() {
    auto reader = Catalog::Open(path(), {.read_only = true, .memory = MemoryMode::kOnDemand});
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }
  void Refresh() {
    const absl::Status status = reader_->Refresh();
    ASSERT_TRUE(status.ok()) << status;
  }

  std::unique_ptr<Catalog> reader_;
};

TEST_F(MemoryBesideWriter, FollowsWithEveryRefresh) {
  RandomChanges random(TestSeed());
  RandomQuestions questions(TestSeed());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  ASSERT_NO_FATAL_FAILURE(OpenReader());
  ASSERT_TRUE(reader_->WaitForMemory().ok());
  ASSERT_NE(reader_->LatestState()->memory, nullptr);
  std::deque<HeldView> held;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
    if (i == 20) {
      ASSERT_NO_FATAL_FAILURE(WaitForMemory());  // no pre-images of what it holds from here on
    }
    if (questions.OneIn(10)) {
      ASSERT_TRUE(catalog_->store().Flush().ok());
    }
    if (questions.OneIn(3)) {
      ASSERT_NO_FATAL_FAILURE(Refresh());
      const ReadView now = reader_->Current();
      ASSERT_EQ(now.csn(), catalog_->Current().csn());
      ASSERT_NE(now.state()->memory, nullptr);
      CompareAll(now, &questions, 1);
      held.push_back({now, SeenBy(now)});
      for (const HeldView& view : held) {
        ASSERT_EQ(SeenBy(view.view), view.seen);
        CompareAll(view.view, &questions, 0);
      }
      if (held.size() > 2) {
        held.pop_front();
      }
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  ASSERT_NO_FATAL_FAILURE(Refresh());
  EXPECT_EQ(MemoryTexts(*reader_->LatestState()->memory), Memory());
  EXPECT_GT(compared_rows_, 500U);
}

TEST_F(MemoryBesideWriter, WithoutMemoryARefreshGivesNone) {
  ASSERT_NO_FATAL_FAILURE(OpenReader());
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  ASSERT_NO_FATAL_FAILURE(Refresh());
  EXPECT_EQ(reader_->LatestState()->memory, nullptr);
  EXPECT_EQ(AnswerOf(reader_->Current(), BuiltinRelationById(kTable), {.columns = {{5}}},
                     ScanPath::kAuto),
            Lines{"[1, …) | a"});
}

TEST_F(MemoryBesideWriter, BeginsAgainWhereTheWriterHasFlushed) {
  RandomChanges random(TestSeed());
  RandomQuestions questions(TestSeed());
  ASSERT_NO_FATAL_FAILURE(OpenReader());
  ASSERT_TRUE(reader_->WaitForMemory().ok());
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  }
  ASSERT_NO_FATAL_FAILURE(WaitForMemory());
  const auto flushed = FlushMemory(*catalog_, {.changes_retention = 0});
  ASSERT_TRUE(flushed.ok()) << flushed.status();
  ASSERT_TRUE(catalog_->Apply(random.Next()).ok());
  ASSERT_NO_FATAL_FAILURE(Refresh());
  const ReadView now = reader_->Current();
  ASSERT_EQ(now.csn(), catalog_->Current().csn());
  ASSERT_NE(now.state()->memory, nullptr);
  EXPECT_EQ(now.state()->memory->from, flushed->flushed_csn);
  CompareAll(now, &questions, 2);
  EXPECT_EQ(SeenBy(now), SeenBy(catalog_->Current()));
}

}  // namespace
}  // namespace varve

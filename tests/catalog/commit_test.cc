#include "catalog/store/commit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CommitTest : public CatalogFixture {
 protected:
  // Snapshots 1 to 5 exist; table 4 has the versions [1, 3) and [3, …).
  void SetUp() override {
    CatalogFixture::SetUp();
    MustApply(R"(
      snapshot 1
      snapshot 2
      snapshot 3
      snapshot 4
      snapshot 5
      insert table 4 | - | 1 | 3 | 0 | old
      insert table 4 | - | 3 | - | 0 | new
      put table_stats 4 | 10
      insert data_file 7 | 4 | 2 | - | 1 | p7
    )");
  }

  // The changes are refused with this code, the message says `what`, and nothing has changed, not
  // even after a reopen.
  void ExpectRefused(std::string_view changes, absl::StatusCode code, std::string_view what) {
    const std::vector<std::string> before = Everything();
    const absl::Status status = Apply(changes);
    EXPECT_EQ(status.code(), code) << status << "\n" << changes;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(std::string(what)));
    EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
    EXPECT_EQ(Everything(), before) << changes;
    EXPECT_EQ(Rows("table", {.columns = {{0, 5}}}), (std::vector<std::string>{"4 | new"}));
  }
};

// --- Each kind of change -------------------------------------------------------------------------

TEST_F(CommitTest, InsertAddsAVersion) {
  MustApply("insert view 9 | - | 5 | - | 0 | v | duckdb | SELECT 1");
  EXPECT_THAT(Rows("view"), ElementsAre("9 | - | 5 | - | 0 | v | duckdb | SELECT 1 | -"));
  EXPECT_THAT(RowsAt(4, "view"), IsEmpty());
}

TEST_F(CommitTest, InsertTakesBackdatedAndEndedVersions) {
  MustApply("insert view 9 | - | 0 | 2 | 0 | a\n insert view 9 | - | 4 | 5 | 0 | b");
  EXPECT_THAT(History("view"), ElementsAre("9 | - | 0 | 2 | 0 | a | - | - | - @ [0, 2)",
                                           "9 | - | 4 | 5 | 0 | b | - | - | - @ [4, 5)"));
  // A begin of a snapshot that has expired is accepted too.
  MustApply("erase snapshot 3 @ 3\n insert view 9 | - | 3 | 4 | 0 | c");
  EXPECT_THAT(RowsAt(4, "view", {.columns = {{5}}}), ElementsAre("b"));
}

TEST_F(CommitTest, EndMovesTheLiveVersionToThePast) {
  MustApply("end table 4 @ 5");
  EXPECT_THAT(Rows("table"), IsEmpty());
  EXPECT_THAT(RowsAt(4, "table", {.columns = {{3, 5}}}), ElementsAre("5 | new"));
  EXPECT_THAT(RowsAt(2, "table", {.columns = {{3, 5}}}), ElementsAre("3 | old"));
}

TEST_F(CommitTest, EraseRemovesOneVersionLiveOrEnded) {
  MustApply("erase table 4 @ 1");
  EXPECT_THAT(History("table"), ElementsAre("4 | - | 3 | - | 0 | new | - | - @ [3, …)"));
  MustApply("erase table 4 @ 3");
  EXPECT_THAT(History("table"), IsEmpty());
}

TEST_F(CommitTest, PutInsertsOrOverwrites) {
  MustApply("put table_stats 4 | 11\n put table_stats 5 | 1 | 2 | 3");
  EXPECT_THAT(Rows("table_stats"), ElementsAre("4 | 11 | - | -", "5 | 1 | 2 | 3"));
  MustApply("erase table_stats 4 @ 0");
  EXPECT_THAT(Rows("table_stats"), ElementsAre("5 | 1 | 2 | 3"));
  EXPECT_THAT(RowsAt(0, "table_stats"), ElementsAre("5 | 1 | 2 | 3")) << "seen at every snapshot";
}

TEST_F(CommitTest, AnEmptySetIsNoError) {
  EXPECT_TRUE(catalog_->Apply(ChangeSet()).ok());
  EXPECT_EQ(catalog_->Current().last_snapshot(), 5U);
}

TEST_F(CommitTest, EveryCommitHasTheNextCsn) {
  const Csn before = catalog_->Current().csn();
  MustApply("put table_stats 4 | 11");
  MustApply("put table_stats 4 | 12");
  EXPECT_EQ(catalog_->Current().csn(), before + 2);
  const auto row =
      catalog_->Current().Get(*BuiltinRelationById(kTableStats), std::vector{Datum::Int64(4)});
  ASSERT_TRUE(row.ok() && row->has_value());
  EXPECT_EQ((*row)->csn, before + 2) << "a version carries the csn it was written at";
}

// --- One set is one change -----------------------------------------------------------------------

TEST_F(CommitTest, TheSuccessorMayBeInsertedBeforeTheOldVersionIsEnded) {
  MustApply("snapshot 6\n insert table 4 | - | 6 | - | 0 | newest\n end table 4 @ 6");
  EXPECT_THAT(History("table"), ElementsAre("4 | - | 1 | 3 | 0 | old | - | - @ [1, 3)",
                                            "4 | - | 3 | 6 | 0 | new | - | - @ [3, 6)",
                                            "4 | - | 6 | - | 0 | newest | - | - @ [6, …)"));
}

TEST_F(CommitTest, WhatIsInsertedAndErasedInOneSetWasNeverThere) {
  MustApply("insert view 9 | - | 5 | - | 0 | v\n erase view 9 @ 5");
  EXPECT_THAT(History("view"), IsEmpty());
}

TEST_F(CommitTest, WhatIsInsertedAndEndedInOneSetIsOneEndedVersion) {
  MustApply("snapshot 6\n insert view 9 | - | 5 | - | 0 | v\n end view 9 @ 6");
  EXPECT_THAT(History("view"), ElementsAre("9 | - | 5 | 6 | 0 | v | - | - | - @ [5, 6)"));
}

TEST_F(CommitTest, AVersionThatIsErasedAndInsertedAgainIsReplaced) {
  MustApply("erase table 4 @ 3\n insert table 4 | - | 3 | - | 0 | rewritten");
  EXPECT_THAT(Rows("table", {.columns = {{2, 5}}}), ElementsAre("3 | rewritten"));
  MustApply("erase table 4 @ 1\n insert table 4 | - | 2 | 3 | 0 | later");  // another begin
  EXPECT_THAT(RowsAt(1, "table"), IsEmpty());
  EXPECT_THAT(RowsAt(2, "table", {.columns = {{5}}}), ElementsAre("later"));
  MustApply("erase table 4 @ 3\n insert table 4 | - | 3 | 5 | 0 | ended");  // live becomes ended
  EXPECT_THAT(Rows("table"), IsEmpty());
  EXPECT_THAT(RowsAt(4, "table", {.columns = {{5}}}), ElementsAre("ended"));
  MustApply("erase table 4 @ 3\n insert table 4 | - | 3 | - | 0 | back");  // ended becomes live
  EXPECT_THAT(Rows("table", {.columns = {{5}}}), ElementsAre("back"));
  EXPECT_THAT(History("table"), ElementsAre("4 | - | 2 | 3 | 0 | later | - | - @ [2, 3)",
                                            "4 | - | 3 | - | 0 | back | - | - @ [3, …)"));
}

TEST_F(CommitTest, TheLastOfSeveralPutsCounts) {
  MustApply(
      "put table_stats 4 | 1\n put table_stats 4 | 2\n put table_stats 8 | 1\n put table_stats 8 | "
      "3");
  EXPECT_THAT(Rows("table_stats"), ElementsAre("4 | 2 | - | -", "8 | 3 | - | -"));
  MustApply("put table_stats 4 | 9\n erase table_stats 4 @ 0\n put table_stats 4 | 5");
  EXPECT_THAT(Rows("table_stats", {.columns = {{0, 1}}}), ElementsAre("4 | 5", "8 | 3"));
}

TEST_F(CommitTest, ChildrenMayComeBeforeTheirParents) {
  MustApply(R"(
    insert file_column_stats 8 | 4 | 1 | 100
    insert data_file 8 | 4 | 5
  )");
  EXPECT_THAT(Rows("file_column_stats", {.columns = {{0, 3}}}), ElementsAre("8 | 100"));
}

// --- What is refused -----------------------------------------------------------------------------

TEST_F(CommitTest, EndingOrErasingWhatIsNotThereIsNotFound) {
  ExpectRefused("end table 5 @ 5", absl::StatusCode::kNotFound, "ducklake_table table_id=5");
  ExpectRefused("erase table 5 @ 5", absl::StatusCode::kNotFound, "table_id=5");
  ExpectRefused("erase table 4 @ 2", absl::StatusCode::kNotFound, "2");
  ExpectRefused("erase table_stats 5 @ 0", absl::StatusCode::kNotFound, "table_id=5");
  ExpectRefused("erase table 4 @ 3\n end table 4 @ 5", absl::StatusCode::kNotFound, "table_id=4");
  ExpectRefused("erase table 4 @ 3\n erase table 4 @ 3", absl::StatusCode::kNotFound, "table_id=4");
}

TEST_F(CommitTest, OverlappingVersionsAreRefused) {
  for (const std::string_view row :
       {"4 | - | 3", "4 | - | 5", "4 | - | 1 | 2", "4 | - | 2 | 4", "4 | - | 0 | 5", "4 | - | 0"}) {
    ExpectRefused(StrCat("insert table ", row), absl::StatusCode::kAlreadyExists,
                  "ducklake_table table_id=4");
  }
  ExpectRefused("insert view 9 | - | 1\n insert view 9 | - | 2", absl::StatusCode::kAlreadyExists,
                "ducklake_view view_id=9");
  ExpectRefused("insert table_stats 4 | 1", absl::StatusCode::kAlreadyExists, "table_id=4");
  ExpectRefused("insert inlined_data_tables 4 | a | 1\n insert inlined_data_tables 4 | b | 1",
                absl::StatusCode::kAlreadyExists, "table_id=4 schema_version=1");
}

TEST_F(CommitTest, VersionsThatTouchDoNotOverlap) {
  MustApply(
      "insert table 4 | - | 0 | 1 | 0 | first\n end table 4 @ 4\n"
      "insert table 4 | - | 4 | 5\n insert table 4 | - | 5");
  EXPECT_EQ(History("table").size(), 5U);
}

TEST_F(CommitTest, DeclaredKeysAreUniqueOverAllTime) {
  ExpectRefused("insert schema 0 | - | 5", absl::StatusCode::kAlreadyExists, "duplicate key");
  ExpectRefused("end schema 0 @ 5\n insert schema 0 | - | 5", absl::StatusCode::kAlreadyExists,
                "duplicate key");
  ExpectRefused("end data_file 4 | 7 @ 4\n insert data_file 7 | 4 | 4",
                absl::StatusCode::kAlreadyExists, "duplicate key");
  ExpectRefused("snapshot 5", absl::StatusCode::kAlreadyExists, "snapshot_id=5");
  ExpectRefused("insert snapshot_changes 0 | x", absl::StatusCode::kAlreadyExists, "snapshot_id=0");
  MustApply("erase data_file 4 | 7 @ 2\n insert data_file 7 | 4 | 4");  // one version after all
  EXPECT_THAT(History("data_file").size(), 1U);
}

TEST_F(CommitTest, NothingReachesBeyondTheLastSnapshot) {
  ExpectRefused("insert view 9 | - | 6", absl::StatusCode::kFailedPrecondition, "last snapshot 5");
  ExpectRefused("insert view 9 | - | 1 | 6", absl::StatusCode::kFailedPrecondition, "view_id=9");
  ExpectRefused("end table 4 @ 6", absl::StatusCode::kFailedPrecondition, "last snapshot 5");
  ExpectRefused("insert snapshot_changes 6 | x", absl::StatusCode::kFailedPrecondition, "6");
  ExpectRefused("insert schema_versions 6 | 1 | 4", absl::StatusCode::kFailedPrecondition, "6");
  ExpectRefused("snapshot 6\n insert view 9 | - | 7", absl::StatusCode::kFailedPrecondition,
                "last snapshot 6");
  MustApply("insert view 9 | - | 6\n snapshot 6");  // in any order
  EXPECT_EQ(catalog_->Current().snapshot(), 6U);
}

TEST_F(CommitTest, ASnapshotErasedInTheSameSetDoesNotCount) {
  ExpectRefused("snapshot 6\n erase snapshot 6 @ 6\n insert view 9 | - | 6",
                absl::StatusCode::kFailedPrecondition, "last snapshot 5");
  MustApply("snapshot 6\n erase snapshot 6 @ 6");
  EXPECT_EQ(catalog_->Current().last_snapshot(), 5U);
  EXPECT_TRUE(catalog_->At(catalog_->Current().last_snapshot()).ok());
}

TEST_F(CommitTest, TheLastSnapshotIsNeverDeleted) {
  ExpectRefused("erase snapshot 5 @ 5", absl::StatusCode::kFailedPrecondition, "snapshot 5");
  MustApply("erase snapshot 4 @ 4\n erase snapshot 0 @ 0");
  EXPECT_EQ(Rows("snapshot").size(), 4U);
  MustApply("erase snapshot 5 @ 5\n snapshot 5");  // an overwrite
  EXPECT_EQ(catalog_->Current().last_snapshot(), 5U);
}

TEST_F(CommitTest, AnIntervalThatIsNoneIsRefused) {
  ExpectRefused("insert view 9 | - | -", absl::StatusCode::kInvalidArgument, "begin_snapshot");
  ExpectRefused("insert view 9 | - | -1", absl::StatusCode::kInvalidArgument, "begin_snapshot");
  ExpectRefused("insert view 9 | - | 3 | 3", absl::StatusCode::kInvalidArgument, "end_snapshot");
  ExpectRefused("insert view 9 | - | 3 | 2", absl::StatusCode::kInvalidArgument, "end_snapshot");
  ExpectRefused("end table 4 @ 3", absl::StatusCode::kInvalidArgument, "3");
  ExpectRefused("end table 4 @ 2", absl::StatusCode::kInvalidArgument, "table_id=4");
}

TEST_F(CommitTest, RowsOfTheWrongShapeAreRefused) {
  const RelationRef table = BuiltinRelationById(kTable);
  const std::vector<std::string> before = Everything();
  const auto refused = [&](Row row, std::string_view what) {
    ChangeSet changes;
    changes.Insert(table, std::move(row));
    const absl::Status status = catalog_->Apply(changes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(std::string(what)));
    EXPECT_EQ(Everything(), before);
  };
  refused(Row(7), "8");
  refused(Row(9), "8");
  Row wrong_type = RowOf(*table, "9 | - | 5");
  wrong_type.SetBytes(4, "schema");
  refused(std::move(wrong_type), "schema_id");
  ExpectRefused("insert table - | - | 5", absl::StatusCode::kInvalidArgument, "table_id");
  ExpectRefused("put metadata - | v", absl::StatusCode::kInvalidArgument, "key");
  ExpectRefused("insert data_file - | 4 | 5", absl::StatusCode::kInvalidArgument, "data_file_id");

  ChangeSet short_key;
  short_key.End(BuiltinRelationById(kColumn), std::vector{Datum::Int64(1)}, 5);
  EXPECT_EQ(catalog_->Apply(short_key).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Everything(), before);
}

TEST_F(CommitTest, KindsThatDoNotFitTheRelationAreRefused) {
  ExpectRefused("put table 9 | - | 5", absl::StatusCode::kInvalidArgument, "ducklake_table");
  ExpectRefused("put snapshot 5", absl::StatusCode::kInvalidArgument, "ducklake_snapshot");
  ExpectRefused("end table_stats 4 @ 5", absl::StatusCode::kInvalidArgument,
                "ducklake_table_stats");
  ExpectRefused("end snapshot 5 @ 5", absl::StatusCode::kInvalidArgument, "ducklake_snapshot");
}

TEST_F(CommitTest, OneBadChangeRefusesTheWholeSet) {
  ExpectRefused(R"(
    snapshot 6
    create heap a bigint
    insert heap 1
    put table_stats 4 | 99
    end table 4 @ 6
    insert view 9 | - | 6
    erase view 10 @ 1
  )",
                absl::StatusCode::kNotFound, "view_id=10");
  EXPECT_FALSE(catalog_->At(6).ok());
  EXPECT_EQ(catalog_->Current().relations().FindByName("heap"), nullptr);
  // The number the refused set took is not lost on anyone: the next set works as if it had not
  // been.
  MustApply("snapshot 6\n create heap a bigint\n insert heap 1");
  EXPECT_THAT(Rows("heap"), ElementsAre("1"));
}

// --- The unique column ---------------------------------------------------------------------------

TEST_F(CommitTest, TheUniqueColumnIsUniqueAcrossHandles) {
  ExpectRefused("insert data_file 7 | 5 | 5", absl::StatusCode::kAlreadyExists, "data_file_id=7");
  ExpectRefused("insert data_file 8 | 4 | 5\n insert data_file 8 | 5 | 5",
                absl::StatusCode::kAlreadyExists, "data_file_id=8");
  MustApply("insert delete_file 7 | 4 | 5");  // another relation, another index
}

TEST_F(CommitTest, TheIndexFollowsARowThatMoves) {
  const RelationSchema& file = *BuiltinRelationById(kDataFile);
  const auto table_of = [&](int64_t id) -> int64_t {
    const auto row = catalog_->Current().GetByUnique(file, id);
    EXPECT_TRUE(row.ok()) << row.status();
    return row.ok() && row->has_value() ? (*row)->values[1].int64_value() : -1;
  };
  EXPECT_EQ(table_of(7), 4);
  MustApply("erase data_file 4 | 7 @ 2\n insert data_file 7 | 5 | 2");
  EXPECT_EQ(table_of(7), 5);
  MustApply("insert data_file 7 | 4 | 2\n erase data_file 5 | 7 @ 2");  // the other order
  EXPECT_EQ(table_of(7), 4);
  MustApply("erase data_file 4 | 7 @ 2");
  EXPECT_EQ(table_of(7), -1);
  MustApply("insert data_file 7 | 6 | 2 | 4");
  EXPECT_EQ(table_of(7), -1) << "ended: not visible now";
  EXPECT_TRUE(At(3).GetByUnique(file, 7)->has_value());
  ExpectRefused("insert data_file 7 | 5 | 5", absl::StatusCode::kAlreadyExists, "data_file_id=7");
}

TEST_F(CommitTest, EndingAFileKeepsItsIndexEntry) {
  MustApply("end data_file 4 | 7 @ 5");
  EXPECT_TRUE(At(4).GetByUnique(*BuiltinRelationById(kDataFile), 7)->has_value());
  ExpectRefused("insert data_file 7 | 5 | 5", absl::StatusCode::kAlreadyExists, "data_file_id=7");
}

TEST_F(CommitTest, ATableIdOfAFileMayBeNull) {
  MustApply("insert data_file 8 | - | 5");
  EXPECT_THAT(Rows("data_file", {.columns = {{0, 1}}}), ElementsAre("8 | -", "7 | 4"));
}

// --- Dynamic relations ---------------------------------------------------------------------------

constexpr std::string_view kCreateInlined =
    "create ducklake_inlined_data_4_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, "
    "name varchar\n";

TEST_F(CommitTest, ADynamicRelationAndItsRowsComeInOneSet) {
  MustApply(StrCat(kCreateInlined, "insert ducklake_inlined_data_4_1 1 | 5 | - | a"));
  const RelationRef relation =
      catalog_->Current().relations().FindByName("ducklake_inlined_data_4_1");
  ASSERT_NE(relation, nullptr);
  EXPECT_GE(relation->id, kFirstDynamicRelation);
  EXPECT_THAT(Rows("inlined_data_4_1"), ElementsAre("1 | 5 | - | a"));
  Reopen();
  EXPECT_THAT(Rows("inlined_data_4_1"), ElementsAre("1 | 5 | - | a"));
  MustApply("snapshot 6\n insert inlined_data_4_1 1 | 6 | - | b\n end inlined_data_4_1 1 @ 6");
  EXPECT_THAT(RowsAt(5, "inlined_data_4_1"), ElementsAre("1 | 5 | 6 | a"));
  EXPECT_THAT(Rows("inlined_data_4_1"), ElementsAre("1 | 6 | - | b"));
}

TEST_F(CommitTest, InlinedDeletesHaveABeginOnly) {
  MustApply(
      "create ducklake_inlined_delete_4 file_id bigint, row_id bigint, begin_snapshot bigint\n"
      "insert ducklake_inlined_delete_4 7 | 1 | 2\n insert ducklake_inlined_delete_4 7 | 2 | 4");
  EXPECT_THAT(RowsAt(1, "inlined_delete_4"), IsEmpty());
  EXPECT_THAT(RowsAt(2, "inlined_delete_4"), ElementsAre("7 | 1 | 2"));
  EXPECT_THAT(Rows("inlined_delete_4"), ElementsAre("7 | 1 | 2", "7 | 2 | 4"));
  EXPECT_EQ(GetText(At(3), "inlined_delete_4", "7 | 2"), "");
  EXPECT_EQ(GetText(At(4), "inlined_delete_4", "7 | 2"), "7 | 2 | 4");
}

TEST_F(CommitTest, ADroppedRelationTakesItsRowsAlong) {
  MustApply(StrCat(kCreateInlined, "insert ducklake_inlined_data_4_1 1 | 5 | - | a\n",
                   "insert ducklake_inlined_data_4_1 2 | 1 | 3 | b"));
  const RelationId old_id =
      catalog_->Current().relations().FindByName("ducklake_inlined_data_4_1")->id;
  MustApply("drop ducklake_inlined_data_4_1");
  EXPECT_EQ(catalog_->Current().relations().FindByName("ducklake_inlined_data_4_1"), nullptr);
  MustApply(kCreateInlined);
  EXPECT_THAT(History("inlined_data_4_1"), IsEmpty());
  const RelationId new_id =
      catalog_->Current().relations().FindByName("ducklake_inlined_data_4_1")->id;
  EXPECT_NE(new_id, old_id) << "numbers are never reused";
}

TEST_F(CommitTest, DropAndCreateOfOneNameInOneSet) {
  MustApply(StrCat(kCreateInlined, "insert ducklake_inlined_data_4_1 1 | 5 | - | a"));
  MustApply(
      "drop ducklake_inlined_data_4_1\n"
      "create ducklake_inlined_data_4_1 row_id bigint, begin_snapshot bigint, "
      "end_snapshot bigint, price double\n"
      "insert ducklake_inlined_data_4_1 1 | 5 | - | 2.5");
  EXPECT_THAT(History("inlined_data_4_1"), ElementsAre("1 | 5 | - | 2.5 @ [5, …)"));
  Reopen();
  EXPECT_THAT(History("inlined_data_4_1"), ElementsAre("1 | 5 | - | 2.5 @ [5, …)"));
}

TEST_F(CommitTest, ALostCounterIsDataLossNotANewBeginning) {
  MustApply("create heap a bigint");
  const auto lose = [&](std::string_view key) {
    RowStore& store = catalog_->store();
    ASSERT_TRUE(store.db().Delete({}, store.family(Family::kDefault), ToSlice(key)).ok());
    MustApply("put table_stats 4 | 1");  // so that the loss is in the state commits start from
  };
  lose(kNextRelationKey);
  EXPECT_EQ(Apply("create another a bigint").code(), absl::StatusCode::kDataLoss);
  lose(kNextRowNumberKey);
  EXPECT_EQ(Apply("insert heap 1").code(), absl::StatusCode::kDataLoss);
}

TEST_F(CommitTest, RelationsThatCannotBeMadeOrDroppedAreRefused) {
  ExpectRefused("create ducklake_TABLE a bigint", absl::StatusCode::kAlreadyExists,
                "ducklake_TABLE");
  ExpectRefused("create heap a bigint\n create HEAP a bigint", absl::StatusCode::kAlreadyExists,
                "HEAP");
  ExpectRefused("drop heap", absl::StatusCode::kNotFound, "heap");
  ExpectRefused("drop ducklake_table", absl::StatusCode::kNotFound, "ducklake_table");
  ChangeSet builtin;
  RelationSchema copy = *BuiltinRelationById(kTable);
  copy.name = "another";
  builtin.CreateRelation(copy);
  EXPECT_EQ(catalog_->Apply(builtin).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CommitTest, RowsOfARelationThatIsNotThereAreRefused) {
  ChangeSet changes;
  const auto stranger = std::make_shared<RelationSchema>(DynamicOf("stranger a bigint"));
  changes.Insert(stranger, RowOf(*stranger, "1"));
  EXPECT_EQ(catalog_->Apply(changes).code(), absl::StatusCode::kNotFound);
  MustApply("create heap a bigint");
  ExpectRefused("drop heap\n insert heap 1", absl::StatusCode::kNotFound, "heap");
}

TEST_F(CommitTest, RowsWithoutAKeyAreNumberedInOrderOfInsertion) {
  MustApply("create heap a bigint\n insert heap 5\n insert heap 5");
  Reopen();
  MustApply("create other a bigint\n insert heap 3\n insert other 1");
  EXPECT_THAT(Rows("heap"), ElementsAre("5", "5", "3"));
  const auto scan = catalog_->Current().Scan(catalog_->Current().relations().FindByName("heap"),
                                             {.with_handles = true});
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  DecodedHandle decoded;
  ASSERT_TRUE(DecodeHandle(DynamicOf("heap a bigint"), batch.handles[1], &decoded).ok());
  MustApply(StrCat("erase heap ", decoded.row_number, " @ 0"));
  EXPECT_THAT(Rows("heap"), ElementsAre("5", "3"));
}

TEST_F(CommitTest, OtherRelationsKeepTheirPrimaryKey) {
  MustApply("create notes id integer, text varchar; key id\n insert notes 1 | a");
  EXPECT_EQ(Apply("insert notes 1 | b").code(), absl::StatusCode::kAlreadyExists);
  MustApply("put notes 1 | b\n put notes 0 | c");
  EXPECT_THAT(Rows("notes"), ElementsAre("0 | c", "1 | b"));
  EXPECT_EQ(GetText(catalog_->Current(), "notes", "1"), "1 | b");
}

// --- Equal keys ----------------------------------------------------------------------------------

TEST_F(CommitTest, RelationsWhoseKeysRepeatTakeEqualRows) {
  MustApply("insert metadata k | 1\n insert metadata k | 2");
  MustApply("insert metadata k | 2");
  EXPECT_THAT(Rows("metadata", {.key_prefix = {Datum::Bytes("k")}}),
              ElementsAre("k | 1 | - | -", "k | 2 | - | -", "k | 2 | - | -"));
  EXPECT_EQ(VersionTexts(catalog_->Current(), "metadata", "k | - | -").size(), 3U);
  EXPECT_EQ(GetText(catalog_->Current(), "metadata", "k | - | -"), "k | 1 | - | -");
}

TEST_F(CommitTest, APutOverwritesOneOfEqualRows) {
  MustApply("insert metadata k | 1\n insert metadata k | 2\n put metadata k | 9");
  EXPECT_THAT(Rows("metadata", {.key_prefix = {Datum::Bytes("k")}}),
              ElementsAre("k | 9 | - | -", "k | 2 | - | -"));
}

TEST_F(CommitTest, EqualRowsAreErasedOneAtATime) {
  MustApply("insert metadata k | 1\n insert metadata k | 2\n insert metadata k | 3");
  MustApply("erase metadata k | - | - @ 0");
  EXPECT_THAT(Rows("metadata", {.key_prefix = {Datum::Bytes("k")}}),
              ElementsAre("k | 2 | - | -", "k | 3 | - | -"));
  EXPECT_EQ(GetText(catalog_->Current(), "metadata", "k | - | -"), "k | 2 | - | -")
      << "found though ordinal 0 is gone";
  MustApply("insert metadata k | 4");
  EXPECT_EQ(Rows("metadata", {.key_prefix = {Datum::Bytes("k")}}).size(), 3U);
  MustApply(
      "erase metadata k | - | - @ 0\n erase metadata k | - | - @ 0\n erase metadata k | - | - @ 0");
  EXPECT_EQ(GetText(catalog_->Current(), "metadata", "k | - | -"), "");
  EXPECT_THAT(Rows("metadata", {.key_prefix = {Datum::Bytes("k")}}), IsEmpty());
}

TEST_F(CommitTest, MigratedSchemaVersionsAreEqualRows) {
  MustApply(
      "insert schema_versions 0 | 1 | -\n insert schema_versions 0 | 1 | -\n"
      "insert schema_versions 3 | 1 | -");
  EXPECT_THAT(RowsAt(2, "schema_versions"), ElementsAre("0 | 1 | -", "0 | 1 | -"));
  EXPECT_THAT(Rows("schema_versions"), ElementsAre("0 | 1 | -", "0 | 1 | -", "3 | 1 | -"));
}

TEST_F(CommitTest, PartitionValuesRepeatEvenIdentically) {
  MustApply(
      "insert file_partition_value 7 | 4 | 0 | x\n insert file_partition_value 7 | 4 | 0 | x");
  EXPECT_THAT(Rows("file_partition_value"), ElementsAre("7 | 4 | 0 | x", "7 | 4 | 0 | x"));
  EXPECT_THAT(RowsAt(1, "file_partition_value"), IsEmpty()) << "the file is not yet there";
}

}  // namespace
}  // namespace varve

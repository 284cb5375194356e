#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string MessageText(const absl::Status& status) {
  return std::string(MessageOf(status));
}

void ExpectOneLineError(const absl::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
}

// Everything below a directory: names, sizes, modification times.
std::map<std::string, std::string> Listing(const std::string& directory) {
  std::map<std::string, std::string> listing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    listing[entry.path().string()] =
        StrCat(entry.is_regular_file() ? entry.file_size() : 0, " bytes, ",
               entry.last_write_time().time_since_epoch().count());
  }
  return listing;
}

// --- Init ----------------------------------------------------------------------------------------

class CatalogInit : public CatalogFixture {};

TEST_F(CatalogInit, WritesTheBootstrapRowsOfDuckLake1_0) {
  EXPECT_THAT(Rows("snapshot"), ElementsAre("0 | 2026-01-01 00:00:00+00 | 0 | 1 | 0"));
  EXPECT_THAT(Rows("snapshot_changes"), ElementsAre("0 | created_schema:\"main\" | - | - | -"));
  EXPECT_THAT(Rows("schema"),
              ElementsAre(StrCat("0 | ", kMainUuid, " | 0 | - | main | main/ | true")));
  EXPECT_THAT(Rows("metadata"),
              ElementsAre("created_by | Varve 0.1.0 | - | -", "data_path | /lake/ | - | -",
                          "encrypted | false | - | -", "version | 1.0 | - | -"));
  for (const RelationRef& relation : catalog_->Current().relations().relations()) {
    const bool bootstrapped = relation->id == kSnapshot || relation->id == kSnapshotChanges ||
                              relation->id == kSchema || relation->id == kMetadata;
    EXPECT_EQ(Rows(relation->name).empty(), !bootstrapped) << relation->name;
  }
}

TEST_F(CatalogInit, TheBootstrapStateIsSnapshotZero) {
  EXPECT_EQ(catalog_->Current().snapshot(), 0U);
  EXPECT_EQ(catalog_->Current().last_snapshot(), 0U);
  EXPECT_TRUE(At(0).is_current());
  EXPECT_EQ(catalog_->path(), path());
}

TEST(Catalog, InitAddsTheMissingSlashAndMarksEncryption) {
  const TempDir dir;
  ASSERT_TRUE(Catalog::Init(dir / "c", {.data_path = "s3://lake/data", .encrypted = true}).ok());
  const auto catalog = Catalog::Open(dir / "c");
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  const ReadView view = (*catalog)->Current();
  EXPECT_EQ(GetText(view, "metadata", "data_path | - | -"), "data_path | s3://lake/data/ | - | -");
  EXPECT_EQ(GetText(view, "metadata", "encrypted | - | -"), "encrypted | true | - | -");
}

TEST(Catalog, EveryCatalogHasUuidsOfItsOwn) {
  const TempDir dir;
  std::vector<std::string> uuids;
  for (const std::string name : {"a", "b"}) {
    ASSERT_TRUE(Catalog::Init(dir / name, {.data_path = "/lake/"}).ok());
    const auto catalog = Catalog::Open(dir / name);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    uuids.push_back((*catalog)->uuid());
    EXPECT_EQ(uuids.back().size(), 36U);
    const std::vector<std::string> schema =
        ScanTexts((*catalog)->Current(), "schema", {.columns = {{1}}});
    ASSERT_EQ(schema.size(), 1U);
    uuids.push_back(schema[0]);
    EXPECT_EQ(uuids.back()[14], '4') << "a random UUID: " << uuids.back();
  }
  std::sort(uuids.begin(), uuids.end());
  EXPECT_EQ(std::unique(uuids.begin(), uuids.end()), uuids.end());
}

TEST(Catalog, InitTakesAnEmptyDirectoryAndATrailingSlash) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "empty");
  EXPECT_TRUE(Catalog::Init(dir / "empty", {.data_path = "/lake/"}).ok());
  EXPECT_TRUE(Catalog::Init(dir / "new/", {.data_path = "/lake/"}).ok());
  EXPECT_TRUE(Catalog::Open(dir / "empty").ok());
  EXPECT_TRUE(Catalog::Open(dir / "new").ok());
}

TEST(Catalog, InitRefusesAPathWhereSomethingIs) {
  const TempDir dir;
  ASSERT_TRUE(Catalog::Init(dir / "catalog", {.data_path = "/lake/"}).ok());
  std::filesystem::create_directory(dir / "full");
  std::ofstream(dir / "full/file") << "mine";
  std::ofstream(dir / "file") << "mine";
  const auto before = Listing(dir.path());
  for (const std::string name : {"catalog", "full", "file"}) {
    const absl::Status status = Catalog::Init(dir / name, {.data_path = "/other/"});
    ExpectOneLineError(status, absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(MessageText(status), HasSubstr(dir / name));
  }
  EXPECT_EQ(Listing(dir.path()), before);
}

TEST(Catalog, InitThatCannotBeDoneLeavesNothing) {
  const TempDir dir;
  EXPECT_FALSE(Catalog::Init(dir / "c", {.data_path = "bad \xff"}).ok());
  EXPECT_FALSE(Catalog::Init(dir / "c", {.data_path = "/l/", .schema_uuid = "no uuid"}).ok());
  EXPECT_FALSE(Catalog::Init("", {.data_path = "/l/"}).ok());
  std::ofstream(dir / "file") << "mine";
  EXPECT_FALSE(Catalog::Init(dir / "file/c", {.data_path = "/l/"}).ok());
  EXPECT_EQ(Listing(dir.path()).size(), 1U);
}

// --- Open ----------------------------------------------------------------------------------------

TEST(Catalog, OpenSaysWhatIsWrongWithThePath) {
  const TempDir dir;
  for (const bool read_only : {false, true}) {
    const absl::Status nothing = Catalog::Open(dir / "nothing", {.read_only = read_only}).status();
    ExpectOneLineError(nothing, absl::StatusCode::kNotFound);
    EXPECT_THAT(MessageText(nothing), HasSubstr("varve init"));

    std::filesystem::create_directories(dir / "other");
    const absl::Status other = Catalog::Open(dir / "other", {.read_only = read_only}).status();
    ExpectOneLineError(other, absl::StatusCode::kNotFound);
    EXPECT_THAT(MessageText(other), HasSubstr("is not a Varve catalog"));
    EXPECT_THAT(Listing(dir / "other"), IsEmpty()) << "nothing is written into it";

    std::ofstream(dir / "file") << "text";
    ExpectOneLineError(Catalog::Open(dir / "file", {.read_only = read_only}).status(),
                       absl::StatusCode::kNotFound);
  }
}

TEST(Catalog, OpenRefusesANewerFormat) {
  const TempDir dir;
  const std::string path = dir / "c";
  ASSERT_TRUE(Catalog::Init(path, {.data_path = "/lake/"}).ok());
  std::ofstream(path + "/VARVE") << "varve catalog, format 2\n";
  for (const bool read_only : {false, true}) {
    const absl::Status status = Catalog::Open(path, {.read_only = read_only}).status();
    ExpectOneLineError(status, absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(MessageText(status), HasSubstr("format 2"));
  }
}

TEST(Catalog, OpenReportsAMissingFile) {
  const TempDir dir;
  const std::string path = dir / "c";
  ASSERT_TRUE(Catalog::Init(path, {.data_path = "/lake/"}).ok());
  for (const auto& entry : std::filesystem::directory_iterator(path + "/rows")) {
    if (entry.path().extension() == ".sst") {
      std::filesystem::remove(entry.path());
      break;
    }
  }
  for (const bool read_only : {true, false}) {
    ExpectOneLineError(Catalog::Open(path, {.read_only = read_only}).status(),
                       absl::StatusCode::kDataLoss);
  }
}

class OpenCatalog : public CatalogFixture {};

TEST_F(OpenCatalog, WithoutItsIdentityFileIsDamagedAndNotUnknown) {
  const std::string at = path();
  catalog_.reset();
  std::filesystem::remove(at + "/VARVE");
  ExpectOneLineError(Catalog::Open(at).status(), absl::StatusCode::kDataLoss);
}

TEST_F(OpenCatalog, IsRefusedToASecondWriterAndSaysHowToReadBesideIt) {
  const absl::Status status = Catalog::Open(path()).status();
  ExpectOneLineError(status, absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageText(status), HasSubstr(StrCat("process ", getpid())));
  EXPECT_THAT(MessageText(status), HasSubstr("open it read-only and work meanwhile"));
}

TEST_F(OpenCatalog, TheLockIsHeldAsLongAsAView) {
  std::optional<ReadView> view = catalog_->Current();
  catalog_.reset();
  EXPECT_EQ(Catalog::Open(path()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ScanTexts(*view, "snapshot").size(), 1U) << "a view outlives its catalog";
  view.reset();
  EXPECT_TRUE(Catalog::Open(path()).ok());
}

TEST_F(OpenCatalog, ReadOnlyWritesNothingBesideAWriter) {
  MustApply("snapshot 1\n insert table 1 | - | 1 | - | 0 | a");
  ASSERT_TRUE(catalog_->store().Flush().ok());
  MustApply("snapshot 2\n insert table 2 | - | 2 | - | 0 | b");  // in the log only
  // From here on whatever changes is the reader's doing.
  ASSERT_TRUE(catalog_->store().db().PauseBackgroundWork().ok());
  const auto before = Listing(path());
  {
    const auto reader = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_THAT(ScanTexts((*reader)->Current(), "table", {.columns = {{5}}}),
                ElementsAre("a", "b"));
    EXPECT_EQ((*reader)->Current().last_snapshot(), 2U);
    EXPECT_EQ((*reader)->Apply(ChangeSet()).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(Listing(path()), before);
  }
  EXPECT_EQ(Listing(path()), before);
  ASSERT_TRUE(catalog_->store().db().ContinueBackgroundWork().ok());
  MustApply("snapshot 3");
}

TEST_F(OpenCatalog, ReadOnlyWritesNothingToAClosedCatalog) {
  MustApply("snapshot 1");
  catalog_.reset();
  const auto before = Listing(path());
  {
    const auto reader = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(ScanTexts((*reader)->Current(), "snapshot").size(), 2U);
  }
  EXPECT_EQ(Listing(path()), before);
}

TEST_F(OpenCatalog, ReopeningChangesNothing) {
  MustApply("snapshot 1\n insert table 1 | - | 1 | - | 0 | a\n create heap a bigint");
  MustApply("insert heap 5");
  const std::vector<std::string> before = Everything();
  const std::string uuid = catalog_->uuid();
  for (int i = 0; i < 3; ++i) {
    Reopen({.read_only = i == 1});
    EXPECT_EQ(Everything(), before);
    EXPECT_EQ(catalog_->uuid(), uuid);
  }
}

// --- Snapshots -----------------------------------------------------------------------------------

class Snapshots : public CatalogFixture {
 protected:
  // Snapshots 0, 2, 5 and 9; table n begins at snapshot n.
  void SetUp() override {
    CatalogFixture::SetUp();
    for (const int id : {2, 5, 9}) {
      MustApply(StrCat("snapshot ", id, "\n insert table ", id, " | - | ", id, " | - | 0 | t", id));
    }
  }
  std::string Missing(SnapshotId snapshot) {
    const absl::Status status = catalog_->At(snapshot).status();
    ExpectOneLineError(status, absl::StatusCode::kNotFound);
    return MessageText(status);
  }
  SnapshotId AtSeconds(double seconds) {
    const auto view = catalog_->AtTime(SnapshotTime(0) + absl::Seconds(seconds));
    EXPECT_TRUE(view.ok()) << view.status();
    return view.ok() ? view->snapshot() : kNoEnd;
  }
};

TEST_F(Snapshots, AtGivesTheStateOfEachThatExists) {
  EXPECT_THAT(RowsAt(0, "table"), IsEmpty());
  EXPECT_THAT(RowsAt(2, "table", {.columns = {{5}}}), ElementsAre("t2"));
  EXPECT_THAT(RowsAt(5, "table", {.columns = {{5}}}), ElementsAre("t2", "t5"));
  EXPECT_THAT(RowsAt(9, "table", {.columns = {{5}}}), ElementsAre("t2", "t5", "t9"));
  EXPECT_FALSE(At(5).is_current());
  EXPECT_TRUE(At(9).is_current());
}

TEST_F(Snapshots, OneThatDoesNotExistNamesItsNeighbours) {
  EXPECT_THAT(Missing(1), HasSubstr("the nearest are 0 and 2"));
  EXPECT_THAT(Missing(7), HasSubstr("the nearest are 5 and 9"));
  EXPECT_THAT(Missing(7), HasSubstr("snapshot 7"));
}

TEST_F(Snapshots, OneInTheFutureNamesTheLast) {
  for (const SnapshotId future : {SnapshotId{10}, kMaxSnapshotId, kMaxSnapshotId + 1, kNoEnd}) {
    EXPECT_THAT(Missing(future), HasSubstr("future"));
    EXPECT_THAT(Missing(future), HasSubstr("9"));
  }
}

TEST_F(Snapshots, AnExpiredOneIsGone) {
  MustApply("erase snapshot 5 @ 5");
  EXPECT_THAT(Missing(5), HasSubstr("the nearest are 2 and 9"));
  MustApply("erase snapshot 0 @ 0");
  EXPECT_THAT(Missing(0), HasSubstr("nearest"));
  EXPECT_THAT(Missing(0), HasSubstr("2"));
}

TEST_F(Snapshots, AtTimeTakesTheLatestNotAfterIt) {
  EXPECT_EQ(AtSeconds(0), 0U);
  EXPECT_EQ(AtSeconds(1.999999), 0U);
  EXPECT_EQ(AtSeconds(2), 2U);
  EXPECT_EQ(AtSeconds(4.5), 2U);
  EXPECT_EQ(AtSeconds(5), 5U);
  EXPECT_EQ(AtSeconds(8.9999999), 5U);
  EXPECT_EQ(AtSeconds(9), 9U);
  EXPECT_EQ(AtSeconds(1e9), 9U);
  const auto forever = catalog_->AtTime(absl::InfiniteFuture());
  ASSERT_TRUE(forever.ok());
  EXPECT_EQ(forever->snapshot(), 9U);
}

TEST_F(Snapshots, AtTimeBeforeTheFirstNamesIt) {
  for (const absl::Time time : {SnapshotTime(-1), absl::InfinitePast()}) {
    const absl::Status status = catalog_->AtTime(time).status();
    ExpectOneLineError(status, absl::StatusCode::kNotFound);
    EXPECT_THAT(MessageText(status), HasSubstr("2026-01-01 00:00:00+00"));
  }
}

TEST_F(Snapshots, OfEqualTimesTheLaterIdCounts) {
  MustApply("insert snapshot 11 | 2026-01-01 00:00:09+00 | 0 | 1 | 0");
  EXPECT_EQ(AtSeconds(9), 11U);
}

TEST_F(Snapshots, AClockSetBackDoesNotHideTheLatestTime) {
  MustApply("insert snapshot 11 | 2026-01-01 00:00:03+00 | 0 | 1 | 0");
  EXPECT_EQ(AtSeconds(3), 11U);
  EXPECT_EQ(AtSeconds(6), 5U);
  EXPECT_EQ(AtSeconds(100), 9U);
}

TEST_F(Snapshots, AtTimeIgnoresSnapshotsWithoutATime) {
  MustApply("insert snapshot 11 | - | 0 | 1 | 0");
  EXPECT_EQ(AtSeconds(100), 9U);
}

// --- Views ---------------------------------------------------------------------------------------

TEST_F(Snapshots, AViewThatIsHeldNeverChanges) {
  MustApply("create heap a bigint\n insert heap 1\n put table_stats 1 | 10");
  const ReadView current = catalog_->Current();
  const ReadView past = At(5);
  const auto all = [](const ReadView& view) {
    std::vector<std::string> texts;
    for (const RelationRef& relation : view.relations().relations()) {
      for (const ScanRows rows : {ScanRows::kVisible, ScanRows::kAllVersions}) {
        for (const std::string& text : ScanTexts(view, relation->name, {.rows = rows})) {
          texts.push_back(StrCat(relation->name, " ", text));
        }
      }
    }
    return texts;
  };
  const std::vector<std::string> current_before = all(current);
  const std::vector<std::string> past_before = all(past);

  MustApply("snapshot 10\n end table 2 @ 10\n insert table 2 | - | 10 | - | 0 | renamed");
  MustApply("erase table 5 @ 5\n put table_stats 1 | 99\n put metadata new | 1");
  MustApply("erase snapshot 2 @ 2\n drop heap");
  MustApply("create heap b varchar");  // the same name, another relation
  MustApply("insert heap x");
  ASSERT_TRUE(catalog_->store().Flush().ok());

  EXPECT_EQ(all(current), current_before);
  EXPECT_EQ(all(past), past_before);
  EXPECT_EQ(current.last_snapshot(), 9U);
  EXPECT_TRUE(current.is_current()) << "at the latest snapshot of its state";
  EXPECT_EQ(GetText(current, "table", "2"), "2 | - | 2 | - | 0 | t2 | - | -");
  EXPECT_EQ(GetText(catalog_->Current(), "table", "2"), "2 | - | 10 | - | 0 | renamed | - | -");
  EXPECT_THAT(VersionTexts(current, "table", "2"),
              ElementsAre("2 | - | 2 | - | 0 | t2 | - | - @ [2, …)"));
  EXPECT_THAT(Rows("heap"), ElementsAre("x"));
}

TEST_F(Snapshots, AScanInProgressIsNotDisturbedByCommits) {
  const ReadView view = catalog_->Current();
  const auto scan = view.Scan(BuiltinRelationById(kTable), {.columns = {{0}}, .batch_rows = 1});
  ASSERT_TRUE(scan.ok());
  std::vector<int64_t> ids;
  ScanBatch batch;
  while (*(*scan)->Next(&batch)) {
    ids.push_back(batch.columns.column(0).int64s()[0]);
    const int64_t next = 100 + static_cast<int64_t>(ids.size());
    MustApply(StrCat("snapshot ", next, "\n insert table ", next, " | - | ", next,
                     "\n erase table ", ids.back(), " @ ", ids.back()));
  }
  EXPECT_THAT(ids, ElementsAre(2, 5, 9));
}

TEST_F(Snapshots, GetByUniqueFindsTheHandle) {
  MustApply("insert data_file 7 | 2 | 5 | - | 1 | p");
  const RelationSchema& file = *BuiltinRelationById(kDataFile);
  const auto row = catalog_->Current().GetByUnique(file, 7);
  ASSERT_TRUE(row.ok() && row->has_value());
  EXPECT_EQ((*row)->values[1].int64_value(), 2);
  EXPECT_FALSE(catalog_->Current().GetByUnique(file, 8)->has_value());
  EXPECT_FALSE(At(2).GetByUnique(file, 7)->has_value()) << "not yet there at snapshot 2";
  EXPECT_EQ(catalog_->Current().GetByUnique(*BuiltinRelationById(kTable), 2).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace varve

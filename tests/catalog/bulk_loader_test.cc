#include "catalog/load/bulk_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/row_text.h"
#include "tests/catalog/temp_dir.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BulkLoad : public ::testing::Test {
 protected:
  std::string path() const { return dir_ / "catalog"; }

  std::unique_ptr<BulkLoader> Create(BulkLoadOptions options = {}) {
    absl::StatusOr<std::unique_ptr<BulkLoader>> loader = BulkLoader::Create(path(), options);
    EXPECT_TRUE(loader.ok()) << loader.status();
    return loader.ok() ? *std::move(loader) : nullptr;
  }

  // Adds lines "RELATION row", the n-th as line n of lines.txt.
  static absl::Status Add(BulkLoader* loader, std::string_view lines) {
    const uint32_t origin = loader->AddOrigin("lines.txt");
    const RelationDirectory builtin;
    uint64_t number = 0;
    while (!lines.empty()) {
      std::string_view line = lines.substr(0, lines.find('\n'));
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.empty()) {
        continue;
      }
      const size_t space = line.find(' ');
      const RelationRef relation = *builtin.Resolve(line.substr(0, space));
      const absl::Status status = loader->AddRow(
          *relation, RowOf(*relation, line.substr(space)).values(), origin, ++number);
      if (!status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  // The error of loading these lines; nothing may remain of the load.
  std::string ErrorOf(std::string_view lines,
                      absl::StatusCode code = absl::StatusCode::kInvalidArgument,
                      BulkLoadOptions options = {}) {
    std::unique_ptr<BulkLoader> loader = Create(options);
    absl::Status status = Add(loader.get(), lines);
    if (status.ok()) {
      status = loader->Finish().status();
    }
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
    loader.reset();
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path())) << "something is left of a failed load";
    return std::string(MessageOf(status));
  }

  BulkLoadSummary MustLoad(std::string_view lines, BulkLoadOptions options = {}) {
    const std::unique_ptr<BulkLoader> loader = Create(options);
    const absl::Status added = Add(loader.get(), lines);
    EXPECT_TRUE(added.ok()) << added;
    const absl::StatusOr<BulkLoadSummary> summary = loader->Finish();
    EXPECT_TRUE(summary.ok()) << summary.status();
    return summary.value_or(BulkLoadSummary());
  }

  std::unique_ptr<Catalog> Open() {
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path());
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    return catalog.ok() ? *std::move(catalog) : nullptr;
  }

  TempDir dir_;
};

constexpr std::string_view kSnapshots = "snapshot 0\n snapshot 3\n snapshot 7\n";

// Only what an earlier load left may be cleared away.
TEST_F(BulkLoad, LeavesAlonePeoplesFilesAtTheNameOfItsWorkingDirectory) {
  std::filesystem::create_directory(path() + ".loading");
  std::ofstream(path() + ".loading/mine.txt") << "precious";
  const absl::Status status = BulkLoader::Create(path(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
  EXPECT_TRUE(std::filesystem::exists(path() + ".loading/mine.txt"));
  std::filesystem::remove_all(path() + ".loading");
  EXPECT_TRUE(BulkLoader::Create(path(), {}).ok());
}

TEST_F(BulkLoad, MakesNoDirectoryAboveThePath) {
  const std::string deep = path() + "/none/catalog";
  EXPECT_FALSE(BulkLoader::Create(deep, {}).ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(BulkLoad, RowsInAnyOrderComeOutInKeyOrder) {
  const BulkLoadSummary summary = MustLoad(StrCat(kSnapshots, R"(
    table 9 | - | 3 | - | 0 | nine
    table 2 | - | 3 | 7 | 0 | two, ended
    table 2 | - | 7 | - | 0 | two
    table 2 | - | 0 | 3 | 0 | two, first
    column 1 | 0 | - | 2 | 0 | c
    table_stats 9 | 5
    file_column_stats 4 | 2 | 1 | 10
    data_file 4 | 2 | 0 | 7
  )"));
  EXPECT_EQ(summary.rows, 11U);
  EXPECT_EQ(summary.live, 8U);
  EXPECT_EQ(summary.ended, 3U);
  EXPECT_EQ(summary.anomalies, 0U);
  EXPECT_EQ(summary.last_snapshot, 7U);

  const auto catalog = Open();
  EXPECT_THAT(ScanTexts(catalog->Current(), "table", {.columns = {{5}}}),
              ElementsAre("two", "nine"));
  EXPECT_THAT(ScanTexts(*catalog->At(3), "table", {.columns = {{5}}}),
              ElementsAre("two, ended", "nine"));
  EXPECT_THAT(ScanTexts(*catalog->At(0), "table", {.columns = {{5}}}), ElementsAre("two, first"));
  EXPECT_THAT(ScanTexts(*catalog->At(3), "file_column_stats", {.columns = {{3}}}),
              ElementsAre("10"));
  EXPECT_THAT(ScanTexts(catalog->Current(), "file_column_stats"), IsEmpty());
  EXPECT_TRUE(catalog->At(3)->GetByUnique(*BuiltinRelationById(kDataFile), 4)->has_value());
  EXPECT_EQ(catalog->Current().last_snapshot(), 7U);
}

TEST_F(BulkLoad, WhatWasLoadedCanBeChanged) {
  MustLoad(StrCat(kSnapshots, "table 2 | - | 0 | - | 0 | two\n data_file 4 | 2 | 0"));
  const auto catalog = Open();
  const RelationDirectory& directory = catalog->Current().relations();
  EXPECT_TRUE(catalog->Apply(ChangesOf(directory, "snapshot 8\n end table 2 @ 8")).ok());
  EXPECT_EQ(catalog->Apply(ChangesOf(directory, "insert data_file 4 | 3 | 8")).code(),
            absl::StatusCode::kAlreadyExists)
      << "the index of unique ids was loaded too";
  EXPECT_THAT(ScanTexts(catalog->Current(), "table"), IsEmpty());
  EXPECT_EQ(ScanTexts(*catalog->At(7), "table").size(), 1U);
}

// --- What is refused -----------------------------------------------------------------------------

TEST_F(BulkLoad, DuplicatesOfADeclaredKeyNameBothRows) {
  for (const bool keep : {false, true}) {
    const BulkLoadOptions options{.keep_anomalies = keep};
    const std::string schema = ErrorOf(StrCat(kSnapshots, "schema 5 | - | 0\n schema 5 | - | 3"),
                                       absl::StatusCode::kInvalidArgument, options);
    EXPECT_THAT(schema, HasSubstr("lines.txt line 5"));
    EXPECT_THAT(schema, HasSubstr("lines.txt line 4"));
    EXPECT_THAT(schema, HasSubstr("ducklake_schema schema_id=5"));
    EXPECT_THAT(schema, HasSubstr("duplicate key"));
    EXPECT_THAT(ErrorOf("snapshot 0\n snapshot 3\n snapshot 3", absl::StatusCode::kInvalidArgument,
                        options),
                HasSubstr("snapshot_id=3"));
    EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "data_file 5 | 1 | 0\n data_file 5 | 1 | 3 | 7"),
                        absl::StatusCode::kInvalidArgument, options),
                HasSubstr("data_file_id=5"));
    const std::string unique =
        ErrorOf(StrCat(kSnapshots, "data_file 5 | 1 | 0\n data_file 5 | 2 | 3"),
                absl::StatusCode::kInvalidArgument, options);
    EXPECT_THAT(unique, HasSubstr("data_file_id"));
    EXPECT_THAT(unique, HasSubstr("line 4"));
    EXPECT_THAT(unique, HasSubstr("line 5"));
  }
}

TEST_F(BulkLoad, OtherDuplicatesAndOverlapsAreRefusedUnlessKept) {
  const std::string overlap = ErrorOf(StrCat(kSnapshots, "table 5 | - | 0 | 7\n table 5 | - | 3"));
  EXPECT_THAT(overlap, HasSubstr("lines.txt line 5"));
  EXPECT_THAT(overlap, HasSubstr("lines.txt line 4"));
  EXPECT_THAT(overlap, HasSubstr("ducklake_table table_id=5"));
  EXPECT_THAT(overlap, HasSubstr("--keep-anomalies"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "table 5 | - | 0\n table 5 | - | 3")),
              HasSubstr("overlaps"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "table 5 | - | 3\n table 5 | - | 3")),
              HasSubstr("overlaps"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "table_stats 5 | 1\n table_stats 5 | 1")),
              HasSubstr("same key"));
}

TEST_F(BulkLoad, RowsBeyondTheLastSnapshotAreRefused) {
  EXPECT_THAT(ErrorOf(StrCat("table 5 | - | 8\n", kSnapshots)), HasSubstr("lines.txt line 1"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "table 5 | - | 8")), HasSubstr("last snapshot 7"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "table 5 | - | 3 | 8")), HasSubstr("table_id=5"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "snapshot_changes 8")), HasSubstr("snapshot_id=8"));
  EXPECT_THAT(ErrorOf(StrCat(kSnapshots, "schema_versions 8 | 1 | 1")), HasSubstr("8"));
}

TEST_F(BulkLoad, RowsThatAreNoneAreRefusedWithTheirLine) {
  EXPECT_THAT(ErrorOf("snapshot 0\n table - | - | 0"),
              HasSubstr("lines.txt line 2: column table_id"));
  EXPECT_THAT(ErrorOf("snapshot 0\n table 1 | - | -"), HasSubstr("begin_snapshot"));
  EXPECT_THAT(ErrorOf("snapshot 0\n table 1 | - | -1"), HasSubstr("begin_snapshot"));
  EXPECT_THAT(ErrorOf("snapshot 0\n table 1 | - | 2 | 2"), HasSubstr("end_snapshot"));
  EXPECT_THAT(ErrorOf("snapshot 0\n metadata k | -"), HasSubstr("value"));
  EXPECT_THAT(ErrorOf("snapshot 0\n data_file - | 1 | 0"), HasSubstr("data_file_id"));
  const auto loader = Create();
  EXPECT_EQ(loader->AddRow(*BuiltinRelationById(kTable), std::vector{Datum::Int64(1)}, 0, 0).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(BulkLoad, ACatalogHasAtLeastOneSnapshot) {
  EXPECT_THAT(ErrorOf("table 1 | - | 0"), HasSubstr("ducklake_snapshot"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("ducklake_snapshot"));
}

TEST_F(BulkLoad, APathWhereSomethingIsIsRefused) {
  MustLoad(kSnapshots);
  EXPECT_EQ(BulkLoader::Create(path(), {}).status().code(), absl::StatusCode::kAlreadyExists);
  std::ofstream(dir_ / "file") << "x";
  EXPECT_EQ(BulkLoader::Create(dir_ / "file", {}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ScanTexts(Open()->Current(), "snapshot").size(), 3U);
}

TEST_F(BulkLoad, APathThatIsTakenMeanwhileIsLeftAlone) {
  const auto loader = Create();
  ASSERT_TRUE(Add(loader.get(), kSnapshots).ok());
  std::filesystem::create_directory(path());
  std::ofstream(path() + "/file") << "mine";
  EXPECT_EQ(loader->Finish().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::exists(path() + "/file"));
}

// --- Anomalies kept ------------------------------------------------------------------------------

TEST_F(BulkLoad, KeptAnomaliesAreAllThereAndCounted) {
  const BulkLoadSummary summary = MustLoad(StrCat(kSnapshots, R"(
    table 5 | - | 0 | - | 0 | a
    table 5 | - | 3 | - | 0 | b
    table 5 | - | 3 | 7 | 0 | c
    table 6 | - | 0 | 3 | 0 | d
    table 6 | - | 3 | - | 0 | e
    table_stats 5 | 1
    table_stats 5 | 2
  )"),
                                           {.keep_anomalies = true});
  EXPECT_EQ(summary.anomalies, 3U);
  const auto catalog = Open();
  EXPECT_THAT(ScanTexts(catalog->Current(), "table", {.columns = {{5}}}),
              ::testing::UnorderedElementsAre("a", "b", "e"));
  EXPECT_THAT(ScanTexts(*catalog->At(3), "table", {.columns = {{5}}}),
              ::testing::UnorderedElementsAre("a", "b", "c", "e"));
  EXPECT_THAT(ScanTexts(*catalog->At(0), "table", {.columns = {{5}}}),
              ::testing::UnorderedElementsAre("a", "d"));
  EXPECT_EQ(VersionTexts(catalog->Current(), "table", "5").size(), 3U);
  EXPECT_THAT(ScanTexts(catalog->Current(), "table_stats"),
              ElementsAre("5 | 1 | - | -", "5 | 2 | - | -"));
}

TEST_F(BulkLoad, RowsOfRelationsThatRepeatAreNoAnomalies) {
  const BulkLoadSummary summary = MustLoad(StrCat(kSnapshots, R"(
    metadata k | 1
    metadata k | 2
    schema_versions 0 | 1 | -
    schema_versions 0 | 1 | -
    file_partition_value 4 | 2 | 0 | x
    file_partition_value 4 | 2 | 0 | x
  )"));
  EXPECT_EQ(summary.anomalies, 0U);
  const auto catalog = Open();
  EXPECT_THAT(ScanTexts(catalog->Current(), "metadata"),
              ElementsAre("k | 1 | - | -", "k | 2 | - | -"))
      << "equal keys stay in order of arrival";
  EXPECT_EQ(ScanTexts(catalog->Current(), "schema_versions").size(), 2U);
  EXPECT_EQ(ScanTexts(catalog->Current(), "file_partition_value", {.rows = ScanRows::kAllVersions})
                .size(),
            2U);
}

// Random overlapping histories, ordinals and long runs included: every snapshot shows exactly the
// versions whose interval holds it.
TEST_F(BulkLoad, EverySnapshotSeesKeptOverlapsToo) {
  constexpr SnapshotId kLast = 60;
  std::mt19937_64 random(TestSeed());
  struct Version {
    int64_t id = 0;
    SnapshotId begin = 0;
    SnapshotId end = kNoEnd;
    std::string name;
  };
  std::vector<Version> versions;
  for (int64_t id = 1; id <= 6; ++id) {
    for (uint64_t i = id % 2 == 0 ? 150 : random() % 10; i > 0; --i) {
      const SnapshotId begin = random() % kLast;
      const SnapshotId end = random() % 8 == 0 ? kNoEnd : begin + 1 + random() % (kLast - begin);
      versions.push_back({id, begin, end, StrCat("v", versions.size())});
    }
  }
  const auto loader = Create({.keep_anomalies = true});
  std::string lines;
  for (SnapshotId id = 0; id <= kLast; ++id) {
    StrAppend(&lines, "snapshot ", id, "\n");
  }
  for (const Version& version : versions) {
    StrAppend(&lines, "table ", version.id, " | - | ", version.begin, " | ",
              version.end == kNoEnd ? "-" : StrCat(version.end), " | 0 | ", version.name, "\n");
  }
  ASSERT_TRUE(Add(loader.get(), lines).ok());
  const auto summary = loader->Finish();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->live + summary->ended, summary->rows);

  const auto catalog = Open();
  for (SnapshotId at = 0; at <= kLast; ++at) {
    std::vector<std::string> expected;
    for (const Version& version : versions) {
      if (IsVisible(version.begin, version.end, at)) {
        expected.push_back(StrCat(version.id, " | ", version.name));
      }
    }
    std::vector<std::string> actual = ScanTexts(*catalog->At(at), "table", {.columns = {{0, 5}}});
    EXPECT_TRUE(std::is_sorted(actual.begin(), actual.end(),
                               [](const auto& a, const auto& b) { return a[0] < b[0]; }));
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
    ASSERT_EQ(actual, expected) << "at " << at;
    for (int64_t id = 1; id <= 6; ++id) {
      const bool visible = std::any_of(versions.begin(), versions.end(), [&](const Version& v) {
        return v.id == id && IsVisible(v.begin, v.end, at);
      });
      ASSERT_EQ(GetText(*catalog->At(at), "table", StrCat(id)).empty(), !visible)
          << id << " at " << at;
    }
  }
}

TEST_F(BulkLoad, VersionsOfKeptOverlapsComeInBeginOrder) {
  MustLoad(StrCat(kSnapshots, R"(
    table 5 | - | 0 | 3 | 0 | a
    table 5 | - | 1 | 7 | 0 | b
    table 5 | - | 4 | - | 0 | c
  )"),
           {.keep_anomalies = true});
  const std::vector<std::string> versions = VersionTexts(Open()->Current(), "table", "5");
  ASSERT_EQ(versions.size(), 3U);
  EXPECT_THAT(versions[0], HasSubstr("[0, 3)"));
  EXPECT_THAT(versions[1], HasSubstr("[1, 7)"));
  EXPECT_THAT(versions[2], HasSubstr("[4, …)"));
}

// --- Declared relations --------------------------------------------------------------------------

TEST_F(BulkLoad, DynamicRelationsExtraAndAbsentColumnsAreDeclaredFirst) {
  const auto loader = Create();
  ASSERT_TRUE(Add(loader.get(), kSnapshots).ok());
  const auto inlined =
      loader->AddRelation(DynamicOf("ducklake_inlined_data_4_1 row_id bigint, begin_snapshot "
                                    "bigint, end_snapshot bigint, a double"));
  ASSERT_TRUE(inlined.ok()) << inlined.status();
  EXPECT_GE((*inlined)->id, kFirstDynamicRelation);
  const auto heap = loader->AddRelation(DynamicOf("heap a bigint"));
  ASSERT_TRUE(heap.ok());
  RelationSchema wider = WithExtraColumns(*BuiltinRelationById(kTable),
                                          {{.name = "note", .type = TypeKind::kVarchar}});
  wider.absent_columns.assign(wider.columns.num_columns(), false);
  wider.absent_columns[6] = true;
  const auto table = loader->AddRelation(wider);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(loader->AddRelation(DynamicOf("HEAP a bigint")).status().code(),
            absl::StatusCode::kAlreadyExists);

  const auto add = [&](const RelationRef& relation, std::string_view row) {
    const absl::Status status = loader->AddRow(*relation, RowOf(*relation, row).values(), 0, 0);
    ASSERT_TRUE(status.ok()) << status;
  };
  add(*inlined, "1 | 3 | 7 | 2.5");
  add(*inlined, "1 | 7 | - | 3.5");
  add(*heap, "5");
  add(*heap, "3");
  add(*table, "1 | - | 0 | - | 0 | t | - | true | a note");
  ASSERT_TRUE(loader->Finish().ok());

  const auto catalog = Open();
  EXPECT_THAT(ScanTexts(*catalog->At(3), "inlined_data_4_1"), ElementsAre("1 | 3 | 7 | 2.5"));
  EXPECT_THAT(ScanTexts(catalog->Current(), "heap"), ElementsAre("5", "3"))
      << "in order of arrival";
  EXPECT_THAT(ScanTexts(catalog->Current(), "table"),
              ElementsAre("1 | - | 0 | - | 0 | t | - | true | a note"));
  EXPECT_TRUE(catalog->Current().relations().FindById(kTable)->IsAbsentColumn(6));
  const RelationDirectory directory = catalog->Current().relations();
  ASSERT_TRUE(catalog->Apply(ChangesOf(directory, "create more a bigint\n insert heap 1")).ok());
  EXPECT_THAT(ScanTexts(catalog->Current(), "heap"), ElementsAre("5", "3", "1"));
  EXPECT_GT(catalog->Current().relations().FindByName("more")->id, (*heap)->id);
}

// --- Size, failure, company ----------------------------------------------------------------------

// Rows far beyond the sorting memory, in random order.
void AddManyRows(BulkLoader* loader, int count, const ChildBody::Say& say) {
  const RelationRef snapshot = BuiltinRelationById(kSnapshot);
  ASSERT_TRUE(loader->AddRow(*snapshot, RowOf(*snapshot, "0").values(), 0, 0).ok());
  const RelationRef stats = BuiltinRelationById(kFileColumnStats);
  std::vector<int> order(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    order[static_cast<size_t>(i)] = i;
  }
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  Row row = RowOf(*stats, "0 | 1 | 1 | 0 | 0 | 0 | " + std::string(60, 'm'));
  for (size_t i = 0; i < order.size(); ++i) {
    row.Set(0, Datum::Int64(order[i]));
    row.Set(3, Datum::Int64(order[i] * 3));
    ASSERT_TRUE(loader->AddRow(*stats, row.values(), 0, i).ok());
    if (i % 1000 == 0) {
      say('r');
    }
  }
}

void ExpectManyRows(const Catalog& catalog, int count) {
  const auto scan = catalog.Current().Scan(BuiltinRelationById(kFileColumnStats),
                                           {.columns = {{0, 3}}, .rows = ScanRows::kAllVersions});
  ScanBatch batch;
  int64_t next = 0;
  while (*(*scan)->Next(&batch)) {
    for (size_t i = 0; i < batch.num_rows(); ++i, ++next) {
      ASSERT_EQ(batch.columns.column(0).int64s()[i], next);
      ASSERT_EQ(batch.columns.column(1).int64s()[i], next * 3);
    }
  }
  EXPECT_EQ(next, count);
}

constexpr int kRowsOfChildren = 20'000;

const ChildBody kLoad("load", [](const std::string& path, const ChildBody::Say& say) {
  auto loader = BulkLoader::Create(path, {.memory_bytes = 1});
  if (!loader.ok()) {
    return 1;
  }
  AddManyRows(loader->get(), kRowsOfChildren, say);
  say('f');
  return (*loader)->Finish().ok() ? 0 : 1;
});

const ChildBody kBeginLoad("begin load", [](const std::string& path, const ChildBody::Say& say) {
  const auto loader = BulkLoader::Create(path, {});
  say(loader.ok() ? 'y' : 'n');
  pause();
  return 0;
});

// Makes loaders and gives them up at once; each takes its working directory along.
const ChildBody kIntrude("intrude", [](const std::string& path, const ChildBody::Say& say) {
  for (int i = 0;; ++i) {
    BulkLoader::Create(path, {}).status().IgnoreError();
    if (i == 0) {
      say('s');
    }
  }
  return 0;
});

TEST_F(BulkLoad, MoreRowsThanMemoryAreSortedThroughFiles) {
  constexpr int kRows = 60'000;  // about 6 MB, sorted in buffers of 1 MiB
  uint64_t progress = 0;
  const auto loader = Create({.memory_bytes = 1, .on_progress = [&](uint64_t rows) {
                                EXPECT_GT(rows, progress);
                                progress = rows;
                              }});
  AddManyRows(loader.get(), kRows, [](char) {});
  EXPECT_EQ(loader->rows_added(), kRows + 1U);
  size_t spilled = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
    spilled += entry.path().extension() == ".sst" ? 1 : 0;
  }
  EXPECT_GE(spilled, 2U);
  ASSERT_TRUE(loader->Finish().ok());
  EXPECT_GT(progress, 0U);
  ExpectManyRows(*Open(), kRows);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1)
      << "nothing is left but the catalog";
}

TEST_F(BulkLoad, ALoaderThatIsGivenUpLeavesNothing) {
  auto loader = Create();
  ASSERT_TRUE(Add(loader.get(), kSnapshots).ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
  loader.reset();
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

// Killed at a random moment, a load has published its catalog whole or not at all, and the next one
// works.
TEST_F(BulkLoad, AKilledLoadLeavesNothingAtThePath) {
  std::mt19937_64 random(TestSeed());
  int killed_before_publishing = 0;
  for (int round = 0; round < 15; ++round) {
    {
      ChildProcess loading(kLoad, path());
      // In the middle of adding rows, or some time after Finish began.
      if (round % 3 == 0) {
        for (uint64_t heard = 1 + random() % 20; heard > 0; --heard) {
          ASSERT_NE(loading.Hear(), '\0');
        }
      } else {
        for (char c = 'r'; c != 'f';) {
          ASSERT_NE(c = loading.Hear(), '\0');
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300'000));
      }
      loading.Kill();
    }
    if (std::filesystem::exists(path())) {
      ExpectManyRows(*Open(), kRowsOfChildren);
      std::filesystem::remove_all(path());
    } else {
      ++killed_before_publishing;
    }
  }
  EXPECT_GE(killed_before_publishing, 5) << "every third is killed while rows are added";
  const auto loader = Create({.memory_bytes = 1});
  ASSERT_NE(loader, nullptr);
  AddManyRows(loader.get(), kRowsOfChildren, [](char) {});
  ASSERT_TRUE(loader->Finish().ok());
  ExpectManyRows(*Open(), kRowsOfChildren);
}

TEST_F(BulkLoad, ASecondLoadIsRefusedNamingTheFirst) {
  ChildProcess loading(kBeginLoad, path());
  ASSERT_EQ(loading.Hear(), 'y');
  const absl::Status status = BulkLoader::Create(path(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(StrCat("process ", loading.pid())));
  loading.Kill();
  EXPECT_TRUE(BulkLoader::Create(path(), {}).ok());
}

// A process that tries to load to the same path again and again must not get between the steps of
// this one's Finish.
TEST_F(BulkLoad, AnotherLoadNeverDisturbsOneThatFinishes) {
  for (int round = 0; round < 5; ++round) {
    const std::string target = dir_ / StrCat("catalog", round);
    ChildProcess intruder(kIntrude, target);
    ASSERT_EQ(intruder.Hear(), 's');
    absl::StatusOr<std::unique_ptr<BulkLoader>> loader = BulkLoader::Create(target, {});
    while (!loader.ok()) {
      loader = BulkLoader::Create(target, {});
    }
    ASSERT_TRUE(Add(loader->get(), kSnapshots).ok());
    const auto summary = (*loader)->Finish();
    ASSERT_TRUE(summary.ok()) << summary.status();
    intruder.Kill();
    const auto catalog = Catalog::Open(target);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    EXPECT_EQ(ScanTexts((*catalog)->Current(), "snapshot").size(), 3U);
  }
}

}  // namespace
}  // namespace varve

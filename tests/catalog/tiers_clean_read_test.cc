// Clean reads in a catalog: when packs are read without handle, version and end, what of a file is
// read then, and why they are read whole otherwise. Bytes are counted where files are read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "columnar/format.h"
#include "tests/catalog/counting_file_system.h"
#include "tests/catalog/tiers_fixture.h"

namespace varve {
namespace {

using ::testing::IsEmpty;
using Reason = CleanReadRejection;

class CleanRead : public TiersFixture {
 protected:
  static constexpr size_t kName = 5;  // columns of ducklake_table
  static constexpr size_t kPath = 6;
  static constexpr int kTables = 12;

  void SetUp() override {
    TiersFixture::SetUp();
    OpenCold();
  }
  // Nothing of columnar files is in memory but what opening reads.
  void OpenCold() {
    ReopenWithMemory({.file_system = file_system_});
    file_system_->Forget();
  }

  // Tables 10, 20, … from snapshot 1 on; those up to `ended` end at snapshot 2.
  void MakeTables(int ended = 0) {
    std::string text = "snapshot 1\n";
    for (int n = 1; n <= kTables; ++n) {
      StrAppend(&text, "insert table ", n * 10, " | - | 1 | - | 0 | t", n % 4, " | path", n, "/\n");
    }
    MustApply(text);
    if (ended > 0) {
      text = "snapshot 2\n";
      for (int n = 1; n <= ended; ++n) {
        StrAppend(&text, "end table ", n * 10, " @ 2\n");
      }
      MustApply(text);
    }
  }
  // Everything in L2, four rows a pack.
  void CompactTables(std::function<void(std::vector<Property>*)> edit_properties = nullptr) {
    Flush(4);
    CompactionOptions options{.full = true, .table = SmallPacks(4)};
    options.table.edit_properties = std::move(edit_properties);
    Compact(options);
  }

  // What a scan of tables does; its rows are those of the row store.
  ColumnarScanCounters Scan(const ReadView& view, ScanOptions options) {
    ScanStats stats;
    const RelationRef tables = BuiltinRelationById(kTable);
    const auto rows = AnswerOf(view, tables, options, ScanPath::kColumnar, &stats);
    EXPECT_EQ(rows, AnswerOf(view, tables, options, ScanPath::kRow));
    EXPECT_EQ(stats.path, ScanPath::kColumnar);
    EXPECT_EQ(stats.fell_back, "");
    rows_ = rows.size();
    return stats.columnar;
  }
  ColumnarScanCounters ScanNames(const ReadView& view) {
    return Scan(view, {.columns = {{kName}}, .with_intervals = false});
  }
  ColumnarScanCounters ScanNames() { return ScanNames(catalog_->Current()); }

  static uint64_t Of(const ColumnarScanCounters& did, Reason reason) {
    return did.rejected[static_cast<size_t>(reason)];
  }
  static void ExpectAllClean(const ColumnarScanCounters& did, uint64_t packs) {
    EXPECT_EQ(did.packs_clean, packs);
    EXPECT_EQ(did.packs_normal, 0U);
    EXPECT_EQ(did.mvcc_bytes_read, 0U);
  }

  // Bytes of a column of the L2 files of ducklake_table that were read.
  uint64_t BytesReadOf(
      const std::function<const ColumnarTable::Column*(const ColumnarTable&)>& of) {
    uint64_t bytes = 0;
    for (const ColumnarSegment& segment :
         catalog_->LatestState()->columnar->Find(kTable)->segments) {
      for (const auto* part : {&segment.live, &segment.ended}) {
        if (part->has_value()) {
          for (const PackLocation& pack : of(*(*part)->table)->packs) {
            bytes +=
                file_system_->BytesRead((*part)->file->file()->path(), pack.offset, pack.length);
          }
        }
      }
    }
    return bytes;
  }
  uint64_t MvccBytesRead() {
    return BytesReadOf([](const ColumnarTable& table) { return &table.handle_column(); }) +
           BytesReadOf([](const ColumnarTable& table) { return &table.version_column(); }) +
           BytesReadOf([](const ColumnarTable& table) { return &table.end_column(); });
  }
  uint64_t DataBytesRead(std::string_view name) {
    return BytesReadOf([name](const ColumnarTable& table) {
      for (const ColumnarTable::Column& column : table.columns()) {
        if (column.info.name == name) {
          return &column;
        }
      }
      return static_cast<const ColumnarTable::Column*>(nullptr);
    });
  }

  const std::shared_ptr<CountingFileSystem> file_system_ = std::make_shared<CountingFileSystem>();
  size_t rows_ = 0;
};

// --- What is read --------------------------------------------------------------------------------

TEST_F(CleanRead, ReadsNoByteOfHandleVersionAndEnd) {
  MakeTables();
  CompactTables();
  OpenCold();
  const ColumnarScanCounters did = ScanNames();
  ExpectAllClean(did, 3);
  EXPECT_EQ(did.clean_rows, 12U);
  EXPECT_GT(did.mvcc_bytes_avoided, 0U);
  EXPECT_EQ(MvccBytesRead(), 0U);
  EXPECT_GT(DataBytesRead("table_name"), 0U);
  EXPECT_EQ(DataBytesRead("path"), 0U);
  EXPECT_EQ(file_system_->BytesRead(), did.bytes_read);
}

TEST_F(CleanRead, TheNormalPathReadsThemAndCountsTheSame) {
  MakeTables();
  CompactTables();
  OpenCold();
  const ColumnarScanCounters did = Scan(catalog_->Current(), {.columns = {{kName}}});
  EXPECT_EQ(Of(did, Reason::kProjection), 3U);
  EXPECT_GT(did.mvcc_bytes_read, 0U);
  EXPECT_EQ(MvccBytesRead(), did.mvcc_bytes_read);
  EXPECT_EQ(file_system_->BytesRead(), did.bytes_read);
}

TEST_F(CleanRead, CountingRowsReadsNothing) {
  MakeTables();
  CompactTables();
  OpenCold();
  ExpectAllClean(
      Scan(catalog_->Current(), {.columns = std::vector<size_t>(), .with_intervals = false}), 3);
  EXPECT_EQ(rows_, 12U);
  EXPECT_EQ(file_system_->BytesRead(), 0U);
}

TEST_F(CleanRead, OtherColumnsAreReadWhereThePredicateLeavesRows) {
  MakeTables();
  MustApply("erase table 60 @ 1\n insert table 60 | - | 1 | - | 0 | t15 | p/");
  CompactTables();  // names are t0 to t3 in each pack, and t15 among those of the second
  OpenCold();
  Term term{.column = kName, .op = Comparison::kEqual};
  const std::vector<Datum> name = {Datum::Bytes("t15")};
  term.constants = Row(name);
  const ColumnarScanCounters did =
      Scan(catalog_->Current(),
           {.columns = {{kPath}}, .predicate = Predicate({term}), .with_intervals = false});
  ExpectAllClean(did, 3);
  EXPECT_EQ(rows_, 1U);
  const uint64_t of_one_pack = DataBytesRead("path");
  EXPECT_GT(of_one_pack, 0U);
  OpenCold();
  Scan(catalog_->Current(), {.columns = {{kPath}}, .with_intervals = false});
  EXPECT_GT(DataBytesRead("path"), 2 * of_one_pack);
}

// --- Why not -------------------------------------------------------------------------------------

TEST_F(CleanRead, AVersionFromLaterOnIsMaxVersion) {
  MakeTables();
  MustApply("snapshot 2\n insert table 55 | - | 2 | - | 0 | later");
  CompactTables();
  const ColumnarScanCounters did = ScanNames(At(1));
  EXPECT_EQ(Of(did, Reason::kMaxVersion), 1U);
  EXPECT_EQ(did.packs_normal, 1U);
  EXPECT_EQ(did.packs_clean, 3U) << "the bounds of the others prove them visible";
  ExpectAllClean(ScanNames(), 4);
}

TEST_F(CleanRead, WithoutBoundsMaxVersionIsThatOfTheTable) {
  MakeTables();
  MustApply("snapshot 2\n insert table 125 | - | 2 | - | 0 | later");
  CompactTables([](std::vector<Property>* properties) {
    std::erase_if(*properties, [](const Property& p) { return p.key == kPropPackSnapshotBounds; });
  });
  EXPECT_EQ(Of(ScanNames(At(1)), Reason::kMaxVersion), 4U);
  ExpectAllClean(ScanNames(), 4);
}

TEST_F(CleanRead, EndedRowsAreDeleteWhereSomeAreVisible) {
  MakeTables();
  MustApply("snapshot 2\n end table 10 @ 2");
  MustApply("snapshot 3\n end table 20 @ 3");
  CompactTables();
  const ColumnarScanCounters did = ScanNames(At(2));
  EXPECT_EQ(Of(did, Reason::kDelete), 1U);
  EXPECT_EQ(did.packs_clean, 3U);
  ExpectAllClean(ScanNames(At(1)), 4);
  const ColumnarScanCounters now = ScanNames();
  ExpectAllClean(now, 3);
  EXPECT_EQ(now.packs_skipped, 1U);
}

TEST_F(CleanRead, RepeatedHandlesAreMultiVersion) {
  MakeTables();
  // Only statistics say so: one handle has one live row.
  CompactTables([](std::vector<Property>* properties) {
    std::erase_if(*properties, [](const Property& p) { return p.key == kPropPackSnapshotBounds; });
    for (Property& property : *properties) {
      if (property.key == kPropPackMvccStats) {
        property.value = PackMvccStats({kPackHasMultiVersion, 0, 0}).Encode();
      }
    }
  });
  const ColumnarScanCounters did = ScanNames();
  EXPECT_EQ(Of(did, Reason::kMultiVersion), 1U);
  EXPECT_EQ(did.packs_clean, 2U);
}

TEST_F(CleanRead, ARangeThatCutsAPackIsRangeBoundary) {
  MakeTables();
  CompactTables();
  for (const int64_t table : {10, 20, 40, 60, 120}) {
    for (const bool clean_read : {true, false}) {
      const ColumnarScanCounters did =
          Scan(catalog_->Current(), {.columns = {{kName}},
                                     .key_prefix = {Datum::Int64(table)},
                                     .clean_read = clean_read,
                                     .with_intervals = false});
      EXPECT_EQ(Of(did, Reason::kRangeBoundary), 1U) << table;
      EXPECT_EQ(did.packs_normal, 1U);
      EXPECT_EQ(rows_, 1U);
    }
  }
}

TEST_F(CleanRead, BeginAndEndInTheProjectionOrThePredicateReject) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  EXPECT_EQ(Of(Scan(now, {.columns = {{2}}, .with_intervals = false}), Reason::kProjection), 3U);
  EXPECT_EQ(Of(Scan(now, {.columns = {{3}}, .with_intervals = false}), Reason::kProjection), 3U);
  EXPECT_EQ(Of(Scan(now, {.columns = {{kName}}, .with_intervals = false, .with_handles = true}),
               Reason::kProjection),
            3U);
  for (const size_t column : {2, 3}) {
    const Term term{.column = column, .op = Comparison::kIsNotNull};
    EXPECT_EQ(
        Of(Scan(now,
                {.columns = {{kName}}, .predicate = Predicate({term}), .with_intervals = false}),
           Reason::kPredicate),
        3U)
        << column;
  }
  // A key column is a column like others.
  ExpectAllClean(Scan(now, {.columns = {{0}}, .with_intervals = false}), 3);
}

TEST_F(CleanRead, SwitchedOffNoPackIsClean) {
  MakeTables();
  CompactTables();
  const ColumnarScanCounters did = Scan(
      catalog_->Current(), {.columns = {{kName}}, .clean_read = false, .with_intervals = false});
  EXPECT_EQ(Of(did, Reason::kSwitchedOff), 3U);
  EXPECT_EQ(did.packs_clean, 0U);
}

TEST_F(CleanRead, FlushedRowsAreNotL2) {
  MakeTables();
  Flush(4);
  const ColumnarScanCounters did = ScanNames();
  EXPECT_EQ(Of(did, Reason::kNotL2), 3U);
  EXPECT_EQ(did.packs_clean, 0U);
}

// --- Beside changes ------------------------------------------------------------------------------

// A change of one row, in memory or flushed. Packs end at 10, 40 | 50, 80 | 90, 120.
struct Beside {
  const char* change;
  uint64_t merged;
};

class CleanReadBeside : public CleanRead, public ::testing::WithParamInterface<Beside> {};

TEST_P(CleanReadBeside, OnlyPacksThatTheChangeFallsIntoAreMerged) {
  for (const bool flushed : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(NewCatalog());
    MakeTables();
    CompactTables();
    MustApply(StrCat("snapshot 2\n", GetParam().change));
    if (flushed) {
      Flush(4);
    }
    const ColumnarScanCounters did = ScanNames();
    EXPECT_EQ(Of(did, Reason::kNeedsMerge), GetParam().merged) << "flushed: " << flushed;
    EXPECT_EQ(did.packs_clean, 3 - GetParam().merged) << "flushed: " << flushed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Changes, CleanReadBeside,
    ::testing::Values(Beside{"end table 50 @ 2", 1}, Beside{"end table 80 @ 2", 1},
                      Beside{"end table 60 @ 2", 1}, Beside{"end table 10 @ 2", 1},
                      Beside{"end table 120 @ 2", 1}, Beside{"erase table 80 @ 1", 1},
                      Beside{"insert table 65 | - | 2 | - | 0 | within", 1},
                      Beside{"insert table 45 | - | 2 | - | 0 | between", 0},
                      Beside{"insert table 85 | - | 2 | - | 0 | between", 0},
                      Beside{"insert table 5 | - | 2 | - | 0 | before", 0},
                      Beside{"insert table 125 | - | 2 | - | 0 | behind", 0},
                      Beside{"end table 40 @ 2\n end table 50 @ 2", 2}));

// --- Of the past ---------------------------------------------------------------------------------

TEST_F(CleanRead, OfThePastWhereBoundsProveIt) {
  MakeTables(/*ended=*/4);
  CompactTables();
  OpenCold();
  const ColumnarScanCounters then = ScanNames(At(1));
  ExpectAllClean(then, 3);
  EXPECT_EQ(rows_, 12U);
  EXPECT_EQ(MvccBytesRead(), 0U);
}

TEST_F(CleanRead, FilesOfEndedRowsAreSkippedWhole) {
  MakeTables(/*ended=*/8);
  CompactTables();
  const auto& segments = catalog_->LatestState()->columnar->Find(kTable)->segments;
  ASSERT_EQ(segments.size(), 1U);
  ASSERT_TRUE(segments[0].live.has_value());
  ASSERT_TRUE(segments[0].ended.has_value());
  EXPECT_EQ(segments[0].live->table->num_rows(), 4U);
  EXPECT_EQ(segments[0].ended->table->num_rows(), 8U);
  OpenCold();
  const ColumnarScanCounters did = ScanNames();
  ExpectAllClean(did, 1);
  EXPECT_EQ(did.packs_skipped, 2U);
  const ColumnarPart& ended = *catalog_->LatestState()->columnar->Find(kTable)->segments[0].ended;
  EXPECT_EQ(file_system_->BytesRead(ended.file->file()->path(), 0, ended.file->file()->file_size()),
            0U);
}

// --- Statistics that are missing or wrong --------------------------------------------------------

struct Damage {
  const char* says;
  std::function<void(std::vector<Property>*)> edit;
};

void SetStats(std::vector<Property>* properties, const std::string& value) {
  for (Property& property : *properties) {
    if (property.key == kPropPackMvccStats) {
      property.value = value;
    }
  }
}

TEST_F(CleanRead, WithoutStatisticsOfTheRightShapeTheNormalPathGivesTheRows) {
  const std::vector<Damage> damages = {
      {"left out",
       [](std::vector<Property>* properties) {
         std::erase_if(*properties, [](const Property& p) { return p.key == kPropPackMvccStats; });
       }},
      {"all left out", [](std::vector<Property>* properties) { properties->clear(); }},
      {"of too few packs",
       [](std::vector<Property>* properties) {
         SetStats(properties, PackMvccStats({0, 0}).Encode());
       }},
      {"of too many packs",
       [](std::vector<Property>* properties) {
         SetStats(properties, PackMvccStats({0, 0, 0, 0}).Encode());
       }},
      {"of a later version",
       [](std::vector<Property>* properties) {
         std::string value = PackMvccStats({0, 0, 0}).Encode();
         value[0] = 2;
         SetStats(properties, value);
       }},
      {"garbage", [](std::vector<Property>* properties) { SetStats(properties, "garbage"); }},
      {"empty", [](std::vector<Property>* properties) { SetStats(properties, ""); }},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.says);
    ASSERT_NO_FATAL_FAILURE(NewCatalog());
    MakeTables();
    CompactTables(damage.edit);
    MustApply("snapshot 2\n insert table 45 | - | 2 | - | 0 | between");
    const ColumnarScanCounters did = ScanNames();
    // Where even last handles are unknown, a pack may reach to the next one.
    EXPECT_EQ(Of(did, Reason::kMissingStats) + Of(did, Reason::kNeedsMerge), 3U);
    EXPECT_GE(Of(did, Reason::kMissingStats), 2U);
    EXPECT_EQ(did.packs_clean, 0U);
    ScanNames(At(1));
    EXPECT_EQ(rows_, 12U);
  }
}

TEST_F(CleanRead, StatisticsThatContradictEachOtherAreNotTrusted) {
  MakeTables(/*ended=*/12);
  CompactTables([](std::vector<Property>* properties) {
    SetStats(properties, PackMvccStats({0, 0, 0}).Encode());  // as if none had ended
  });
  EXPECT_EQ(Of(ScanNames(), Reason::kMissingStats), 3U);
  EXPECT_EQ(rows_, 0U);
  EXPECT_EQ(Of(ScanNames(At(1)), Reason::kMissingStats), 3U);
  EXPECT_EQ(rows_, 12U);
}

}  // namespace
}  // namespace varve

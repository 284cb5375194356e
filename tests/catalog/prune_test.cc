// File pruning: a file is left out exactly when the texts of its statistics prove that no row of it
// can match, whichever tier has them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "catalog/load/bulk_loader.h"
#include "tests/catalog/prune_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(PruneTest, IntegersAreComparedAsNumbers) {
  MakeFiles("int32", {{"-20", "-3"}, {"5", "10"}, {"9", "100"}, {"1000", "1000"}});
  CheckByKeys({{"v = 10", {2, 3}},
               {"v < -3", {1}},
               {"v <= -21", {}},
               {"v > 100", {4}},
               {"v >= 100", {3, 4}},
               {"v between 11 and 99", {3}},
               {"v between -2 and 4", {}},
               {"v > 10 and v < 12", {3}},
               {"v in (-20, 7)", {1, 2}},
               {"v in (1, 2, 3)", {}},
               {"v is null", {}},
               {"v = 1000 and v > 1000", {}}});
}

TEST_F(PruneTest, BoundsAreExclusiveWhereTheComparisonIs) {
  MakeFiles("int64", {{"1", "5"}, {"5", "9"}});
  CheckByKeys({{"v < 5", {1}}, {"v > 5", {2}}, {"v <= 5", {1, 2}}, {"v >= 5", {1, 2}}});
}

TEST_F(PruneTest, TheWidestIntegersHaveNoEdgeThatWraps) {
  MakeFiles("int128", {{"-170141183460469231731687303715884105728", "0"},
                       {"0", "170141183460469231731687303715884105727"}});
  CheckByKeys({{"v < -170141183460469231731687303715884105728", {}},
               {"v > 170141183460469231731687303715884105727", {}},
               {"v = 170141183460469231731687303715884105727", {2}},
               {"v = -170141183460469231731687303715884105728", {1}}});
}

TEST_F(PruneTest, UnsignedIntegersReachTheirTops) {
  MakeFiles("uint64",
            {{"0", "9223372036854775808"}, {"18446744073709551615", "18446744073709551615"}});
  CheckByKeys({{"v > 9223372036854775807", {1, 2}}, {"v > 9223372036854775808", {2}}});
}

TEST_F(PruneTest, Unsigned128BitIntegersAreOrdered) {
  MakeFiles("uint128", {{"0", "5"},
                        {"170141183460469231731687303715884105728",
                         "340282366920938463463374607431768211455"}});
  CheckByKeys(
      {{"v > 5", {2}}, {"v < 6", {1}}, {"v > 340282366920938463463374607431768211454", {2}}});
}

TEST_F(PruneTest, DecimalsAreComparedByValueAndNotBySpelling) {
  MakeFiles("decimal(12,2)", {{"1.1", "1.10"}, {"-2.50", "-2.5"}, {"10", "20.00"}});
  CheckByKeys({{"v = 1.10", {1}},
               {"v < 1.1", {2}},
               {"v > 1.1", {3}},
               {"v = -2.5", {2}},
               {"v between 9.99 and 10.00", {3}}});
}

TEST_F(PruneTest, WideDecimalsAreOrdered) {
  MakeFiles("decimal(38,10)", {{"-1234567890123456789012345678.5", "-1"},
                               {"0.0000000001", "1234567890123456789012345678"}});
  CheckByKeys({{"v < 0.0000000001", {1}}, {"v >= 0.0000000001", {2}}});
}

TEST_F(PruneTest, BooleansAreOrdered) {
  MakeFiles("boolean", {{"false", "false"}, {"true", "true"}, {"false", "true"}});
  CheckByKeys({{"v = true", {2, 3}}, {"v = false", {1, 3}}});
}

TEST_F(PruneTest, DatesAndTimestampsReachTheInfinities) {
  MakeFiles(
      "date",
      {{"-infinity", "2020-01-01"}, {"2020-01-02", "2020-12-31"}, {"2021-01-01", "infinity"}});
  CheckByKeys({{"v < '2020-01-02'", {1}},
               {"v = '2020-06-01'", {2}},
               {"v > '2020-12-31'", {3}},
               {"v = 'infinity'", {3}},
               {"v = '-infinity'", {1}}});
}

TEST_F(PruneTest, TimestampsOfAllUnitsAreOrdered) {
  for (const std::string_view type :
       {"timestamp", "timestamptz", "timestamp_s", "timestamp_ms", "timestamp_ns"}) {
    SCOPED_TRACE(type);
    SetUpAgain();
    MakeFiles(type, {{"'1969-12-31 23:59:58'", "'1969-12-31 23:59:59'"},
                     {"'2024-02-29 12:00:00'", "'2024-02-29 12:00:01'"}});
    CheckByKeys({{"v < '1970-01-01 00:00:00'", {1}},
                 {"v > '2024-02-29 12:00:00'", {2}},
                 {"v = '2024-02-29 11:59:59'", {}}});
  }
}

TEST_F(PruneTest, TimesAreOrdered) {
  MakeFiles("time", {{"00:00:00", "09:59:59.5"}, {"10:00:00", "24:00:00"}});
  CheckByKeys({{"v < '10:00'", {1}}, {"v > '09:59:59.6'", {2}}});
}

TEST_F(PruneTest, UuidsAreComparedAsBytes) {
  MakeFiles("uuid",
            {{"00000000-0000-0000-0000-000000000001", "7fffffff-ffff-ffff-ffff-ffffffffffff"},
             {"80000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}});
  CheckByKeys({{"v = '80000000-0000-0000-0000-000000000000'", {2}},
               {"v < '80000000-0000-0000-0000-000000000000'", {1}},
               {"v = '00000000-0000-0000-0000-000000000000'", {}}});
}

TEST_F(PruneTest, FloatsThatMayHoldNanHaveNoUpperBound) {
  MakeFiles("float64", {{"1", "2", "0", "false"},
                        {"1", "2", "0", "true"},
                        {"1", "2", "0", "-"},
                        {"-5", "-4", "0", "false"}});
  CheckByKeys({{"v > 2", {2, 3}},
               {"v < 1", {4}},
               {"v = 'NaN'", {2, 3}},
               {"v <= 2", {1, 2, 3, 4}},
               {"v between 1.5 and 1.6", {1, 2, 3}}});
}

TEST_F(PruneTest, InfinitiesOfFloatsAreBounds) {
  MakeFiles("float32", {{"-inf", "-1", "0", "false"}, {"1", "inf", "0", "false"}});
  CheckByKeys({{"v < -1e30", {1}}, {"v > 1e30", {2}}, {"v between -0.5 and 0.5", {}}});
}

TEST_F(PruneTest, NegativeZeroEqualsZero) {
  MakeFiles("float64", {{"0.0", "1", "0", "false"}, {"-1", "-0.0", "0", "false"}});
  CheckByKeys({{"v = 0", {1, 2}},
               {"v = -0.0", {1, 2}},
               {"v <= -0.0", {1, 2}},
               {"v >= 0.0", {1, 2}},
               {"v < 0", {2}},
               {"v > -0.0", {1}},
               {"v in (-0.0) and v >= 0.0", {1, 2}}});
}

TEST_F(PruneTest, BoundsWrittenAsFloat32HoldForTheFloat64TheColumnBecame) {
  // As a float32, 0.1 is 0.100000001490116: above the float64 of the same text.
  MakeFiles("float32", {{"0.05", "0.1", "0", "false"}});
  Snapshot(StrCat("end ducklake_column ", kPrunedTable, " | 1 @ 2\n", Column(1, "float64")));
  CheckByKeys({{"v > 0.1", {1}}, {"v > 0.1000001", {}}});
}

TEST_F(PruneTest, StringsBeyondThePrefixAreComparedByTheirTexts) {
  MakeFiles("varchar", {{"'aaaaaaaaaaaaaaaaaaaa1'", "'aaaaaaaaaaaaaaaaaaaa3'"},
                        {"'aaaaaaaaaaaaaaaaaaaa5'", "'aaaaaaaaaaaaaaaaaaaa7'"},
                        {"b", "c"},
                        {"'Zürich'", "'Zürich'"}});
  CheckInEveryTier({{"v = 'aaaaaaaaaaaaaaaaaaaa2'", {1}},
                    {"v = 'aaaaaaaaaaaaaaaaaaaa4'", {}},
                    {"v = 'aaaaaaaaaaaaaaa'", {}},
                    {"v > 'aaaaaaaaaaaaaaaaaaaa3'", {2, 3}},
                    {"v >= 'aaaaaaaaaaaaaaaaaaaa3' and v < 'b'", {1, 2}},
                    {"v > 'c'", {}},
                    {"v < 'a'", {4}},
                    {"v = 'Zürich'", {4}},
                    {"v in ('aaaaaaaaaaaaaaaaaaaa6', 'bb')", {2, 3}}});
  // The texts of what the prefixes leave are read, those of other files are not.
  const auto pruned =
      Prune(catalog_->Current(), "v = 'aaaaaaaaaaaaaaaaaaaa4'", ScanPath::kColumnar);
  ASSERT_TRUE(pruned.ok());
  EXPECT_EQ(pruned->rows_by_text, 2);
}

TEST_F(PruneTest, ShortStringsAreNoLongerOnesWithZeros) {
  MakeFiles("varchar", {{"a", "a"}, {"''", "''"}});
  CheckInEveryTier({{"v > 'a'", {}}, {"v >= 'a'", {1}}, {"v = ''", {2}}, {"v > ''", {1}}});
}

TEST_F(PruneTest, BlobsAreComparedAsBytes) {
  MakeFiles("blob", {{"'\\x00\\x01'", "'a\\xFF'"},
                     {"'\\xFE'",
                      "'\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF"
                      "\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF'"}});
  CheckInEveryTier({{"v < '\\x01'", {1}},
                    {"v > '\\x62'", {2}},
                    {"v = '\\xffffffffffffffffffffffffffffffff'", {2}},
                    {"v > '\\xffffffffffffffffffffffffffffffff'", {}},
                    {"v = '\\x00'", {}}});
}

TEST_F(PruneTest, UnknownBoundsNeverPrune) {
  MakeFiles("int32",
            {{"-", "-"}, {"-", "5"}, {"5", "-"}, {"x", "y"}, {"1.5", "3"}, {"9", "1"}, {"1", "1"}});
  Snapshot(File(8));  // no statistics at all
  CheckByKeys({{"v = 100", {1, 3, 4, 6, 8}},
               {"v = -100", {1, 2, 4, 5, 6, 8}},
               {"v = 1", {1, 2, 4, 5, 6, 7, 8}}});
}

TEST_F(PruneTest, NullIsFoundByTheCountOfNulls) {
  MakeFiles("int32", {{"1", "2", "0"}, {"1", "2", "3"}, {"1", "2", "-"}, {"-", "-", "100"}});
  Snapshot(File(5));
  CheckByKeys({{"v is null", {2, 3, 4, 5}},
               {"v is not null", {1, 2, 3, 4, 5}},
               {"v <> 7", {1, 2, 3, 4, 5}},
               {"v is null and v = 1", {5}},
               {"v = 7", {4, 5}}});
}

TEST_F(PruneTest, TypesWithoutAnOrderNeverPruneButHaveNulls) {
  for (const std::string_view type : {"interval", "list", "timetz", "geometry"}) {
    SCOPED_TRACE(type);
    SetUpAgain();
    MakeFiles(type, {{"'1 day'", "'2 days'"}, {"'1 day'", "'2 days'", "4"}});
    CheckInEveryTier({{"v is null", {2}}});
    for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar}) {
      const auto pruned =
          PruneFiles(catalog_->Current(), kPrunedTable, 1,
                     {.ranges = {{.lower = Datum::Bytes("x"), .upper = {}}}}, {.path = path});
      ASSERT_TRUE(pruned.ok()) << pruned.status();
      EXPECT_THAT(pruned->files, ElementsAre(1, 2));
    }
  }
}

TEST_F(PruneTest, AColumnThatWasWidenedIsComparedInItsNewType) {
  MakeFiles("int8", {{"1", "5"}, {"100", "120"}});
  Flush();
  Compact();
  Snapshot(StrCat("end ducklake_column ", kPrunedTable, " | 1 @ 2\n", Column(1, "int64"), File(3),
                  Statistics(3, "1000", "2000")));
  const std::vector<Expectation> expected = {
      {"v > 300", {3}}, {"v < 100", {1}}, {"v between 50 and 1000", {2, 3}}};
  CheckAll(expected, "keys of int8 beside a change in memory");
  // Before, the column has its old type and the third file is not there.
  for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar}) {
    const auto pruned = Prune(At(1), "v > 99", path, 1, "int8");
    ASSERT_TRUE(pruned.ok()) << pruned.status();
    EXPECT_THAT(pruned->files, ElementsAre(2));
  }
  CheckByKeys(expected);
}

TEST_F(PruneTest, KeysOfAnotherTypeAreNotCompared) {
  // Written for a decimal of scale 1, asked for at scale 3: 15 is 1.5 there and 0.015 here.
  MakeFiles("decimal(5,1)", {{"1.5", "1.5"}, {"9.5", "9.5"}});
  Flush();
  Compact();
  Snapshot(StrCat("end ducklake_column ", kPrunedTable, " | 1 @ 2\n", Column(1, "decimal(9,3)")));
  CheckAll({{"v = 1.5", {1}}, {"v < 1", {}}, {"v > 1.501", {2}}}, "by text");
  const auto pruned = Prune(catalog_->Current(), "v = 1.5", ScanPath::kColumnar);
  ASSERT_TRUE(pruned.ok());
  EXPECT_EQ(pruned->rows_by_text, 2);
}

TEST_F(PruneTest, NewerStatisticsReplaceThoseInFiles) {
  MakeFiles("int32", {{"1", "2"}, {"3", "4"}, {"5", "6"}});
  Flush();
  Compact();
  Snapshot(Statistics(2, "300", "400"));
  CheckByKeys({{"v = 3", {}}, {"v = 350", {2}}, {"v = 5", {3}}});
}

TEST_F(PruneTest, ErasedStatisticsPruneNoLonger) {
  MakeFiles("int32", {{"1", "2"}, {"3", "4"}});
  Flush();
  Compact();
  Snapshot(StrCat("erase ducklake_file_column_stats ", kPrunedTable, " | 1 | 2 @ 0\n"));
  CheckByKeys({{"v = 1", {1, 2}}, {"v = 3", {2}}});
}

TEST_F(PruneTest, FilesAreThoseLiveAtTheSnapshot) {
  MakeFiles("int32", {{"1", "9"}, {"1", "9"}});
  Snapshot(StrCat("end ducklake_data_file ", kPrunedTable, " | 1 @ 2\n", File(3),
                  Statistics(3, "1", "9")));
  const auto check = [&](SnapshotId at, const FileIds& files) {
    for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar}) {
      const auto pruned = Prune(At(at), "v = 5", path);
      ASSERT_TRUE(pruned.ok()) << pruned.status();
      EXPECT_EQ(pruned->files, files) << "at " << at;
      EXPECT_EQ(pruned->live_files, files.size());
    }
  };
  for (int tier = 0; tier < 3; ++tier) {
    check(1, {1, 2});
    check(2, {2, 3});
    (tier == 0 ? Flush() : Compact());
  }
}

TEST_F(PruneTest, OneOfSeveralRowsOfAFileIsEnoughToKeepIt) {
  // Imports may keep rows with equal keys.
  catalog_.reset();
  std::filesystem::remove_all(path());
  absl::StatusOr<std::unique_ptr<BulkLoader>> loader =
      BulkLoader::Create(path(), {.keep_anomalies = true});
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto add = [&](RelationId relation, std::string_view row) {
    const RelationRef of = BuiltinRelationById(relation);
    const absl::Status status = (*loader)->AddRow(*of, RowOf(*of, row).values(), 0, 0);
    ASSERT_TRUE(status.ok()) << status;
  };
  add(kMetadata, "version | 1.0");
  add(kSnapshot, "0 | '2026-01-01 00:00:00' | 0 | 1 | 0");
  add(kColumn, "1 | 0 | - | 5 | 1 | c1 | int32");
  for (const std::string_view file : {"1", "2"}) {
    add(kDataFile, StrCat(file, " | 5 | 0 | - | - | f | true | parquet | 100 | 1000 | 10 | 0"));
    add(kFileColumnStats, StrCat(file, " | 5 | 1 | 10 | 100 | 0 | 1 | 2"));
  }
  add(kFileColumnStats, "1 | 5 | 1 | 10 | 100 | 0 | 50 | 60");
  const auto loaded = (*loader)->Finish();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->anomalies, 1);
  loader->reset();
  Restart();
  types_[1] = "int32";
  Rebuild();
  const std::vector<Expectation> expected = {{"v = 55", {1}}, {"v = 1", {1, 2}}, {"v = 70", {}}};
  CheckAll(expected, "rebuilt");
  ExpectDecidedByKeys(expected);
}

TEST_F(PruneTest, OtherTablesAndColumnsAreLeftAlone) {
  MakeFiles("int32", {{"1", "2"}, {"3", "4"}});
  std::string changes = Column(2, "varchar");
  changes += Statistics(1, "x", "y", "0", "-", 2) + Statistics(2, "a", "b", "0", "-", 2);
  changes += "put ducklake_file_column_stats 1 | 4 | 1 | 10 | 100 | 0 | 900 | 901\n";
  changes += "put ducklake_file_column_stats 1 | 6 | 1 | 10 | 100 | 0 | 900 | 901\n";
  Snapshot(changes);
  CheckInEveryTier({{"v = 1", {1}}, {"v = 900", {}}});
  const auto pruned = Prune(catalog_->Current(), "v >= 'c'", ScanPath::kColumnar, 2);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(pruned->files, ElementsAre(1));
}

TEST_F(PruneTest, AMissingColumnIsNotFound) {
  MakeFiles("int32", {{"1", "2"}});
  const auto pruned = PruneFiles(catalog_->Current(), kPrunedTable, 7, {.null = true});
  EXPECT_TRUE(absl::IsNotFound(pruned.status()));
  EXPECT_THAT(pruned.status().ToString(), HasSubstr("table 5 has no column 7 at snapshot 1"));
}

TEST_F(PruneTest, ABoundOfAnotherTypeIsRefused) {
  MakeFiles("int32", {{"1", "2"}});
  const auto pruned = PruneFiles(catalog_->Current(), kPrunedTable, 1,
                                 {.ranges = {{.lower = Datum::Bytes("x"), .upper = {}}}});
  EXPECT_TRUE(absl::IsInvalidArgument(pruned.status())) << pruned.status();
}

TEST_F(PruneTest, ATableWithoutFilesHasNone) {
  Snapshot(Column(1, "int32"));
  CheckInEveryTier({{"v = 1", {}}});
}

TEST_F(PruneTest, DamagedFilesAreAnsweredAround) {
  MakeFiles("int32", {{"1", "2"}, {"3", "4"}, {"-", "-"}});
  Flush();
  Compact();
  // Whatever packs there are, all are damaged; what the files say of themselves was read before.
  for (const auto& entry : std::filesystem::directory_iterator(path() + "/columnar")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16);
    file << std::string(static_cast<size_t>(entry.file_size()) - 16, '\x5a');
  }
  for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar}) {
    const auto pruned = Prune(catalog_->Current(), "v between 3 and 9", path);
    ASSERT_TRUE(pruned.ok()) << pruned.status();
    EXPECT_THAT(pruned->files, ElementsAre(2, 3));
    EXPECT_EQ(pruned->fell_back != "", path == ScanPath::kColumnar) << pruned->fell_back;
  }
}

TEST_F(PruneTest, PacksOutsideTheRangeAreNotRead) {
  // 20,000 files in the order of their values; every 1,000th has no statistics.
  constexpr int64_t kFiles = 20'000;
  std::string changes = Column(1, "int32");
  for (int64_t file = 1; file <= kFiles; ++file) {
    changes += File(file);
    if (file % 1'000 != 0) {
      changes += Statistics(file, StrCat(file * 10), StrCat(file * 10 + 9));
    }
  }
  Snapshot(changes);
  Flush();
  Compact();
  const auto pruned = Prune(catalog_->Current(), "v between 50005 and 50020", ScanPath::kAuto);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  FileIds expected;
  for (int64_t file = 1'000; file <= kFiles; file += 1'000) {
    expected.push_back(file);
  }
  expected.insert(expected.begin() + 5, {5'001, 5'002});
  EXPECT_EQ(pruned->files, expected);
  EXPECT_EQ(pruned->live_files, kFiles);
  EXPECT_EQ(pruned->packs_read, 1);
  EXPECT_EQ(pruned->packs_skipped, 2);
  EXPECT_EQ(pruned->rows_by_text, 0);
}

}  // namespace
}  // namespace varve

#include "columnar/pack_mvcc_stats.h"

#include <gtest/gtest.h>

#include "tests/columnar/columnar_test_rows.h"

namespace varve {
namespace {

const ColumnarTableSchema kSchema = {
    .relation = 7, .columns = {{.id = 1, .name = "size", .type = TypeKind::kInt64}}};
const ColumnarTableSchema kCommonSchema = {
    .relation = 7,
    .handle = HandleType::kCommon,
    .columns = {{.id = 1, .name = "size", .type = TypeKind::kInt64}}};

// The statistics of one pack whose rows come in portions.
PackMvccStatsBuilder OnePack(const ColumnarTableSchema& schema,
                             std::initializer_list<std::string_view> portions) {
  PackMvccStatsBuilder builder;
  for (const std::string_view portion : portions) {
    const ColumnarRows rows = RowsOf(schema, portion);
    builder.Add(rows, 0, rows.num_rows());
  }
  builder.FinishPack();
  return builder;
}

uint8_t FlagsOf(std::string_view rows) {
  return OnePack(kSchema, {rows}).stats().flags(0);
}

TEST(PackMvccStatsTest, EncodesVersionCountAndFlags) {
  const PackMvccStats stats({0, kPackHasDelete, kPackHasMultiVersion, 3});
  EXPECT_EQ(stats.Encode(), std::string("\x01\x04\0\0\0\x00\x01\x02\x03", 9));
  EXPECT_EQ(PackMvccStats::Parse(stats.Encode(), 4), stats);
  EXPECT_EQ(PackMvccStats::Parse(PackMvccStats().Encode(), 0), PackMvccStats());
}

TEST(PackMvccStatsTest, AValueOfAnotherNumberOfPacksIsIgnored) {
  const std::string value = PackMvccStats({0, 0}).Encode();
  EXPECT_EQ(PackMvccStats::Parse(value, 1), std::nullopt);
  EXPECT_EQ(PackMvccStats::Parse(value, 3), std::nullopt);
}

TEST(PackMvccStatsTest, AMalformedValueIsIgnored) {
  const std::string value = PackMvccStats({0, 1}).Encode();
  for (size_t size = 0; size < value.size(); ++size) {
    EXPECT_EQ(PackMvccStats::Parse(value.substr(0, size), 2), std::nullopt) << size;
  }
  EXPECT_EQ(PackMvccStats::Parse(value + '\0', 2), std::nullopt) << "bytes are left";
  std::string later = value;
  later[0] = 2;
  EXPECT_EQ(PackMvccStats::Parse(later, 2), std::nullopt) << "a later version";
  std::string unknown = value;
  unknown.back() = 4;
  EXPECT_EQ(PackMvccStats::Parse(unknown, 2), std::nullopt) << "a flag that is not known";
}

TEST(PackMvccStatsTest, LiveRowsWithHandlesOfTheirOwnSetNoFlag) {
  EXPECT_EQ(FlagsOf("1 [0,) 5 | 2 [3,) 5 | 3 [1,) NULL"), 0);
}

TEST(PackMvccStatsTest, ARepeatedHandleIsSeen) {
  EXPECT_EQ(FlagsOf("1 [0,) 5 | 2 [3,) 5 | 2 [4,) 6 | 3 [1,) 5"), kPackHasMultiVersion);
}

TEST(PackMvccStatsTest, AnEndedRowIsSeen) {
  EXPECT_EQ(FlagsOf("1 [0,) 5 | 2 [3,9) 5 | 3 [1,) 5"), kPackHasDelete);
}

TEST(PackMvccStatsTest, ADeleteMarkerIsSeen) {
  EXPECT_EQ(FlagsOf("1 [0,) 5 | 2 [3,) !"), kPackHasDelete);
}

TEST(PackMvccStatsTest, ARowEndedByItsSuccessorIsBoth) {
  EXPECT_EQ(FlagsOf("1 [0,4) 5 | 1 [4,) 6"), kPackHasDelete | kPackHasMultiVersion);
}

TEST(PackMvccStatsTest, TheLastHandleOfAPortionIsComparedWithTheFirstOfTheNext) {
  EXPECT_EQ(OnePack(kSchema, {"1 [0,) 5 | 2 [3,) 5", "2 [4,) 6"}).stats().flags(0),
            kPackHasMultiVersion);
  EXPECT_EQ(OnePack(kCommonSchema, {"a [0,) 5", "", "a [4,) 6"}).stats().flags(0),
            kPackHasMultiVersion);
  EXPECT_EQ(OnePack(kCommonSchema, {"a [0,) 5", "aa [4,) 6"}).stats().flags(0), 0);
}

TEST(PackMvccStatsTest, NothingOfAFinishedPackReachesTheNext) {
  PackMvccStatsBuilder builder = OnePack(kSchema, {"1 [0,4) 5 | 1 [4,) 6"});
  const ColumnarRows rows = RowsOf(kSchema, "1 [7,) 5 | 2 [8,) 6");
  builder.Add(rows, 0, 2);
  builder.FinishPack();
  EXPECT_EQ(builder.stats(), PackMvccStats({kPackHasDelete | kPackHasMultiVersion, 0}));
  EXPECT_EQ(
      builder.bounds()[1],
      (PackSnapshotBounds{.min_begin = 7, .max_begin = 8, .min_end = kNoEnd, .max_end = kNoEnd}));
}

TEST(PackMvccStatsTest, BoundsHoldBeginsAndEnds) {
  const auto bounds = OnePack(kSchema, {"1 [3,9) 5 | 2 [2,4) 5", "3 [8,) 5"}).bounds();
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0],
            (PackSnapshotBounds{.min_begin = 2, .max_begin = 8, .min_end = 4, .max_end = kNoEnd}));
}

TEST(PackMvccStatsTest, MaxVersionCountsEndedAndErasedRows) {
  EXPECT_EQ(OnePack(kSchema, {"1 [3,) 5 | 2 [12,14) 5 | 3 [8,) 5"}).max_version(), 12U);
  EXPECT_EQ(OnePack(kSchema, {"1 [3,) 5 | 2 [12,) ! | 3 [8,) 5"}).max_version(), 12U);
  EXPECT_EQ(PackMvccStatsBuilder().max_version(), std::nullopt) << "absent is not zero";
  EXPECT_EQ(OnePack(kSchema, {"1 [0,) 5"}).max_version(), 0U);
}

TEST(PackSnapshotBoundsTest, RoundTripAndRefuseWhatDoesNotFit) {
  const std::vector<PackSnapshotBounds> bounds = {
      {.min_begin = 1, .max_begin = 2, .min_end = 3, .max_end = kNoEnd},
      {.min_begin = 5, .max_begin = 6, .min_end = kNoEnd, .max_end = kNoEnd}};
  const std::string value = EncodePackSnapshotBounds(bounds);
  EXPECT_EQ(value.size(), 1 + 4 + 2 * 32U);
  EXPECT_EQ(ParsePackSnapshotBounds(value, 2), bounds);
  EXPECT_EQ(ParsePackSnapshotBounds(value, 1), std::nullopt);
  EXPECT_EQ(ParsePackSnapshotBounds(value + "x", 2), std::nullopt);
  for (size_t size = 0; size < value.size(); ++size) {
    EXPECT_EQ(ParsePackSnapshotBounds(value.substr(0, size), 2), std::nullopt) << size;
  }
  std::string later = value;
  later[0] = 2;
  EXPECT_EQ(ParsePackSnapshotBounds(later, 2), std::nullopt);
}

TEST(PackSnapshotBoundsTest, ProveThatAllRowsOrNoneAreVisible) {
  // Rows [2,9), [4,12).
  const PackSnapshotBounds bounds{.min_begin = 2, .max_begin = 4, .min_end = 9, .max_end = 12};
  for (SnapshotId at = 0; at < 15; ++at) {
    EXPECT_EQ(bounds.ProvesAllVisible(at), at >= 4 && at < 9) << at;
    EXPECT_EQ(bounds.ProvesNoneVisible(at), at < 2 || at >= 12) << at;
  }
}

TEST(PackSnapshotBoundsTest, APackWithADeleteMarkerIsNeverProvenVisible) {
  const PackMvccStatsBuilder some = OnePack(kSchema, {"1 [0,) 5 | 2 [3,) !"});
  const PackMvccStatsBuilder all = OnePack(kSchema, {"1 [0,) ! | 2 [3,) !"});
  for (SnapshotId at = 0; at < 10; ++at) {
    EXPECT_FALSE(some.bounds()[0].ProvesAllVisible(at)) << at;
    EXPECT_FALSE(all.bounds()[0].ProvesAllVisible(at)) << at;
    EXPECT_TRUE(all.bounds()[0].ProvesNoneVisible(at)) << at;
  }
  EXPECT_FALSE(some.bounds()[0].ProvesNoneVisible(5));
}

TEST(PackSnapshotBoundsTest, WhatIsBuiltTogetherDoesNotContradict) {
  for (const std::string_view rows :
       {"1 [0,) 5", "1 [0,4) 5 | 1 [4,) 6", "1 [0,) 5 | 2 [3,) !", "2 [3,) !", "1 [2,9) 5"}) {
    const PackMvccStatsBuilder pack = OnePack(kSchema, {rows});
    EXPECT_FALSE(pack.bounds()[0].Contradicts(pack.stats().flags(0))) << rows;
  }
}

TEST(PackSnapshotBoundsTest, BoundsThatCannotBeTheFlagsAreFound) {
  const PackSnapshotBounds live{
      .min_begin = 1, .max_begin = 2, .min_end = kNoEnd, .max_end = kNoEnd};
  const PackSnapshotBounds ended{.min_begin = 1, .max_begin = 2, .min_end = 5, .max_end = kNoEnd};
  EXPECT_TRUE(live.Contradicts(kPackHasDelete));
  EXPECT_TRUE(ended.Contradicts(0));
  EXPECT_TRUE(
      (PackSnapshotBounds{.min_begin = 3, .max_begin = 2, .max_end = kNoEnd}.Contradicts(0)))
      << "crossed begins";
  EXPECT_TRUE(
      (PackSnapshotBounds{.min_begin = 1, .max_begin = 2, .min_end = 9, .max_end = 8}.Contradicts(
          kPackHasDelete)))
      << "crossed ends";
}

}  // namespace
}  // namespace varve

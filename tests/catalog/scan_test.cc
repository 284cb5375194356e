#include "catalog/store/store_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/parent_visibility.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Predicate Where(std::string_view text, const RelationSchema& relation) {
  absl::StatusOr<Predicate> predicate = Predicate::Parse(text, relation);
  EXPECT_TRUE(predicate.ok()) << predicate.status();
  return predicate.ok() ? *std::move(predicate) : Predicate();
}

// --- What is asked for ---------------------------------------------------------------------------

class Scan : public CatalogFixture {
 protected:
  // Columns of two tables: (1, 1) a and b; (1, 2) c; (2, 1) d. At snapshot 2, b replaced a.
  void SetUp() override {
    CatalogFixture::SetUp();
    MustApply(R"(
      snapshot 1
      snapshot 2
      insert column 1 | 1 | 2 | 1 | 0 | a | int32
      insert column 1 | 2 | - | 1 | 0 | b | int64
      insert column 2 | 1 | - | 1 | 1 | c | varchar
      insert column 1 | 1 | - | 2 | 0 | d | varchar
    )");
  }
  const RelationRef column_ = BuiltinRelationById(kColumn);
  const size_t name_ = *column_->columns.Find("column_name");
  const size_t table_id_ = *column_->columns.Find("table_id");
  const size_t column_id_ = *column_->columns.Find("column_id");
  const size_t begin_ = *column_->columns.Find("begin_snapshot");
  const size_t end_ = *column_->columns.Find("end_snapshot");
};

TEST_F(Scan, RowsComeInKeyOrderWithAllColumns) {
  EXPECT_THAT(Rows("column"),
              ElementsAre("1 | 2 | - | 1 | 0 | b | int64 | - | - | - | - | - | -",
                          "2 | 1 | - | 1 | 1 | c | varchar | - | - | - | - | - | -",
                          "1 | 1 | - | 2 | 0 | d | varchar | - | - | - | - | - | -"));
}

TEST_F(Scan, ColumnsComeInTheOrderAskedFor) {
  EXPECT_THAT(Rows("column", {.columns = {{name_, table_id_}}}),
              ElementsAre("b | 1", "c | 1", "d | 2"));
  EXPECT_THAT(Rows("column", {.columns = {{end_, column_id_, begin_, name_}}}),
              ElementsAre("- | 1 | 2 | b", "- | 2 | 1 | c", "- | 1 | 1 | d"));
}

TEST_F(Scan, NoColumnMeansRowCountsOnly) {
  const auto scan = catalog_->Current().Scan(column_, {.columns = {std::vector<size_t>()}});
  ASSERT_TRUE(scan.ok());
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  EXPECT_EQ(batch.num_rows(), 3U);
  EXPECT_EQ(batch.columns.num_columns(), 0U);
  EXPECT_EQ(batch.columns.num_rows(), 3U);
  EXPECT_FALSE(*(*scan)->Next(&batch));
  EXPECT_EQ(batch.num_rows(), 0U);
}

TEST_F(Scan, NoColumnWithAPredicateCountsWhatMatches) {
  const auto scan = catalog_->Current().Scan(
      column_,
      {.columns = {std::vector<size_t>()}, .predicate = Where("column_name >= 'c'", *column_)});
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  EXPECT_EQ(batch.num_rows(), 2U);
  EXPECT_EQ(batch.columns.num_rows(), 2U);
}

TEST_F(Scan, AKeyPrefixBoundsTheRows) {
  const auto under = [&](std::vector<Datum> prefix, SnapshotId at) {
    return RowsAt(at, "column", {.columns = {{name_}}, .key_prefix = std::move(prefix)});
  };
  EXPECT_THAT(under({Datum::Int64(1)}, 2), ElementsAre("b", "c"));
  EXPECT_THAT(under({Datum::Int64(1)}, 1), ElementsAre("a", "c"));
  EXPECT_THAT(under({Datum::Int64(2)}, 2), ElementsAre("d"));
  EXPECT_THAT(under({Datum::Int64(1), Datum::Int64(1)}, 2), ElementsAre("b"));
  EXPECT_THAT(under({Datum::Int64(3)}, 2), IsEmpty());
  EXPECT_THAT(under({Datum::Null()}, 2), IsEmpty());
}

TEST_F(Scan, APredicateMayUseColumnsThatAreNotAskedFor) {
  const auto where = [&](std::string_view text, std::vector<size_t> columns) {
    return Rows("column", {.columns = std::move(columns), .predicate = Where(text, *column_)});
  };
  EXPECT_THAT(where("column_type = 'varchar'", {name_}), ElementsAre("c", "d"));
  EXPECT_THAT(where("column_order = 0 and table_id = 1", {name_}), ElementsAre("b"));
  EXPECT_THAT(where("begin_snapshot = 2", {column_id_, name_}), ElementsAre("1 | b"));
  EXPECT_THAT(where("end_snapshot is null", {name_}), ElementsAre("b", "c", "d"));
  EXPECT_THAT(where("default_value is not null", {name_}), IsEmpty());
  EXPECT_THAT(where("column_name in ('d', 'x', 'b')", {table_id_}), ElementsAre("1", "2"));
}

TEST_F(Scan, EqualityOnTheKeyReadsThatRangeOnly) {
  const auto scan = catalog_->Current().Scan(
      column_, {.predicate = Where("table_id = 2", *column_), .path = ScanPath::kRow});
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  EXPECT_FALSE(*(*scan)->Next(&batch));
  EXPECT_EQ((*scan)->stats().versions_read, 1U);
  EXPECT_EQ((*scan)->stats().rows_returned, 1U);
}

TEST_F(Scan, TheCurrentSnapshotNeverMeetsEndedVersions) {
  const auto scan = catalog_->Current().Scan(column_, {.path = ScanPath::kRow});
  ScanBatch batch;
  while (*(*scan)->Next(&batch)) {
  }
  EXPECT_EQ((*scan)->stats().versions_read, 3U);
}

TEST_F(Scan, AllVersionsComeWithTheirIntervals) {
  EXPECT_THAT(ScanTexts(catalog_->Current(), "column",
                        {.columns = {{name_}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("a @ [1, 2)", "b @ [2, …)", "c @ [1, …)", "d @ [1, …)"));
  EXPECT_THAT(ScanTexts(At(0), "column", {.columns = {{name_}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("a @ [1, 2)", "b @ [2, …)", "c @ [1, …)", "d @ [1, …)"))
      << "whatever the view's snapshot";
  EXPECT_THAT(ScanTexts(catalog_->Current(), "snapshot",
                        {.columns = {{0}}, .rows = ScanRows::kAllVersions}),
              ElementsAre("0 @ [0, …)", "1 @ [1, …)", "2 @ [2, …)"));
}

TEST_F(Scan, WhatCannotBeAskedForIsRefused) {
  const auto refused = [&](ScanOptions options) {
    const auto scan = catalog_->Current().Scan(column_, std::move(options));
    return scan.status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused({.columns = {{13}}}));
  EXPECT_TRUE(refused({.columns = {{1, 2, 1}}}));
  EXPECT_TRUE(refused({.batch_rows = 0}));
  EXPECT_TRUE(refused({.batch_rows = 65'537}));
  EXPECT_TRUE(refused({.key_prefix = {Datum::Int64(1), Datum::Int64(1), Datum::Int64(1)}}));
  EXPECT_TRUE(refused({.key_prefix = {Datum::Bytes("1")}}));
}

TEST_F(Scan, LimitsAndBatchSizesNeverChangeTheRows) {
  for (int i = 10; i < 60; ++i) {
    MustApply(StrCat("insert column ", i, " | ", i % 2, " | - | 1 | ", i, " | n", i));
  }
  for (const SnapshotId at : {1, 2}) {
    for (const std::string_view where :
         {"", "column_order >= 30", "column_order < 12", "table_id = 9"}) {
      const Predicate predicate = where.empty() ? Predicate() : Where(where, *column_);
      std::vector<std::string> all =
          RowsAt(at, "column", {.columns = {{name_}}, .predicate = predicate});
      for (const uint32_t batch_rows : {1U, 2U, 7U, 65'536U}) {
        for (const uint64_t limit : {0, 1, 2, 7, 31, 1000}) {
          std::vector<std::string> expected = all;
          expected.resize(std::min<size_t>(all.size(), limit));
          EXPECT_EQ(RowsAt(at, "column",
                           {.columns = {{name_}},
                            .predicate = predicate,
                            .limit = limit,
                            .batch_rows = batch_rows}),
                    expected)
              << where << " limit " << limit << " in batches of " << batch_rows;
        }
        EXPECT_EQ(RowsAt(at, "column",
                         {.columns = {{name_}}, .predicate = predicate, .batch_rows = batch_rows}),
                  all);
      }
    }
  }
}

TEST_F(Scan, BatchesAreNoLargerThanAskedAndNeverEmpty) {
  const auto scan = catalog_->Current().Scan(
      column_, {.predicate = Where("column_name = 'd'", *column_), .batch_rows = 1});
  ScanBatch batch;
  int batches = 0;
  while (*(*scan)->Next(&batch)) {
    EXPECT_EQ(batch.num_rows(), 1U);
    ++batches;
  }
  EXPECT_EQ(batches, 1);
}

TEST_F(Scan, ALimitReadsNoFurtherThanItMust) {
  const auto scan = catalog_->Current().Scan(column_, {.limit = 1, .path = ScanPath::kRow});
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  EXPECT_EQ(batch.num_rows(), 1U);
  EXPECT_FALSE(*(*scan)->Next(&batch));
  EXPECT_LE((*scan)->stats().versions_read, 2U);
}

TEST_F(Scan, HandlesComeBesideTheRowsTheyIdentify) {
  for (const std::string_view where : {"table_id > 0", "column_name >= 'c'", "column_name = 'c'"}) {
    const auto scan = At(1).Scan(
        column_,
        {.predicate = Where(where, *column_), .limit = 2, .with_handles = true, .batch_rows = 2});
    ASSERT_TRUE(scan.ok());
    ScanBatch batch;
    while (*(*scan)->Next(&batch)) {
      ASSERT_EQ(batch.handles.size(), batch.num_rows());
      ASSERT_EQ(batch.ends.size(), batch.num_rows());
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        std::string handle;
        ASSERT_TRUE(AppendHandle(*column_,
                                 std::vector{batch.columns.column(table_id_).at(row),
                                             batch.columns.column(column_id_).at(row)},
                                 &handle)
                        .ok());
        EXPECT_EQ(batch.handles[row], handle);
      }
    }
  }
}

TEST_F(Scan, IntervalsComeWithVisibleRowsToo) {
  const auto scan = At(1).Scan(column_, {});
  ScanBatch batch;
  ASSERT_TRUE(*(*scan)->Next(&batch));
  EXPECT_THAT(batch.begins, ElementsAre(1, 1, 1));
  EXPECT_THAT(batch.ends, ElementsAre(2, kNoEnd, kNoEnd));
}

// --- Long histories ------------------------------------------------------------------------------

// One handle with many versions between neighbours: a past read leaves the history by a seek.
class LongHistory : public CatalogFixture {
 protected:
  static constexpr int kVersions = 200;

  // Snapshots 0, 2, 4, …; handle 5 has a version on each [2i, 2i + 2) but for every fifth; its
  // neighbours 4 and 6 have short histories.
  void SetUp() override {
    CatalogFixture::SetUp();
    std::string text;
    for (int i = 1; i <= kVersions; ++i) {
      StrAppend(&text, "snapshot ", 2 * i, "\n");
      if (i % 5 != 0) {
        const std::string end = i == kVersions ? "-" : StrCat(2 * i + 2);
        StrAppend(&text, "insert table 5 | - | ", 2 * i, " | ", end, " | 0 | v", i, "\n");
      }
    }
    StrAppend(&text, "insert table 4 | - | 2 | 9 | 0 | before\n",
              "insert table 4 | - | 300 | - | 0 | before again\n",
              "insert table 6 | - | 3 | 390 | 0 | after\n",
              "insert table 7 | - | 2 | - | 0 | always\n");
    MustApply(text);
    // More versions in a second commit, so that some are in files and some in memory.
    ASSERT_TRUE(catalog_->store().Flush().ok());
    MustApply(StrCat("snapshot ", 2 * kVersions + 2, "\n insert table 6 | - | ", 2 * kVersions,
                     " | - | 0 | after again"));
  }

  std::vector<std::string> ExpectedAt(SnapshotId at) const {
    std::vector<std::string> names;
    if (at >= 2 && at < 9) names.emplace_back("before");
    if (at >= 300) names.emplace_back("before again");
    const SnapshotId i = at / 2;
    if (i >= 1 && i <= kVersions && i % 5 != 0) names.push_back(StrCat("v", i));
    if (at >= 3 && at < 390) names.emplace_back("after");
    if (at >= 2 * kVersions) names.emplace_back("after again");
    if (at >= 2) names.emplace_back("always");
    return names;
  }
};

TEST_F(LongHistory, EverySnapshotSeesItsVersionAndTheNeighbours) {
  for (SnapshotId at = 0; at <= 2 * kVersions + 2; at += 2) {
    ASSERT_EQ(RowsAt(at, "table", {.columns = {{5}}}), ExpectedAt(at)) << "at " << at;
    ASSERT_EQ(RowsAt(at, "table", {.columns = {{5}}, .key_prefix = {Datum::Int64(5)}}).size(),
              GetText(At(at), "table", "5").empty() ? 0U : 1U);
  }
}

TEST_F(LongHistory, GetFindsTheVersionOfEverySnapshot) {
  PointReader current(catalog_->Current());
  for (SnapshotId at = 0; at <= 2 * kVersions + 2; at += 2) {
    const SnapshotId i = at / 2;
    const bool there = i >= 1 && i <= kVersions && i % 5 != 0;
    PointReader reader(At(at));
    for (const auto& [id, expected] :
         std::map<int64_t, bool>{{4, (at >= 2 && at < 9) || at >= 300},
                                 {5, there},
                                 {6, (at >= 3 && at < 390) || at >= 2 * kVersions},
                                 {7, at >= 2},
                                 {8, false}}) {
      VersionedRow row;
      const auto found =
          reader.Get(*BuiltinRelationById(kTable), std::vector{Datum::Int64(id)}, &row);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(*found, expected) << "table " << id << " at " << at;
      if (*found) {
        ASSERT_TRUE(IsVisible(row, at));
        ASSERT_EQ(row.values[0].int64_value(), id);
        if (id == 5) {
          ASSERT_EQ(row.values[5].bytes(), StrCat("v", i));
        }
      }
    }
  }
}

TEST_F(LongHistory, APastReadSkipsMostOfTheHistory) {
  const auto versions_read = [&](SnapshotId at) {
    const auto scan =
        At(at).Scan(BuiltinRelationById(kTable), {.columns = {{0}}, .path = ScanPath::kRow});
    ScanBatch batch;
    while (*(*scan)->Next(&batch)) {
    }
    return (*scan)->stats().versions_read;
  };
  EXPECT_LT(versions_read(2), 60U);
  EXPECT_LT(versions_read(2 * kVersions / 2), 60U);
}

TEST_F(LongHistory, VersionsGivesThemAllInBeginOrder) {
  const std::vector<std::string> versions = VersionTexts(catalog_->Current(), "table", "5");
  ASSERT_EQ(versions.size(), static_cast<size_t>(kVersions - kVersions / 5));
  EXPECT_THAT(versions.front(), HasSubstr("v1"));
  EXPECT_THAT(versions[4], HasSubstr("v6"));
  EXPECT_THAT(versions.back(), HasSubstr("v199 "));
}

TEST_F(LongHistory, ManyHandlesWithAnEndedPastAreLeftOneByOne) {
  std::string text;
  for (int id = 100; id < 150; ++id) {
    for (int i = 1; i <= 20; ++i) {
      StrAppend(&text, "insert table ", id, " | - | ", 2 * i, " | ", 2 * i + 2, " | 0 | h", id,
                "\n");
    }
  }
  MustApply(text);
  for (const SnapshotId at : {SnapshotId{2}, SnapshotId{20}, SnapshotId{40}}) {
    EXPECT_EQ(RowsAt(at, "table").size(), ExpectedAt(at).size() + 50) << at;
  }
  EXPECT_EQ(RowsAt(42, "table").size(), ExpectedAt(42).size());
}

// --- Child relations -----------------------------------------------------------------------------

// Random parents with several intervals, and children of each relation that inherits; what must be
// seen is worked out by brute force.
class Children : public CatalogFixture {
 protected:
  struct Parent {
    int64_t group = 0;  // table_id, where the parent's key has one
    int64_t id = 0;
    std::vector<std::pair<SnapshotId, SnapshotId>> intervals;

    bool VisibleAt(SnapshotId at) const {
      return std::any_of(intervals.begin(), intervals.end(), [&](const auto& interval) {
        return IsVisible(interval.first, interval.second, at);
      });
    }
  };

  static constexpr SnapshotId kLast = 12;

  void SetUp() override {
    CatalogFixture::SetUp();
    std::string text;
    for (SnapshotId id = 1; id <= kLast; ++id) {
      StrAppend(&text, "snapshot ", id, "\n");
    }
    MustApply(text);
  }

  // Up to `most` intervals that do not overlap.
  std::vector<std::pair<SnapshotId, SnapshotId>> Intervals(size_t most) {
    std::vector<std::pair<SnapshotId, SnapshotId>> intervals;
    SnapshotId from = random_() % 5;
    while (intervals.size() < most && from < kLast) {
      const SnapshotId end = from + 1 + random_() % 4;
      const bool open = end > kLast || random_() % 4 == 0;
      intervals.emplace_back(from, open ? kNoEnd : end);
      if (open) {
        break;
      }
      from = end + random_() % 3;
    }
    return intervals;
  }

  static std::string EndText(SnapshotId end) { return end == kNoEnd ? "-" : StrCat(end); }

  // Compares scans and look-ups of `relation` at every snapshot with the parents' visibility.
  // `parent_of(row)` finds the parent of a child row's columns.
  template <typename ParentOf>
  void ExpectInherited(std::string_view name, const std::vector<std::string>& rows,
                       const ParentOf& parent_of) {
    const RelationRef relation = *catalog_->Current().relations().Resolve(name);
    for (SnapshotId at = 0; at <= kLast; ++at) {
      std::vector<std::string> expected;
      for (const std::string& row : rows) {
        const Row values = RowOf(*relation, row);
        const Parent* parent = parent_of(values);
        const bool visible = parent != nullptr && parent->VisibleAt(at);
        if (visible) {
          expected.push_back(RowText(*relation, values.values()));
        }
        std::vector<Datum> key;
        for (const size_t column : relation->handle) {
          key.push_back(values[column]);
        }
        const auto found = At(at).Get(*relation, key);
        ASSERT_TRUE(found.ok()) << found.status();
        ASSERT_EQ(found->has_value(), visible) << name << " " << row << " at " << at;
      }
      std::vector<std::string> actual = RowsAt(at, name);
      std::sort(expected.begin(), expected.end());
      std::sort(actual.begin(), actual.end());
      ASSERT_EQ(actual, expected) << name << " at " << at;
    }
    // All versions: every row, with the interval from its parent's first begin to its last end.
    std::vector<std::string> expected;
    for (const std::string& row : rows) {
      const Row values = RowOf(*relation, row);
      const Parent* parent = parent_of(values);
      const std::string interval =
          parent == nullptr || parent->intervals.empty()
              ? IntervalText(kNoEnd, kNoEnd)
              : IntervalText(parent->intervals.front().first, parent->intervals.back().second);
      expected.push_back(StrCat(RowText(*relation, values.values()), " @ ", interval));
    }
    std::vector<std::string> actual = History(name);
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
    EXPECT_EQ(actual, expected) << name;
  }

  std::mt19937_64 random_{TestSeed()};
};

TEST_F(Children, OfFilesInheritTheFilesInterval) {
  std::vector<Parent> files;
  std::string text;
  for (int64_t table = 1; table <= 3; ++table) {
    for (int64_t i = 0; i < 6; ++i) {
      Parent file{.group = table, .id = 10 * table + i, .intervals = Intervals(1)};
      for (const auto& [begin, end] : file.intervals) {
        StrAppend(&text, "insert data_file ", file.id, " | ", table, " | ", begin, " | ",
                  EndText(end), "\n");
      }
      files.push_back(std::move(file));
    }
  }
  std::vector<std::string> stats;
  std::vector<std::string> variants;
  std::vector<std::string> values;
  for (int64_t table = 1; table <= 3; ++table) {
    for (int64_t file = 10 * table; file < 10 * table + 8; ++file) {  // two have no file
      for (int64_t column = 1; column <= 3; ++column) {
        if (random_() % 4 != 0) {
          stats.push_back(StrCat(file, " | ", table, " | ", column, " | ", random_() % 100));
          variants.push_back(StrCat(file, " | ", table, " | ", column, " | a.b"));
          values.push_back(StrCat(file, " | ", table, " | ", column, " | x"));
        }
      }
    }
  }
  stats.push_back("10 | 2 | 9 | 1");  // a file of another table
  stats.push_back("- | 1 | 9 | 1");   // no file at all
  stats.push_back("11 | - | 9 | 1");  // no table
  for (const std::string& row : stats) StrAppend(&text, "insert file_column_stats ", row, "\n");
  for (const std::string& row : variants) StrAppend(&text, "insert file_variant_stats ", row, "\n");
  for (const std::string& row : values) StrAppend(&text, "insert file_partition_value ", row, "\n");
  MustApply(text);

  const auto file_of = [&](const Row& row) -> const Parent* {
    if (row[0].is_null() || row[1].is_null()) {
      return nullptr;
    }
    for (const Parent& file : files) {
      if (file.id == row[0].int64_value() && file.group == row[1].int64_value()) {
        return &file;
      }
    }
    return nullptr;
  };
  ExpectInherited("file_column_stats", stats, file_of);
  ExpectInherited("file_variant_stats", variants, file_of);
  ExpectInherited("file_partition_value", values, file_of);
}

TEST_F(Children, OfPartitionsMacrosAndSortsInheritAcrossSeveralVersions) {
  std::vector<Parent> parents;
  std::string text;
  for (int64_t id = 1; id <= 12; ++id) {
    Parent parent{.id = id, .intervals = Intervals(3)};
    for (const auto& [begin, end] : parent.intervals) {
      StrAppend(&text, "insert partition_info ", id, " | 1 | ", begin, " | ", EndText(end), "\n");
      StrAppend(&text, "insert sort_info ", id, " | 1 | ", begin, " | ", EndText(end), "\n");
      StrAppend(&text, "insert macro 0 | ", id, " | m | ", begin, " | ", EndText(end), "\n");
    }
    parents.push_back(std::move(parent));
  }
  std::vector<std::string> partition_columns;
  std::vector<std::string> sort_expressions;
  std::vector<std::string> impls;
  std::vector<std::string> parameters;
  for (int64_t id = 0; id <= 14; ++id) {
    for (int64_t index = 0; index < 2; ++index) {
      partition_columns.push_back(StrCat(id, " | 1 | ", index, " | 5 | year"));
      sort_expressions.push_back(StrCat(id, " | 1 | ", index, " | a"));
      impls.push_back(StrCat(id, " | ", index, " | duckdb | 1 | scalar"));
      parameters.push_back(StrCat(id, " | ", index, " | 0 | p"));
    }
  }
  partition_columns.push_back("- | 1 | 0 | 5 | no partition");
  for (const std::string& row : partition_columns)
    StrAppend(&text, "insert partition_column ", row, "\n");
  for (const std::string& row : sort_expressions)
    StrAppend(&text, "insert sort_expression ", row, "\n");
  for (const std::string& row : impls) StrAppend(&text, "insert macro_impl ", row, "\n");
  for (const std::string& row : parameters) StrAppend(&text, "insert macro_parameters ", row, "\n");
  MustApply(text);

  const auto parent_of = [&](const Row& row) -> const Parent* {
    for (const Parent& parent : parents) {
      if (!row[0].is_null() && parent.id == row[0].int64_value()) {
        return &parent;
      }
    }
    return nullptr;
  };
  ExpectInherited("partition_column", partition_columns, parent_of);
  ExpectInherited("sort_expression", sort_expressions, parent_of);
  ExpectInherited("macro_impl", impls, parent_of);
  ExpectInherited("macro_parameters", parameters, parent_of);
}

TEST_F(Children, ComeWithPredicatesLimitsAndPrefixes) {
  MustApply(R"(
    insert data_file 1 | 1 | 1 | 3
    insert data_file 2 | 1 | 2
    insert data_file 3 | 2 | 1
    insert file_column_stats 1 | 1 | 1 | 10
    insert file_column_stats 2 | 1 | 1 | 20
    insert file_column_stats 3 | 2 | 1 | 30
    insert file_column_stats 1 | 1 | 2 | 40
    insert file_column_stats 2 | 1 | 2 | 50
  )");
  const RelationRef stats = BuiltinRelationById(kFileColumnStats);
  const std::vector<size_t> size = {*stats->columns.Find("column_size_bytes")};
  EXPECT_THAT(Rows("file_column_stats", {.columns = size}), ElementsAre("20", "50", "30"));
  EXPECT_THAT(RowsAt(2, "file_column_stats", {.columns = size}),
              ElementsAre("10", "20", "40", "50", "30"));
  EXPECT_THAT(RowsAt(2, "file_column_stats",
                     {.columns = size,
                      .predicate = Where("column_size_bytes > 10", *stats),
                      .limit = 2,
                      .batch_rows = 1}),
              ElementsAre("20", "40"));
  EXPECT_THAT(RowsAt(2, "file_column_stats",
                     {.columns = size, .key_prefix = {Datum::Int64(1), Datum::Int64(2)}}),
              ElementsAre("40", "50"));
  EXPECT_THAT(RowsAt(2, "file_column_stats",
                     {.columns = size, .predicate = Where("data_file_id = 1", *stats)}),
              ElementsAre("10", "40"));
}

}  // namespace
}  // namespace varve

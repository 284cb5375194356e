// Texts of bounds that are kept as keys come back as they were, whatever they are.
#include "catalog/tiers/bound_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/statistics_keys.h"
#include "catalog/transaction/table_statistics.h"
#include "tests/base/random_values.h"
#include "tests/catalog/prune_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

// What is kept of a text whose key is that of its own value, and whether it comes back.
struct Kept {
  bool as_key = false;
  std::optional<std::string> rest;
};
Kept Keep(const Type& type, std::string_view text) {
  Datum value;
  std::string scratch;
  EXPECT_TRUE(ParseBound(type, text, &scratch, &value).ok()) << text;
  const int128_t key = StatisticsKey(type, WithoutNegativeZero(value));
  Kept kept;
  std::string text_scratch;
  std::optional<std::string_view> rest;
  kept.as_key = IsTextOfKey(type, key, text, &text_scratch, &rest);
  if (kept.as_key && rest.has_value()) {
    kept.rest = std::string(*rest);
  }

  ColumnVector texts(PhysicalType::kBytes);
  ColumnVector keys(PhysicalType::kInt128);
  ColumnVector key_types(PhysicalType::kInt64);
  ColumnVector key_texts(PhysicalType::kInt64);
  if (!kept.as_key) {
    texts.AppendBytes(text);
  } else {
    kept.rest.has_value() ? texts.AppendBytes(*kept.rest) : texts.AppendNull();
  }
  keys.AppendInt128(key);
  key_types.AppendInt64(KeyTypeOf(type));
  key_texts.AppendInt64(kept.as_key ? KeyTextMark(BoundSide::kUpper) : 0);
  ColumnVector restored(PhysicalType::kBytes);
  const absl::Status status = RestoreTexts(
      BoundSide::kUpper,
      {.texts = &texts, .keys = &keys, .key_types = &key_types, .key_texts = &key_texts},
      &restored);
  EXPECT_TRUE(status.ok()) << MessageOf(status);
  EXPECT_EQ(restored.size(), 1U);
  EXPECT_FALSE(restored.is_null(0));
  EXPECT_EQ(restored.bytes(0), text);
  return kept;
}

TEST(BoundTextsTest, WhatAKeyReadsAsIsKeptAsTheKeyAlone) {
  struct Case {
    const char* type;
    std::vector<std::string> texts;
  };
  const std::vector<Case> cases = {
      {"boolean", {"true", "false"}},
      {"int32", {"0", "-7", "2147483647"}},
      {"int64", {"-9223372036854775808"}},
      {"uint64", {"18446744073709551615"}},
      {"int128", {"-170141183460469231731687303715884105728"}},
      {"float32", {"0.1", "-Infinity"}},
      {"decimal(12,2)", {"0.00", "-12.34", "9999999999.99"}},
      {"decimal(38,10)", {"12345678901234567890.0123456789"}},
      {"date", {"2025-01-01", "0044-03-15 (BC)", "infinity"}},
      {"time", {"23:59:59.5"}},
      {"timestamp", {"2025-01-01 00:00:00", "2025-01-01 12:30:00.123456"}},
      {"timestamptz", {"2025-01-01 00:00:00+00"}},
      {"timestamp_ns", {"2025-01-01 00:00:00.123456789"}},
      {"uuid", {"01a22b99-c2b8-7a11-b09b-000000000001"}},
      {"varchar", {"", "a", "exactly fifteen"}},
      {"blob", {"abc"}}};
  for (const Case& of_type : cases) {
    const Type type = *OrderedType(of_type.type);
    for (const std::string& text : of_type.texts) {
      SCOPED_TRACE(StrCat(of_type.type, " ", text));
      const Kept kept = Keep(type, text);
      EXPECT_TRUE(kept.as_key);
      EXPECT_FALSE(kept.rest.has_value());
    }
  }
}

TEST(BoundTextsTest, OfLongTextsOnlyWhatFollowsTheKeyIsKept) {
  const Type varchar = *OrderedType("varchar");
  const Kept kept = Keep(varchar, "exactly fifteen and more");
  EXPECT_TRUE(kept.as_key);
  EXPECT_EQ(kept.rest, " and more");
  // NULs at the end of what the key has are part of the text where more follows.
  const std::string with_nuls = StrCat(std::string(15, '\0'), "b");
  EXPECT_EQ(Keep(varchar, with_nuls).rest, "b");
  EXPECT_TRUE(Keep(varchar, with_nuls).as_key);
}

TEST(BoundTextsTest, TextsSpelledOtherwiseAreKeptAsTheyAre) {
  EXPECT_FALSE(Keep(*OrderedType("int32"), "+7").as_key);
  EXPECT_FALSE(Keep(*OrderedType("int32"), "007").as_key);
  EXPECT_FALSE(Keep(*OrderedType("decimal(12,2)"), "1.5").as_key);
  EXPECT_FALSE(Keep(*OrderedType("float64"), "-0.0").as_key);
  EXPECT_FALSE(Keep(*OrderedType("float64"), "1e3").as_key);
  EXPECT_FALSE(Keep(*OrderedType("timestamp"), "2025-01-01T00:00:00").as_key);
  EXPECT_FALSE(Keep(*OrderedType("timestamptz"), "2025-01-01 02:00:00+02").as_key);
  EXPECT_FALSE(Keep(*OrderedType("uuid"), "01A22B99-c2b8-7a11-b09b-000000000001").as_key);
  EXPECT_FALSE(Keep(*OrderedType("blob"), "\\x00\\x01").as_key);
  EXPECT_FALSE(Keep(*OrderedType("varchar"), std::string("a\0", 2)).as_key);
}

TEST(BoundTextsTest, RandomStringsComeBack) {
  RandomValues random(TestSeed());
  const Type varchar = *OrderedType("varchar");
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (uint64_t size = random.Below(33); size > 0; --size) {
      text.push_back(static_cast<char>(random.OneIn(3) ? 0 : random.Below(128)));
    }
    Keep(varchar, text);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(BoundTextsTest, AKeyThatIsNoValueIsAnError) {
  ColumnVector texts(PhysicalType::kBytes);
  texts.AppendNull();
  ColumnVector key_texts(PhysicalType::kInt64);
  key_texts.AppendInt64(1);
  const auto restore = [&](const Datum& key, const Datum& key_type) {
    ColumnVector keys(PhysicalType::kInt128);
    keys.Append(key);
    ColumnVector key_types(PhysicalType::kInt64);
    key_types.Append(key_type);
    ColumnVector out(PhysicalType::kBytes);
    return RestoreTexts(
        BoundSide::kLower,
        {.texts = &texts, .keys = &keys, .key_types = &key_types, .key_texts = &key_texts}, &out);
  };
  const Datum int32_type = Datum::Int64(KeyTypeOf(TypeKind::kInt32));
  EXPECT_TRUE(restore(Datum::Int128(5), int32_type).ok());
  EXPECT_TRUE(absl::IsDataLoss(restore(Datum(), int32_type)));
  EXPECT_TRUE(absl::IsDataLoss(restore(Datum::Int128(5), Datum())));
  EXPECT_TRUE(absl::IsDataLoss(restore(Datum::Int128(5), Datum::Int64(200))));
  EXPECT_TRUE(absl::IsDataLoss(restore(Datum::Int128(5), Datum::Int64(-1))));
  EXPECT_TRUE(absl::IsDataLoss(restore(Datum::Int128(int128_t{1} << 70), int32_type)));
  EXPECT_TRUE(
      absl::IsDataLoss(restore(Datum::Int128(2), Datum::Int64(KeyTypeOf(TypeKind::kBoolean)))));
  EXPECT_TRUE(
      absl::IsDataLoss(restore(Datum::Int128(-1), Datum::Int64(KeyTypeOf(TypeKind::kFloat64)))));
}

// Of a relation, in a compacted catalog.
class BoundTextsOfCatalogTest : public PruneTest {
 protected:
  // The rows of the statistics, as lines; with a predicate on min_value.
  std::vector<std::string> Read(ScanPath path, const std::optional<std::string>& min_equals = {}) {
    const ReadView view = catalog_->Current();
    const RelationRef relation = view.relations().FindById(kFileColumnStats);
    ScanOptions options;
    options.path = path;
    options.columns.emplace();
    for (const std::string_view name : {"column_id", "data_file_id", "min_value", "max_value"}) {
      options.columns->push_back(*relation->columns.Find(name));
    }
    if (min_equals.has_value()) {
      auto predicate = Predicate::Parse(StrCat("min_value = '", *min_equals, "'"), *relation);
      EXPECT_TRUE(predicate.ok()) << predicate.status();
      options.predicate = *std::move(predicate);
    }
    std::vector<std::string> rows;
    const auto scan = view.Scan(relation, std::move(options));
    EXPECT_TRUE(scan.ok()) << scan.status();
    ScanBatch batch;
    while (true) {
      const auto more = (*scan)->Next(&batch);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) {
        break;
      }
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        std::string line;
        for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
          const Datum value = batch.columns.column(i).at(row);
          StrAppend(&line,
                    value.is_null() ? "NULL"
                    : i < 2         ? StrCat(value.int64_value())
                                    : StrCat("'", value.bytes(), "'"),
                    " ");
        }
        rows.push_back(std::move(line));
      }
    }
    EXPECT_EQ((*scan)->stats().fell_back, "");
    return rows;
  }
};

TEST_F(BoundTextsOfCatalogTest, AScanOfCompactedStatisticsHasTheTextsOfTheRowStore) {
  const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>
      columns = {{"int64", {{"'1'", "'10'"}, {"'-5'", "'007'"}, {"-", "'4'"}, {"'9'", "'3'"}}},
                 {"float64", {{"'0.1'", "'2'"}, {"'-0.0'", "'1e3'"}, {"'x'", "-"}, {"-", "-"}}},
                 {"varchar",
                  {{"'a'", "'a rather long text of a bound'"},
                   {"'exactly fifteen'", "'exactly fifteen!'"},
                   {"''", "'z'"},
                   {"-", "'m'"}}},
                 {"timestamp",
                  {{"'2025-01-01 00:00:00'", "'2025-01-02 00:00:00.5'"},
                   {"'2025-01-01'", "'2025-01-01T00:00:00'"},
                   {"'infinity'", "-"},
                   {"-", "-"}}},
                 {"struct", {{"'{}'", "'{}'"}, {"-", "-"}, {"'1'", "'2'"}, {"-", "'x'"}}}};
  std::string changes;
  for (size_t column = 0; column < columns.size(); ++column) {
    changes += Column(static_cast<int64_t>(column) + 1, columns[column].first);
  }
  for (int64_t file = 1; file <= 4; ++file) {
    changes += File(file);
    for (size_t column = 0; column < columns.size(); ++column) {
      const auto& [min, max] = columns[column].second[static_cast<size_t>(file) - 1];
      changes += Statistics(file, min, max, "0", "-", static_cast<int64_t>(column) + 1);
    }
  }
  Snapshot(changes);
  const std::vector<std::string> expected = Read(ScanPath::kRow);
  ASSERT_EQ(expected.size(), 20U);
  const auto summary = RebuildColumns(*catalog_, {.relations = {kFileColumnStats}});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(Read(ScanPath::kColumnar), expected);
  EXPECT_EQ(Read(ScanPath::kColumnar), expected) << "out of the cache";
  // Packs are not passed over by what is left of the texts.
  for (const char* text : {"1", "exactly fifteen", "2025-01-01", "", "a"}) {
    EXPECT_EQ(Read(ScanPath::kColumnar, text), Read(ScanPath::kRow, text)) << text;
    EXPECT_EQ(Read(ScanPath::kRow, text).size(), text == std::string_view("1") ? 2U : 1U) << text;
  }
  // Twice: what a compaction reads are the texts, too.
  const auto again = RebuildColumns(*catalog_, {.relations = {kFileColumnStats}});
  ASSERT_TRUE(again.ok()) << again.status();
  const auto compacted = CompactColumns(*catalog_, {.full = true});
  ASSERT_TRUE(compacted.ok()) << compacted.status();
  EXPECT_EQ(Read(ScanPath::kColumnar), expected);
}

TEST_F(BoundTextsOfCatalogTest, ACompactionMakesKeysAnewForAColumnWhoseTypeChanged) {
  Snapshot(Column(1, "int32") + Column(2, "int32") + File(1) + Statistics(1, "'5'", "'07'") +
           Statistics(1, "'8'", "'9'", "0", "-", 2));
  const auto rebuilt = RebuildColumns(*catalog_, {.relations = {kFileColumnStats}});
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  // Column 1 has another type now, and a file more; column 2 is as it was.
  Snapshot(StrCat("end ducklake_column ", kPrunedTable, " | 1 @ 2\n", Column(1, "varchar"),
                  File(2), Statistics(2, "'abc'", "'abd'")));
  ASSERT_TRUE(FlushMemory(*catalog_).ok());
  const auto compacted = CompactColumns(*catalog_, {.relations = {kFileColumnStats}, .full = true});
  ASSERT_TRUE(compacted.ok()) << compacted.status();
  EXPECT_EQ(compacted->rows_written, 3U);
  EXPECT_EQ(Read(ScanPath::kColumnar), Read(ScanPath::kRow));

  const auto state = catalog_->LatestState();
  const RelationColumns& columns = *state->columnar->Find(kFileColumnStats);
  ASSERT_EQ(columns.segments.size(), 1U);
  const ColumnarPart& part = *columns.segments[0].live;
  ReadCounters counters;
  ColumnarTableReader reader(part.file->file(), part.table, &counters);
  ColumnVector types(PhysicalType::kInt64);
  ASSERT_TRUE(reader.ReadPack(0, ColumnSlot::Data(kKeyTypeColumn), &types).ok());
  const int64_t varchar = KeyTypeOf(TypeKind::kVarchar);
  EXPECT_THAT(types.int64s(),
              ::testing::ElementsAre(varchar, varchar, KeyTypeOf(TypeKind::kInt32)));
}

}  // namespace
}  // namespace varve

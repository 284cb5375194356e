// Statistics of tables: how bounds are compared and widened, and that applying deltas, in whatever
// portions, gives what a look at all values gives.

#include "catalog/transaction/table_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation.h"
#include "catalog/transaction/bounds_collector.h"
#include "tests/catalog/row_text.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Bounds = ColumnBounds;

// "[1, 9]", "[?, 9]" for an unknown bound, "none" without values; then what else is known.
std::string Text(const Bounds& bounds) {
  std::string text = bounds.has_values ? StrCat("[", bounds.min_value.value_or("?"), ", ",
                                                bounds.max_value.value_or("?"), "]")
                                       : "none";
  const auto flag = [&](std::string_view name, std::optional<bool> value) {
    if (value.has_value()) {
      StrAppend(&text, *value ? " " : " no ", name);
    }
  };
  flag("nulls", bounds.contains_null);
  flag("nan", bounds.contains_nan);
  return text + (bounds.extra_stats.has_value() ? StrCat(" ", *bounds.extra_stats) : "");
}

std::string Widened(std::string_view type, const Bounds& bounds, const Bounds& added) {
  Bounds widened = bounds;
  const absl::Status status = Widen(TypeOfColumn(type), added, &widened);
  return status.ok() ? Text(widened) : std::string(MessageOf(status));
}

Bounds Of(std::string_view min, std::string_view max) {
  return {.contains_null = false, .min_value = std::string(min), .max_value = std::string(max)};
}

TEST(TableStatistics, BoundsAreComparedAsValuesOfTheType) {
  EXPECT_EQ(Widened("int32", Of("5", "9"), Of("10", "10")), "[5, 10] no nulls");
  EXPECT_EQ(Widened("varchar", Of("5", "9"), Of("10", "10")), "[10, 9] no nulls");
  EXPECT_EQ(Widened("uint64", Of("5", "9"), Of("18446744073709551615", "18446744073709551615")),
            "[5, 18446744073709551615] no nulls");
  EXPECT_EQ(Widened("decimal(12,2)", Of("-0.5", "9"), Of("-10.25", "10")), "[-10.25, 10] no nulls");
  EXPECT_EQ(Widened("float64", Of("-inf", "1e10"), Of("0", "2e9")), "[-inf, 1e10] no nulls");
  EXPECT_EQ(Widened("date", Of("2026-01-02", "2026-01-02"), Of("0044-03-15 (BC)", "9999-12-31")),
            "[0044-03-15 (BC), 9999-12-31] no nulls");
  EXPECT_EQ(Widened("timestamp", Of("2026-01-02 10:00:00", "infinity"),
                    Of("290000-01-01 00:00:00", "290000-01-01 00:00:00")),
            "[2026-01-02 10:00:00, infinity] no nulls");
  EXPECT_EQ(Widened("boolean", Of("true", "true"), Of("false", "false")), "[false, true] no nulls");
}

// As text "\x00" comes after "A"; as bytes, before.
TEST(TableStatistics, BlobsAreReadAsDuckLakeWritesThem) {
  EXPECT_EQ(Widened("blob", Of("A", "B"), Of("\\x00", "\\xFF")), "[\\x00, \\xFF] no nulls");
  EXPECT_EQ(Widened("blob", Of("A", "B"), Of("\\x0", "C")),
            "'\\x0' is not a blob: expected ASCII, other bytes as \\xNN");
}

TEST(TableStatistics, WhatIsUnknownOfOneIsUnknownOfBoth) {
  const Bounds known = Of("1", "9");
  EXPECT_EQ(Widened("int32", known, {.contains_null = true, .min_value = "0"}), "[0, ?] nulls");
  EXPECT_EQ(Widened("int32", {.min_value = "0"}, known), "[0, ?]");
  EXPECT_EQ(Widened("int32", known, {}), "[?, ?]");
  EXPECT_EQ(Widened("float64", {.contains_nan = false}, {.contains_nan = true}), "[?, ?] nan");
  EXPECT_EQ(Widened("float64", {.contains_nan = false}, {}), "[?, ?]");
  EXPECT_EQ(Widened("geometry", {.extra_stats = "{}"}, {.extra_stats = "{}"}), "[?, ?] {}");
  EXPECT_EQ(Widened("geometry", {.extra_stats = "{}"}, {.extra_stats = "{1}"}), "[?, ?]");
}

TEST(TableStatistics, NullsAloneSayNothingOfBounds) {
  const Bounds nulls = {.contains_null = true, .has_values = false};
  EXPECT_EQ(Widened("int32", Of("1", "9"), nulls), "[1, 9] nulls");
  EXPECT_EQ(Widened("int32", nulls, Of("1", "9")), "[1, 9] nulls");
  EXPECT_EQ(Widened("int32", nulls, nulls), "none nulls");
  EXPECT_EQ(Widened("int32", nulls, {.contains_null = false}), "[?, ?] nulls");
}

TEST(TableStatistics, ABoundThatIsNoValueIsAnError) {
  EXPECT_EQ(Widened("int32", Of("1", "9"), Of("one", "9")), "'one' is not an integer");
  EXPECT_EQ(Widened("int8", Of("1", "9"), Of("1", "300")), "'300' is out of range for tinyint");
}

TEST(TableStatistics, EveryTypeOfDuckLakeIsKnown) {
  for (const std::string_view type :
       {"boolean",   "int8",         "int16",          "int32",        "int64",        "int128",
        "uint8",     "uint16",       "uint32",         "uint64",       "uint128",      "float32",
        "float64",   "decimal(1,0)", "decimal(38,38)", "date",         "time",         "timetz",
        "timestamp", "timestamptz",  "timestamp_s",    "timestamp_ms", "timestamp_ns", "interval",
        "varchar",   "blob",         "json",           "uuid",         "list",         "struct",
        "map",       "variant",      "geometry",       "linestring z"}) {
    EXPECT_TRUE(IsDuckLakeType(type)) << type;
  }
  for (const std::string_view type : {"", "int", "bigint", "text", "decimal", "decimal(39,0)",
                                      "decimal(3,4)", "int64[]", "list(int64)", "double"}) {
    EXPECT_FALSE(IsDuckLakeType(type)) << type;
  }
  EXPECT_EQ(TypeOfColumn("decimal(12,2)"), Type::Decimal(12, 2));
  EXPECT_EQ(TypeOfColumn("int8"), Type(TypeKind::kInt8));
  EXPECT_EQ(TypeOfColumn("struct"), Type(TypeKind::kVarchar));
  EXPECT_TRUE(HasBounds("interval"));
  EXPECT_FALSE(HasBounds("timetz"));
  EXPECT_FALSE(HasBounds("variant"));
}

// --- Rows ---

std::string TableRow(const std::optional<std::string>& stored, const TableStatisticsDelta& delta) {
  const RelationSchema& relation = *BuiltinRelationById(kTableStats);
  const std::optional<Row> row =
      stored.has_value() ? std::optional(RowOf(relation, *stored)) : std::nullopt;
  return RowText(relation, ApplyToTableStats(7, row, delta).values());
}

std::string ColumnRow(const std::optional<std::string>& stored, std::string_view type,
                      const Bounds& added) {
  const RelationSchema& relation = *BuiltinRelationById(kTableColumnStats);
  const std::optional<Row> row =
      stored.has_value() ? std::optional(RowOf(relation, *stored)) : std::nullopt;
  const absl::StatusOr<Row> applied =
      ApplyToColumnStats(7, 3, row, {.type = TypeOfColumn(type), .bounds = added});
  return applied.ok() ? RowText(relation, applied->values())
                      : std::string(MessageOf(applied.status()));
}

TEST(TableStatistics, CountsAreAddedToTheStoredRow) {
  const TableStatisticsDelta delta = {.record_count = 10, .row_ids = 8, .file_size_bytes = 500};
  EXPECT_EQ(TableRow(std::nullopt, delta), "7 | 10 | 8 | 500");
  EXPECT_EQ(TableRow("7 | 90 | 100 | 4000", delta), "7 | 100 | 108 | 4500");
  EXPECT_EQ(TableRow("7 | - | - | -", delta), "7 | 10 | 8 | 500");
  EXPECT_EQ(TableRow("7 | 9223372036854775800 | 0 | 0", delta),
            "7 | 9223372036854775807 | 8 | 500");
  EXPECT_EQ(TableRow("7 | 90 | 100 | 400", {.record_count = -40, .file_size_bytes = -100}),
            "7 | 50 | 100 | 300");
}

TEST(TableStatistics, BoundsWidenTheStoredRow) {
  EXPECT_EQ(ColumnRow(std::nullopt, "int32", Of("1", "9")), "7 | 3 | false | - | 1 | 9 | -");
  EXPECT_EQ(ColumnRow("7 | 3 | true | - | 5 | 20 | -", "int32", Of("1", "9")),
            "7 | 3 | true | - | 1 | 20 | -");
  EXPECT_EQ(ColumnRow("7 | 3 | - | - | 5 | 20 | -", "int32", Of("1", "9")),
            "7 | 3 | - | - | 1 | 20 | -");
  EXPECT_EQ(ColumnRow("7 | 3 | true | - | - | - | -", "int32", Of("1", "9")),
            "7 | 3 | true | - | 1 | 9 | -");
}

// A row of NULLs and one without known bounds would look alike; the second is told by
// contains_null.
TEST(TableStatistics, UnknownBoundsStayUnknown) {
  const Bounds unknown = {.contains_null = true};
  EXPECT_EQ(ColumnRow(std::nullopt, "varchar", unknown), "7 | 3 | - | - | - | - | -");
  EXPECT_EQ(ColumnRow("7 | 3 | - | - | - | - | -", "varchar", Of("a", "b")),
            "7 | 3 | - | - | - | - | -");
  EXPECT_EQ(ColumnRow("7 | 3 | false | - | - | - | -", "varchar", Of("a", "b")),
            "7 | 3 | false | - | - | - | -");
  EXPECT_EQ(ColumnRow("7 | 3 | true | - | a | - | -", "varchar", Of("b", "c")),
            "7 | 3 | true | - | a | - | -");
}

TEST(TableStatistics, StoredBoundsOfAnotherTypeBecomeUnknown) {
  EXPECT_EQ(ColumnRow("7 | 3 | false | - | apple | pear | -", "int32", Of("1", "9")),
            "7 | 3 | false | - | - | - | -");
}

// --- Against all values ---

struct Values {
  std::string_view type;
  std::vector<std::string> texts;
};

std::string RandomText(std::string_view type, std::mt19937_64* random) {
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  const Type parsed = TypeOfColumn(type);
  switch (parsed.kind()) {
    case TypeKind::kInt32: return StrCat(number(-2'000'000'000, 2'000'000'000));
    case TypeKind::kUInt64:
      return StrCat(static_cast<uint64_t>(
          number(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())));
    case TypeKind::kDecimal: return ToText(parsed, Datum::Int64(number(-99'999'999, 99'999'999)));
    case TypeKind::kFloat64:
      return ToText(parsed, Datum::Float64(static_cast<double>(number(-1000, 1000)) / 8));
    case TypeKind::kDate: return ToText(parsed, Datum::Int64(number(-800'000, 800'000)));
    case TypeKind::kTimestamp:
      return ToText(parsed, Datum::Int64(number(-70'000'000'000'000'000, 70'000'000'000'000'000)));
    case TypeKind::kBlob: {
      std::string bytes;
      for (int64_t i = number(0, 3); i > 0; --i) {
        bytes.push_back(static_cast<char>(number(0, 255)));
      }
      return BoundText(parsed, Datum::Bytes(bytes), "");
    }
    default: {
      std::string text;
      for (int64_t i = number(0, 4); i > 0; --i) {
        text.append(number(0, 3) == 0 ? "ü" : std::string(1, static_cast<char>(number(' ', '~'))));
      }
      return text;
    }
  }
}

// What the rows of statistics must say of these values; nullopt is NULL.
std::string BruteForce(std::string_view type,
                       const std::vector<std::optional<std::string>>& values) {
  const Type parsed = TypeOfColumn(type);
  Row row(7);
  row.Set(0, Datum::Int64(7));
  row.Set(1, Datum::Int64(3));
  row.Set(2, Datum::Bool(false));
  const std::string* least = nullptr;
  const std::string* most = nullptr;
  const auto before = [&](const std::string& a, const std::string& b) {
    std::string scratch_a;
    std::string scratch_b;
    Datum value_a;
    Datum value_b;
    EXPECT_TRUE(ParseDatum(parsed, a, BlobText::kEscaped, &scratch_a, &value_a).ok()) << a;
    EXPECT_TRUE(ParseDatum(parsed, b, BlobText::kEscaped, &scratch_b, &value_b).ok()) << b;
    return CompareDatums(value_a, value_b) == std::strong_ordering::less;
  };
  for (const std::optional<std::string>& value : values) {
    if (!value.has_value()) {
      row.Set(2, Datum::Bool(true));
      continue;
    }
    least = least == nullptr || before(*value, *least) ? &*value : least;
    most = most == nullptr || before(*most, *value) ? &*value : most;
  }
  if (parsed.physical() == PhysicalType::kFloat64) {
    row.Set(3, Datum::Bool(false));
  }
  row.Set(4, least == nullptr ? Datum() : Datum::Bytes(*least));
  row.Set(5, most == nullptr ? Datum() : Datum::Bytes(*most));
  return RowText(*BuiltinRelationById(kTableColumnStats), row.values());
}

// Values come in files, files in transactions: collected, added to a delta, applied to the row.
TEST(TableStatistics, PortionsAddUpToTheWhole) {
  std::mt19937_64 random(TestSeed());
  for (const std::string_view type :
       {"int32", "uint64", "decimal(12,2)", "float64", "date", "timestamp", "varchar", "blob"}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::optional<std::string>> values;
      for (int64_t i = std::uniform_int_distribution<int64_t>(1, 40)(random); i > 0; --i) {
        values.push_back(random() % 4 == 0 ? std::nullopt
                                           : std::optional(RandomText(type, &random)));
      }
      const Type parsed = TypeOfColumn(type);
      std::optional<Row> row;
      for (size_t next = 0; next < values.size();) {  // a transaction
        TableStatisticsDelta delta;
        do {  // a file
          BoundsCollector collector(parsed);
          std::string scratch;
          do {
            const std::optional<std::string>& value = values[next++];
            BoundsCollector::Added added = {.contains_null = !value.has_value(),
                                            .has_values = value.has_value()};
            if (parsed.physical() == PhysicalType::kFloat64) {
              added.contains_nan = false;
            }
            if (value.has_value()) {
              BoundsCollector::Bound bound = {.text = *value, .value = Datum()};
              ASSERT_TRUE(ParseBound(parsed, *value, &scratch, &bound.value).ok()) << *value;
              added.min_value = bound;
              added.max_value = bound;
            }
            collector.Add(added);
          } while (next < values.size() && random() % 3 != 0);
          ASSERT_TRUE(AddBounds(3, parsed, collector.Take(), &delta).ok());
        } while (next < values.size() && random() % 3 != 0);
        absl::StatusOr<Row> applied = ApplyToColumnStats(7, 3, row, delta.columns.at(3));
        ASSERT_TRUE(applied.ok()) << applied.status();
        row = *std::move(applied);
      }
      EXPECT_EQ(RowText(*BuiltinRelationById(kTableColumnStats), row->values()),
                BruteForce(type, values))
          << type;
    }
  }
}

}  // namespace
}  // namespace varve

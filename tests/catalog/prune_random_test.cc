// File pruning in random catalogs, against what the texts of statistics say: before and after
// flushes, compactions, rebuilds and reopening, with changes on top, at any snapshot. What remains
// is what the texts leave, no more and no less.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "tests/catalog/prune_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

struct RandomType {
  std::string_view name;
  std::string_view widened;  // what it may become; empty: nothing
  std::vector<std::string_view> values;
};

const std::vector<RandomType>& RandomTypes() {
  static const auto& types = *new std::vector<RandomType>{
      {"int8", "int32", {"-128", "-7", "-1", "0", "1", "7", "9", "10", "127"}},
      {"int64", "", {"-9223372036854775808", "-20", "-3", "0", "5", "40", "9223372036854775807"}},
      {"uint64", "", {"0", "3", "20", "9223372036854775808", "18446744073709551615"}},
      {"float32",
       "float64",
       {"-inf", "-1.5", "-0.0", "0.0", "0.1", "0.3", "2", "1e10", "inf", "NaN"}},
      {"float64", "", {"-inf", "-1e300", "-0.1", "-0.0", "0.0", "0.1", "0.7", "1e300", "NaN"}},
      {"decimal(9,2)", "", {"-10.5", "-10.50", "-1", "0.00", "1.1", "1.10", "9.99", "10"}},
      {"decimal(30,3)",
       "",
       {"-99999999999999999999.5", "-1", "0", "0.001", "5.5", "99999999999999999999"}},
      {"date",
       "",
       {"-infinity", "0044-03-15 (BC)", "1969-12-31", "1970-01-01", "2024-02-29", "infinity"}},
      {"timestamp",
       "",
       {"-infinity", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "infinity"}},
      {"boolean", "", {"false", "true"}},
      {"uuid",
       "",
       {"00000000-0000-0000-0000-000000000000", "7fffffff-ffff-ffff-ffff-ffffffffffff",
        "80000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
      {"varchar",
       "",
       {"", "a", "ab", "b", "prefix of fifteen", "prefix of fifteen and more",
        "prefix of fifteen b", "prefix of fift", "zz", "é"}},
      {"blob",
       "",
       {"", "a", "\\x00", "\\x01\\x02", "\\xFF\\xFF", "sixteen bytes ok", "sixteen bytes ol"}},
      {"interval", "", {"1 day", "31 days", "1 mon"}},
  };
  return types;
}

// What the texts of one row of statistics say, without keys.
class Naive {
 public:
  explicit Naive(std::string_view ducklake_type)
      : type_(TypeOfColumn(ducklake_type)), has_order_(ducklake_type != "interval") {}

  bool MayMatch(const Term& term, const Datum& min_text, const Datum& max_text,
                const Datum& null_count, const Datum& contains_nan) const {
    if (term.op == Comparison::kIsNull) {
      return null_count.is_null() || null_count.int64_value() != 0;
    }
    if (!has_order_) {
      return true;
    }
    std::string min_scratch;
    std::string max_scratch;
    std::optional<Datum> min = Parse(min_text, &min_scratch);
    std::optional<Datum> max = Parse(max_text, &max_scratch);
    if (min.has_value() && max.has_value() && Compare(*min, *max) > 0) {
      min.reset();
      max.reset();
    }
    const bool is_float = type_.physical() == PhysicalType::kFloat64;
    if (is_float && (contains_nan.is_null() || contains_nan.bool_value())) {
      max.reset();
    }
    if (type_.kind() == TypeKind::kFloat64) {
      Widen(min_text, -1, &min);
      Widen(max_text, 1, &max);
    }
    const auto at_most = [&](const Datum& value) {
      return !min.has_value() || Compare(*min, value) <= 0;
    };
    const auto below = [&](const Datum& value) {
      return !min.has_value() || Compare(*min, value) < 0;
    };
    const auto at_least = [&](const Datum& value) {
      return !max.has_value() || Compare(*max, value) >= 0;
    };
    const auto above = [&](const Datum& value) {
      return !max.has_value() || Compare(*max, value) > 0;
    };
    const auto values = term.constants.values();
    if (type_.physical() == PhysicalType::kInt128 && type_.kind() != TypeKind::kDecimal) {
      // Nothing is above the largest or below the smallest number, whatever the bounds.
      const int128_t constant = values[0].int128_value();
      if ((term.op == Comparison::kGreater && constant == kInt128Max) ||
          (term.op == Comparison::kLess && constant == kInt128Min)) {
        return false;
      }
    }
    switch (term.op) {
      case Comparison::kEqual: return at_most(values[0]) && at_least(values[0]);
      case Comparison::kLess: return below(values[0]);
      case Comparison::kLessOrEqual: return at_most(values[0]);
      case Comparison::kGreater: return above(values[0]);
      case Comparison::kGreaterOrEqual: return at_least(values[0]);
      case Comparison::kIn:
        return std::any_of(values.begin(), values.end(),
                           [&](const Datum& value) { return at_most(value) && at_least(value); });
      default: return true;
    }
  }

 private:
  std::optional<Datum> Parse(const Datum& text, std::string* scratch) const {
    Datum value;
    if (text.is_null() ||
        !ParseDatum(type_, text.bytes(), BlobText::kEscaped, scratch, &value).ok()) {
      return std::nullopt;
    }
    return value;
  }
  // A float64 may have been written as a float32.
  static void Widen(const Datum& text, int direction, std::optional<Datum>* bound) {
    if (!bound->has_value()) {
      return;
    }
    const double narrow = std::strtof(std::string(text.bytes()).c_str(), nullptr);
    const double wide = (*bound)->float64_value();
    if (std::isfinite(narrow) && (direction < 0 ? narrow < wide : narrow > wide)) {
      *bound = Datum::Float64(narrow);
    }
  }
  static int Compare(const Datum& a, const Datum& b) {
    if (a.physical() == PhysicalType::kFloat64) {
      const double x = a.float64_value();
      const double y = b.float64_value();
      if (std::isnan(x) || std::isnan(y)) {
        return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
      }
      return x < y ? -1 : (x > y ? 1 : 0);
    }
    const auto order = CompareDatums(a, b);
    return order < 0 ? -1 : (order > 0 ? 1 : 0);
  }

  Type type_;
  bool has_order_;
};

class RandomPruneTest : public PruneTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int64_t kColumns = 4;

  uint64_t Below(uint64_t n) { return rng_() % n; }
  template <typename T>
  const T& OneOf(const std::vector<T>& values) {
    return values[Below(values.size())];
  }

  std::string RandomBound(int64_t column) {
    switch (Below(12)) {
      case 0: return "-";
      case 1: return "'no value'";
      default: return StrCat("'", OneOf(random_types_[column]->values), "'");
    }
  }
  std::string RandomStatistics(int64_t file, int64_t column, std::string_view verb) {
    std::string min = RandomBound(column);
    std::string max = Below(3) == 0 ? min : RandomBound(column);
    static const auto& marks =
        *new std::vector<std::string_view>{"-", "true", "false", "false", "false"};
    static const auto& counts = *new std::vector<std::string_view>{"-", "0", "0", "0", "3"};
    return StrCat(verb, " ducklake_file_column_stats ", file, " | ", kPrunedTable, " | ", column,
                  " | 10 | 100 | ", OneOf(counts), " | ", min, " | ", max, " | ", OneOf(marks),
                  "\n");
  }

  void AddFiles() {
    std::string changes;
    for (uint64_t count = Below(30) + 1; count > 0; --count) {
      const int64_t file = ++last_file_;
      changes += File(file);
      live_.push_back(file);
      for (int64_t column = 1; column <= kColumns; ++column) {
        if (Below(10) != 0) {
          changes += RandomStatistics(file, column, "put");
          with_statistics_.insert({column, file});
        }
      }
    }
    Snapshot(changes);
  }
  void EndFiles() {
    std::string changes;
    for (uint64_t count = Below(5); count > 0 && !live_.empty(); --count) {
      const size_t victim = Below(live_.size());
      StrAppend(&changes, "end ducklake_data_file ", kPrunedTable, " | ", live_[victim], " @ ",
                snapshot_ + 1, "\n");
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    Snapshot(changes);
  }
  void ChangeStatistics() {
    std::string changes;
    std::set<std::pair<int64_t, int64_t>> touched;
    for (uint64_t count = Below(6); count > 0 && last_file_ > 0; --count) {
      const std::pair<int64_t, int64_t> which = {
          static_cast<int64_t>(Below(kColumns)) + 1,
          static_cast<int64_t>(Below(static_cast<uint64_t>(last_file_))) + 1};
      if (!touched.insert(which).second) {
        continue;
      }
      if (with_statistics_.contains(which) && Below(3) == 0) {
        StrAppend(&changes, "erase ducklake_file_column_stats ", kPrunedTable, " | ", which.first,
                  " | ", which.second, " @ 0\n");
        with_statistics_.erase(which);
      } else {
        changes += RandomStatistics(which.second, which.first, "put");
        with_statistics_.insert(which);
      }
    }
    Snapshot(changes);
  }
  void WidenAColumn() {
    const int64_t column = static_cast<int64_t>(Below(kColumns)) + 1;
    if (random_types_[column]->widened.empty() ||
        types_[column] == random_types_[column]->widened) {
      return;
    }
    const std::string end =
        StrCat("end ducklake_column ", kPrunedTable, " | ", column, " @ ", snapshot_ + 1, "\n");
    Snapshot(end + Column(column, random_types_[column]->widened));
  }

  std::string RandomWhere(int64_t column) {
    const auto constant = [&] {
      std::string value(OneOf(random_types_[column]->values));
      // Constants of predicates are spelled in hex.
      if (types_[column] == "blob") {
        Datum parsed;
        std::string scratch;
        EXPECT_TRUE(ParseDatum(TypeKind::kBlob, value, BlobText::kEscaped, &scratch, &parsed).ok());
        value = ToText(TypeKind::kBlob, parsed);
      }
      return StrCat("'", value, "'");
    };
    switch (Below(8)) {
      case 0: return "v is null";
      case 1: return StrCat("v = ", constant());
      case 2: return StrCat("v < ", constant());
      case 3: return StrCat("v <= ", constant());
      case 4: return StrCat("v > ", constant());
      case 5: return StrCat("v >= ", constant());
      case 6: return StrCat("v between ", constant(), " and ", constant());
      default: return StrCat("v in (", constant(), ", ", constant(), ", ", constant(), ")");
    }
  }

  FileIds NaiveFiles(const ReadView& view, int64_t column, std::string_view where,
                     std::string_view type) {
    const RelationSchema relation = OneColumn(type);
    const Predicate predicate = *Predicate::Parse(where, relation);
    const Naive naive{type};
    const RelationRef files = view.relations().FindById(kDataFile);
    const RelationRef statistics = view.relations().FindById(kFileColumnStats);
    std::map<int64_t, bool> keeps;  // files with statistics of the column
    ScanOptions options{.path = ScanPath::kRow};
    options.key_prefix = {Datum::Int64(kPrunedTable), Datum::Int64(column)};
    auto scan = view.Scan(statistics, options);
    EXPECT_TRUE(scan.ok()) << scan.status();
    ScanBatch batch;
    while (*(*scan)->Next(&batch)) {
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        const auto value = [&](std::string_view name) {
          return batch.columns.column(*statistics->columns.Find(name)).at(row);
        };
        const bool may_match =
            std::all_of(predicate.terms().begin(), predicate.terms().end(), [&](const Term& term) {
              return naive.MayMatch(term, value("min_value"), value("max_value"),
                                    value("null_count"), value("contains_nan"));
            });
        bool& keep = keeps[value("data_file_id").int64_value()];
        keep = keep || may_match;
      }
    }
    options.key_prefix = {Datum::Int64(kPrunedTable)};
    scan = view.Scan(files, options);
    EXPECT_TRUE(scan.ok()) << scan.status();
    FileIds remaining;
    while (*(*scan)->Next(&batch)) {
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        const int64_t id = batch.columns.column(*files->columns.Find("data_file_id")).int64s()[row];
        const auto found = keeps.find(id);
        if (found == keeps.end() || found->second) {
          remaining.push_back(id);
        }
      }
    }
    return remaining;
  }

  void CheckSome() {
    for (int i = 0; i < 12; ++i) {
      const SnapshotId at = Below(3) == 0 ? 1 + Below(snapshot_) : snapshot_;
      const ReadView view = At(at);
      const int64_t column = static_cast<int64_t>(Below(kColumns)) + 1;
      const std::string type(types_[column]);
      const std::string type_at = TypeAt(view, column);
      const std::string where = RandomWhere(column);
      const FileIds expected = NaiveFiles(view, column, where, type_at);
      for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar, ScanPath::kAuto}) {
        const auto pruned = Prune(view, where, path, column, type_at);
        ASSERT_TRUE(pruned.ok()) << pruned.status();
        ASSERT_EQ(pruned->files, expected)
            << type_at << " (now " << type << "), " << where << ", column " << column << " at "
            << at << " of " << snapshot_ << ", path " << static_cast<int>(path);
      }
    }
  }
  static std::string TypeAt(const ReadView& view, int64_t column) {
    const RelationRef columns = view.relations().FindById(kColumn);
    const Datum key[] = {Datum::Int64(kPrunedTable), Datum::Int64(column)};
    const auto row = view.Get(*columns, key);
    EXPECT_TRUE(row.ok() && row->has_value());
    return std::string((**row).values[*columns->columns.Find("column_type")].bytes());
  }

  std::mt19937_64 rng_;
  std::map<int64_t, const RandomType*> random_types_;
  int64_t last_file_ = 0;
  FileIds live_;
  std::set<std::pair<int64_t, int64_t>> with_statistics_;  // column, file
};

TEST_P(RandomPruneTest, WhatRemainsIsWhatTheTextsLeave) {
  rng_.seed(TestSeed() * 1'000 + static_cast<uint64_t>(GetParam()));
  std::string columns;
  for (int64_t column = 1; column <= kColumns; ++column) {
    random_types_[column] = &OneOf(RandomTypes());
    columns += Column(column, random_types_[column]->name);
  }
  Snapshot(columns);
  for (int step = 0; step < 25; ++step) {
    switch (Below(9)) {
      case 0:
      case 1:
      case 2: AddFiles(); break;
      case 3: EndFiles(); break;
      case 4: ChangeStatistics(); break;
      case 5: WidenAColumn(); break;
      case 6: Flush(); break;
      case 7: Below(2) == 0 ? Compact() : Rebuild(); break;
      default: Restart(); break;
    }
    if (HasFatalFailure()) {
      return;
    }
    CheckSome();
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rounds, RandomPruneTest, ::testing::Range(0, 12));

}  // namespace
}  // namespace varve

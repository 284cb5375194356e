#include "catalog/predicate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "base/strings.h"
#include "base/text.h"
#include "tests/seed.h"

namespace varve {
namespace {

// A relation with a column of every physical type: (id, kind) is its handle.
RelationSchema TestRelation() {
  RelationSchema relation;
  relation.name = "ducklake_test";
  const auto column = [](std::string name, Type type) {
    return ColumnSchema{.name = std::move(name), .type = type};
  };
  relation.columns = Schema({
      column("id", TypeKind::kInt64),
      column("kind", TypeKind::kVarchar),
      column("flag", TypeKind::kBoolean),
      column("price", Type::Decimal(12, 2)),
      column("weight", TypeKind::kFloat64),
      column("big", TypeKind::kInt128),
      column("at", TypeKind::kTimestampTz),
      column("Odd \"name\"", TypeKind::kVarchar),
  });
  relation.handle = {0, 1};
  relation.Finish();
  return relation;
}

// The terms of a predicate spelled out, constants in their canonical text.
std::string Describe(const Predicate& predicate, const RelationSchema& relation) {
  constexpr std::string_view kOps[] = {"=",  "<>",      "<",           "<=", ">",
                                       ">=", "is null", "is not null", "in"};
  std::string text;
  for (const Term& term : predicate.terms()) {
    const ColumnSchema& column = relation.columns.column(term.column);
    StrAppend(&text, text.empty() ? "" : " and ", column.name, " ",
              kOps[static_cast<int>(term.op)]);
    for (const Datum& constant : term.constants.values()) {
      StrAppend(&text, " ", ToText(column.type, constant));
    }
  }
  return text;
}

std::string Parsed(std::string_view text) {
  const RelationSchema relation = TestRelation();
  const absl::StatusOr<Predicate> predicate = Predicate::Parse(text, relation);
  return predicate.ok() ? Describe(*predicate, relation)
                        : StrCat("error: ", MessageOf(predicate.status()));
}

TEST(PredicateParse, ReadsEveryComparison) {
  EXPECT_EQ(Parsed("id = 1"), "id = 1");
  EXPECT_EQ(Parsed("id == 1"), "id = 1");
  EXPECT_EQ(Parsed("id <> 1 and id != 2"), "id <> 1 and id <> 2");
  EXPECT_EQ(Parsed("id<1 and id<=2 and id>3 and id>=4"),
            "id < 1 and id <= 2 and id > 3 and id >= 4");
  EXPECT_EQ(Parsed("kind is null and id is not null"), "kind is null and id is not null");
  EXPECT_EQ(Parsed("id between 2 and 5 and kind = 'x'"), "id >= 2 and id <= 5 and kind = x");
  EXPECT_EQ(Parsed("id in (3, 1, 2, 1)"), "id in 1 2 3");
  EXPECT_EQ(Parsed("id not in (1, 2)"), "id <> 1 and id <> 2");
}

TEST(PredicateParse, OfNothingIsAlwaysTrue) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("  \n"), "");
}

TEST(PredicateParse, KeywordsAndColumnsIgnoreCase) {
  EXPECT_EQ(Parsed("ID BETWEEN 1 AND 2 And Kind Is Not Null"),
            "id >= 1 and id <= 2 and kind is not null");
  EXPECT_EQ(Parsed("flag = TRUE and FLAG <> False"), "flag = true and flag <> false");
}

TEST(PredicateParse, QuotesNamesAndStringsAsSqlDoes) {
  EXPECT_EQ(Parsed("\"Odd \"\"name\"\"\" = 'it''s'"), "Odd \"name\" = it's");
  EXPECT_EQ(Parsed("\"kind\" = ''"), "kind = ");
  EXPECT_EQ(Parsed("kind = 'and ( '"), "kind = and ( ");
}

TEST(PredicateParse, ReadsConstantsByTheColumnsType) {
  EXPECT_EQ(Parsed("id = -9223372036854775808"), "id = -9223372036854775808");
  EXPECT_EQ(Parsed("id = '+7' and id = +7"), "id = 7 and id = 7");
  EXPECT_EQ(Parsed("price >= -1.5 and price < .25"), "price >= -1.50 and price < 0.25");
  EXPECT_EQ(Parsed("weight < 2.5e-3"), "weight < 0.0025");
  EXPECT_EQ(Parsed("big = 170141183460469231731687303715884105727"),
            "big = 170141183460469231731687303715884105727");
  EXPECT_EQ(Parsed("at >= '2026-11-30 08:37:06+00'"), "at >= 2026-11-30 08:37:06+00");
}

TEST(PredicateParse, TurnsAConstantOnTheLeftRound) {
  EXPECT_EQ(Parsed("5 < id and 'x' = kind"), "id > 5 and kind = x");
  EXPECT_EQ(Parsed("5 <= id and 5 > id and 5 >= id and 5 <> id"),
            "id >= 5 and id < 5 and id <= 5 and id <> 5");
}

TEST(PredicateParse, ErrorsPointAtTheColumnOfTheText) {
  EXPECT_EQ(
      Parsed("id = 1 and knid = 'x'"),
      "error: predicate column 12: unknown column 'knid' of ducklake_test; did you mean 'kind'?");
  EXPECT_EQ(Parsed("id = abc"),
            "error: predicate column 6: expected a constant for id, found 'abc'");
  EXPECT_EQ(Parsed("id ="), "error: predicate column 5: expected a constant for id, found the end");
  EXPECT_EQ(Parsed("id ~ 1").substr(0, 42), "error: predicate column 4: unexpected '~';");
  EXPECT_EQ(Parsed("id = 1 kind = 'x'"),
            "error: predicate column 8: expected 'and' or the end, found 'kind'");
  EXPECT_EQ(Parsed("id = 1 or id = 2"),
            "error: predicate column 8: 'or' is not supported; terms are joined by 'and'");
  EXPECT_EQ(Parsed("kind = 'x"),
            "error: predicate column 8: the string that begins here has no closing '");
  EXPECT_EQ(Parsed("\"kind = 1"),
            "error: predicate column 1: the column name that begins here has no closing \"");
  EXPECT_EQ(Parsed("id in (1 2)"), "error: predicate column 10: expected ',' or ')', found '2'");
  EXPECT_EQ(Parsed("id in ()"), "error: predicate column 8: expected a constant for id, found ')'");
  EXPECT_EQ(Parsed("id between 1 or 2"),
            "error: predicate column 14: expected 'and' between the two bounds, found 'or'");
  EXPECT_EQ(Parsed("id is 5"),
            "error: predicate column 7: expected 'null' or 'not null', found '5'");
  EXPECT_EQ(Parsed("id not between 1 and 2"),
            "error: predicate column 8: 'not between' is not supported; compare with one bound");
  EXPECT_EQ(
      Parsed("id and kind"),
      "error: predicate column 4: expected a comparison (=, <>, <, <=, >, >=, is, in, between), "
      "found 'and'");
  EXPECT_EQ(Parsed("5 < 6"),
            "error: predicate column 5: expected a column of ducklake_test, found '6'");
}

TEST(PredicateParse, CountsPositionsInCharacters) {
  EXPECT_EQ(Parsed("kind = 'üü' and nope = 1").substr(0, 37),
            "error: predicate column 17: unknown c");
}

TEST(PredicateParse, RefusesConstantsThatDoNotFitTheColumn) {
  EXPECT_EQ(Parsed("id = '12x'").substr(0, 31), "error: predicate column 6: id: ");
  EXPECT_EQ(Parsed("id = 1.5").substr(0, 31), "error: predicate column 6: id: ");
  EXPECT_EQ(Parsed("kind = 5"), "error: predicate column 8: kind is varchar; write '5'");
  EXPECT_EQ(Parsed("flag = 5"), "error: predicate column 8: flag is boolean; write true or false");
  EXPECT_EQ(Parsed("id = true"), "error: predicate column 6: id is bigint; write a number");
  EXPECT_EQ(
      Parsed("id = null"),
      "error: predicate column 6: a comparison with null is never true; write 'id is null' or "
      "'id is not null'");
}

TEST(Predicate, HandlePrefixTakesTheLeadingEqualities) {
  const RelationSchema relation = TestRelation();
  const auto prefix = [&](std::string_view text) {
    const Predicate predicate = Predicate::Parse(text, relation).value();
    std::string out;
    for (const Datum& value : predicate.HandlePrefix(relation)) {
      StrAppend(&out,
                value.physical() == PhysicalType::kInt64 ? StrCat(value.int64_value())
                                                         : std::string(value.bytes()),
                ";");
    }
    return out;
  };
  EXPECT_EQ(prefix("kind = 'x' and id = 4 and flag = true"), "4;x;");
  EXPECT_EQ(prefix("id = 4 and kind > 'x'"), "4;");
  EXPECT_EQ(prefix("kind = 'x'"), "");
  EXPECT_EQ(prefix("id in (4, 5)"), "");
  EXPECT_EQ(prefix(""), "");
}

TEST(Predicate, ComparisonWithNullIsNeverTrue) {
  Row null(1);
  for (int op = 0; op <= static_cast<int>(Comparison::kGreaterOrEqual); ++op) {
    const Term term{.column = 0, .op = static_cast<Comparison>(op), .constants = null};
    EXPECT_FALSE(Predicate::TermMatches(term, Datum::Int64(0)));
    EXPECT_FALSE(Predicate::TermMatches(term, Datum::Null()));
  }
  const Term is_null{.column = 0, .op = Comparison::kIsNull};
  EXPECT_TRUE(Predicate::TermMatches(is_null, Datum::Null()));
  EXPECT_FALSE(Predicate::TermMatches(is_null, Datum::Int64(0)));
}

// Random columns and predicates: small value ranges, so that equal values are common.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }

  Datum Value(PhysicalType type) {
    if (Below(5) == 0) {
      return Datum::Null();
    }
    const auto small = static_cast<int64_t>(Below(7)) - 3;
    switch (type) {
      case PhysicalType::kBool: return Datum::Bool(small > 0);
      case PhysicalType::kInt64: return Datum::Int64(small);
      case PhysicalType::kInt128: return Datum::Int128(static_cast<int128_t>(small) << 70);
      case PhysicalType::kFloat64: {
        constexpr double kValues[] = {-std::numeric_limits<double>::infinity(),
                                      -1.5,
                                      -0.0,
                                      0.0,
                                      2.25,
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
        return Datum::Float64(kValues[Below(7)]);
      }
      case PhysicalType::kBytes: {
        static constexpr std::string_view kValues[] = {"",
                                                       "a",
                                                       "ab",
                                                       "b",
                                                       "\xff",
                                                       std::string_view("\0", 1),
                                                       "a long value that is not stored inline"};
        return Datum::Bytes(kValues[Below(7)]);
      }
    }
    return Datum::Null();
  }

  Term MakeTerm(size_t column, PhysicalType type) {
    Term term{.column = column, .op = static_cast<Comparison>(Below(9))};
    const bool no_constant = term.op == Comparison::kIsNull || term.op == Comparison::kIsNotNull;
    const size_t constants = term.op == Comparison::kIn ? Below(5) : (no_constant ? 0 : 1);
    term.constants = Row(constants);
    for (size_t i = 0; i < constants; ++i) {
      term.constants.Set(i, Value(type));
    }
    return term;
  }

 private:
  std::mt19937_64 random_;
};

TEST(PredicateProperty, FilterKeepsExactlyTheRowsThatMatch) {
  Generator generator(TestSeed());
  constexpr PhysicalType kTypes[] = {PhysicalType::kBool, PhysicalType::kInt64,
                                     PhysicalType::kInt128, PhysicalType::kFloat64,
                                     PhysicalType::kBytes};
  uint64_t kept_in_all = 0;
  for (int round = 0; round < 2000; ++round) {
    // Relation column c stands at slots[c] of the batch.
    const std::vector<size_t> slots = {2, 0, 4, 1, 3};
    std::vector<PhysicalType> batch_types(5);
    for (size_t c = 0; c < 5; ++c) {
      batch_types[slots[c]] = kTypes[c];
    }
    ColumnBatch batch(batch_types);
    const size_t rows = generator.Below(40);
    for (size_t slot = 0; slot < 5; ++slot) {
      for (size_t row = 0; row < rows; ++row) {
        batch.mutable_column(slot).Append(generator.Value(batch_types[slot]));
      }
    }
    batch.SetNumRows(rows);
    std::vector<Term> terms;
    for (size_t t = generator.Below(4); t > 0; --t) {
      const size_t column = generator.Below(5);
      terms.push_back(generator.MakeTerm(column, kTypes[column]));
    }
    const std::vector<Term> as_given = terms;
    const Predicate predicate(std::move(terms));

    std::vector<uint32_t> expected;
    std::vector<uint32_t> selection;
    for (uint32_t row = 0; row < rows; ++row) {
      if (generator.Below(10) == 0) {
        continue;  // not selected to begin with
      }
      selection.push_back(row);
      const auto value_of = [&](size_t column) { return batch.column(slots[column]).at(row); };
      const bool matches = predicate.Matches(value_of);
      // Sorting the constants of IN terms changes nothing.
      EXPECT_EQ(matches, std::all_of(as_given.begin(), as_given.end(), [&](const Term& term) {
                  return Predicate::TermMatches(term, value_of(term.column));
                }));
      if (matches) {
        expected.push_back(row);
      }
    }
    selection.resize(predicate.Filter(batch, slots, selection));
    ASSERT_EQ(selection, expected) << "round " << round;
    kept_in_all += selection.size();
  }
  EXPECT_GT(kept_in_all, 1000U);
}

}  // namespace
}  // namespace varve

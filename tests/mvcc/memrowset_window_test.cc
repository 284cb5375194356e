// Reads of a MemRowSet at timestamps and over windows, against the model (R1 to R9, R11).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "mvcc/memrowset.h"
#include "tests/base/random_values.h"
#include "tests/mvcc/memrowset_model.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kA = 0;
constexpr size_t kB = 1;
constexpr size_t kC = 2;

// A row's life in letters, each at its own timestamp: I insert, P pre-image, U update of a and b,
// V update of b to NULL, D delete, R insert that revives. The first letter is at 10, the next at
// 20, …; a '=' puts the next one at the same timestamp.
void PlayLife(const std::string& life, CheckedRowSet* checked) {
  Timestamp at = 0;
  bool same = false;
  for (const char letter : life) {
    if (letter == '=') {
      same = true;
      continue;
    }
    at += same ? 0 : 10;
    same = false;
    const auto number = static_cast<int64_t>(at);
    const std::vector<Datum> cells = {Int(number), Text(life), Int(-number)};
    switch (letter) {
      case 'I':
      case 'R': checked->Insert(at, life, cells); break;
      case 'P': checked->InsertPreImage(at, life, cells); break;
      case 'U': checked->Update(at, life, {{kA, Int(number + 1)}, {kB, Text(StrCat(at))}}); break;
      case 'V': checked->Update(at, life, {{kB, Datum::Null()}}); break;
      case 'D': checked->Delete(at, life); break;
      default: FAIL() << letter;
    }
  }
}

// Every life of up to `letters` letters, also with two letters at one timestamp.
void AddLives(const std::string& life, int letters, std::vector<std::string>* lives) {
  lives->push_back(life);
  if (letters == 0) {
    return;
  }
  const bool ghost = life.back() == 'D';
  for (const char next : std::string_view(ghost ? "R" : "UVD")) {
    AddLives(life + next, letters - 1, lives);
    if (life.find('=') == std::string::npos) {
      AddLives(life + "=" + next, letters - 1, lives);
    }
  }
}

class MemRowSetWindowTest : public ::testing::Test {
 protected:
  void ExpectAsModel(const MemRowSetScan& scan) {
    ASSERT_EQ(ScanLines(checked_.rows(), scan), checked_.model().Scan(scan))
        << "window (" << (scan.snap_to_exclude.has_value() ? StrCat(*scan.snap_to_exclude) : "-")
        << ", " << scan.snap_to_include << "]"
        << (scan.include_deleted_rows ? " with deleted rows" : "");
  }

  // All windows over the timestamps and between them, closed, empty and open.
  void ExpectAllWindowsAsModel(const std::vector<size_t>& projection) {
    for (Timestamp to = 0; to <= 65; to += 5) {
      for (const bool include_deleted : {false, true}) {
        MemRowSetScan scan = {.projection = projection,
                              .snap_to_include = to,
                              .include_deleted_rows = include_deleted};
        ASSERT_NO_FATAL_FAILURE(ExpectAsModel(scan));
        for (Timestamp from = 0; from <= to; from += 5) {
          scan.snap_to_exclude = from;
          ASSERT_NO_FATAL_FAILURE(ExpectAsModel(scan));
        }
      }
    }
  }

  CheckedRowSet checked_{SchemaOf("a:bigint b:varchar? c:bigint")};
};

// R1 to R9 and R11, over every order of INSERT, UPDATE, DELETE and REINSERT.
TEST_F(MemRowSetWindowTest, EveryWindowOverEveryLifeIsAsInTheModel) {
  std::vector<std::string> lives;
  AddLives("I", 4, &lives);
  AddLives("P", 3, &lives);
  for (const std::string& life : lives) {
    ASSERT_NO_FATAL_FAILURE(PlayLife(life, &checked_));
  }
  ASSERT_GT(lives.size(), 300U);
  for (const std::vector<size_t>& projection :
       {std::vector<size_t>{kA, kB, kC, kIsDeletedColumn}, std::vector<size_t>{kB},
        std::vector<size_t>{kC, kIsDeletedColumn, kA, kC}, std::vector<size_t>{}}) {
    ASSERT_NO_FATAL_FAILURE(ExpectAllWindowsAsModel(projection));
  }
  checked_.rows().Freeze();
  ASSERT_NO_FATAL_FAILURE(ExpectAllWindowsAsModel({kIsDeletedColumn, kB, kA}));
}

// The rules one by one, in literals: what the model says must be right, too.
TEST_F(MemRowSetWindowTest, TheRulesOneByOne) {
  const auto lines = [this](const std::string& life, std::optional<Timestamp> from, Timestamp to,
                            bool include_deleted) {
    MemRowSetScan scan = {.projection = {kA, kIsDeletedColumn},
                          .lower = life,
                          .upper = life + '\0',
                          .snap_to_exclude = from,
                          .snap_to_include = to,
                          .include_deleted_rows = include_deleted};
    std::vector<std::string> cells;
    for (const std::string& line : ScanLines(checked_.rows(), scan)) {
      cells.push_back(line.substr(line.find(' ') + 1));
    }
    return cells;
  };
  for (const char* life : {"I", "IU", "ID", "IDR", "IUD", "IDRD"}) {
    PlayLife(life, &checked_);
  }

  // R7: too new. R6: excluded, and nothing happened since.
  EXPECT_THAT(lines("I", std::nullopt, 9, true), IsEmpty());
  EXPECT_THAT(lines("I", 10, 30, true), IsEmpty());
  EXPECT_THAT(lines("I", 9, 10, false), ElementsAre("10-10: 10 false"));
  // Empty windows.
  EXPECT_THAT(lines("I", 10, 10, true), IsEmpty());
  EXPECT_THAT(lines("IU", 15, 15, true), IsEmpty());
  // R2: the change before the window is in the cells, and is no change of the window.
  EXPECT_THAT(lines("IU", 20, 30, true), IsEmpty());
  EXPECT_THAT(lines("IUD", 20, 30, true), ElementsAre("10-30: 21 true"));
  // R4: born and dead in a closed window; an open one shows the ghost.
  EXPECT_THAT(lines("ID", 5, 20, true), IsEmpty());
  EXPECT_THAT(lines("ID", std::nullopt, 20, true), ElementsAre("10-20: 10 true"));
  EXPECT_THAT(lines("ID", std::nullopt, 20, false), IsEmpty());
  // R4: dead at both ends, though it lived between them. R3.
  EXPECT_THAT(lines("IDRD", 20, 40, true), IsEmpty());
  // R5
  EXPECT_THAT(lines("ID", 10, 20, true), ElementsAre("10-20: 10 true"));
  EXPECT_THAT(lines("ID", 10, 20, false), IsEmpty());
  EXPECT_THAT(lines("IDRD", 30, 40, true), ElementsAre("10-40: 30 true"));
  // Dead, then revived.
  EXPECT_THAT(lines("IDR", 20, 30, false), ElementsAre("10-30: 30 false"));
  EXPECT_THAT(lines("IDR", 10, 30, false), ElementsAre("10-30: 30 false"));
  // R9: a change behind the window is not replayed, and neither is what follows it.
  EXPECT_THAT(lines("IUD", 5, 25, true), ElementsAre("10-20: 21 false"));
  EXPECT_THAT(lines("IUD", 5, 15, true), ElementsAre("10-10: 10 false"));
}

// R11: random columns of every type, NULLs, partial updates, revivals, windows, bounds, projections
// and batch sizes together.
TEST(MemRowSetRandomWindowTest, RandomScansAreAsInTheModel) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    const std::vector<PhysicalType> types = random.Types(random.Below(9));
    std::vector<ColumnSchema> columns;
    for (size_t i = 0; i < types.size(); ++i) {
      static constexpr TypeKind kKinds[] = {TypeKind::kBoolean, TypeKind::kInt64, TypeKind::kInt128,
                                            TypeKind::kFloat64, TypeKind::kBlob};
      columns.push_back({.name = StrCat("c", i),
                         .type = kKinds[static_cast<size_t>(types[i])],
                         .field = static_cast<uint32_t>(random.OneIn(4) ? 9'000 + i : i + 1),
                         .nullable = random.OneIn(2)});
    }
    const auto value = [&](size_t column) {
      return columns[column].nullable ? random.Next(types[column]) : random.NonNull(types[column]);
    };
    CheckedRowSet checked(std::make_shared<const Schema>(columns));
    std::vector<std::string> keys;
    for (size_t i = 0; i < 1 + random.Below(80); ++i) {
      keys.push_back(StrCat(random.OneIn(2) ? "k" : "a longer key ", random.Below(1'000)));
    }

    Timestamp now = 1;
    for (size_t i = 0; i < 600; ++i) {
      now += random.OneIn(3) ? 0 : 1;
      const std::string& key = keys[random.Below(keys.size())];
      if (checked.model().Presence(key) != RowPresence::kLive) {
        std::vector<Datum> cells;
        for (size_t column = 0; column < types.size(); ++column) {
          cells.push_back(value(column));
        }
        checked.Insert(now, key, cells);
      } else if (random.OneIn(4)) {
        checked.Delete(now, key);
      } else if (!types.empty()) {
        ModelUpdate update;
        for (size_t n = 1 + random.Below(3); n > 0; --n) {
          const size_t column = random.Below(types.size());
          update.emplace_back(column, value(column));
        }
        checked.Update(now, key, update);
      }
    }
    ASSERT_EQ(checked.rows().num_rows(), checked.model().num_rows());
    ASSERT_EQ(checked.rows().live_row_count(), checked.model().live_row_count());
    for (const std::string& key : keys) {
      ASSERT_EQ(checked.rows().CheckRowPresent(RowKeyProbe(key)), checked.model().Presence(key));
    }

    for (int i = 0; i < 60; ++i) {
      MemRowSetScan scan = {.snap_to_include = random.Below(now + 2),
                            .include_deleted_rows = random.OneIn(2),
                            .batch_rows = 1 + random.Below(random.OneIn(2) ? 5 : 200)};
      for (size_t n = random.Below(6); n > 0; --n) {
        scan.projection.push_back(types.empty() || random.OneIn(5) ? kIsDeletedColumn
                                                                   : random.Below(types.size()));
      }
      if (random.OneIn(2)) {
        scan.snap_to_exclude = random.Below(scan.snap_to_include + 1);
      }
      if (random.OneIn(3)) {
        scan.lower = keys[random.Below(keys.size())];
      }
      if (random.OneIn(3)) {
        scan.upper = keys[random.Below(keys.size())];
      }
      ASSERT_EQ(ScanLines(checked.rows(), scan), checked.model().Scan(scan)) << "round " << round;
    }
  }
}

// The same block and iterator give right rows when blocks of changed and of unchanged rows follow
// each other.
TEST(MemRowSetRandomWindowTest, ABlockIsReusedAmongDifferentScans) {
  CheckedRowSet checked(SchemaOf("a:bigint? b:varchar?"));
  for (int i = 0; i < 100; ++i) {
    checked.Insert(1, StrCat("key ", 100 + i), std::vector<Datum>{Int(i), Text(StrCat("t", i))});
  }
  for (int i = 30; i < 60; ++i) {
    checked.Update(2, StrCat("key ", 100 + i), {{0, Datum::Null()}, {1, Text("changed")}});
  }
  RowBlock block;
  for (const std::vector<size_t>& projection :
       {std::vector<size_t>{0, 1}, std::vector<size_t>{1}, std::vector<size_t>{1, 0}}) {
    const auto iterator = checked.rows().NewIterator({.projection = projection, .batch_rows = 10});
    int row = 0;
    while (iterator->Next(&block)) {
      for (size_t i = 0; i < block.num_rows; ++i, ++row) {
        const bool changed = row >= 30 && row < 60;
        for (size_t column = 0; column < projection.size(); ++column) {
          const std::string expected = projection[column] == 0
                                           ? (changed ? "NULL" : StrCat(row))
                                           : (changed ? "'changed'" : StrCat("'t", row, "'"));
          ASSERT_EQ(TextOf(block.columns.column(column).at(i)), expected) << "row " << row;
        }
      }
    }
    ASSERT_EQ(row, 100);
  }
}

}  // namespace
}  // namespace varve

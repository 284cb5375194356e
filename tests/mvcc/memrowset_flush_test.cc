#include "mvcc/memrowset_flush.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
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

std::vector<std::string> TextsOf(std::span<const Datum> cells) {
  std::vector<std::string> texts;
  for (const Datum& cell : cells) {
    texts.push_back(TextOf(cell));
  }
  return texts;
}

// "k@10: 1 NULL | 20 UPDATE 1=…": key, insertion, base cells, then each change.
std::string LineOf(const FlushedRow& row) {
  std::string line = StrCat(row.key, "@", row.inserted_at, ": ", StrJoin(TextsOf(row.base), " "));
  for (const Redo& redo : row.redos) {
    StrAppend(&line, " | ", redo.at, " ", redo.list.ToString());
  }
  return line;
}

std::vector<std::string> FlushLines(const MemRowSet& rows, MemRowSetFlushOptions options) {
  auto iterator = rows.NewFlushIterator(std::move(options));
  EXPECT_TRUE(iterator.ok()) << iterator.status();
  std::vector<std::string> lines;
  while (const FlushedRow* const row = (*iterator)->Next()) {
    lines.push_back(LineOf(*row));
  }
  EXPECT_EQ((*iterator)->Next(), nullptr) << "the end stays the end";
  return lines;
}

std::vector<Datum> Cells(std::initializer_list<Datum> cells) {
  return cells;
}

// F1
TEST(MemRowSetFlushTest, AnEmptyRowSetGivesNothing) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  EXPECT_THAT(FlushLines(*rows, {}), IsEmpty());
}

// F2: base rows and chains as they are, in key order, ghosts included.
TEST(MemRowSetFlushTest, GivesBaseRowsAndTheirChains) {
  CheckedRowSet checked(SchemaOf("a:bigint? b:varchar?"));
  checked.Insert(10, "live", Cells({Int(1), Text("x")}));
  checked.Update(20, "live", {{0, Datum::Null()}});
  checked.Update(30, "live", {{1, Text("yz")}});
  checked.Insert(10, "ghost", Cells({Datum::Null(), Text("")}));
  checked.Delete(15, "ghost");
  checked.InsertPreImage(3, "old", Cells({Int(7), Datum::Null()}));
  checked.Delete(40, "old");
  checked.Insert(41, "old", Cells({Datum::Null(), Text("z")}));
  checked.Insert(11, "plain", Cells({Int(2), Datum::Null()}));
  const std::vector<std::string> expected = {
      "ghost@10: NULL '' | 15 DELETE",
      "live@10: 1 'x' | 20 UPDATE 1=NULL | 30 UPDATE 2=797a",
      "old@3: 7 NULL | 40 DELETE | 41 REINSERT 1=NULL 2=7a",
      "plain@11: 2 NULL",
  };
  EXPECT_EQ(FlushLines(checked.rows(), {}), expected);
  checked.rows().Freeze();
  EXPECT_EQ(FlushLines(checked.rows(), {}), expected);
}

// F3
TEST(MemRowSetFlushTest, ChangesAfterTheFlushAreNotPartOfIt) {
  CheckedRowSet checked(SchemaOf("a:bigint"));
  checked.Insert(10, "a", Cells({Int(1)}));
  checked.Update(20, "a", {{0, Int(2)}});
  checked.Delete(30, "a");
  checked.Insert(25, "b", Cells({Int(3)}));
  checked.Insert(26, "c", Cells({Int(4)}));
  EXPECT_THAT(FlushLines(checked.rows(), {.flush_at = 9}), IsEmpty());
  EXPECT_THAT(FlushLines(checked.rows(), {.flush_at = 19}), ElementsAre("a@10: 1"));
  EXPECT_THAT(FlushLines(checked.rows(), {.flush_at = 25}),
              ElementsAre("a@10: 1 | 20 UPDATE 1=0200000000000000", "b@25: 3"));
}

// F5
TEST(MemRowSetFlushTest, ARowInsertedAndDeletedByOneOperationIsOmitted) {
  CheckedRowSet checked(SchemaOf("a:bigint"));
  checked.Insert(10, "omitted", Cells({Int(1)}));
  checked.Delete(10, "omitted");
  checked.Insert(10, "also omitted", Cells({Int(1)}));
  checked.Update(10, "also omitted", {{0, Int(2)}});
  checked.Delete(10, "also omitted");
  checked.Insert(10, "later deleted", Cells({Int(1)}));
  checked.Delete(11, "later deleted");
  checked.Insert(10, "at once revived", Cells({Int(1)}));
  checked.Delete(10, "at once revived");
  checked.Insert(10, "at once revived", Cells({Int(2)}));
  checked.Insert(10, "later revived", Cells({Int(1)}));
  checked.Delete(10, "later revived");
  checked.Insert(11, "later revived", Cells({Int(2)}));
  EXPECT_THAT(FlushLines(checked.rows(), {.flush_at = 11}),
              ElementsAre("at once revived@10: 1 | 10 DELETE | 10 REINSERT 1=0200000000000000",
                          "later deleted@10: 1 | 11 DELETE",
                          "later revived@10: 1 | 10 DELETE | 11 REINSERT 1=0200000000000000"));
  // What revives it is not part of this flush.
  EXPECT_THAT(FlushLines(checked.rows(), {.flush_at = 10}),
              ElementsAre("at once revived@10: 1 | 10 DELETE | 10 REINSERT 1=0200000000000000",
                          "later deleted@10: 1"));
}

// F6: bytes are where the row set has them, from call to call.
TEST(MemRowSetFlushTest, BytesAreNotCopied) {
  CheckedRowSet checked(SchemaOf("a:varchar"));
  checked.Insert(1, "k", Cells({Text("base")}));
  checked.Update(2, "k", {{0, Text("changed")}});
  auto first = checked.rows().NewFlushIterator({}).value();
  auto second = checked.rows().NewFlushIterator({}).value();
  const FlushedRow* const a = first->Next();
  const FlushedRow* const b = second->Next();
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(a->base[0].bytes().data(), b->base[0].bytes().data());
  EXPECT_EQ(a->redos[0].list.bytes().data(), b->redos[0].list.bytes().data());
}

// A6
TEST(MemRowSetFlushTest, AnIteratorKeepsTheRowSet) {
  auto rows = MemRowSet::Create(SchemaOf("a:varchar"));
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(rows->Insert(1, RowKeyProbe(key), Cells({Text("text")})).ok());
  }
  auto iterator = rows->NewFlushIterator({}).value();
  rows.reset();
  std::vector<std::string> lines;
  while (const FlushedRow* const row = iterator->Next()) {
    lines.push_back(LineOf(*row));
  }
  EXPECT_THAT(lines, ElementsAre("a@1: 'text'", "b@1: 'text'", "c@1: 'text'"));
}

// F4: columns are matched by id, whatever their order and name.
TEST(MemRowSetFlushTest, ChainsAreProjectedToAnotherSchema) {
  CheckedRowSet checked(SchemaOf("a:bigint gone:varchar? c:boolean?"));
  checked.Insert(10, "k", Cells({Int(1), Text("x"), Datum::Bool(true)}));
  checked.Update(20, "k", {{0, Int(2)}, {1, Text("y")}});
  checked.Update(30, "k", {{1, Text("only the column that is gone")}});
  checked.Update(40, "k", {{2, Datum::Null()}});
  checked.Delete(50, "k");
  checked.Insert(60, "k", Cells({Int(3), Text("z"), Datum::Bool(false)}));
  EXPECT_THAT(
      FlushLines(checked.rows(),
                 {.schema = SchemaOf("renamed#3:boolean? new#9:bigint? a#1:bigint")}),
      ElementsAre("k@10: true NULL 1 | 20 UPDATE 1=0200000000000000 | 40 UPDATE 3=NULL | 50 DELETE"
                  " | 60 REINSERT 1=0300000000000000 3=00"));
  // The same columns in another order, and one more than there were: nothing is dropped.
  EXPECT_THAT(
      FlushLines(checked.rows(),
                 {.flush_at = 30, .schema = SchemaOf("c#3:boolean? b#2:varchar? a#1:bigint")}),
      ElementsAre(StrCat("k@10: true 'x' 1 | 20 UPDATE 1=0200000000000000 2=79 | 30 UPDATE 2=",
                         BytesToHexString("only the column that is gone"))));
}

// F4: what makes a row dead or alive survives, whatever columns are gone.
TEST(MemRowSetFlushTest, AnEmptyProjectedReinsertStillRevivesTheRow) {
  CheckedRowSet checked(SchemaOf("gone:bigint"));
  checked.Insert(10, "k", Cells({Int(1)}));
  checked.Update(20, "k", {{0, Int(2)}});
  checked.Delete(30, "k");
  checked.Insert(40, "k", Cells({Int(3)}));
  const auto schema = SchemaOf("new#9:bigint?");
  auto iterator = checked.rows().NewFlushIterator({.schema = schema}).value();
  const FlushedRow* const row = iterator->Next();
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(LineOf(*row), "k@10: NULL | 30 DELETE | 40 REINSERT");

  const RowLayout layout(*schema);
  for (const auto& [at, deleted, written_at] : {std::tuple(Timestamp{29}, false, Timestamp{10}),
                                                std::tuple(Timestamp{30}, true, Timestamp{30}),
                                                std::tuple(Timestamp{40}, false, Timestamp{40})}) {
    std::vector<Datum> cells(row->base.begin(), row->base.end());
    const RowState state = RollForward(layout, *row, at, cells);
    EXPECT_EQ(state.deleted, deleted) << at;
    EXPECT_EQ(state.written_at, written_at) << at;
    EXPECT_THAT(TextsOf(cells), ElementsAre("NULL")) << at;
  }
}

// C3, F4: a change of a column that the row set does not know was not checked against its type. It
// must not come to life in a schema that has the column.
TEST(MemRowSetFlushTest, UnknownColumnsStayUnknown) {
  CheckedRowSet checked(SchemaOf("a:bigint"));
  checked.Insert(10, "k", Cells({Int(1)}));
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(2, Text("no number"));
  ASSERT_TRUE(checked.rows().Mutate(20, RowKeyProbe("k"), encoder.list()).ok());
  EXPECT_THAT(FlushLines(checked.rows(), {.schema = SchemaOf("a:bigint b#2:bigint?")}),
              ElementsAre("k@10: 1 NULL"));
}

TEST(MemRowSetFlushTest, AColumnCannotChangeItsPhysicalType) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  const auto iterator = rows->NewFlushIterator({.schema = SchemaOf("b:varchar")});
  EXPECT_EQ(iterator.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(iterator.status()), "column b (id 1) was bigint and cannot become varchar");
}

// Base and chain, rolled forward to any timestamp, are what a scan at that timestamp shows.
TEST(MemRowSetFlushTest, RolledForwardEqualsAScan) {
  RandomValues random(TestSeed());
  const auto schema = SchemaOf("a:bigint? b:varchar? c:hugeint? d:double? e:boolean?");
  const RowLayout layout(*schema);
  const auto type_of = [&](size_t column) { return layout.column(column).type; };
  CheckedRowSet checked(schema);
  Timestamp now = 1;
  for (int i = 0; i < 2'000; ++i, ++now) {
    const std::string key = StrCat("key ", random.Below(60));
    if (checked.model().Presence(key) != RowPresence::kLive) {
      std::vector<Datum> cells;
      for (size_t column = 0; column < schema->num_columns(); ++column) {
        cells.push_back(random.Next(type_of(column)));
      }
      checked.Insert(now, key, cells);
    } else if (random.OneIn(4)) {
      checked.Delete(now, key);
    } else {
      const size_t column = random.Below(schema->num_columns());
      checked.Update(now, key, {{column, random.Next(type_of(column))}});
    }
  }
  for (Timestamp at = 0; at <= now; at += 1 + random.Below(200)) {
    std::vector<std::string> lines;
    auto iterator = checked.rows().NewFlushIterator({.flush_at = at}).value();
    while (const FlushedRow* const row = iterator->Next()) {
      std::vector<Datum> cells(row->base.begin(), row->base.end());
      const RowState state = RollForward(layout, *row, at, cells);
      std::vector<std::string> texts = TextsOf(cells);
      texts.push_back(state.deleted ? "true" : "false");
      lines.push_back(varve::LineOf(row->key, row->inserted_at, state.written_at, texts));
    }
    const MemRowSetScan scan = {.projection = {0, 1, 2, 3, 4, kIsDeletedColumn},
                                .snap_to_include = at,
                                .include_deleted_rows = true};
    ASSERT_EQ(lines, checked.model().Scan(scan)) << "at " << at;
    ASSERT_EQ(lines, ScanLines(checked.rows(), scan)) << "at " << at;
  }
}

}  // namespace
}  // namespace varve

#include "mvcc/memrowset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/key_codec.h"
#include "base/strings.h"
#include "tests/base/random_values.h"
#include "tests/mvcc/memrowset_model.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Status InsertRow(MemRowSet* rows, Timestamp at, std::string_view key,
                       const std::vector<Datum>& cells) {
  return rows->Insert(at, RowKeyProbe(key), cells);
}

absl::Status UpdateRow(MemRowSet* rows, Timestamp at, std::string_view key, uint32_t id,
                       const Datum& value) {
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(id, value);
  return rows->Mutate(at, RowKeyProbe(key), encoder.list());
}

absl::Status DeleteRow(MemRowSet* rows, Timestamp at, std::string_view key) {
  return rows->Mutate(at, RowKeyProbe(key), RowChangeList::Delete());
}

// The cells of a row as of a timestamp: "1 'x'", "deleted 1 'x'", or "none".
std::string ImageText(const MemRowSet& rows, std::string_view key, Timestamp at = kMaxTimestamp) {
  const std::optional<RowImage> image = rows.ImageAt(RowKeyProbe(key), at);
  if (!image.has_value()) {
    return "none";
  }
  std::vector<std::string> cells;
  for (const Datum& cell : image->cells.values()) {
    cells.push_back(TextOf(cell));
  }
  return StrCat(image->deleted ? "deleted " : "", StrJoin(cells, " "));
}

// The keys and first cells that a scan at a timestamp returns: "616263: 5".
std::vector<std::string> ScanAt(const MemRowSet& rows, Timestamp at) {
  return ScanLines(rows, {.projection = {0}, .snap_to_include = at});
}

std::string CompoundKey(int64_t handle, uint64_t begin) {
  std::string key;
  AppendIntHandle(handle, &key);
  PutBigEndian(&key, begin);
  return key;
}

TEST(MemRowSetTest, AnEmptyOneHasNothing) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  EXPECT_EQ(rows->num_rows(), 0U);
  EXPECT_EQ(rows->live_row_count(), 0U);
  EXPECT_EQ(rows->oldest_change(), std::nullopt);
  EXPECT_EQ(rows->newest_change(), std::nullopt);
  EXPECT_EQ(rows->CheckRowPresent(RowKeyProbe("k")), RowPresence::kAbsent);
  EXPECT_THAT(ScanAt(*rows, kMaxTimestamp), IsEmpty());
}

// R: order. Keys of all lengths, inline in the tree's slots and not, in any order of insertion.
TEST(MemRowSetTest, RowsComeInKeyOrder) {
  RandomValues random(TestSeed());
  CheckedRowSet checked(SchemaOf("a:bigint"));
  for (int i = 0; i < 3'000; ++i) {
    std::string key = random.Bytes();
    if (random.OneIn(50)) {
      key.append(1'000, static_cast<char>(random.Bits()));
    }
    if (checked.model().Presence(key) == RowPresence::kAbsent) {
      checked.Insert(1, key, std::vector<Datum>{Int(i)});
    }
  }
  for (const size_t batch_rows : {1U, 13U, 14U, 1024U, 100'000U}) {
    const MemRowSetScan scan = {.projection = {0}, .batch_rows = batch_rows};
    ASSERT_EQ(ScanLines(checked.rows(), scan), checked.model().Scan(scan));
  }
}

// R: compound key. Rows sort by handle, then by begin.
TEST(MemRowSetTest, CompoundKeysSortByTheirParts) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 1, CompoundKey(2, 1), {Int(21)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, CompoundKey(-1, 300), {Int(-1300)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, CompoundKey(1, 300), {Int(1300)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, CompoundKey(1, 7), {Int(17)}).ok());

  RowBlock block;
  ASSERT_TRUE(rows->NewIterator({.projection = {0}})->Next(&block));
  EXPECT_THAT(block.columns.column(0).int64s(), ElementsAre(-1300, 17, 1300, 21));

  // The versions of one handle are a range of keys.
  const auto versions = rows->NewIterator(
      {.projection = {0}, .lower = CompoundKey(1, 0), .upper = CompoundKey(2, 0)});
  ASSERT_TRUE(versions->Next(&block));
  EXPECT_THAT(block.columns.column(0).int64s(), ElementsAre(17, 1300));
}

// W2: a live row is not replaced.
TEST(MemRowSetTest, ADuplicateIsRefusedAndChangesNothing) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 5, "key", {Int(1)}).ok());
  const absl::Status status = InsertRow(rows.get(), 6, "key", {Int(2)});
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(MessageOf(status), "the row with key 6b6579 exists");
  EXPECT_EQ(ImageText(*rows, "key"), "1");
  EXPECT_EQ(rows->num_rows(), 1U);
  EXPECT_EQ(rows->live_row_count(), 1U);
  EXPECT_EQ(rows->num_mutations(), 0U);
  EXPECT_EQ(rows->newest_change(), 5U);
}

// W4: update; R: insert and update at each snapshot.
TEST(MemRowSetTest, InsertAndUpdatesShowFromTheirTimestampOn) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 10, "k", {Int(0)}).ok());
  for (Timestamp at = 11; at < 20; ++at) {
    ASSERT_TRUE(UpdateRow(rows.get(), at, "k", 1, Int(static_cast<int64_t>(at))).ok());
  }
  EXPECT_THAT(ScanAt(*rows, 9), IsEmpty());
  EXPECT_EQ(ImageText(*rows, "k", 9), "none");
  EXPECT_THAT(ScanAt(*rows, 10), ElementsAre("6b 10-10: 0"));
  for (Timestamp at = 11; at < 20; ++at) {
    EXPECT_THAT(ScanAt(*rows, at), ElementsAre(StrCat("6b 10-", at, ": ", at)));
    EXPECT_EQ(ImageText(*rows, "k", at), StrCat(at));
  }
  EXPECT_THAT(ScanAt(*rows, kMaxTimestamp), ElementsAre("6b 10-19: 19"));
}

// W4: an absent row and a ghost are NotFound, and nothing is recorded.
TEST(MemRowSetTest, AMissingRowIsNotChanged) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 5, "ghost", {Int(1)}).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 6, "ghost").ok());

  EXPECT_EQ(MessageOf(DeleteRow(rows.get(), 7, "other")),
            "the row with key 6f74686572 is not in this row set");
  EXPECT_EQ(MessageOf(DeleteRow(rows.get(), 7, "ghost")), "the row with key 67686f7374 is deleted");
  for (const char* key : {"other", "ghost"}) {
    EXPECT_EQ(UpdateRow(rows.get(), 7, key, 1, Int(2)).code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(DeleteRow(rows.get(), 7, key).code(), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(rows->num_rows(), 1U);
  EXPECT_EQ(rows->num_mutations(), 1U);
  EXPECT_EQ(rows->newest_change(), 6U);
  EXPECT_EQ(ImageText(*rows, "ghost"), "deleted 1");
}

// A7, W1: nothing points into the caller's memory.
TEST(MemRowSetTest, BytesAreRelocated) {
  const auto rows = MemRowSet::Create(SchemaOf("a:varchar? b:bigint c:varchar"));
  std::string key = "a key that is stored";
  std::string first = "first";
  std::string second = std::string(5'000, 's');
  ASSERT_TRUE(InsertRow(rows.get(), 1, key, {Text(first), Int(1), Text(second)}).ok());
  ASSERT_TRUE(UpdateRow(rows.get(), 2, key, 1, Text(second)).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 3, key).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 4, key, {Datum::Null(), Int(2), Text(first)}).ok());

  const std::string asked_key = key;
  for (std::string* const text : {&key, &first, &second}) {
    text->assign(text->size(), '!');
  }

  const std::string long_text = StrCat("'", std::string(5'000, 's'), "'");
  EXPECT_EQ(ImageText(*rows, asked_key, 1), StrCat("'first' 1 ", long_text));
  EXPECT_EQ(ImageText(*rows, asked_key, 2), StrCat(long_text, " 1 ", long_text));
  EXPECT_EQ(ImageText(*rows, asked_key, 4), "NULL 2 'first'");
}

// W2: a ghost is revived with all of its cells; each state stays visible at its time.
TEST(MemRowSetTest, DeletedRowsAreRevived) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint b:varchar?"));
  ASSERT_TRUE(InsertRow(rows.get(), 1, "k", {Int(1), Text("one")}).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 2, "k").ok());
  ASSERT_TRUE(InsertRow(rows.get(), 3, "k", {Int(3), Datum::Null()}).ok());
  ASSERT_TRUE(UpdateRow(rows.get(), 4, "k", 2, Text("four")).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 5, "k").ok());
  ASSERT_TRUE(InsertRow(rows.get(), 5, "k", {Int(6), Text("six")}).ok());

  EXPECT_EQ(rows->num_rows(), 1U) << "it is one entry of the tree all the time";
  EXPECT_EQ(rows->num_mutations(), 5U);
  EXPECT_EQ(ImageText(*rows, "k", 1), "1 'one'");
  EXPECT_EQ(ImageText(*rows, "k", 2), "deleted 1 'one'");
  EXPECT_EQ(ImageText(*rows, "k", 3), "3 NULL");
  EXPECT_EQ(ImageText(*rows, "k", 4), "3 'four'");
  EXPECT_EQ(ImageText(*rows, "k", 5), "6 'six'");
  EXPECT_THAT(ScanAt(*rows, 2), IsEmpty());
  EXPECT_THAT(ScanAt(*rows, 3), ElementsAre("6b 1-3: 3"));
}

// W5
TEST(MemRowSetTest, LiveCountFollowsDeletesAndRevivals) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(InsertRow(rows.get(), 1, key, {Int(1)}).ok());
  }
  EXPECT_EQ(rows->live_row_count(), 3U);
  ASSERT_TRUE(UpdateRow(rows.get(), 2, "a", 1, Int(2)).ok());
  EXPECT_EQ(rows->live_row_count(), 3U);
  ASSERT_TRUE(DeleteRow(rows.get(), 3, "a").ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 3, "c").ok());
  EXPECT_EQ(rows->live_row_count(), 1U);
  ASSERT_TRUE(InsertRow(rows.get(), 4, "a", {Int(4)}).ok());
  EXPECT_EQ(rows->live_row_count(), 2U);
  EXPECT_EQ(rows->num_rows(), 3U);
}

// W3: reviving a ghost is a change like any other: it counts and anchors.
TEST(MemRowSetTest, EveryKindOfChangeSetsTheAnchor) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(rows->InsertPreImage(3, RowKeyProbe("k"), std::vector<Datum>{Int(1)}).ok());
  EXPECT_EQ(rows->oldest_change(), std::nullopt) << "a pre-image is no change";
  ASSERT_TRUE(DeleteRow(rows.get(), 20, "k").ok());
  EXPECT_EQ(rows->oldest_change(), 20U);
  EXPECT_EQ(rows->newest_change(), 20U);
  ASSERT_TRUE(InsertRow(rows.get(), 25, "k", {Int(2)}).ok());
  EXPECT_EQ(rows->newest_change(), 25U);
  ASSERT_TRUE(UpdateRow(rows.get(), 27, "k", 1, Int(3)).ok());
  EXPECT_EQ(rows->newest_change(), 27U);
  // Of another row, and earlier: rows need not be changed in one order.
  ASSERT_TRUE(InsertRow(rows.get(), 11, "other", {Int(2)}).ok());
  EXPECT_EQ(rows->oldest_change(), 11U);
  EXPECT_EQ(rows->newest_change(), 27U);
  EXPECT_EQ(rows->num_mutations(), 3U);
}

TEST(MemRowSetTest, APreImageIsABaseRowThatChangesFollow) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(rows->InsertPreImage(3, RowKeyProbe("k"), std::vector<Datum>{Int(1)}).ok());
  EXPECT_EQ(rows->num_pre_images(), 1U);
  EXPECT_EQ(rows->live_row_count(), 1U);
  ASSERT_TRUE(UpdateRow(rows.get(), 9, "k", 1, Int(2)).ok());
  EXPECT_EQ(rows->num_mutations(), 1U);

  // Within (5, 9] the row is one that was changed, which was there before.
  EXPECT_THAT(ScanLines(*rows, {.projection = {0}, .snap_to_exclude = 5, .snap_to_include = 9}),
              ElementsAre("6b 3-9: 2"));
  EXPECT_THAT(ScanLines(*rows, {.projection = {0}, .snap_to_exclude = 3, .snap_to_include = 8}),
              IsEmpty());
  EXPECT_THAT(ScanAt(*rows, 8), ElementsAre("6b 3-3: 1"));

  EXPECT_EQ(rows->InsertPreImage(3, RowKeyProbe("k"), std::vector<Datum>{Int(1)}).code(),
            absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(DeleteRow(rows.get(), 10, "k").ok());
  EXPECT_EQ(MessageOf(rows->InsertPreImage(11, RowKeyProbe("k"), std::vector<Datum>{Int(1)})),
            "the row with key 6b has an image")
      << "a ghost is an image too";
  EXPECT_EQ(rows->num_pre_images(), 1U);
  EXPECT_EQ(rows->live_row_count(), 0U);
}

// W7
TEST(MemRowSetTest, ChangesOfARowComeInTimestampOrder) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 5, "k", {Int(1)}).ok());
  EXPECT_EQ(MessageOf(UpdateRow(rows.get(), 4, "k", 1, Int(2))),
            "the row with key 6b was changed at 5; a change at 4 comes too late");
  ASSERT_TRUE(UpdateRow(rows.get(), 5, "k", 1, Int(3)).ok()) << "one operation may change it twice";
  ASSERT_TRUE(DeleteRow(rows.get(), 8, "k").ok());
  EXPECT_EQ(InsertRow(rows.get(), 7, "k", {Int(4)}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(rows->CheckRowPresent(RowKeyProbe("k")), RowPresence::kGhost);
  EXPECT_EQ(rows->oldest_change(), 5U);
  EXPECT_EQ(rows->newest_change(), 8U);
  EXPECT_EQ(rows->num_mutations(), 2U);
}

TEST(MemRowSetTest, RowsThatDoNotFitTheSchemaAreRefused) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint b:varchar?"));
  struct Case {
    std::vector<Datum> cells;
    std::string error;
  };
  const std::vector<Case> cases = {
      {{Int(1)}, "a row has 2 cells, not 1"},
      {{Int(1), Text("x"), Int(2)}, "a row has 2 cells, not 3"},
      {{Datum::Null(), Text("x")}, "column a cannot be NULL"},
      {{Text("x"), Text("x")}, "column a holds a 64-bit integer, not bytes"},
      {{Int(1), Datum::Bool(true)}, "column b holds bytes, not a boolean"},
      {{Datum::Int128(1), Text("x")}, "column a holds a 64-bit integer, not a 128-bit integer"},
      {{Datum::Float64(1), Text("x")}, "column a holds a 64-bit integer, not a float"},
  };
  for (const Case& test : cases) {
    for (const absl::Status& status : {rows->Insert(1, RowKeyProbe("k"), test.cells),
                                       rows->InsertPreImage(1, RowKeyProbe("k"), test.cells)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(MessageOf(status), test.error);
    }
  }
  EXPECT_EQ(rows->num_rows(), 0U);
  EXPECT_EQ(rows->oldest_change(), std::nullopt);

  // The same when a ghost would be revived.
  ASSERT_TRUE(InsertRow(rows.get(), 1, "k", {Int(1), Text("x")}).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 2, "k").ok());
  EXPECT_EQ(InsertRow(rows.get(), 3, "k", {Int(1)}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(rows->live_row_count(), 0U);
}

TEST(MemRowSetTest, KeysHaveALimit) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  const std::string longest(RowKeyProbe::kMaxKeySize, 'k');
  const std::string too_long = longest + "k";
  ASSERT_TRUE(InsertRow(rows.get(), 1, longest, {Int(1)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, "", {Int(2)}).ok()) << "the empty key is one";
  for (const absl::Status& status :
       {InsertRow(rows.get(), 1, too_long, {Int(1)}), DeleteRow(rows.get(), 1, too_long)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(MessageOf(status), "a key has at most 65535 bytes, not 65536");
  }
  EXPECT_EQ(rows->CheckRowPresent(RowKeyProbe(too_long)), RowPresence::kAbsent);
  EXPECT_EQ(ImageText(*rows, longest), "1");
  EXPECT_EQ(ImageText(*rows, ""), "2");
  EXPECT_EQ(rows->num_rows(), 2U);
}

// C2: a list is checked before anything is done with it.
TEST(MemRowSetTest, CorruptChangesAreRefusedAndLeaveNoTrace) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint b:varchar?"));
  ASSERT_TRUE(InsertRow(rows.get(), 1, "k", {Int(1), Text("x")}).ok());
  const std::vector<std::pair<std::string, absl::StatusCode>> lists = {
      {"", absl::StatusCode::kDataLoss},
      {"\x09", absl::StatusCode::kDataLoss},
      {"\x02\x01", absl::StatusCode::kDataLoss},
      {"\x01", absl::StatusCode::kDataLoss},
      {"\x01\x02\x04xy", absl::StatusCode::kDataLoss},
      {std::string("\x01\x01\x00", 3), absl::StatusCode::kInvalidArgument},  // a is NULL
      {"\x01\x01\x03xy", absl::StatusCode::kInvalidArgument},                // a has 2 bytes
      {"\x03", absl::StatusCode::kInvalidArgument},                          // a REINSERT
  };
  for (const auto& [bytes, code] : lists) {
    EXPECT_EQ(rows->Mutate(2, RowKeyProbe("k"), RowChangeList(bytes)).code(), code)
        << BytesToHexString(bytes);
  }
  EXPECT_EQ(rows->num_mutations(), 0U);
  EXPECT_EQ(rows->newest_change(), 1U);
  EXPECT_EQ(ImageText(*rows, "k"), "1 'x'");
}

// C3
TEST(MemRowSetTest, ChangesOfUnknownColumnsAreKeptAndSkipped) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 1, "k", {Int(1)}).ok());
  ASSERT_TRUE(UpdateRow(rows.get(), 2, "k", 99, Text("new")).ok());
  EXPECT_THAT(ScanAt(*rows, 2), ElementsAre("6b 1-2: 1"));
}

// C4: a row can consist of its key.
TEST(MemRowSetTest, ASchemaWithoutColumnsHasRowsToo) {
  const auto rows = MemRowSet::Create(SchemaOf(""));
  ASSERT_TRUE(InsertRow(rows.get(), 1, "a", {}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, "b", {}).ok());
  ASSERT_TRUE(DeleteRow(rows.get(), 2, "a").ok());
  EXPECT_THAT(ScanLines(*rows, {}), ElementsAre("62 1-1: "));
  ASSERT_TRUE(InsertRow(rows.get(), 3, "a", {}).ok());
  EXPECT_THAT(ScanLines(*rows, {}), ElementsAre("61 1-3: ", "62 1-1: "));
  EXPECT_THAT(ScanLines(*rows, {.projection = {kIsDeletedColumn},
                                .snap_to_include = 2,
                                .include_deleted_rows = true}),
              ElementsAre("61 1-2: true", "62 1-1: false"));
}

// W9
TEST(MemRowSetTest, PresenceTellsAbsentLiveAndGhost) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  const RowKeyProbe key("k");
  EXPECT_EQ(rows->CheckRowPresent(key), RowPresence::kAbsent);
  ASSERT_TRUE(InsertRow(rows.get(), 1, "k", {Int(1)}).ok());
  EXPECT_EQ(rows->CheckRowPresent(key), RowPresence::kLive);
  ASSERT_TRUE(DeleteRow(rows.get(), 2, "k").ok());
  EXPECT_EQ(rows->CheckRowPresent(key), RowPresence::kGhost);
  ASSERT_TRUE(InsertRow(rows.get(), 3, "k", {Int(1)}).ok());
  EXPECT_EQ(rows->CheckRowPresent(key), RowPresence::kLive);
}

// R10
TEST(MemRowSetTest, BoundsAreInclusiveBelowAndExclusiveAbove) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  std::vector<std::string> keys;
  for (int64_t i = 0; i < 200; ++i) {
    keys.push_back(CompoundKey(i * 2, 0));
    ASSERT_TRUE(InsertRow(rows.get(), 1, keys.back(), {Int(i * 2)}).ok());
  }
  for (const bool frozen : {false, true}) {
    for (const size_t batch_rows : {1U, 7U, 14U, 1024U}) {
      for (int64_t from = -1; from < 402; from += 31) {
        for (int64_t to = from; to < 402; to += 29) {
          std::vector<int64_t> expected;
          for (int64_t i = std::max<int64_t>(0, from + from % 2); i < std::min<int64_t>(to, 400);
               i += 2) {
            expected.push_back(i);
          }
          std::vector<int64_t> found;
          const auto iterator = rows->NewIterator({.projection = {0},
                                                   .lower = CompoundKey(from, 0),
                                                   .upper = CompoundKey(to, 0),
                                                   .batch_rows = batch_rows});
          RowBlock block;
          while (iterator->Next(&block)) {
            const auto values = block.columns.column(0).int64s();
            found.insert(found.end(), values.begin(), values.end());
          }
          ASSERT_EQ(found, expected) << "[" << from << ", " << to << ")";
        }
      }
    }
    if (!frozen) {
      rows->Freeze();
    }
  }
}

// R8: a hidden row keeps its place in the block; the next block starts with all rows selected.
TEST(MemRowSetTest, HiddenRowsStayInTheBlock) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  ASSERT_TRUE(InsertRow(rows.get(), 1, "a", {Int(1)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 9, "b", {Int(2)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, "c", {Int(3)}).ok());
  ASSERT_TRUE(InsertRow(rows.get(), 1, "d", {Int(4)}).ok());
  const auto iterator =
      rows->NewIterator({.projection = {0}, .snap_to_include = 5, .batch_rows = 2});
  RowBlock block;
  ASSERT_TRUE(iterator->Next(&block));
  EXPECT_EQ(block.num_rows, 2U);
  EXPECT_THAT(block.selected, ElementsAre(1, 0));
  EXPECT_EQ(block.num_selected, 1U);
  EXPECT_THAT(block.keys, IsEmpty()) << "not asked for";
  EXPECT_THAT(block.written_at, IsEmpty());
  ASSERT_TRUE(iterator->Next(&block));
  EXPECT_THAT(block.selected, ElementsAre(1, 1));
  EXPECT_THAT(block.columns.column(0).int64s(), ElementsAre(3, 4));
  EXPECT_FALSE(iterator->Next(&block));
}

TEST(MemRowSetTest, AFrozenOneRefusesWritesAndReadsTheSame) {
  CheckedRowSet checked(SchemaOf("a:bigint b:varchar?"));
  for (int i = 0; i < 500; ++i) {
    checked.Insert(1, StrCat("key ", i * 7 % 500), std::vector<Datum>{Int(i), Datum::Null()});
  }
  checked.Update(2, "key 17", {{1, Text("changed")}});
  checked.Delete(3, "key 18");
  checked.rows().Freeze();

  EXPECT_TRUE(checked.rows().frozen());
  EXPECT_EQ(InsertRow(&checked.rows(), 4, "x", {Int(1), Text("")}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(checked.rows()
                .InsertPreImage(4, RowKeyProbe("x"), std::vector<Datum>{Int(1), Text("")})
                .code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(MessageOf(DeleteRow(&checked.rows(), 4, "key 1")),
            "this row set is frozen; write to its successor");
  const MemRowSetScan scan = {.projection = {1, 0}};
  EXPECT_EQ(ScanLines(checked.rows(), scan), checked.model().Scan(scan));
  EXPECT_EQ(checked.rows().CheckRowPresent(RowKeyProbe("key 18")), RowPresence::kGhost);
}

// A6: what an iterator gives is there as long as the iterator is.
TEST(MemRowSetTest, AnIteratorKeepsTheRowSet) {
  auto rows = MemRowSet::Create(SchemaOf("a:varchar"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(InsertRow(rows.get(), 1, StrCat("key number ", i), {Text("text")}).ok());
  }
  const auto iterator = rows->NewIterator({.projection = {0}, .want_keys = true, .batch_rows = 3});
  RowBlock block;
  ASSERT_TRUE(iterator->Next(&block));
  rows.reset();
  EXPECT_EQ(block.keys[2], "key number 10");
  size_t num_rows = block.num_rows;
  while (iterator->Next(&block)) {
    num_rows += block.num_rows;
    EXPECT_EQ(block.columns.column(0).bytes(0), "text");
  }
  EXPECT_EQ(num_rows, 100U);
}

// W6: a row that is changed again and again: every state is found, and each costs the same memory.
TEST(MemRowSetTest, AHotRowKeepsAllItsStates) {
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  constexpr Timestamp kUpdates = 5'000;
  ASSERT_TRUE(InsertRow(rows.get(), 0, "hot", {Int(0)}).ok());
  for (Timestamp at = 1; at <= kUpdates; ++at) {
    ASSERT_TRUE(UpdateRow(rows.get(), at, "hot", 1, Int(static_cast<int64_t>(at))).ok());
  }
  EXPECT_EQ(rows->num_mutations(), kUpdates);
  for (const Timestamp at : {Timestamp{0}, Timestamp{1}, Timestamp{2'500}, kUpdates}) {
    EXPECT_THAT(ScanAt(*rows, at), ElementsAre(StrCat("686f74 0-", at, ": ", at)));
  }
  // A node is 20 bytes and a list of 11, so 32; chunks are at most doubled.
  EXPECT_LT(rows->memory_footprint(), 2 * 32 * kUpdates + 8'192);
}

// W1, A7: rows in key order take little more than their cells and keys.
TEST(MemRowSetTest, MemoryStaysCloseToTheBytesOfCellsAndKeys) {
  const auto rows = MemRowSet::Create(
      SchemaOf("a:bigint b:bigint c:bigint d:bigint e:bigint? f:bigint? g:bigint? h:bigint?"));
  constexpr size_t kRows = 200'000;
  constexpr size_t kBytesPerRow = 8 * 8 + 8;
  const std::vector<Datum> cells(8, Int(1));
  for (size_t i = 0; i < kRows; ++i) {
    std::string key;
    AppendIntHandle(static_cast<int64_t>(i), &key);
    ASSERT_TRUE(InsertRow(rows.get(), 1, key, cells).ok());
  }
  EXPECT_LE(static_cast<double>(rows->memory_footprint()), 1.8 * kRows * kBytesPerRow);
}

}  // namespace
}  // namespace varve

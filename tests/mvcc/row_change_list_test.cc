#include "mvcc/row_change_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "mvcc/mrs_row.h"
#include "mvcc/mutation.h"
#include "tests/base/random_values.h"
#include "tests/mvcc/memrowset_model.h"
#include "tests/seed.h"

namespace varve {
namespace {

std::string Hex(RowChangeList list) {
  return BytesToHexString(list.bytes());
}

// C1: the bytes are the format of the log; they must stay as they are.
TEST(RowChangeListTest, TheBytesAreThoseOfTheFormat) {
  std::string buffer = "what stood there before";
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(3, Text("ab"));
  encoder.AddColumn(4, Datum::Null());
  encoder.AddColumn(300, Datum::Bool(true));
  EXPECT_EQ(Hex(encoder.list()),
            "0103036162"
            "0400"
            "ac020201");

  encoder.SetToReinsert();
  encoder.AddColumn(1, Int(-2));
  encoder.AddColumn(2, Datum::Float64(1.0));
  encoder.AddColumn(5, Datum::Int128(258));
  EXPECT_EQ(Hex(encoder.list()),
            "03"
            "0109feffffffffffffff"
            "0209000000000000f03f"
            "0511"
            "02010000000000000000000000000000");

  EXPECT_EQ(Hex(RowChangeList::Delete()), "02");
}

TEST(RowChangeListTest, PrintsItself) {
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(3, Text("ab"));
  encoder.AddColumn(4, Datum::Null());
  EXPECT_EQ(encoder.list().ToString(), "UPDATE 3=6162 4=NULL");
  EXPECT_EQ(RowChangeList::Delete().ToString(), "DELETE");
}

// C1: whatever was encoded is decoded in the same order, values of every type.
TEST(RowChangeListTest, RandomListsAreReadBack) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<PhysicalType> types = random.Types(1 + random.Below(6));
    const std::vector<Datum> values = random.Tuple(types);
    std::vector<uint32_t> ids;
    std::string buffer;
    RowChangeListEncoder encoder(&buffer);
    encoder.SetTo(random.OneIn(2) ? ChangeType::kUpdate : ChangeType::kReinsert);
    for (const Datum& value : values) {
      ids.push_back(static_cast<uint32_t>(random.BitsOfAnyLength(32)));
      encoder.AddColumn(ids.back(), value);
    }
    ASSERT_TRUE(encoder.list().CheckForm().ok());
    RowChangeListDecoder decoder(encoder.list());
    ColumnChange change;
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(decoder.Next(&change));
      ASSERT_EQ(change.id, ids[i]);
      ASSERT_EQ(change.is_null, values[i].is_null());
      if (!change.is_null) {
        ASSERT_TRUE(FitsType(change.value, types[i]));
        ASSERT_EQ(TextOf(DecodeValue(change.value, types[i])), TextOf(values[i]));
      }
    }
    EXPECT_FALSE(decoder.Next(&change));
    EXPECT_FALSE(decoder.corrupt());
  }
}

// C2: what no encoder writes is refused, whatever the schema.
TEST(RowChangeListTest, MalformedListsAreRefused) {
  struct Case {
    std::string bytes;
    std::string fault;
  };
  const std::vector<Case> cases = {
      {"", "it has no type"},
      {std::string(1, '\0'), "its type is 1, 2 or 3, not 0"},
      {"\x04\x01\x02x", "its type is 1, 2 or 3, not 4"},
      {"\xff", "its type is 1, 2 or 3, not 255"},
      {"\x02\x01", "a DELETE is one byte"},
      {"\x01", "an UPDATE has at least one column"},
      {"\x01\x05", "it breaks off in its column number 1"},
      {"\x01\x05\x04xy", "it breaks off in its column number 1"},
      {std::string("\x01\x05\x00\x06\x03x", 6), "it breaks off in its column number 2"},
      {"\x03\x80", "it breaks off in its column number 1"},
      // An id of 33 bits, and a length of 64.
      {std::string("\x01\x80\x80\x80\x80\x10\x00", 7), "it breaks off in its column number 1"},
      {"\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "it breaks off in its column number 1"},
  };
  for (const Case& test : cases) {
    const absl::Status status = RowChangeList(test.bytes).CheckForm();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << BytesToHexString(test.bytes);
    EXPECT_EQ(MessageOf(status),
              StrCat("a change list of ", test.bytes.size(), " bytes is malformed: ", test.fault));
  }
}

// C2: every proper prefix of a list is either malformed or ends between two columns.
TEST(RowChangeListTest, TruncatedListsAreRefused) {
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  std::vector<size_t> ends;
  for (uint32_t id = 1; id <= 300; id += 99) {
    encoder.AddColumn(id, Text(std::string(id, 'x')));
    ends.push_back(buffer.size());
  }
  for (size_t size = 0; size < buffer.size(); ++size) {
    const bool whole = std::find(ends.begin(), ends.end(), size) != ends.end();
    EXPECT_EQ(RowChangeList(std::string_view(buffer).substr(0, size)).CheckForm().ok(), whole)
        << size << " bytes of " << buffer.size();
  }
}

// C2: against a schema, also NULL where it may not be and values of another width are errors.
TEST(RowChangeListTest, ListsThatDoNotFitTheSchemaAreRefused) {
  const auto schema = SchemaOf("a:bigint b:varchar? c:boolean? d:hugeint? e:double");
  const RowLayout layout(*schema);
  struct Case {
    uint32_t id;
    bool is_null;
    std::string value;
    std::string error;  // empty: it fits
  };
  const std::vector<Case> cases = {
      {1, false, std::string(8, 'x'), ""},
      {1, true, "", "column a cannot be NULL"},
      {1, false, std::string(7, 'x'),
       "column a holds a 64-bit integer, which these 7 bytes are not"},
      {2, true, "", ""},
      {2, false, std::string(1'000, 'x'), ""},
      {3, false, "\x01", ""},
      {3, false, "\x02", "column c holds a boolean, which these 1 bytes are not"},
      {3, false, "", "column c holds a boolean, which these 0 bytes are not"},
      {4, false, std::string(16, 'x'), ""},
      {4, false, std::string(8, 'x'),
       "column d holds a 128-bit integer, which these 8 bytes are not"},
      {5, true, "", "column e cannot be NULL"},
      {5, false, std::string(9, 'x'), "column e holds a float, which these 9 bytes are not"},
  };
  for (const Case& test : cases) {
    std::string buffer;
    RowChangeListEncoder encoder(&buffer);
    encoder.SetToUpdate();
    encoder.AddColumn(2, Text("good"));
    encoder.AddEncoded(test.id, test.is_null, test.value);
    const absl::Status status = layout.CheckChanges(encoder.list());
    EXPECT_EQ(MessageOf(status), test.error);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(layout.CheckChanges(RowChangeList("\x07")).code(), absl::StatusCode::kDataLoss);
}

// C3, C4
TEST(RowChangeListTest, UnknownColumnsAndEmptyReinsertsAreLegal) {
  const auto schema = SchemaOf("a#10:bigint b#70000:bigint");
  const RowLayout layout(*schema);
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(9, Text("any"));
  encoder.AddColumn(70'001, Datum::Null());
  encoder.AddColumn(70'000, Int(5));
  ASSERT_TRUE(layout.CheckChanges(encoder.list()).ok());

  std::vector<Datum> cells = {Int(1), Int(2)};
  RowState state;
  ApplyChange(layout, 7, encoder.list(), &state, cells);
  EXPECT_EQ(cells[0], Int(1));
  EXPECT_EQ(cells[1], Int(5));
  EXPECT_EQ(state.written_at, 7U);

  encoder.SetToReinsert();
  EXPECT_TRUE(layout.CheckChanges(encoder.list()).ok());
}

// W8: nodes lie one behind the other, 20 bytes and the list, rounded up to the arena's 8.
TEST(MutationTest, IsOneAllocationOfItsExactSize) {
  Arena arena;
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToUpdate();
  encoder.AddColumn(1, Text("x"));  // 4 bytes in all
  const Mutation* const first = Mutation::Create(&arena, 5, encoder.list());
  const Mutation* const second = Mutation::Create(&arena, 6, RowChangeList::Delete());
  EXPECT_EQ(reinterpret_cast<const char*>(second) - reinterpret_cast<const char*>(first), 24);
  EXPECT_EQ(Hex(first->list()), "01010278");
  EXPECT_EQ(first->timestamp(), 5U);
  EXPECT_EQ(first->next(), nullptr);
  EXPECT_TRUE(second->list().is_delete());
}

}  // namespace
}  // namespace varve

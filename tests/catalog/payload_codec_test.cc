#include "catalog/payload_codec.h"

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/entities.pb.h"
#include "tests/base/random_values.h"
#include "tests/catalog/row_text.h"
#include "tests/seed.h"

namespace varve {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr SnapshotId kBegin = 7;
constexpr SnapshotId kEnd = 19;

std::vector<size_t> AllColumns(const RelationSchema& relation) {
  std::vector<size_t> columns(relation.columns.num_columns());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

// A relation that is no inlined table, with a column of every type; (key_int, key_text) is its
// handle.
RelationRef EveryType() {
  std::vector<ColumnSchema> columns = {{.name = "key_int", .type = TypeKind::kInt64}};
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kText); ++kind) {
    const Type type = static_cast<TypeKind>(kind) == TypeKind::kDecimal
                          ? Type::Decimal(9, 2)
                          : Type(static_cast<TypeKind>(kind));
    columns.push_back({.name = StrCat("c", kind), .type = type});
  }
  columns.push_back({.name = "wide", .type = Type::Decimal(38, 4)});
  columns.push_back({.name = "key_text", .type = TypeKind::kVarchar});
  for (int i = 0; i < 60; ++i) {  // fields beyond the dense ones
    columns.push_back({.name = StrCat("more", i), .type = TypeKind::kInt32});
  }
  auto relation = MakeDynamicRelation("every_type", std::move(columns), {"key_int", "key_text"});
  EXPECT_TRUE(relation.ok()) << relation.status();
  return std::make_shared<RelationSchema>(*std::move(relation));
}

std::vector<RelationRef> TestedRelations() {
  std::vector<RelationRef> relations = BuiltinRelations();
  relations.push_back(EveryType());
  relations.push_back(std::make_shared<RelationSchema>(DynamicOf(
      "ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, "
      "a blob, b hugeint, c double precision")));
  relations.push_back(std::make_shared<RelationSchema>(
      DynamicOf("ducklake_inlined_delete_1 file_id bigint, row_id bigint, begin_snapshot bigint")));
  relations.push_back(std::make_shared<RelationSchema>(DynamicOf("heap a bigint, b text")));
  relations.push_back(std::make_shared<RelationSchema>(WithExtraColumns(
      *BuiltinRelationById(kDataFile), {{.name = "row_group_count", .type = TypeKind::kInt64},
                                        {.name = "note", .type = TypeKind::kVarchar}})));
  return relations;
}

// A row as it is stored, with the values that decoding it must give.
struct StoredRow {
  std::vector<Datum> values;
  std::string handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  std::string payload;
};

class Rows {
 public:
  explicit Rows(uint64_t seed) : random_(seed) {}

  StoredRow Next(const RelationSchema& relation) {
    StoredRow row;
    for (const ColumnSchema& column : relation.columns.columns()) {
      row.values.push_back(random_.Next(column.type.physical()));
    }
    if (relation.handle_kind == HandleKind::kInt) {
      row.values[relation.handle[0]] = Datum::Int64(random_.Int64());
    }
    if (relation.begin_column.has_value()) {
      row.begin = random_.Bits() >> 1;
      row.values[*relation.begin_column] = Datum::Int64(static_cast<int64_t>(row.begin));
    }
    if (relation.end_column.has_value()) {
      row.end = random_.OneIn(2) ? kNoEnd : random_.Bits() >> 1;
      row.values[*relation.end_column] =
          row.end == kNoEnd ? Datum::Null() : Datum::Int64(static_cast<int64_t>(row.end));
    }
    if (relation.handle_kind == HandleKind::kRowNumber) {
      row.handle.assign(kIntHandleSizeForTest, '\x80');
    } else {
      EXPECT_TRUE(AppendHandleOfRow(relation, row.values, &row.handle).ok());
    }
    AppendPayload(relation, row.values, &row.payload);
    return row;
  }

  RandomValues& random() { return random_; }

 private:
  static constexpr size_t kIntHandleSizeForTest = 8;
  RandomValues random_;
};

TEST(PayloadCodec, RandomRowsOfEveryTypeRoundTrip) {
  Rows rows(TestSeed());
  for (const RelationRef& relation : TestedRelations()) {
    const RowDecoder decoder(relation, AllColumns(*relation));
    std::vector<Datum> values(relation->columns.num_columns());
    DecodedHandle scratch;
    for (int round = 0; round < 300; ++round) {
      const StoredRow row = rows.Next(*relation);
      const absl::Status status =
          decoder.Decode(row.handle, row.begin, row.end, row.payload, &scratch, values);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(values, row.values) << RowText(*relation, values);
    }
  }
}

TEST(PayloadCodec, FloatsKeepTheirBits) {
  const auto relation = std::make_shared<RelationSchema>(DynamicOf("floats a double precision"));
  RowDecoder decoder(relation, {0});
  for (const double number : {0.0, -0.0, 5e-324, -1.5}) {
    std::string payload;
    AppendPayload(*relation, std::vector{Datum::Float64(number)}, &payload);
    std::vector<Datum> values(1);
    DecodedHandle scratch;
    ASSERT_TRUE(decoder.Decode("", 0, kNoEnd, payload, &scratch, values).ok());
    EXPECT_EQ(std::bit_cast<uint64_t>(values[0].float64_value()), std::bit_cast<uint64_t>(number));
  }
}

TEST(PayloadCodec, ProjectionsGiveTheAskedColumnsInTheAskedOrder) {
  Rows rows(TestSeed() + 1);
  for (const RelationRef& relation : TestedRelations()) {
    for (int round = 0; round < 100; ++round) {
      const StoredRow row = rows.Next(*relation);
      std::vector<size_t> columns = AllColumns(*relation);
      for (size_t i = columns.size(); i > 1; --i) {
        std::swap(columns[i - 1], columns[rows.random().Below(i)]);
      }
      columns.resize(rows.random().Below(columns.size() + 1));
      const RowDecoder decoder(relation, columns);
      ASSERT_EQ(decoder.columns(), columns);
      std::vector<Datum> values(columns.size(), Datum::Bool(true));
      DecodedHandle scratch;
      ASSERT_TRUE(
          decoder.Decode(row.handle, row.begin, row.end, row.payload, &scratch, values).ok());
      for (size_t i = 0; i < columns.size(); ++i) {
        ASSERT_EQ(decoder.types()[i], relation->columns.column(columns[i]).type.physical());
        ASSERT_EQ(values[i], row.values[columns[i]])
            << relation->name << "." << relation->columns.column(columns[i]).name;
      }
    }
  }
}

TEST(PayloadCodec, NullIsNoField) {
  const RelationSchema& table = *BuiltinRelationById(kTable);
  std::string payload;
  AppendPayload(table, RowOf(table, "1 | - | 3 | - | - | - | - | -").values(), &payload);
  EXPECT_EQ(payload, "") << "handle, begin and end are not in the payload";
  AppendPayload(table, RowOf(table, "1 | - | 3 | - | - | ''").values(), &payload);
  EXPECT_EQ(BytesToHexString(payload), "3200") << "an empty text is there: field 6, length 0";
}

// --- Against protobuf ----------------------------------------------------------------------------

// One of each generated message, in the order of the relations' ids.
std::vector<std::unique_ptr<Message>> Messages() {
  const auto& pool = *proto::Table::descriptor()->file();
  std::vector<std::unique_ptr<Message>> messages(BuiltinRelations().size());
  for (int i = 0; i < pool.message_type_count(); ++i) {
    const Descriptor* descriptor = pool.message_type(i);
    const uint32_t id = descriptor->options().GetExtension(proto::relation).id();
    messages[id - 1].reset(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  }
  return messages;
}

// Big-endian bytes of a UUID datum: stored with the top bit flipped.
std::string UuidBytes(const Datum& uuid) {
  const uint128_t bits = static_cast<uint128_t>(uuid.int128_value()) ^ kInt128SignBit;
  std::string bytes;
  PutBigEndian(&bytes, static_cast<uint64_t>(bits >> 64));
  PutBigEndian(&bytes, static_cast<uint64_t>(bits));
  return bytes;
}

void SetField(const ColumnSchema& column, const Datum& value, Message* message) {
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(column.name);
  ASSERT_NE(field, nullptr) << column.name;
  const auto& reflection = *message->GetReflection();
  if (value.is_null()) {
    reflection.ClearField(message, field);
    return;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      reflection.SetInt64(message, field, value.int64_value());
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(message, field, value.bool_value());
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(
          message, field,
          column.type.kind() == TypeKind::kUuid ? UuidBytes(value) : std::string(value.bytes()));
      return;
    default: FAIL() << "no such field: " << field->full_name();
  }
}

void ExpectField(const ColumnSchema& column, const Datum& value, const Message& message) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(column.name);
  const auto& reflection = *message.GetReflection();
  ASSERT_EQ(reflection.HasField(message, field), !value.is_null()) << field->full_name();
  if (value.is_null()) {
    return;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      EXPECT_EQ(reflection.GetInt64(message, field), value.int64_value());
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      EXPECT_EQ(reflection.GetBool(message, field), value.bool_value());
      return;
    default:
      EXPECT_EQ(reflection.GetString(message, field), column.type.kind() == TypeKind::kUuid
                                                          ? UuidBytes(value)
                                                          : std::string(value.bytes()));
  }
}

// Rows whose texts are UTF-8, as protobuf's string fields demand.
StoredRow TextRow(const RelationSchema& relation, Rows* rows) {
  while (true) {
    StoredRow row = rows->Next(relation);
    if (std::all_of(row.values.begin(), row.values.end(), [](const Datum& value) {
          return value.is_null() || value.physical() != PhysicalType::kBytes ||
                 IsValidUtf8(value.bytes());
        })) {
      return row;
    }
  }
}

TEST(PayloadCodec, ProtobufReadsWhatTheCodecWrites) {
  Rows rows(TestSeed() + 2);
  const std::vector<std::unique_ptr<Message>> messages = Messages();
  for (const RelationRef& relation : BuiltinRelations()) {
    Message& message = *messages[relation->id - 1];
    for (int round = 0; round < 100; ++round) {
      const StoredRow row = TextRow(*relation, &rows);
      ASSERT_TRUE(message.ParseFromString(row.payload)) << relation->name;
      ASSERT_TRUE(message.GetReflection()->GetUnknownFields(message).empty()) << relation->name;
      for (size_t i = 0; i < row.values.size(); ++i) {
        const Datum stored = relation->in_payload[i] ? row.values[i] : Datum::Null();
        ExpectField(relation->columns.column(i), stored, message);
      }
    }
  }
}

TEST(PayloadCodec, TheCodecReadsWhatProtobufWrites) {
  Rows rows(TestSeed() + 3);
  const std::vector<std::unique_ptr<Message>> messages = Messages();
  for (const RelationRef& relation : BuiltinRelations()) {
    Message& message = *messages[relation->id - 1];
    const RowDecoder decoder(relation, AllColumns(*relation));
    std::vector<Datum> values(relation->columns.num_columns());
    DecodedHandle scratch;
    for (int round = 0; round < 100; ++round) {
      const StoredRow row = TextRow(*relation, &rows);
      // Whole messages, handle columns, begin and end included: these are taken from the key.
      for (size_t i = 0; i < row.values.size(); ++i) {
        SetField(relation->columns.column(i), row.values[i], &message);
      }
      const std::string bytes = message.SerializeAsString();
      ASSERT_TRUE(decoder.Decode(row.handle, row.begin, row.end, bytes, &scratch, values).ok());
      ASSERT_EQ(values, row.values) << RowText(*relation, values);
      // Without them, the bytes are the payload.
      for (size_t i = 0; i < row.values.size(); ++i) {
        if (!relation->in_payload[i]) {
          SetField(relation->columns.column(i), Datum::Null(), &message);
        }
      }
      ASSERT_EQ(message.SerializeAsString(), row.payload) << relation->name;
    }
  }
}

// --- Other writers, and damage -------------------------------------------------------------------

TEST(PayloadCodec, UnknownFieldsOfEveryWireTypeAreSkipped) {
  const RelationRef table = BuiltinRelationById(kTable);
  const Row row = RowOf(*table, "1 | - | 3 | - | 8 | name | path | true");
  std::string payload;
  const auto tag = [&](uint64_t field, uint64_t wire) { PutVarint64(&payload, field << 3 | wire); };
  tag(900, 0);
  PutVarint64(&payload, ~uint64_t{0});
  tag(100'000, 1);
  payload.append("12345678");
  AppendPayload(*table, row.values(), &payload);
  tag(63, 2);
  PutVarint64(&payload, 3);
  payload.append("abc");
  tag(536'870'911, 5);
  payload.append("1234");

  const RowDecoder decoder(table, AllColumns(*table));
  std::string handle;
  ASSERT_TRUE(AppendHandleOfRow(*table, row.values(), &handle).ok());
  std::vector<Datum> values(row.size());
  DecodedHandle scratch;
  ASSERT_TRUE(decoder.Decode(handle, 3, kNoEnd, payload, &scratch, values).ok());
  EXPECT_EQ(RowText(*table, values), "1 | - | 3 | - | 8 | name | path | true");
}

TEST(PayloadCodec, OfAFieldGivenTwiceTheLastCounts) {
  const RelationRef table = BuiltinRelationById(kTable);
  std::string payload;
  AppendPayload(*table, RowOf(*table, "1 | - | 3 | - | 8 | old").values(), &payload);
  AppendPayload(*table, RowOf(*table, "1 | - | 3 | - | - | new").values(), &payload);
  const RowDecoder decoder(table, {4, 5});
  std::vector<Datum> values(2);
  DecodedHandle scratch;
  ASSERT_TRUE(decoder.Decode("", 0, kNoEnd, payload, &scratch, values).ok());
  EXPECT_EQ(values[0].int64_value(), 8);
  EXPECT_EQ(values[1].bytes(), "new");
}

TEST(PayloadCodec, AValueOfAnotherWireTypeIsDataLossThatNamesTheColumn) {
  const RelationRef table = BuiltinRelationById(kTable);
  std::string payload;
  PutVarint64(&payload, 6 << 3 | 0);  // table_name as a number
  PutVarint64(&payload, 5);
  const RowDecoder decoder(table, {5});
  std::vector<Datum> values(1);
  DecodedHandle scratch;
  const absl::Status status = decoder.Decode(std::string_view("\x80\0\0\0\0\0\0\x07", 8), 3, kNoEnd,
                                             payload, &scratch, values);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(MessageOf(status).find("ducklake_table table_id=7"), std::string_view::npos) << status;
  EXPECT_NE(MessageOf(status).find("table_name"), std::string_view::npos) << status;
}

TEST(PayloadCodec, AUuidThatIsNot16BytesIsDataLoss) {
  const RelationRef table = BuiltinRelationById(kTable);
  std::string payload;
  PutVarint64(&payload, 2 << 3 | 2);
  PutVarint64(&payload, 15);
  payload.append(15, 'u');
  const RowDecoder decoder(table, {1});
  std::vector<Datum> values(1);
  DecodedHandle scratch;
  EXPECT_EQ(decoder.Decode("", 3, kNoEnd, payload, &scratch, values).code(),
            absl::StatusCode::kDataLoss);
}

TEST(PayloadCodec, CutOrGarbledPayloadsAreDataLossOrValues) {
  Rows rows(TestSeed() + 4);
  for (const RelationRef& relation : TestedRelations()) {
    const RowDecoder decoder(relation, AllColumns(*relation));
    std::vector<Datum> values(relation->columns.num_columns());
    DecodedHandle scratch;
    const auto expect_status_or_values = [&](const StoredRow& row, const std::string& payload) {
      // A buffer of exactly this size: AddressSanitizer sees a read beyond it.
      const std::vector<char> exact(payload.begin(), payload.end());
      const absl::Status status = decoder.Decode(row.handle, row.begin, row.end,
                                                 {exact.data(), exact.size()}, &scratch, values);
      if (!status.ok()) {
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
        return;
      }
      for (size_t i = 0; i < values.size(); ++i) {
        const PhysicalType type = relation->columns.column(i).type.physical();
        ASSERT_TRUE(values[i].is_null() || values[i].physical() == type);
      }
      ASSERT_FALSE(RowText(*relation, values).empty() && values.size() > 1);
    };
    for (int round = 0; round < 20; ++round) {
      const StoredRow row = rows.Next(*relation);
      for (size_t length = 0; length < row.payload.size(); ++length) {
        expect_status_or_values(row, row.payload.substr(0, length));
      }
      for (int flip = 0; flip < 100 && !row.payload.empty(); ++flip) {
        std::string garbled = row.payload;
        garbled[rows.random().Below(garbled.size())] = static_cast<char>(rows.random().Bits());
        expect_status_or_values(row, garbled);
      }
    }
  }
}

}  // namespace
}  // namespace varve

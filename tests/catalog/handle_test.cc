#include "catalog/handle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <string>
#include <tuple>
#include <vector>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/store/store_format.h"
#include "tests/base/random_values.h"
#include "tests/catalog/row_text.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Relations with each kind of handle, and common handles of every type.
std::vector<RelationRef> TestedRelations() {
  std::vector<RelationRef> relations = BuiltinRelations();
  relations.push_back(std::make_shared<RelationSchema>(DynamicOf(
      "ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint")));
  RelationSchema odd = DynamicOf(
      "odd a boolean, b double precision, c uuid, d varchar, e bigint, f hugeint; key a, d, b, c, "
      "f, e");
  odd.declared_key = false;  // so that ordinals are allowed
  relations.push_back(std::make_shared<RelationSchema>(std::move(odd)));
  return relations;
}

struct Sample {
  std::vector<Datum> key;
  uint32_t ordinal = 0;
  SnapshotId begin = 0;
  std::string handle;
};

std::strong_ordering CompareKeys(const std::vector<Datum>& a, const std::vector<Datum>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (const std::strong_ordering order = CompareDatums(a[i], b[i]); order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

std::strong_ordering CompareBytes(const std::string& a, const std::string& b) {
  return a.compare(b) <=> 0;
}

class Samples {
 public:
  explicit Samples(uint64_t seed) : random_(seed) {}

  Sample Next(const RelationSchema& relation) {
    Sample sample;
    for (const size_t column : relation.handle) {
      const PhysicalType type = relation.columns.column(column).type.physical();
      sample.key.push_back(relation.handle_kind == HandleKind::kInt ? random_.NonNull(type)
                                                                    : random_.Next(type));
    }
    if (relation.may_repeat() && random_.OneIn(2)) {
      constexpr std::array<uint32_t, 4> kOrdinals = {1, 2, 255, kMaxOrdinal};
      sample.ordinal = kOrdinals[random_.Below(kOrdinals.size())];
    }
    constexpr std::array<SnapshotId, 5> kBegins = {0, 1, 255, 256, kMaxSnapshotId};
    sample.begin = kBegins[random_.Below(kBegins.size())];
    EXPECT_TRUE(AppendHandle(relation, sample.key, &sample.handle).ok());
    AppendOrdinal(sample.ordinal, &sample.handle);
    return sample;
  }

  // Often the same key with another ordinal or begin.
  Sample Near(const RelationSchema& relation, const Sample& other) {
    Sample sample = Next(relation);
    if (random_.OneIn(2)) {
      sample.key = other.key;
      sample.handle.clear();
      EXPECT_TRUE(AppendHandle(relation, sample.key, &sample.handle).ok());
      AppendOrdinal(sample.ordinal, &sample.handle);
    }
    return sample;
  }

 private:
  RandomValues random_;
};

TEST(Handle, BytesOrderAsKeyThenOrdinalThenBegin) {
  Samples samples(TestSeed());
  for (const RelationRef& relation : TestedRelations()) {
    for (int round = 0; round < 2000; ++round) {
      const Sample a = samples.Next(*relation);
      const Sample b = samples.Near(*relation, a);
      const std::strong_ordering by_key = CompareKeys(a.key, b.key);
      const auto by_handle = by_key != 0 ? by_key : a.ordinal <=> b.ordinal;
      const auto by_version = by_handle != 0 ? by_handle : a.begin <=> b.begin;
      ASSERT_EQ(CompareBytes(a.handle, b.handle), by_handle)
          << HandleToText(*relation, a.handle) << " and " << HandleToText(*relation, b.handle);
      ASSERT_EQ(CompareBytes(LiveKey(relation->id, a.handle), LiveKey(relation->id, b.handle)),
                by_handle);
      ASSERT_EQ(CompareBytes(EndedKey(relation->id, a.handle, a.begin),
                             EndedKey(relation->id, b.handle, b.begin)),
                by_version)
          << HandleToText(*relation, a.handle) << " @" << a.begin << " and "
          << HandleToText(*relation, b.handle) << " @" << b.begin;
    }
  }
}

TEST(Handle, DecodesToWhatItWasMadeOf) {
  Samples samples(TestSeed() + 1);
  for (const RelationRef& relation : TestedRelations()) {
    for (int round = 0; round < 500; ++round) {
      const Sample sample = samples.Next(*relation);
      DecodedHandle decoded;
      ASSERT_TRUE(DecodeHandle(*relation, sample.handle, &decoded).ok());
      ASSERT_EQ(decoded.ordinal, sample.ordinal);
      ASSERT_EQ(decoded.key, sample.key) << HandleToText(*relation, sample.handle);
      std::string without;
      ASSERT_TRUE(AppendHandle(*relation, sample.key, &without).ok());
      ASSERT_EQ(HandleWithoutOrdinal(*relation, sample.handle), without);
    }
  }
}

TEST(Handle, LeadingColumnsAreABytePrefixOfTheirHandlesAndOfNoOther) {
  Samples samples(TestSeed() + 2);
  for (const RelationRef& relation : TestedRelations()) {
    for (int round = 0; round < 500; ++round) {
      const Sample a = samples.Next(*relation);
      const Sample b = samples.Near(*relation, a);
      for (size_t leading = 0; leading <= a.key.size(); ++leading) {
        std::string prefix;
        ASSERT_TRUE(AppendHandlePrefix(*relation, std::span(a.key).first(leading), &prefix).ok());
        ASSERT_TRUE(a.handle.starts_with(prefix));
        const bool same = std::equal(a.key.begin(), a.key.begin() + static_cast<ptrdiff_t>(leading),
                                     b.key.begin());
        ASSERT_EQ(b.handle.starts_with(prefix), same);
      }
    }
  }
}

TEST(Handle, OfARowTakesTheKeyColumnsInKeyOrder) {
  const RelationSchema& stats = *BuiltinRelationById(kFileColumnStats);
  const Row row = RowOf(stats, "30 | 10 | 20 | 99");  // data_file_id, table_id, column_id
  std::string of_row;
  ASSERT_TRUE(AppendHandleOfRow(stats, row.values(), &of_row).ok());
  std::string of_key;
  ASSERT_TRUE(AppendHandle(stats, KeyOf(stats, "10 | 20 | 30").values(), &of_key).ok());
  EXPECT_EQ(of_row, of_key);
  EXPECT_EQ(HandleToText(stats, of_row), "table_id=10 column_id=20 data_file_id=30");
}

TEST(Handle, IntHandlesAreEightBytes) {
  std::string handle;
  ASSERT_TRUE(
      AppendHandle(*BuiltinRelationById(kTable), std::vector{Datum::Int64(1)}, &handle).ok());
  EXPECT_EQ(BytesToHexString(handle), "8000000000000001");
  AppendOrdinal(0, &handle);
  EXPECT_EQ(handle.size(), kIntHandleSize) << "ordinal 0 takes no byte";
  AppendOrdinal(2, &handle);
  EXPECT_EQ(BytesToHexString(handle), "800000000000000180000002");
  EXPECT_EQ(HandleToText(*BuiltinRelationById(kTable), handle), "table_id=1 #2");
}

TEST(Handle, NullIsAnOrdinaryKeyValueOfCommonHandlesOnly) {
  const RelationSchema& metadata = *BuiltinRelationById(kMetadata);
  std::string global;
  ASSERT_TRUE(AppendHandle(metadata, KeyOf(metadata, "version | - | -").values(), &global).ok());
  std::string scoped;
  ASSERT_TRUE(
      AppendHandle(metadata, KeyOf(metadata, "version | schema | 1").values(), &scoped).ok());
  EXPECT_LT(global, scoped);
  EXPECT_EQ(HandleToText(metadata, global), "key=version scope=NULL scope_id=NULL");

  std::string none;
  const absl::Status status =
      AppendHandle(*BuiltinRelationById(kTable), std::vector{Datum::Null()}, &none);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(MessageOf(status).find("table_id"), std::string_view::npos) << status;
}

TEST(Handle, WrongKeysAreRefused) {
  const RelationSchema& table = *BuiltinRelationById(kTable);
  const RelationSchema& column = *BuiltinRelationById(kColumn);
  std::string out;
  const auto refused = [](const absl::Status& status) {
    return status.code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(AppendHandle(table, std::vector{Datum::Bytes("1")}, &out)));
  EXPECT_TRUE(refused(AppendHandle(column, std::vector{Datum::Int64(1)}, &out)));
  EXPECT_TRUE(refused(AppendHandle(table, std::vector<Datum>{}, &out)));
  EXPECT_TRUE(
      refused(AppendHandlePrefix(table, std::vector{Datum::Int64(1), Datum::Int64(2)}, &out)));
  const RelationSchema heap = DynamicOf("heap a bigint");
  EXPECT_TRUE(refused(AppendHandle(heap, std::vector{Datum::Int64(1)}, &out)));
}

TEST(Handle, BytesThatAreNoHandleAreDataLoss) {
  Samples samples(TestSeed() + 3);
  RandomValues random(TestSeed() + 4);
  for (const RelationRef& relation : TestedRelations()) {
    for (int round = 0; round < 500; ++round) {
      const std::string handle = samples.Next(*relation).handle;
      DecodedHandle decoded;
      // Cut short, no handle decodes: but one with an ordinal holds one without.
      for (size_t length = 0; length < HandleWithoutOrdinal(*relation, handle).size(); ++length) {
        ASSERT_EQ(DecodeHandle(*relation, handle.substr(0, length), &decoded).code(),
                  absl::StatusCode::kDataLoss);
      }
      ASSERT_EQ(DecodeHandle(*relation, handle + "x", &decoded).code(),
                absl::StatusCode::kDataLoss);
      // Garbled, it is no handle, or the handle of what it decodes to.
      std::string garbled = handle;
      garbled[random.Below(garbled.size())] = static_cast<char>(random.Bits());
      const absl::Status status = DecodeHandle(*relation, garbled, &decoded);
      if (status.ok()) {
        std::string again;
        ASSERT_TRUE(AppendHandle(*relation, decoded.key, &again).ok());
        AppendOrdinal(decoded.ordinal, &again);
        ASSERT_EQ(again, garbled);
      } else {
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss);
        ASSERT_FALSE(HandleToText(*relation, garbled).empty());
      }
    }
  }
}

TEST(Handle, DeclaredKeysAndRowNumbersTakeNoOrdinal) {
  DecodedHandle decoded;
  std::string handle;
  AppendOrdinal(1, &(handle = std::string("\x80\x00\x00\x00\x00\x00\x00\x01", 8)));
  EXPECT_TRUE(DecodeHandle(*BuiltinRelationById(kTable), handle, &decoded).ok());
  EXPECT_FALSE(DecodeHandle(*BuiltinRelationById(kSnapshot), handle, &decoded).ok());
  EXPECT_FALSE(DecodeHandle(DynamicOf("heap a bigint"), handle, &decoded).ok());
}

TEST(Handle, RowNumbersDecode) {
  const RelationSchema heap = DynamicOf("heap a bigint");
  DecodedHandle decoded;
  ASSERT_TRUE(
      DecodeHandle(heap, std::string_view("\x80\x00\x00\x00\x00\x00\x01\x02", 8), &decoded).ok());
  EXPECT_EQ(decoded.row_number, 258);
  EXPECT_TRUE(decoded.key.empty());
}

}  // namespace
}  // namespace varve

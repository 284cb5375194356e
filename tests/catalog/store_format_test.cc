#include "catalog/store/store_format.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/strings.h"
#include "tests/seed.h"

namespace varve {
namespace {

using std::string_literals::operator""s;

// Keys and values are on disk: these bytes may not change.
TEST(StoreFormat, KeysAreWrittenAsDocumented) {
  EXPECT_EQ(BytesToHexString(RelationPrefix(kTable)), "00000005");
  EXPECT_EQ(BytesToHexString(LiveKey(kTable, "\x80\x01"s)), "000000058001");
  EXPECT_EQ(BytesToHexString(EndedKey(kTable, "\x80\x01"s, 0x0203)),
            "0000000580010000000000000203");
  EXPECT_EQ(BytesToHexString(IndexKey(kDataFile, 5)), "800000098000000000000005");
  EXPECT_EQ(RelationKey(1024), "relation/0000001024");
  EXPECT_EQ(DroppedRelationKey(77, 1024), "dropped/00000000000000000077/0000001024");
  EXPECT_EQ(BytesToHexString(ChangesKey(0x0102, kTable, 3)), "00000000000001020000000500000003");
}

TEST(StoreFormat, KeysOfTheFeedReadBack) {
  ChangesKeyParts parts;
  ASSERT_TRUE(ParseChangesKey(ChangesKey(77, 1024, 3), &parts));
  EXPECT_EQ(parts.csn, 77U);
  EXPECT_EQ(parts.relation, 1024U);
  EXPECT_EQ(parts.chunk, 3U);
  EXPECT_FALSE(ParseChangesKey(ChangesKey(77, 1024, 3) + "x", &parts));
  EXPECT_FALSE(ParseChangesKey(ChangesKey(77, 1024, 3).substr(1), &parts));

  Csn csn = 0;
  RelationId relation = 0;
  ASSERT_TRUE(ParseDroppedRelationKey(DroppedRelationKey(77, 1024), &csn, &relation));
  EXPECT_EQ(csn, 77U);
  EXPECT_EQ(relation, 1024U);
  for (const std::string_view malformed :
       {"", "dropped/", "dropped/77", "dropped/77/", "dropped/7x/1024", "relation/0000001024"}) {
    EXPECT_FALSE(ParseDroppedRelationKey(malformed, &csn, &relation)) << malformed;
  }
}

TEST(StoreFormat, ValuesAreWrittenAsDocumented) {
  std::string live;
  AppendLiveValue(3, 300, "payload", &live);
  EXPECT_EQ(live, "\x03\xac\x02payload"s);
  std::string ended;
  AppendEndedValue(5, 1, "", &ended);
  EXPECT_EQ(ended, "\x05\x01"s);
}

TEST(StoreFormat, LiveVersionsReadBack) {
  std::string value;
  AppendLiveValue(kMaxSnapshotId, 77, "payload", &value);
  const std::string key = LiveKey(kTable, "handle");
  StoredVersion version;
  ASSERT_TRUE(ParseLive(key, value, &version));
  EXPECT_EQ(version.handle, "handle");
  EXPECT_EQ(version.begin, kMaxSnapshotId);
  EXPECT_EQ(version.end, kNoEnd);
  EXPECT_EQ(version.csn, 77U);
  EXPECT_EQ(version.payload, "payload");
}

TEST(StoreFormat, EndedVersionsReadBack) {
  std::string value;
  AppendEndedValue(9, 77, "payload", &value);
  const std::string key = EndedKey(kTable, "handle", 4);
  StoredVersion version;
  ASSERT_TRUE(ParseEnded(key, value, &version));
  EXPECT_EQ(version.handle, "handle");
  EXPECT_EQ(version.begin, 4U);
  EXPECT_EQ(version.end, 9U);
  EXPECT_EQ(version.csn, 77U);
  EXPECT_EQ(version.payload, "payload");
}

TEST(StoreFormat, EndedKeysOfOneHandleSortByBegin) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 1000; ++round) {
    const SnapshotId a = random() >> (1 + random() % 63);
    const SnapshotId b = random() >> (1 + random() % 63);
    ASSERT_EQ(EndedKey(kTable, "h", a) < EndedKey(kTable, "h", b), a < b) << a << " " << b;
  }
}

TEST(StoreFormat, IndexKeysStandBehindAllRelationsAndSortById) {
  EXPECT_GT(IndexKey(1, -1), RelationPrefix(kFirstDynamicRelation + 1'000'000));
  EXPECT_LT(IndexKey(kDataFile, -2), IndexKey(kDataFile, -1));
  EXPECT_LT(IndexKey(kDataFile, -1), IndexKey(kDataFile, 1));
}

TEST(StoreFormat, MalformedPairsAreRefused) {
  StoredVersion version;
  EXPECT_FALSE(ParseLive("abc", "\x01\x01", &version)) << "no relation";
  EXPECT_FALSE(ParseLive(LiveKey(1, "h"), "", &version)) << "no begin";
  EXPECT_FALSE(ParseLive(LiveKey(1, "h"), "\x01", &version)) << "no csn";
  EXPECT_FALSE(ParseLive(LiveKey(1, "h"), "\x80", &version)) << "a varint cut short";
  EXPECT_FALSE(ParseEnded("\x00\x00\x00\x01hhhhhhh"s, "\x01\x01", &version)) << "no begin";
  EXPECT_FALSE(ParseEnded(EndedKey(1, "h", 1), "\x02", &version)) << "no csn";
  EXPECT_FALSE(ParseEnded(EndedKey(1, "h", kMaxSnapshotId + 1), "\x02\x02", &version));
  std::string value;
  AppendLiveValue(kNoEnd, 1, "", &value);
  EXPECT_FALSE(ParseLive(LiveKey(1, "h"), value, &version)) << "a begin that is no snapshot id";
  EXPECT_FALSE(ParseEnded(EndedKey(1, "h", 1), value, &version)) << "an end that is no snapshot id";

  const absl::Status status = MalformedPair(*BuiltinRelationById(kTable), "\x01\x02");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(MessageOf(status).find("ducklake_table"), std::string_view::npos);
  EXPECT_NE(MessageOf(status).find("0x0102"), std::string_view::npos);
}

TEST(StoreFormat, RandomBytesNeverCrash) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 20'000; ++round) {
    std::string key(random() % 24, '\0');
    std::string value(random() % 24, '\0');
    for (char& c : key) {
      c = static_cast<char>(random());
    }
    for (char& c : value) {
      c = static_cast<char>(random());
    }
    StoredVersion version;
    if (ParseLive(key, value, &version)) {
      ASSERT_LE(version.begin, kMaxSnapshotId);
      ASSERT_LE(version.payload.size(), value.size());
    }
    if (ParseEnded(key, value, &version)) {
      ASSERT_LE(version.end, kMaxSnapshotId);
      ASSERT_EQ(version.handle.size(), key.size() - kRelationPrefixSize - kBeginSuffixSize);
    }
  }
}

}  // namespace
}  // namespace varve

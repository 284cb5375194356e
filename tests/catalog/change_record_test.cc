#include "catalog/store/change_record.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/store_format.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Without MemRowSets, unless a test waits for them: whether a record has a pre-image depends on
// them.
class ChangeLog : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    ReopenWithoutMemory();
  }
  void ReopenWithoutMemory() { Reopen({.memory = MemoryMode::kOnDemand}); }

  struct Entry {
    Csn csn = 0;
    RelationId relation = 0;
    uint32_t chunk = 0;
    std::string value;
  };

  std::vector<Entry> Entries() {
    std::vector<Entry> entries;
    const std::unique_ptr<rocksdb::Iterator> it(catalog_->store().db().NewIterator(
        rocksdb::ReadOptions(), catalog_->store().family(Family::kChanges)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ChangesKeyParts key;
      EXPECT_TRUE(ParseChangesKey(ToView(it->key()), &key));
      entries.push_back({key.csn, key.relation, key.chunk, it->value().ToString()});
    }
    return entries;
  }

  // The records of the last commit, one line each.
  std::vector<std::string> LastCommit() {
    std::vector<std::string> texts;
    const Csn last = catalog_->Current().csn();
    for (const Entry& entry : Entries()) {
      if (entry.csn != last || entry.relation == kCommitEntry) {
        continue;
      }
      const auto records = ParseChanges(entry.value);
      EXPECT_TRUE(records.ok()) << records.status();
      for (const ChangeRecord& record : *records) {
        texts.push_back(Describe(entry.relation, record));
      }
    }
    return texts;
  }

 private:
  static std::string Describe(RelationId id, const ChangeRecord& record) {
    constexpr std::array<std::string_view, 5> kKinds = {"", "insert", "update", "erase", "drop"};
    const std::string kind(kKinds[static_cast<size_t>(record.kind)]);
    if (record.kind == ChangeKind::kDropRelation) {
      EXPECT_EQ(record.handle, "");
      EXPECT_EQ(record.begin, 0U);
      return StrCat(kind, " ", id);
    }
    std::string text = StrCat(kind, " ", HandleToText(*BuiltinRelationById(id), record.handle));
    if (record.kind == ChangeKind::kErase) {
      StrAppend(&text, " @ ", record.begin);
    } else {
      StrAppend(&text, " @ ", IntervalText(record.begin, record.end), " ",
                BytesToHexString(record.payload));
    }
    if (record.before.has_value()) {
      const bool same = record.before->payload.data() == record.payload.data();
      StrAppend(&text, ", csn ", record.before->csn, " wrote ",
                IntervalText(record.begin, record.before->end), " ",
                same ? "the same" : BytesToHexString(record.before->payload));
    }
    return text;
  }
};

TEST_F(ChangeLog, EveryCommitSaysWhichSnapshotWasTheLastOne) {
  MustApply("snapshot 3\n insert table 4 | - | 1 | - | 0 | a");
  MustApply("put table_stats 4 | 9");
  MustApply("");
  MustApply("snapshot 7");
  std::vector<std::string> texts;
  for (const Entry& entry : Entries()) {
    if (entry.relation == kCommitEntry) {
      const auto records = ParseChanges(entry.value);
      ASSERT_TRUE(records.ok()) << records.status();
      ASSERT_EQ(records->size(), 1U);
      EXPECT_EQ((*records)[0].kind, ChangeKind::kCommit);
      EXPECT_EQ((*records)[0].handle, "");
      texts.push_back(StrCat(entry.csn, ": ", (*records)[0].begin));
    }
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"1: 0", "2: 3", "3: 3", "4: 3", "5: 7"}));
}

TEST_F(ChangeLog, ABulkLoadWritesNoRecordsOfRows) {
  const std::vector<Entry> entries = Entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].csn, kBulkLoadCsn);
  EXPECT_EQ(entries[0].relation, kCommitEntry);
}

TEST_F(ChangeLog, HoldsTheWholeVersionAfterTheCommitAndBeforeIt) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  ASSERT_EQ(LastCommit().size(), 2U);
  EXPECT_EQ(LastCommit()[1], "insert table_id=4 @ [1, …) 2800320161");

  MustApply("snapshot 2\n end table 4 @ 2\n insert table 4 | - | 2 | - | 0 | b");
  ASSERT_EQ(LastCommit().size(), 3U);
  EXPECT_EQ(LastCommit()[1], "update table_id=4 @ [1, 2) 2800320161, csn 2 wrote [1, …) the same");
  EXPECT_EQ(LastCommit()[2], "insert table_id=4 @ [2, …) 2800320162");

  MustApply("erase table 4 @ 1");
  EXPECT_EQ(LastCommit(),
            (std::vector<std::string>{"erase table_id=4 @ 1, csn 3 wrote [1, 2) 2800320161"}));

  MustApply("put table_stats 4 | 9");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"insert table_id=4 @ [0, …) 1009"}));
  MustApply("put table_stats 4 | 10");
  EXPECT_EQ(LastCommit(),
            (std::vector<std::string>{"update table_id=4 @ [0, …) 100a, csn 5 wrote [0, …) 1009"}));
}

TEST_F(ChangeLog, WhatMemoryHoldsNeedsNoPreImage) {
  ASSERT_TRUE(catalog_->WaitForMemory().ok());
  MustApply("put table_stats 4 | 9");
  MustApply("put table_stats 4 | 10");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"update table_id=4 @ [0, …) 100a"}));
  MustApply("erase table_stats 4 @ 0");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"erase table_id=4 @ 0"}));
  // A ghost is held, too; what follows it is no change of a stored version.
  MustApply("put table_stats 4 | 11");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"insert table_id=4 @ [0, …) 100b"}));
}

TEST_F(ChangeLog, AVersionOlderThanMemoryBringsItsPreImageOnce) {
  ASSERT_TRUE(catalog_->WaitForMemory().ok());
  MustApply("snapshot 1\n end schema 0 @ 1");
  ASSERT_EQ(LastCommit().size(), 2U);
  EXPECT_THAT(LastCommit()[1], ::testing::HasSubstr(", csn 1 wrote [0, …) the same"));
  MustApply("erase schema 0 @ 0");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"erase schema_id=0 @ 0"}));
}

TEST_F(ChangeLog, BeforeMemoryIsThereEveryChangeBringsItsPreImage) {
  MustApply("put table_stats 4 | 9");
  MustApply("put table_stats 4 | 10");
  ReopenWithoutMemory();
  MustApply("put table_stats 4 | 11");
  EXPECT_EQ(LastCommit(),
            (std::vector<std::string>{"update table_id=4 @ [0, …) 100b, csn 3 wrote [0, …) 100a"}));
}

TEST_F(ChangeLog, AVersionRewrittenByOneCommitIsErasedAndInserted) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  MustApply("erase table 4 @ 1\n insert table 4 | - | 1 | - | 0 | b");
  EXPECT_EQ(LastCommit(),
            (std::vector<std::string>{"erase table_id=4 @ 1, csn 2 wrote [1, …) 2800320161",
                                      "insert table_id=4 @ [1, …) 2800320162"}));
}

TEST_F(ChangeLog, ChangesOfOneIdentityCollapse) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  MustApply(R"(
    put table_stats 4 | 1
    put table_stats 4 | 2
    insert view 9 | - | 1 | - | 0 | v
    erase view 9 @ 1
  )");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"insert table_id=4 @ [0, …) 1002"}));
}

TEST_F(ChangeLog, AnOverwriteThatChangesNothingLeavesNoRecord) {
  MustApply("put table_stats 4 | 1");
  MustApply("put table_stats 4 | 1");
  EXPECT_TRUE(LastCommit().empty());
}

TEST_F(ChangeLog, OrdinalsAreInTheHandle) {
  MustApply("insert metadata k | v\n insert metadata k | v");
  EXPECT_EQ(LastCommit(),
            (std::vector<std::string>{"insert key=k scope=NULL scope_id=NULL @ [0, …) 120176",
                                      "insert key=k scope=NULL scope_id=NULL #1 @ [0, …) 120176"}));
}

TEST_F(ChangeLog, DroppedRelationsAreRecorded) {
  MustApply("create heap a bigint");
  const RelationId id = catalog_->Current().relations().FindByName("heap")->id;
  MustApply("drop heap");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{StrCat("drop ", id)}));
}

TEST_F(ChangeLog, LargeCommitsAreCutIntoChunksInOrder) {
  constexpr int kRows = 4000;
  ChangeSet changes;
  const RelationRef stats = BuiltinRelationById(kFileColumnStats);
  for (int i = 0; i < kRows; ++i) {
    changes.Insert(stats,
                   RowOf(*stats, StrCat(i, " | 1 | 1 | 0 | 0 | 0 | ", std::string(1000, 'x'))));
  }
  ASSERT_TRUE(catalog_->Apply(changes).ok());
  std::vector<Entry> entries = Entries();
  std::erase_if(entries, [](const Entry& entry) { return entry.relation == kCommitEntry; });
  EXPECT_GE(entries.size(), 3U);
  int64_t next = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].chunk, i);
    EXPECT_LT(entries[i].value.size(), size_t{2} << 20);
    const auto records = ParseChanges(entries[i].value);
    ASSERT_TRUE(records.ok()) << records.status();
    for (const ChangeRecord& record : *records) {
      EXPECT_EQ(HandleToText(*stats, record.handle),
                StrCat("table_id=1 column_id=1 data_file_id=", next++));
    }
  }
  EXPECT_EQ(next, kRows);
}

// An entry of every kind of record, pre-images of every kind among them.
std::string EntryOfAllKinds() {
  const RelationRef table = BuiltinRelationById(kTable);
  ChangeRecorder recorder;
  const VersionGroup group(table, std::string("\x80\0\0\0\0\0\0\1", 8));
  for (SnapshotId begin = 0; begin < 20; ++begin) {
    GroupVersion version{.begin = begin,
                         .end = begin % 2 == 0 ? kNoEnd : begin + 300,
                         .payload = std::string(begin, 'p'),
                         .stored = begin % 3 == 0,
                         .erased = begin % 5 == 0};
    version.csn = 1000 + begin;
    version.stored_end = begin % 4 == 0 ? kNoEnd : begin + 500;
    if (begin % 2 == 1) {
      version.stored_payload = std::string(begin, 'q');
    }
    recorder.Record(group, version, /*with_before=*/begin != 3);
  }
  const PreImage before = {.csn = 7, .end = 20, .payload = "gone"};
  recorder.RecordErase(table->id, "handle", 12, &before);
  recorder.RecordErase(table->id, "handle", 13, nullptr);
  recorder.DropRelation(table->id);
  const auto entries = recorder.Finish(9, 4);
  EXPECT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].second, CommitEntry(4));
  return entries[1].second;
}

TEST(ChangeRecord, GoesThereAndBack) {
  const std::string value = EntryOfAllKinds();
  const auto records = ParseChanges(value);
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), 23U);
  EXPECT_EQ((*records)[0].kind, ChangeKind::kErase);
  EXPECT_EQ((*records)[1].kind, ChangeKind::kInsert);
  EXPECT_EQ((*records)[1].end, 301U);
  EXPECT_EQ((*records)[2].end, kNoEnd);
  EXPECT_EQ((*records)[19].payload, std::string(19, 'p'));
  // Only stored versions have pre-images, and those for which none is wanted have none.
  for (SnapshotId begin = 0; begin < 20; ++begin) {
    EXPECT_EQ((*records)[begin].before.has_value(), begin % 3 == 0 && begin != 3) << begin;
  }
  const ChangeRecord& same = (*records)[12];
  EXPECT_EQ(same.kind, ChangeKind::kUpdate);
  EXPECT_EQ(same.before->csn, 1012U);
  EXPECT_EQ(same.before->end, kNoEnd);
  EXPECT_EQ(same.before->payload.data(), same.payload.data());
  const ChangeRecord& other = (*records)[9];
  EXPECT_EQ(other.before->csn, 1009U);
  EXPECT_EQ(other.before->end, 509U);
  EXPECT_EQ(other.before->payload, std::string(9, 'q'));
  EXPECT_EQ(other.payload, std::string(9, 'p'));
  EXPECT_EQ((*records)[20].before->csn, 7U);
  EXPECT_EQ((*records)[20].before->end, 20U);
  EXPECT_EQ((*records)[20].before->payload, "gone");
  EXPECT_FALSE((*records)[21].before.has_value());
  EXPECT_EQ((*records)[22].kind, ChangeKind::kDropRelation);
}

TEST(ChangeRecord, AnEmptyPayloadIsNoMissingOne) {
  ChangeRecorder recorder;
  const PreImage before = {.csn = 7, .end = kNoEnd, .payload = ""};
  recorder.RecordErase(kTable, "h", 1, &before);
  const auto entries = recorder.Finish(9, 4);
  const auto records = ParseChanges(entries[1].second);
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_TRUE((*records)[0].before.has_value());
  EXPECT_EQ((*records)[0].before->payload, "");
}

TEST(ChangeRecord, PreImagesWhereNoneCanBeAreDataLoss) {
  // insert, drop, commit with the mark of a pre-image and one behind them.
  const std::string before("\x07\x00\x02x", 4);
  const std::string insert = std::string("\x81\x01h\x01\x00\x01p", 7) + before;
  const std::string drop = std::string("\x84\x00\x00", 3) + before;
  const std::string commit = std::string("\x85\x00\x04", 3) + before;
  // An erasure has no image whose payload a pre-image could share.
  const std::string shared("\x83\x01h\x01\x07\x00\x00", 7);
  for (const std::string& value : {insert, drop, commit, shared}) {
    EXPECT_EQ(ParseChanges(value).status().code(), absl::StatusCode::kDataLoss)
        << BytesToHexString(value);
  }
  // The same where they may be.
  const std::string update = std::string("\x82\x01h\x01\x00\x01p", 7) + before;
  const std::string erase = std::string("\x83\x01h\x01", 4) + before;
  for (const std::string& value : {update, erase}) {
    const auto records = ParseChanges(value);
    ASSERT_TRUE(records.ok()) << records.status();
    EXPECT_EQ((*records)[0].before->payload, "x");
  }
}

TEST(ChangeRecord, CutOrGarbledEntriesAreDataLossOrRecordsOfTheEntry) {
  const std::string value = EntryOfAllKinds();
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 5000; ++round) {
    std::string garbled = value.substr(0, round % 2 == 0 ? value.size() : random() % value.size());
    if (!garbled.empty()) {
      garbled[random() % garbled.size()] = static_cast<char>(random());
    }
    const std::vector<char> exact(garbled.begin(), garbled.end());
    const auto records = ParseChanges({exact.data(), exact.size()});
    if (!records.ok()) {
      EXPECT_EQ(records.status().code(), absl::StatusCode::kDataLoss);
      continue;
    }
    for (const ChangeRecord& record : *records) {
      ASSERT_LE(record.handle.size() + record.payload.size(), garbled.size());
      if (record.before.has_value()) {
        ASSERT_LE(record.handle.size() + record.before->payload.size(), garbled.size());
      }
    }
  }
}

}  // namespace
}  // namespace varve

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

class ChangeLog : public CatalogFixture {
 protected:
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
      return StrCat(text, " @ ", record.begin);
    }
    return StrCat(text, " @ ", IntervalText(record.begin, record.end), " ",
                  BytesToHexString(record.payload));
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

TEST_F(ChangeLog, HoldsTheWholeVersionAfterTheCommit) {
  MustApply("snapshot 1\n insert table 4 | - | 1 | - | 0 | a");
  ASSERT_EQ(LastCommit().size(), 2U);
  EXPECT_EQ(LastCommit()[1], "insert table_id=4 @ [1, …) 2800320161");

  MustApply("snapshot 2\n end table 4 @ 2\n insert table 4 | - | 2 | - | 0 | b");
  ASSERT_EQ(LastCommit().size(), 3U);
  EXPECT_EQ(LastCommit()[1], "update table_id=4 @ [1, 2) 2800320161");
  EXPECT_EQ(LastCommit()[2], "insert table_id=4 @ [2, …) 2800320162");

  MustApply("erase table 4 @ 1");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"erase table_id=4 @ 1"}));

  MustApply("put table_stats 4 | 9");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"insert table_id=4 @ [0, …) 1009"}));
  MustApply("put table_stats 4 | 10");
  EXPECT_EQ(LastCommit(), (std::vector<std::string>{"update table_id=4 @ [0, …) 100a"}));
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

TEST(ChangeRecord, CutOrGarbledEntriesAreDataLossOrRecordsOfTheEntry) {
  const RelationRef table = BuiltinRelationById(kTable);
  ChangeRecorder recorder;
  VersionGroup group(table, std::string("\x80\0\0\0\0\0\0\1", 8));
  for (SnapshotId begin = 0; begin < 20; ++begin) {
    GroupVersion version{.begin = begin,
                         .end = begin % 2 == 0 ? kNoEnd : begin + 300,
                         .payload = std::string(begin, 'p'),
                         .stored = begin % 3 == 0,
                         .erased = begin % 5 == 0};
    recorder.Record(group, version);
  }
  recorder.DropRelation(table->id);
  const auto entries = recorder.Finish(9, 4);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].second, CommitEntry(4));
  const std::string& value = entries[1].second;
  const auto whole = ParseChanges(value);
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->size(), 21U);
  EXPECT_EQ((*whole)[0].kind, ChangeKind::kErase);
  EXPECT_EQ((*whole)[3].kind, ChangeKind::kUpdate);
  EXPECT_EQ((*whole)[1].kind, ChangeKind::kInsert);
  EXPECT_EQ((*whole)[1].end, 301U);
  EXPECT_EQ((*whole)[2].end, kNoEnd);
  EXPECT_EQ((*whole)[19].payload, std::string(19, 'p'));

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
    }
  }
}

}  // namespace
}  // namespace varve

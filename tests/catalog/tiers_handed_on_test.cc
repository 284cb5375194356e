// Scans that read packs as they are: handed on without a copy, in any order, cut where another pack
// reaches in. Each gives the rows of the row store; what it did is told by counters and addresses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tests/catalog/tiers_fixture.h"

namespace varve {
namespace {

using Reason = CleanReadRejection;
using Lines = std::vector<std::string>;

class HandedOn : public TiersFixture {
 protected:
  static constexpr size_t kName = 5;  // columns of ducklake_table
  static constexpr size_t kPath = 6;
  static constexpr int kTables = 24;

  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
  }

  // Tables 10, 20, … from snapshot 1 on, in packs of four rows.
  void MakeTables() {
    std::string text = "snapshot 1\n";
    for (int n = 1; n <= kTables; ++n) {
      StrAppend(&text, Table(n * 10, 1), "\n");
    }
    MustApply(text);
  }
  static std::string Table(int id, int begin) {
    return StrCat("insert table ", id, " | - | ", begin, " | - | 0 | t", id, " | path", id, "/");
  }
  void CompactTables() {
    Flush(4);
    CompactAll(4);
  }
  static Lines Sorted(Lines lines) {
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  static RelationRef Tables() { return BuiltinRelationById(kTable); }

  // What a scan of tables does; its rows are those of the row store.
  ColumnarScanCounters Scan(const ReadView& view, ScanOptions options, size_t* rows = nullptr) {
    ScanStats stats;
    Lines answer = AnswerOf(view, Tables(), options, ScanPath::kColumnar, &stats);
    Lines expected = AnswerOf(view, Tables(), options, ScanPath::kRow);
    if (options.order == ScanOrder::kAny) {
      answer = Sorted(std::move(answer));
      expected = Sorted(std::move(expected));
    }
    EXPECT_EQ(answer, expected);
    EXPECT_EQ(stats.fell_back, "");
    if (rows != nullptr) {
      *rows = answer.size();
    }
    return stats.columnar;
  }
  static ScanOptions Names(ScanOrder order = ScanOrder::kKey) {
    return {.columns = {{kName, kPath}}, .order = order, .with_intervals = false, .batch_rows = 4};
  }
  static uint64_t Of(const ColumnarScanCounters& did, Reason reason) {
    return did.rejected[static_cast<size_t>(reason)];
  }

  // The batches of a scan.
  std::vector<ScanBatch> Batches(const ReadView& view, ScanOptions options) {
    options.path = ScanPath::kColumnar;
    const auto scan = view.Scan(Tables(), std::move(options));
    EXPECT_TRUE(scan.ok()) << scan.status();
    std::vector<ScanBatch> batches(1);
    while ((*scan)->Next(&batches.back()).value()) {
      batches.emplace_back();
    }
    batches.pop_back();
    return batches;
  }
  static bool IsShared(const ScanBatch& batch) {
    bool shared = true;
    for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
      shared = shared && batch.columns.shared_column(i) != nullptr;
    }
    return shared;
  }
  static std::vector<size_t> SharedSizes(const std::vector<ScanBatch>& batches) {
    std::vector<size_t> sizes;
    for (const ScanBatch& batch : batches) {
      if (IsShared(batch)) {
        sizes.push_back(batch.num_rows());
      }
    }
    return sizes;
  }
};

// --- Handed on -----------------------------------------------------------------------------------

TEST_F(HandedOn, ACleanPackIsABatchThatSharesTheCachesVectors) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  const auto first = Batches(now, Names());
  const auto second = Batches(now, Names());
  EXPECT_EQ(SharedSizes(first), std::vector<size_t>(6, 4));
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(&first[i].columns.column(0), &second[i].columns.column(0));
    EXPECT_EQ(&first[i].columns.column(1), &second[i].columns.column(1));
  }
  Scan(now, Names());
}

TEST_F(HandedOn, WhatABatchIsDoneToDoesNotReachTheCache) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  for (ScanBatch& batch : Batches(now, Names())) {
    ASSERT_TRUE(IsShared(batch));
    batch.DropFirst(1);
    batch.Truncate(2);
    batch.columns.mutable_column(0).SetNull(0);
    batch.columns.mutable_column(1).AppendNull();
  }
  Scan(now, Names());
}

TEST_F(HandedOn, APackThatNoCacheKeepsIsHandedOnJustTheSame) {
  MakeTables();
  CompactTables();
  ReopenWithMemory({.block_cache_bytes = 0});
  const ReadView now = catalog_->Current();
  EXPECT_EQ(SharedSizes(Batches(now, Names())), std::vector<size_t>(6, 4));
  Scan(now, Names());
}

TEST_F(HandedOn, BatchesMayBeLongerThanBatchRowsAndSmallPacksArePutTogether) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  for (const uint32_t batch_rows : {1, 3, 4, 8}) {
    ScanOptions options = Names();
    options.batch_rows = batch_rows;
    EXPECT_EQ(SharedSizes(Batches(now, options)), std::vector<size_t>(6, 4)) << batch_rows;
    Scan(now, options);
  }
  ScanOptions options = Names();
  options.batch_rows = 9;  // more than two packs
  EXPECT_EQ(SharedSizes(Batches(now, options)), std::vector<size_t>());
  EXPECT_EQ(Batches(now, options)[0].num_rows(), 9U);
}

TEST_F(HandedOn, ALimitCutsAPackAndTheRestIsCopied) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  for (uint64_t limit = 0; limit <= kTables; ++limit) {
    ScanOptions options = Names();
    options.limit = limit;
    EXPECT_EQ(SharedSizes(Batches(now, options)), std::vector<size_t>(limit / 4, 4)) << limit;
    Scan(now, options);
  }
}

TEST_F(HandedOn, APredicateThatLeavesAllRowsLeavesThePackWhole) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  Term term{.column = kPath, .op = Comparison::kNotEqual};
  const std::vector<Datum> path = {Datum::Bytes("path60/")};  // of the second pack
  term.constants = Row(path);
  ScanOptions options = Names();
  options.predicate = Predicate({term});
  EXPECT_EQ(SharedSizes(Batches(now, options)), std::vector<size_t>(5, 4));
  Scan(now, options);
}

TEST_F(HandedOn, APackThatTurnsOutVisibleIsHandedOnWithItsIntervals) {
  MakeTables();
  CompactTables();
  const ReadView now = catalog_->Current();
  ScanOptions options = Names();
  options.with_intervals = true;
  options.with_handles = true;
  const auto batches = Batches(now, options);
  EXPECT_EQ(SharedSizes(batches), std::vector<size_t>(6, 4));
  for (const ScanBatch& batch : batches) {
    EXPECT_EQ(batch.begins, std::vector<SnapshotId>(4, 1));
    EXPECT_EQ(batch.ends, std::vector<SnapshotId>(4, kNoEnd));
    EXPECT_EQ(batch.handles.size(), 4U);
  }
  EXPECT_EQ(Of(Scan(now, options), Reason::kProjection), 6U);
}

TEST_F(HandedOn, RowsOfMemoryComeInBatchesOfTheirOwnBetweenPacks) {
  MakeTables();
  CompactTables();
  MustApply(StrCat("snapshot 2\n", Table(45, 2), "\n", Table(85, 2)));
  const ReadView now = catalog_->Current();
  const auto batches = Batches(now, Names());
  EXPECT_EQ(SharedSizes(batches), std::vector<size_t>(6, 4));
  EXPECT_EQ(batches.size(), 8U);
  Scan(now, Names());
}

// --- In any order, and cut -----------------------------------------------------------------------

// Ended rows lie between the live ones: tables 30, 70, … end at snapshot 2, 50 at 3.
class HandedOnInTwoLanes : public HandedOn {
 protected:
  void MakeLanes() {
    MakeTables();
    std::string text = "snapshot 2\n";
    for (const int id : {30, 70, 110, 150, 190, 230}) {
      StrAppend(&text, "end table ", id, " @ 2\n");
    }
    MustApply(text);
    MustApply("snapshot 3\n end table 50 @ 3\n end table 160 @ 3");
    CompactTables();
  }
};

TEST_F(HandedOnInTwoLanes, InAnyOrderPacksOfALaneStayCleanBesideThoseOfTheOther) {
  MakeLanes();
  size_t rows = 0;
  const ColumnarScanCounters in_order = Scan(At(1), Names(), &rows);
  EXPECT_EQ(rows, 24U);
  EXPECT_EQ(in_order.packs_clean, 0U);
  EXPECT_EQ(Of(in_order, Reason::kNeedsMerge), 6U);
  const ColumnarScanCounters in_any = Scan(At(1), Names(ScanOrder::kAny), &rows);
  EXPECT_EQ(rows, 24U);
  EXPECT_EQ(in_any.packs_clean, 6U);
  EXPECT_EQ(in_any.mvcc_bytes_read, 0U);
  EXPECT_EQ(SharedSizes(Batches(At(1), Names(ScanOrder::kAny))), std::vector<size_t>(6, 4));
}

TEST_F(HandedOnInTwoLanes, InAnyOrderNewerRowsHideThoseOfBothLanes) {
  MakeLanes();
  MustApply("snapshot 4\n end table 60 @ 4");
  MustApply("erase table 70 @ 1\n erase table 230 @ 1");
  for (const bool flushed : {false, true}) {
    for (const SnapshotId at : {1, 2, 3, 4}) {
      SCOPED_TRACE(StrCat("at ", at));
      for (const ScanOrder order : {ScanOrder::kKey, ScanOrder::kAny}) {
        for (const bool with_handles : {false, true}) {
          ScanOptions options = Names(order);
          options.with_handles = with_handles;
          Scan(At(at), options);
        }
      }
    }
    if (!flushed) {
      Flush(4);
    }
  }
}

TEST_F(HandedOnInTwoLanes, InKeyOrderAPackStaysCleanBesideOneWithoutVisibleRowsThere) {
  MakeLanes();
  // Of the ended rows 50 and 160 alone are visible at snapshot 2.
  size_t rows = 0;
  const ColumnarScanCounters did = Scan(At(2), Names(), &rows);
  EXPECT_EQ(rows, 18U);
  // Ended packs: 30 50 70 110 | 150 160 190 230; live ones: 10 20 40 60 | 80 … 120 | 130 … |
  // 200 … 240.
  EXPECT_EQ(Of(did, Reason::kNeedsMerge), 4U);
  EXPECT_EQ(did.packs_clean, 2U);
  // None is at snapshot 3: packs of ended rows are passed over.
  EXPECT_EQ(Scan(At(3), Names()).packs_clean, 4U);
}

TEST_F(HandedOnInTwoLanes, CutPacksGiveIntervalsHandlesAndWhatThePredicateLeaves) {
  MakeLanes();
  for (const SnapshotId at : {1, 2}) {
    for (const uint32_t batch_rows : {1, 2, 3, 100}) {
      ScanOptions options = Names();
      options.batch_rows = batch_rows;
      Scan(At(at), options);
      options.with_handles = true;
      options.with_intervals = true;
      Scan(At(at), options);
      Term term{.column = kName, .op = Comparison::kGreater};
      const std::vector<Datum> name = {Datum::Bytes("t150")};
      term.constants = Row(name);
      options.predicate = Predicate({term});
      Scan(At(at), options);
      options.key_prefix = {Datum::Int64(160)};
      Scan(At(at), options);
      options.limit = 7;
      Scan(At(at), options);
    }
  }
}

// --- Damaged in the middle -----------------------------------------------------------------------

void FlipByte(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

TEST_F(HandedOnInTwoLanes, AScanGoesOnInTheRowStoreWithTheRowsItHasNotReturned) {
  MakeLanes();
  // Newer rows everywhere: in memory, and in L1.
  MustApply(StrCat("snapshot 4\n", Table(55, 4), "\n end table 200 @ 4\n erase table 150 @ 1"));
  Flush(2);
  MustApply(StrCat("snapshot 5\n", Table(105, 5), "\n", Table(245, 5), "\n end table 90 @ 5"));
  struct Piece {
    std::string file;
    PackLocation pack;
  };
  std::vector<Piece> pieces;
  for (const ColumnarSegment& segment : catalog_->LatestState()->columnar->Find(kTable)->segments) {
    for (const auto* part : {&segment.live, &segment.ended}) {
      const ColumnarTable& table = *(*part)->table;
      const std::string file = (*part)->file->file()->path();
      for (size_t pack = 0; pack < table.num_packs(); ++pack) {
        for (const ColumnarTable::Column* column :
             {&table.handle_column(), &table.version_column(), &table.end_column()}) {
          pieces.push_back({file, column->packs[pack]});
        }
        for (const ColumnarTable::Column& column : table.columns()) {
          if (column.info.name == "table_name") {
            pieces.push_back({file, column.packs[pack]});
          }
        }
      }
    }
  }
  ASSERT_EQ(pieces.size(), 24U);
  int fell_back = 0;
  for (const Piece& piece : pieces) {
    catalog_.reset();
    FlipByte(piece.file, piece.pack.offset + piece.pack.length / 2);
    ASSERT_NO_FATAL_FAILURE(ReopenWithMemory());  // nothing is cached, and what is damaged never
    for (const SnapshotId at : {1, 2, 3, 4, 5}) {
      for (const ScanOrder order : {ScanOrder::kKey, ScanOrder::kAny}) {
        for (const bool with_versions : {false, true}) {
          for (const uint32_t batch_rows : {1, 3, 100}) {
            SCOPED_TRACE(StrCat(piece.file, " at ", piece.pack.offset, ", snapshot ", at,
                                ", any order ", order == ScanOrder::kAny, ", batches of ",
                                batch_rows));
            ScanOptions options = Names(order);
            options.with_intervals = with_versions;
            options.with_handles = with_versions;
            options.batch_rows = batch_rows;
            ScanStats stats;
            Lines answer = AnswerOf(At(at), Tables(), options, ScanPath::kAuto, &stats);
            Lines expected = AnswerOf(At(at), Tables(), options, ScanPath::kRow);
            if (order == ScanOrder::kAny) {
              answer = Sorted(std::move(answer));
              expected = Sorted(std::move(expected));
            }
            ASSERT_EQ(answer, expected);
            fell_back += stats.fell_back.empty() ? 0 : 1;
          }
        }
      }
    }
    catalog_.reset();
    FlipByte(piece.file, piece.pack.offset + piece.pack.length / 2);
  }
  EXPECT_GT(fell_back, 500);
}

}  // namespace
}  // namespace varve

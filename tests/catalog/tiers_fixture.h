// A catalog whose rows go through the columnar tier, for tests that ask the same on every path.
//
// Thread-safety: none.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/scan_answers.h"

namespace varve {

// Tables of small packs, each on its own in the file.
inline ColumnarTableBuilderOptions SmallPacks(size_t rows_per_pack) {
  ColumnarTableBuilderOptions options;
  options.rows_per_pack = rows_per_pack;
  options.group_bytes = 0;
  return options;
}

// What the scans of a test did altogether.
struct TiersAsked {
  uint64_t rows = 0;                // that the columnar path gave
  uint64_t clean = 0;               // packs
  uint64_t clean_in_any_order = 0;  // packs, on several paths
  uint64_t normal = 0;              // packs
  uint64_t skipped = 0;             // packs
  uint64_t refused = 0;             // scans
  std::array<uint64_t, kNumCleanReadRejections> rejected = {};
};

class TiersFixture : public CatalogFixture {
 protected:
  void NewCatalog() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    CopyNewCatalog(path());
    ReopenWithMemory();
  }
  // Nothing is done in the background unless a test asks for it: it would make damage good.
  void ReopenWithMemory(CatalogOptions options = {.memrowset_budget_bytes = 0}) {
    Reopen(options);
    const absl::Status status = catalog_->WaitForMemory();
    ASSERT_TRUE(status.ok()) << status;
  }

  void Flush(size_t rows_per_pack = 2) {
    const auto flushed = FlushMemory(*catalog_, {.table = SmallPacks(rows_per_pack)});
    ASSERT_TRUE(flushed.ok()) << flushed.status();
  }
  CompactionSummary Compact(CompactionOptions options) {
    const auto compacted = CompactColumns(*catalog_, options);
    EXPECT_TRUE(compacted.ok()) << compacted.status();
    return compacted.value_or(CompactionSummary());
  }
  // All that there is, into segments of at least `segment_bytes`.
  CompactionSummary CompactAll(size_t rows_per_pack = 2, uint64_t segment_bytes = 1 << 20) {
    return Compact(
        {.full = true, .segment_bytes = segment_bytes, .table = SmallPacks(rows_per_pack)});
  }
  void Rebuild(std::vector<RelationId> relations = {}, size_t rows_per_pack = 2) {
    const auto rebuilt = RebuildColumns(
        *catalog_, {.relations = std::move(relations), .table = SmallPacks(rows_per_pack)});
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  }

  // Asks one thing on every path, clean and not.
  void Compare(const ReadView& view, const RelationRef& relation, ScanOptions options) {
    SCOPED_TRACE(StrCat(relation->name, " at snapshot ", view.snapshot(), ", csn ", view.csn(),
                        ": ", QuestionText(*relation, options)));
    const std::vector<std::string> rows = AnswerOf(view, relation, options, ScanPath::kRow);
    for (const bool clean_read : {true, false}) {
      options.clean_read = clean_read;
      ASSERT_EQ(AnswerOf(view, relation, options, ScanPath::kAuto), rows)
          << "clean read " << clean_read;
    }
    const StoreState& state = *view.state();
    const RelationColumns* const columns = state.columnar->Find(relation->id);
    const bool has_answer =
        state.memory != nullptr && state.columnar->IsComplete(relation->id) &&
        (options.rows == ScanRows::kVisible || state.columnar->manifest().files().empty());
    ScanStats with;
    options.clean_read = true;
    const std::vector<std::string> clean =
        AnswerOf(view, relation, options, ScanPath::kColumnar, &with);
    if (!has_answer) {
      ASSERT_EQ(clean.size(), 1U);
      ASSERT_TRUE(clean[0].starts_with("error: FAILED_PRECONDITION") ||
                  (rows == clean && clean[0].starts_with("error: INVALID")))
          << clean[0];
      ++asked_.refused;
      return;
    }
    ASSERT_EQ(clean, rows);
    ScanStats without;
    options.clean_read = false;
    ASSERT_EQ(AnswerOf(view, relation, options, ScanPath::kColumnar, &without), rows);
    if (rows.size() == 1 && rows[0].starts_with("error: ")) {
      return;
    }
    ASSERT_EQ(with.path, columns == nullptr || (columns->l1.empty() && columns->segments.empty())
                             ? ScanPath::kMemory
                             : ScanPath::kColumnar);
    ASSERT_NO_FATAL_FAILURE(CheckCounters(options, rows.size(), with));
    ASSERT_NO_FATAL_FAILURE(CheckCounters(options, rows.size(), without));
    ASSERT_EQ(without.columnar.packs_clean, 0U);
    if (!options.limit.has_value()) {
      ASSERT_EQ(with.columnar.packs_clean + with.columnar.packs_normal,
                without.columnar.packs_normal);
      ASSERT_EQ(with.columnar.packs_skipped, without.columnar.packs_skipped);
    }
    ASSERT_NO_FATAL_FAILURE(CompareInAnyOrder(view, relation, options, rows));
    asked_.rows += rows.size();
    asked_.clean += with.columnar.packs_clean;
    asked_.normal += with.columnar.packs_normal;
    asked_.skipped += with.columnar.packs_skipped;
    for (size_t i = 0; i < kNumCleanReadRejections; ++i) {
      asked_.rejected[i] += with.columnar.rejected[i];
    }
  }

  // Asks the same in any order: the same rows, or with a limit as many of those without.
  void CompareInAnyOrder(const ReadView& view, const RelationRef& relation, ScanOptions options,
                         std::vector<std::string> rows) {
    const size_t num_rows = rows.size();
    if (options.limit.has_value()) {
      ScanOptions all = options;
      all.limit = std::nullopt;
      rows = AnswerOf(view, relation, std::move(all), ScanPath::kRow);
    }
    std::sort(rows.begin(), rows.end());
    options.order = ScanOrder::kAny;
    for (const ScanPath path : {ScanPath::kColumnar, ScanPath::kAuto, ScanPath::kRow}) {
      uint64_t packs = 0;
      for (const bool clean_read : {true, false}) {
        ScanStats stats;
        options.clean_read = clean_read;
        std::vector<std::string> answer = AnswerOf(view, relation, options, path, &stats);
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer.size(), num_rows) << "in any order, clean read " << clean_read;
        ASSERT_TRUE(std::includes(rows.begin(), rows.end(), answer.begin(), answer.end()))
            << "in any order, clean read " << clean_read;
        ASSERT_NO_FATAL_FAILURE(CheckCounters(options, num_rows, stats));
        const uint64_t packs_now = stats.columnar.packs_clean + stats.columnar.packs_normal;
        if (!clean_read && !options.limit.has_value()) {
          ASSERT_EQ(packs_now, packs);
        }
        packs = packs_now;
        asked_.clean_in_any_order += stats.columnar.packs_clean;
      }
    }
  }

  // Asks everything of every relation, and `questions` more.
  void CompareAll(const ReadView& view, RandomQuestions* random, int questions) {
    for (const RelationRef& relation : view.relations().relations()) {
      Compare(view, relation, {.with_handles = true});
      Compare(view, relation, {.with_intervals = false});
      const std::vector<Row> sample = questions > 0 ? RowsOf(view, relation) : std::vector<Row>();
      for (int i = 0; i < questions; ++i) {
        Compare(view, relation, random->Draw(*relation, sample));
        if (HasFatalFailure()) {
          return;
        }
      }
      if (HasFatalFailure()) {
        return;
      }
    }
  }

  // Snapshots that can be read.
  std::vector<SnapshotId> Snapshots() const { return ReadableSnapshots(*catalog_); }

  // The names of the files in the directory, and of those in the manifest.
  std::set<std::string> FilesOnDisk() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(ColumnarPath())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  std::set<std::string> FilesInManifest() const {
    std::set<std::string> names;
    for (const auto& file : catalog_->LatestState()->columnar->manifest().files()) {
      names.insert(ColumnarFileName(file.number()));
    }
    return names;
  }
  std::string ColumnarPath() const { return StrCat(path(), "/", kColumnarDirectory); }

  TiersAsked asked_;

 private:
  static void CheckCounters(const ScanOptions& options, size_t rows, const ScanStats& stats) {
    const ColumnarScanCounters& did = stats.columnar;
    ASSERT_EQ(stats.fell_back, "");
    ASSERT_EQ(stats.rows_returned, rows);
    ASSERT_EQ(std::accumulate(did.rejected.begin(), did.rejected.end(), uint64_t{0}),
              did.packs_normal);
    ASSERT_LE(did.mvcc_bytes_read, did.bytes_read);
    ASSERT_EQ(did.clean_rows > 0, did.packs_clean > 0);
    ASSERT_EQ(did.mvcc_bytes_avoided > 0, did.packs_clean > 0);
    if (did.packs_normal == 0 && !options.limit.has_value()) {
      ASSERT_EQ(did.mvcc_bytes_read, 0U);
    }
  }
};

}  // namespace varve

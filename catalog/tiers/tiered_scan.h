// A scan over tiers: MemRowSets, L1 runs and L2 packs, merged by key, of equal keys the newest
// image.
//
//   MemRowSets, newest first ─┐
//   L1 runs, newest first ────┼─► runs in key order ──► visible? predicate? ──► batches
//   L2 live rows, ended rows ─┘
//
// Images are resolved before anything is filtered: an old image that is visible must not come back
// because the newest one is not. Packs of L2 alone may be passed over by statistics, and read clean
// where statistics prove every row visible and no other tier has a row between their first and last
// handle (edges included): then only the data columns asked for are read, the predicate's first,
// the others for the rows that it leaves. A pack that is all rows of the answer is handed on as it
// is, its columns shared with the cache; of others rows are copied.
//
// A file that turns out to be damaged is answered around: the scan goes on in the row store, with
// the rows it has not returned. In key order those are the rows behind as many as were returned; in
// any order LaneProgress knows them.
//
// Thread-safety: one thread. Ownership: shares the view's state.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"
#include "catalog/store/parent_visibility.h"
#include "catalog/store/scan_columns.h"
#include "catalog/tiers/lane_progress.h"
#include "catalog/tiers/version_merger.h"

namespace varve {

class TieredScan : public RowScan {
 public:
  // `handle_prefix`: of the rows wanted. Requires: the tiers of the view's state hold all of the
  // relation.
  TieredScan(ReadView view, RelationRef relation, ScanOptions options,
             const std::string& handle_prefix);
  ~TieredScan() override;

  absl::StatusOr<bool> Next(ScanBatch* batch) override;
  const ScanStats& stats() const override { return stats_; }

 private:
  void AddSources(const std::string& handle_prefix);
  absl::StatusOr<bool> NextBatch(ScanBatch* batch);
  absl::StatusOr<bool> GoOnInRowStore(ScanBatch* batch);
  absl::Status OpenRowStore(ScanBatch* batch);
  void DropReturned(ScanBatch* batch);

  // Takes the next run and chooses the rows of it that are rows of the answer.
  absl::StatusOr<bool> TakeRun();
  absl::Status ChooseFromBlock(const VersionBlock& block, size_t from, size_t to);
  absl::Status ChooseFromPack();
  absl::Status ChooseByParents(const ColumnBatch& columns);
  absl::Status FilterPack();
  bool TakesWholeColumns() const;
  absl::Status ReadSlot(size_t slot, bool whole);
  // Whether the pack can be handed on as it is.
  bool IsWholePack() const;
  void HandOn(ScanBatch* batch);
  // Appends chosen rows, as many as fit.
  void Append(ScanBatch* batch);
  void FindRanges(std::span<const uint32_t> rows);
  void AppendColumn(size_t slot, std::span<const uint32_t> rows, ColumnVector* column) const;
  void AppendVersions(std::span<const uint32_t> rows, ScanBatch* batch);
  SnapshotInterval IntervalOf(uint32_t row) const;
  void FinishStats();

  ReadView view_;
  RelationRef relation_;
  ScanOptions options_;
  ScanColumns columns_;
  bool by_interval_;
  std::optional<ParentVisibility> parents_;
  // The columns that hold the parent's handle: where they stand in the row's, and in columns_.read.
  struct ParentColumn {
    size_t position = 0;
    size_t slot = 0;
  };
  std::vector<ParentColumn> parent_columns_;
  std::vector<const ColumnVector*> parent_key_;  // those columns, of the rows at hand
  std::vector<PhysicalType> types_;              // of columns_.read
  ReadCounters reads_;
  ColumnarScanCounters counters_;
  std::unique_ptr<VersionMerger> merger_;
  uint64_t remaining_;
  ScanStats stats_;
  std::chrono::steady_clock::duration elapsed_{};  // in Next
  // Once a file turned out to be damaged: what is wrong, and then who answers.
  absl::Status failure_;
  std::unique_ptr<RowScan> row_store_;
  LaneProgress progress_;  // in any order only

  // The run being returned: rows of a block, or of a pack.
  VersionMerger::Run run_;
  // Numbers of rows of the block or the pack: all rows there are, those of the run, or a choice.
  std::span<const uint32_t> chosen_;
  size_t next_chosen_ = 0;
  std::vector<uint32_t> chosen_rows_;
  std::vector<uint32_t> all_rows_;  // 0, 1, 2, …
  // What was read of the pack's columns: all rows, or those chosen by then.
  enum class SlotRows : uint8_t { kNone, kAll, kChosen };
  ColumnBatch pack_columns_;
  std::vector<SlotRows> slot_rows_;
  PackSource::Intervals pack_intervals_;
  std::vector<SnapshotInterval> intervals_;  // of the rows, where parents give them

  // Reused.
  struct RowRange {
    uint32_t from = 0;
    uint32_t count = 0;
  };
  std::vector<RowRange> ranges_;  // rows that are appended, if they form few of them; else empty
  DecodedHandle decoded_;
  std::vector<uint32_t> positions_;
  std::string key_;
};

}  // namespace varve

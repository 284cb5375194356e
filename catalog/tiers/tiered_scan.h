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
// the others for the rows that it leaves.
//
// A file that turns out to be damaged is answered around: the scan goes on in the row store, behind
// the rows it has returned.
//
// Thread-safety: one thread. Ownership: shares the view's state.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/read_view.h"
#include "catalog/scan.h"
#include "catalog/store/parent_visibility.h"
#include "catalog/store/scan_columns.h"
#include "catalog/tiers/columnar_source.h"
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

  // Takes the next run and chooses the rows of it that are rows of the answer.
  absl::StatusOr<bool> TakeRun();
  absl::Status ChooseFromBlock(const VersionBlock& block, size_t from, size_t to);
  absl::Status ChooseFromPack();
  absl::Status ChooseVisible(size_t from, size_t to);
  absl::Status ChooseByParents(size_t from, size_t to);
  absl::Status FilterPack();
  absl::Status ReadSlot(size_t slot);
  absl::Status ReadReturnedSlots();
  // Appends chosen rows, as many as fit.
  void Append(ScanBatch* batch);
  void AppendColumn(size_t slot, std::span<const uint32_t> rows, ColumnVector* column) const;
  void AppendVersions(std::span<const uint32_t> rows, ScanBatch* batch) const;
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
  std::vector<PhysicalType> types_;  // of columns_.read
  ReadCounters reads_;
  ColumnarScanCounters counters_;
  std::unique_ptr<VersionMerger> merger_;
  uint64_t remaining_;
  ScanStats stats_;
  std::chrono::steady_clock::duration elapsed_{};  // in Next
  std::unique_ptr<RowScan> row_store_;             // once a file turned out to be damaged

  // The run being returned: a block of a source, or own_ filled from a pack. Of a pack own_ has the
  // chosen rows only, in slots that were read for them; whole_ has other slots, all rows of each.
  VersionMerger::Run run_;
  VersionBlock own_;
  const VersionBlock* block_ = nullptr;
  bool of_pack_ = false;
  std::vector<std::shared_ptr<const ColumnVector>> whole_;
  std::vector<uint32_t> chosen_;  // rows of the block, or of the pack
  size_t next_chosen_ = 0;
  std::vector<SnapshotInterval> intervals_;  // of the block's rows, where parents give them
  std::vector<uint8_t> slot_read_;
  DecodedHandle decoded_;
  std::vector<uint32_t> positions_;
};

}  // namespace varve

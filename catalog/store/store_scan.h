// The row path of a scan: versions out of the row store, filtered, decoded and batched.
//
// Which versions are read and which of them are rows of the answer:
//
//   current snapshot        live only; every one is visible (the current fast path)
//   past snapshot S         live and ended, merged; visible := begin <= S & S < end
//   begin-only, unversioned live only (they have no ended versions)
//   child relations         live only; visible while the parent is
//   all versions            live and ended, merged, unfiltered
//
// Thread-safety: one thread. Ownership: shares the view's state.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "catalog/payload_codec.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"
#include "catalog/store/parent_visibility.h"
#include "catalog/store/scan_columns.h"
#include "catalog/store/version_cursor.h"

namespace varve {

class StoreScan : public RowScan {
 public:
  // `options` must be consistent: columns in range, batch_rows in range, prefix no longer than the
  // handle (ReadView::Scan checks).
  StoreScan(ReadView view, RelationRef relation, ScanOptions options,
            std::string_view handle_prefix);

  absl::StatusOr<bool> Next(ScanBatch* batch) override;
  const ScanStats& stats() const override { return stats_; }

 private:
  // Fills the batch with visible rows, before the predicate.
  absl::Status Fill(ScanBatch* batch);
  // Whether the version under the cursor is a row of the answer; for child rows, with which
  // interval.
  absl::StatusOr<bool> IsRow(const StoredVersion& version, SnapshotInterval* interval);
  absl::Status AppendRow(const StoredVersion& version, const SnapshotInterval& interval,
                         ScanBatch* batch);
  absl::Status Advance(bool was_row);
  void ApplyPredicate(ScanBatch* batch);

  ReadView view_;
  RelationRef relation_;
  ScanOptions options_;
  bool by_interval_;  // the interval test is needed: not at the current snapshot, not all versions
  ScanColumns columns_;
  RowDecoder decoder_;  // of columns_.read
  std::optional<ParentVisibility> parents_;
  VersionCursor cursor_;
  bool started_ = false;
  // Invisible ended versions met in a row; a long run is left by a seek.
  int skipped_in_a_row_ = 0;
  uint64_t remaining_;
  ScanStats stats_;
  // Buffers reused row by row.
  DecodedHandle decoded_;
  std::vector<Datum> values_;
  std::vector<uint32_t> selection_;
};

}  // namespace varve

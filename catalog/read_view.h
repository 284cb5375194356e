// What a reader holds: a state of the catalog, bound to a snapshot, that never changes.
//
// A view pins the RocksDB snapshot of one csn and the relation directory that belongs to it;
// commits made after it was taken are never seen, not even in part. Taking a view is cheap; hold it
// as long as one consistent answer is wanted, not longer (it keeps old versions of keys from being
// dropped).
//
// Thread-safety: a ReadView may be used by any number of threads at once; the RowScan and
// PointReader objects it makes belong to one thread each. Ownership: shared; a view keeps the row
// store open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/row.h"
#include "catalog/relation.h"
#include "catalog/relation_directory.h"
#include "catalog/scan.h"

namespace varve {

class RowStore;

// A state of the row store: the RocksDB snapshot of one csn. Shared by the views taken at it.
struct StoreState;

using Csn = uint64_t;

// One version of a row. `values` holds every column of the relation.
struct VersionedRow {
  Row values;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  Csn csn = 0;
  SnapshotId begin_snapshot() const { return begin; }
  SnapshotId end_snapshot() const { return end; }
};

class ReadView {
 public:
  // `hold`: what keeps the snapshot retained while the view lives (retention/view_registry.h).
  ReadView(std::shared_ptr<const StoreState> state, SnapshotId snapshot,
           std::shared_ptr<const void> hold = nullptr);

  SnapshotId snapshot() const { return snapshot_; }
  // Whether the view is at the latest snapshot of its state: the current fast path applies.
  bool is_current() const;
  Csn csn() const;
  SnapshotId last_snapshot() const;
  const RelationDirectory& relations() const;
  const std::shared_ptr<const StoreState>& state() const { return state_; }

  // The row with this handle that is visible at the view's snapshot. `key` holds the handle
  // columns' values in key order. NULL-free int handles are one Get at the current snapshot, and at
  // most one more seek in the past. NotFound (as nullopt) is no error. Rows of child relations
  // inherit their parent's visibility; like unversioned rows they come with the interval [0,
  // kNoEnd). Of several rows with this handle the visible one with the lowest ordinal is returned.
  absl::StatusOr<std::optional<VersionedRow>> Get(const RelationSchema& relation,
                                                  std::span<const Datum> key) const;

  // By the unique column that is not the handle (data_file_id, delete_file_id).
  absl::StatusOr<std::optional<VersionedRow>> GetByUnique(const RelationSchema& relation,
                                                          int64_t id) const;

  // Every version of one handle, in begin order.
  absl::StatusOr<std::vector<VersionedRow>> Versions(const RelationSchema& relation,
                                                     std::span<const Datum> key) const;

  // Rows in (handle, begin) order.
  absl::StatusOr<std::unique_ptr<RowScan>> Scan(RelationRef relation, ScanOptions options) const;

 private:
  std::shared_ptr<const StoreState> state_;
  SnapshotId snapshot_;
  std::shared_ptr<const void> hold_;
};

// Point look-ups in a loop: the same answers as ReadView::Get, with iterators and buffers reused.
// Thread-safety: one thread. Ownership: keeps the view's state.
class PointReader {
 public:
  explicit PointReader(const ReadView& view);
  ~PointReader();
  PointReader(PointReader&&) noexcept;

  // `row` is overwritten; valid until the next call. false: no such row at the view's snapshot.
  absl::StatusOr<bool> Get(const RelationSchema& relation, std::span<const Datum> key,
                           VersionedRow* row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve

// A scan of what a transaction sees: the base view's rows with those that the transaction changed
// in their places.
//
// Thread-safety: one thread. Ownership: borrows the TransactionRows, which must outlive it and not
// change while it is in use.
#pragma once

#include <memory>
#include <vector>

#include "catalog/scan.h"
#include "catalog/transaction/transaction_rows.h"

namespace varve {

class TransactionScan : public RowScan {
 public:
  // `options` must be those of a scan of visible rows. InvalidArgument otherwise.
  static absl::StatusOr<std::unique_ptr<TransactionScan>> Open(const TransactionRows& rows,
                                                               const RelationRef& relation,
                                                               ScanOptions options);

  absl::StatusOr<bool> Next(ScanBatch* batch) override;
  const ScanStats& stats() const override { return stats_; }

 private:
  TransactionScan(const TransactionRows& rows, RelationRef relation, ScanOptions options)
      : rows_(rows), relation_(std::move(relation)), options_(std::move(options)) {}

  absl::Status NextBase();
  absl::Status AppendBase(ScanBatch* batch);
  absl::Status AppendChanged(const TransactionRows::Change& change, ScanBatch* batch);
  void Append(const std::vector<Datum>& values, SnapshotId begin, SnapshotId end,
              std::string_view handle, ScanBatch* batch);

  const TransactionRows& rows_;
  RelationRef relation_;
  ScanOptions options_;
  std::vector<size_t> columns_;  // asked for
  std::vector<PhysicalType> types_;
  // The base: rows whose handle the transaction has not touched are taken as they are.
  std::unique_ptr<RowScan> base_;
  ScanBatch base_batch_;
  size_t base_row_ = 0;
  bool base_done_ = false;
  // The changed handles still to come.
  const TransactionRows::Changes* changes_ = nullptr;
  TransactionRows::Changes::const_iterator next_change_;
  std::string upper_;  // of the handles asked for; empty: none
  bool check_parents_ = false;
  uint64_t remaining_ = 0;
  ScanStats stats_;
  std::vector<Datum> values_;
};

}  // namespace varve

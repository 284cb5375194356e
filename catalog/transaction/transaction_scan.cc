#include "catalog/transaction/transaction_scan.h"

#include <limits>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"

namespace varve {

absl::StatusOr<std::unique_ptr<TransactionScan>> TransactionScan::Open(const TransactionRows& rows,
                                                                       const RelationRef& relation,
                                                                       ScanOptions options) {
  if (options.rows != ScanRows::kVisible) {
    return absl::InvalidArgumentError(
        StrCat(relation->name, ": a transaction sees visible rows only; scan its base instead"));
  }
  std::string prefix;
  VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*relation, options.key_prefix, &prefix));
  std::unique_ptr<TransactionScan> scan(new TransactionScan(rows, relation, std::move(options)));
  if (scan->options_.columns.has_value()) {
    scan->columns_ = *scan->options_.columns;
  } else {
    for (size_t i = 0; i < relation->columns.num_columns(); ++i) {
      scan->columns_.push_back(i);
    }
  }
  for (const size_t column : scan->columns_) {
    if (column >= relation->columns.num_columns()) {
      return absl::InvalidArgumentError(StrCat(relation->name, " has ",
                                               relation->columns.num_columns(), " columns, number ",
                                               column, " was asked for"));
    }
    scan->types_.push_back(relation->columns.column(column).type.physical());
  }
  scan->remaining_ = scan->options_.limit.value_or(std::numeric_limits<uint64_t>::max());
  scan->upper_ = prefix.empty() ? "" : PrefixSuccessor(prefix);
  if (const auto it = rows.changes().find(relation->id); it != rows.changes().end()) {
    scan->changes_ = &it->second;
    scan->next_change_ = it->second.lower_bound(prefix);
  }
  scan->check_parents_ =
      relation->versioning == Versioning::kViaParent && rows.HasChanges(relation->parent);
  if (rows.base().relations().FindById(relation->id) == nullptr) {
    scan->base_done_ = true;
    return scan;
  }
  ScanOptions base = scan->options_;
  base.columns = scan->columns_;
  base.with_handles = true;
  base.with_intervals = true;
  base.order = ScanOrder::kKey;  // changed rows come in their places
  base.limit = std::nullopt;
  VARVE_ASSIGN_OR_RETURN(scan->base_, rows.base().Scan(relation, std::move(base)));
  scan->base_row_ = std::numeric_limits<size_t>::max();  // NextBase steps onto the first
  VARVE_RETURN_IF_ERROR(scan->NextBase());
  return scan;
}

// On to the next row of the base whose handle was not touched.
absl::Status TransactionScan::NextBase() {
  while (true) {
    ++base_row_;
    while (base_row_ >= base_batch_.num_rows()) {
      VARVE_ASSIGN_OR_RETURN(const bool more, base_->Next(&base_batch_));
      stats_.versions_read = base_->stats().versions_read;
      if (!more) {
        base_done_ = true;
        return absl::OkStatus();
      }
      base_row_ = 0;
    }
    const std::string_view handle =
        HandleWithoutOrdinal(*relation_, base_batch_.handles[base_row_]);
    if (changes_ != nullptr && changes_->contains(handle)) {
      continue;
    }
    if (check_parents_) {
      DecodedHandle decoded;
      VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, base_batch_.handles[base_row_], &decoded));
      VARVE_ASSIGN_OR_RETURN(const bool visible, rows_.ParentIsVisible(relation_, decoded.key));
      if (!visible) {
        continue;
      }
    }
    return absl::OkStatus();
  }
}

void TransactionScan::Append(const std::vector<Datum>& values, SnapshotId begin, SnapshotId end,
                             std::string_view handle, ScanBatch* batch) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    batch->columns.mutable_column(i).Append(values[i]);
  }
  batch->begins.push_back(begin);
  batch->ends.push_back(end);
  if (options_.with_handles) {
    batch->handles.emplace_back(handle);
  }
  --remaining_;
}

absl::Status TransactionScan::AppendBase(ScanBatch* batch) {
  values_.resize(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    values_[i] = base_batch_.columns.column(i).at(base_row_);
  }
  Append(values_, base_batch_.begins[base_row_], base_batch_.ends[base_row_],
         base_batch_.handles[base_row_], batch);
  return NextBase();
}

absl::Status TransactionScan::AppendChanged(const TransactionRows::Change& change,
                                            ScanBatch* batch) {
  const bool inherits = relation_->versioning == Versioning::kViaParent;
  if (inherits) {
    DecodedHandle decoded;
    VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, change.group.handle(), &decoded));
    VARVE_ASSIGN_OR_RETURN(const bool visible, rows_.ParentIsVisible(relation_, decoded.key));
    if (!visible) {
      return absl::OkStatus();
    }
  }
  for (const GroupVersion& version : change.group.versions()) {
    if (remaining_ == 0) {
      return absl::OkStatus();
    }
    if (!TransactionRows::IsSeen(version)) {
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(const VersionedRow row, rows_.ToRow(relation_, change.group, version));
    if (!options_.predicate.Matches([&](size_t column) { return row.values[column]; })) {
      continue;
    }
    values_.resize(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      values_[i] = row.values[columns_[i]];
    }
    Append(values_, row.begin, row.end, change.group.HandleOf(version), batch);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TransactionScan::Next(ScanBatch* batch) {
  batch->columns.Reset(types_);
  batch->begins.clear();
  batch->ends.clear();
  batch->handles.clear();
  while (remaining_ > 0 && batch->num_rows() < options_.batch_rows) {
    const bool changed = changes_ != nullptr && next_change_ != changes_->end() &&
                         (upper_.empty() || next_change_->first < upper_);
    if (!changed && base_done_) {
      break;
    }
    if (changed && (base_done_ || next_change_->first < base_batch_.handles[base_row_])) {
      VARVE_RETURN_IF_ERROR(AppendChanged(next_change_->second, batch));
      ++next_change_;
    } else {
      VARVE_RETURN_IF_ERROR(AppendBase(batch));
    }
  }
  batch->columns.SetNumRows(batch->begins.size());
  stats_.rows_returned += batch->num_rows();
  return batch->num_rows() > 0;
}

}  // namespace varve

#include "catalog/store/store_scan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/status.h"

namespace varve {
namespace {

// After so many invisible versions of one relation in a row, seeking is cheaper than stepping.
constexpr int kSeekAfterSkipped = 16;

bool ReadsEnded(const ReadView& view, const RelationSchema& relation, ScanRows rows) {
  return relation.versioning == Versioning::kInterval &&
         (rows == ScanRows::kAllVersions || !view.is_current());
}

}  // namespace

StoreScan::StoreScan(ReadView view, RelationRef relation, ScanOptions options,
                     std::string_view handle_prefix)
    : view_(std::move(view)),
      relation_(std::move(relation)),
      options_(std::move(options)),
      by_interval_(options_.rows == ScanRows::kVisible && !view_.is_current() &&
                   (relation_->versioning == Versioning::kInterval ||
                    relation_->versioning == Versioning::kBeginOnly)),
      columns_(*relation_, options_),
      decoder_(relation_, columns_.read),
      cursor_(*view_.state(), relation_,
              ReadsEnded(view_, *relation_, options_.rows) ? VersionSet::kBoth : VersionSet::kLive,
              handle_prefix),
      remaining_(options_.limit.value_or(std::numeric_limits<uint64_t>::max())),
      values_(decoder_.columns().size()) {
  if (relation_->versioning == Versioning::kViaParent) {
    parents_.emplace(view_, relation_, options_.rows == ScanRows::kAllVersions);
  }
}

absl::StatusOr<bool> StoreScan::Next(ScanBatch* batch) {
  batch->columns.Reset(decoder_.types());
  batch->begins.clear();
  batch->ends.clear();
  batch->handles.clear();
  if (!started_) {
    started_ = true;
    VARVE_RETURN_IF_ERROR(cursor_.Start());
  }
  // A batch that the predicate empties is no batch: go on to one with rows, or the end.
  while (batch->begins.empty() && cursor_.valid() && remaining_ > 0) {
    VARVE_RETURN_IF_ERROR(Fill(batch));
    ApplyPredicate(batch);
  }
  batch->Truncate(std::min<uint64_t>(batch->num_rows(), remaining_));
  batch->columns.DropColumnsFrom(columns_.num_returned);
  remaining_ -= batch->num_rows();
  stats_.rows_returned += batch->num_rows();
  stats_.versions_read = cursor_.versions_read();
  return batch->num_rows() > 0;
}

absl::Status StoreScan::Fill(ScanBatch* batch) {
  // Without a predicate no more rows than are still wanted need be read.
  const uint64_t wanted = options_.predicate.empty()
                              ? std::min<uint64_t>(remaining_, options_.batch_rows)
                              : options_.batch_rows;
  while (cursor_.valid() && batch->begins.size() < wanted) {
    const StoredVersion& version = cursor_.version();
    SnapshotInterval interval{.begin = version.begin, .end = version.end};
    VARVE_ASSIGN_OR_RETURN(const bool is_row, IsRow(version, &interval));
    if (is_row) {
      VARVE_RETURN_IF_ERROR(AppendRow(version, interval, batch));
    }
    VARVE_RETURN_IF_ERROR(Advance(is_row));
  }
  batch->columns.SetNumRows(batch->begins.size());
  return absl::OkStatus();
}

absl::StatusOr<bool> StoreScan::IsRow(const StoredVersion& version, SnapshotInterval* interval) {
  if (parents_.has_value()) {
    VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, version.handle, &decoded_));
    VARVE_ASSIGN_OR_RETURN(*interval, parents_->Find(decoded_));
    return options_.rows == ScanRows::kAllVersions || !interval->empty();
  }
  return !by_interval_ || IsVisible(version.begin, version.end, view_.snapshot());
}

absl::Status StoreScan::AppendRow(const StoredVersion& version, const SnapshotInterval& interval,
                                  ScanBatch* batch) {
  VARVE_RETURN_IF_ERROR(decoder_.Decode(version.handle, version.begin, version.end, version.payload,
                                        &decoded_, values_));
  for (size_t slot = 0; slot < values_.size(); ++slot) {
    batch->columns.mutable_column(slot).Append(values_[slot]);
  }
  batch->begins.push_back(interval.begin);
  batch->ends.push_back(interval.end);
  if (options_.with_handles) {
    batch->handles.emplace_back(version.handle);
  }
  return absl::OkStatus();
}

absl::Status StoreScan::Advance(bool was_row) {
  skipped_in_a_row_ = was_row || cursor_.version().end == kNoEnd ? 0 : skipped_in_a_row_ + 1;
  if (skipped_in_a_row_ < kSeekAfterSkipped) {
    return cursor_.Next();
  }
  skipped_in_a_row_ = 0;
  return cursor_.SeekWithinHandle(view_.snapshot());
}

void StoreScan::ApplyPredicate(ScanBatch* batch) {
  if (options_.predicate.empty() || batch->num_rows() == 0) {
    return;
  }
  selection_.resize(batch->num_rows());
  std::iota(selection_.begin(), selection_.end(), uint32_t{0});
  const size_t kept = options_.predicate.Filter(batch->columns, columns_.slot_of, selection_);
  selection_.resize(kept);
  batch->Select(selection_);
}

}  // namespace varve

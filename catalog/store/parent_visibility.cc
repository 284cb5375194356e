#include "catalog/store/parent_visibility.h"

#include <algorithm>

#include "base/status.h"

namespace varve {

ParentVisibility::ParentVisibility(ReadView view, const RelationRef& child, bool all_versions)
    : view_(std::move(view)),
      parent_(view_.relations().FindById(child->parent)),
      all_versions_(all_versions) {
  for (const size_t column : child->parent_handle) {
    const auto at = std::find(child->handle.begin(), child->handle.end(), column);
    key_positions_.push_back(static_cast<size_t>(at - child->handle.begin()));
  }
  load_columns_ = {parent_->handle.back()};
  group_.resize(key_positions_.size() - 1);
}

absl::Status ParentVisibility::LoadGroup() {
  if (loaded_ && group_ == loaded_group_) {
    return absl::OkStatus();
  }
  loaded_ = false;
  VARVE_RETURN_IF_ERROR(ReadGroup());
  loaded_group_ = group_;
  loaded_ = true;
  return absl::OkStatus();
}

absl::Status ParentVisibility::ReadGroup() {
  ids_.clear();
  intervals_.clear();
  hint_ = 0;
  ScanOptions options;
  options.columns = load_columns_;
  options.key_prefix = group_;
  options.rows = all_versions_ ? ScanRows::kAllVersions : ScanRows::kVisible;
  options.with_intervals = all_versions_;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view_.Scan(parent_, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    const ColumnVector& ids = batch.columns.column(0);
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      if (ids.is_null(row)) {
        continue;
      }
      const int64_t id = ids.int64s()[row];
      if (!all_versions_) {
        if (ids_.empty() || ids_.back() != id) {
          ids_.push_back(id);
        }
        continue;
      }
      if (ids_.empty() || ids_.back() != id) {
        ids_.push_back(id);
        intervals_.push_back({.begin = batch.begins[row], .end = batch.ends[row]});
      } else {
        intervals_.back().begin = std::min(intervals_.back().begin, batch.begins[row]);
        intervals_.back().end = std::max(intervals_.back().end, batch.ends[row]);
      }
    }
  }
}

bool ParentVisibility::MoveTo(int64_t id) {
  // Mostly the same parent or the next one; else a binary search over the group.
  if (hint_ + 1 < ids_.size() && ids_[hint_ + 1] == id) {
    ++hint_;
    return true;
  }
  if (hint_ < ids_.size() && ids_[hint_] == id) {
    return true;
  }
  hint_ = static_cast<size_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
  return hint_ < ids_.size() && ids_[hint_] == id;
}

absl::StatusOr<SnapshotInterval> ParentVisibility::Find(const DecodedHandle& child_handle) {
  for (size_t i = 0; i + 1 < key_positions_.size(); ++i) {
    group_[i] = child_handle.key[key_positions_[i]];
  }
  VARVE_RETURN_IF_ERROR(LoadGroup());
  const Datum& last = child_handle.key[key_positions_.back()];
  if (last.is_null() || !MoveTo(last.int64_value())) {
    return kNowhere;
  }
  return all_versions_ ? intervals_[hint_] : SnapshotInterval{};
}

absl::Status ParentVisibility::FindVisible(std::span<const ColumnVector* const> key,
                                           std::span<const uint32_t> rows,
                                           std::vector<uint32_t>* visible) {
  visible->clear();
  const std::span<const ColumnVector* const> group = key.first(key.size() - 1);
  const ColumnVector& ids = *key.back();
  const auto same_group = [&](uint32_t a, uint32_t b) {
    return std::ranges::all_of(group, [&](const ColumnVector* column) {
      return column->int64s()[a] == column->int64s()[b] && column->is_null(a) == column->is_null(b);
    });
  };
  for (size_t i = 0; i < rows.size();) {
    const uint32_t first = rows[i];
    for (size_t column = 0; column < group.size(); ++column) {
      group_[column] = group[column]->at(first);
    }
    VARVE_RETURN_IF_ERROR(LoadGroup());
    for (; i < rows.size() && same_group(first, rows[i]); ++i) {
      if (!ids.is_null(rows[i]) && MoveTo(ids.int64s()[rows[i]])) {
        visible->push_back(rows[i]);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

#include "catalog/tiers/memory_source.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace varve {

MemorySource::MemorySource(std::shared_ptr<const RelationMemory> memory,
                           MemorySourceOptions options)
    : memory_(std::move(memory)) {
  const MemoryFormat& format = memory_->format;
  const RelationSchema& relation = *format.relation();
  MemRowSetScan scan{.lower = std::move(options.lower),
                     .upper = std::move(options.upper),
                     .snap_to_include = options.csn,
                     .include_deleted_rows = options.with_erased,
                     .want_keys = true,
                     .batch_rows = options.batch_rows};
  for (const size_t column : options.columns) {
    types_.push_back(relation.columns.column(column).type.physical());
    Origin origin;
    if (const std::optional<size_t> cell = format.CellOf(column); cell.has_value()) {
      origin.projected = scan.projection.size();
      scan.projection.push_back(*cell);
    } else if (column != relation.begin_column) {
      const auto in_handle = std::find(relation.handle.begin(), relation.handle.end(), column);
      origin.key_position = static_cast<size_t>(in_handle - relation.handle.begin());
      decodes_handles_ = true;
    }
    origins_.push_back(origin);
  }
  if (format.end_cell().has_value()) {
    projected_end_ = scan.projection.size();
    scan.projection.push_back(*format.end_cell());
  }
  if (options.with_erased) {
    projected_deleted_ = scan.projection.size();
    scan.projection.push_back(kIsDeletedColumn);
  }
  it_ = memory_->rows->NewIterator(std::move(scan));
}

void MemorySource::KeepSelected() {
  if (rows_.num_selected == rows_.num_rows) {
    return;
  }
  selection_.clear();
  for (uint32_t row = 0; row < rows_.num_rows; ++row) {
    if (rows_.selected[row] != 0) {
      rows_.keys[selection_.size()] = rows_.keys[row];
      selection_.push_back(row);
    }
  }
  rows_.keys.resize(selection_.size());
  rows_.columns.Select(selection_);
}

absl::Status MemorySource::FillFromKeys(VersionBlock* block) {
  for (const std::string_view key : block->keys) {
    if (decodes_handles_) {
      VARVE_RETURN_IF_ERROR(
          DecodeHandle(*memory_->format.relation(), HandleOfVersionKey(key), &decoded_));
    }
    for (size_t i = 0; i < origins_.size(); ++i) {
      const Origin& origin = origins_[i];
      if (origin.projected.has_value()) {
        continue;
      }
      block->columns.mutable_column(i).Append(
          origin.key_position.has_value()
              ? decoded_.key[*origin.key_position]
              : Datum::Int64(static_cast<int64_t>(BeginOfVersionKey(key))));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MemorySource::Next(VersionBlock* block) {
  block->columns.Reset(types_);
  block->begins.clear();
  block->ends.clear();
  block->erased.clear();
  block->keys.clear();
  do {
    if (!it_->Next(&rows_)) {
      return false;
    }
  } while (rows_.num_selected == 0);
  KeepSelected();
  block->keys.swap(rows_.keys);
  const size_t rows = block->keys.size();
  for (const std::string_view key : block->keys) {
    block->begins.push_back(BeginOfVersionKey(key));
  }
  block->ends.resize(rows, kNoEnd);
  if (projected_end_.has_value()) {
    const ColumnVector& ends = rows_.columns.column(*projected_end_);
    for (size_t row = 0; row < rows; ++row) {
      if (!ends.is_null(row)) {
        block->ends[row] = static_cast<SnapshotId>(ends.int64s()[row]);
      }
    }
  }
  if (projected_deleted_.has_value()) {
    const auto deleted = rows_.columns.column(*projected_deleted_).bools();
    block->erased.assign(deleted.begin(), deleted.end());
  }
  VARVE_RETURN_IF_ERROR(FillFromKeys(block));
  for (size_t i = 0; i < origins_.size(); ++i) {
    if (origins_[i].projected.has_value()) {
      std::swap(block->columns.mutable_column(i),
                rows_.columns.mutable_column(*origins_[i].projected));
    }
  }
  block->columns.SetNumRows(rows);
  return true;
}

}  // namespace varve

#include "catalog/tiers/tiered_scan.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_scan.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/memory_format.h"
#include "catalog/tiers/tier_merge.h"
#include "catalog/tiers/tier_metrics.h"

namespace varve {
namespace {

// A column of a pack is read whole when at least one in so many rows is wanted.
constexpr size_t kTakenWhole = 8;

template <typename T>
void KeepChosen(std::span<const uint32_t> rows, std::vector<T>* values) {
  if (values->empty()) {
    return;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    (*values)[i] = (*values)[rows[i]];
  }
  values->resize(rows.size());
}

}  // namespace

TieredScan::TieredScan(ReadView view, RelationRef relation, ScanOptions options,
                       const std::string& handle_prefix)
    : view_(std::move(view)),
      relation_(std::move(relation)),
      options_(std::move(options)),
      columns_(*relation_, options_),
      by_interval_(options_.rows == ScanRows::kVisible &&
                   (relation_->versioning == Versioning::kInterval ||
                    relation_->versioning == Versioning::kBeginOnly)),
      remaining_(options_.limit.value_or(std::numeric_limits<uint64_t>::max())) {
  if (relation_->versioning == Versioning::kViaParent) {
    parents_.emplace(view_, relation_, options_.rows == ScanRows::kAllVersions);
    const std::vector<size_t>& handle = relation_->handle;
    decoded_.key.resize(handle.size());
    for (const size_t column : relation_->parent_handle) {
      columns_.Add(column);
      parent_columns_.push_back(
          {.position = static_cast<size_t>(std::find(handle.begin(), handle.end(), column) -
                                           handle.begin()),
           .slot = columns_.slot_of[column]});
    }
  }
  for (const size_t column : columns_.read) {
    types_.push_back(relation_->columns.column(column).type.physical());
  }
  AddSources(handle_prefix);
}

TieredScan::~TieredScan() {
  FinishStats();
  NoteScan(stats_, absl::FromChrono(elapsed_));
}

void TieredScan::AddSources(const std::string& handle_prefix) {
  TierMerge merge = MergeTiers(
      view_, relation_,
      {.columns = columns_.read,
       .range = HandleRange::OfPrefix(handle_prefix),
       .at = options_.rows == ScanRows::kVisible ? std::optional(view_.snapshot()) : std::nullopt,
       .predicate = options_.predicate.empty() ? nullptr : &options_.predicate,
       .clean_read = options_.clean_read,
       .needs_versions = options_.with_intervals || options_.with_handles,
       .batch_rows = options_.batch_rows,
       .reads = &reads_,
       .counters = &counters_});
  stats_.path = merge.has_files ? ScanPath::kColumnar : ScanPath::kMemory;
  merger_ = std::move(merge.merger);
}

absl::Status TieredScan::ChooseByParents(size_t from, size_t to) {
  intervals_.resize(to);
  for (size_t row = from; row < to; ++row) {
    if (block_->is_erased(row)) {
      continue;
    }
    for (const ParentColumn& column : parent_columns_) {
      decoded_.key[column.position] = block_->columns.column(column.slot).at(row);
    }
    VARVE_ASSIGN_OR_RETURN(intervals_[row], parents_->Find(decoded_));
    if (options_.rows == ScanRows::kAllVersions || !intervals_[row].empty()) {
      chosen_.push_back(static_cast<uint32_t>(row));
    }
  }
  return absl::OkStatus();
}

absl::Status TieredScan::ChooseVisible(size_t from, size_t to) {
  if (parents_.has_value()) {
    return ChooseByParents(from, to);
  }
  const SnapshotId at = view_.snapshot();
  chosen_.resize(to - from);
  size_t count = 0;
  for (size_t row = from; row < to; ++row) {
    // Written in any case: what is visible is mixed with what is not, and a branch costs more.
    chosen_[count] = static_cast<uint32_t>(row);
    const bool is_visible = !by_interval_ || IsVisible(block_->begins[row], block_->ends[row], at);
    count += is_visible && !block_->is_erased(row) ? 1 : 0;
  }
  chosen_.resize(count);
  return absl::OkStatus();
}

absl::Status TieredScan::ChooseFromBlock(const VersionBlock& block, size_t from, size_t to) {
  block_ = &block;
  of_pack_ = false;
  VARVE_RETURN_IF_ERROR(ChooseVisible(from, to));
  if (!options_.predicate.empty()) {
    chosen_.resize(options_.predicate.Filter(block.columns, columns_.slot_of, chosen_));
  }
  return absl::OkStatus();
}

// Reads a column of the pack for the rows that are chosen by now.
absl::Status TieredScan::ReadSlot(size_t slot) {
  if (slot_read_[slot] != 0) {
    return absl::OkStatus();
  }
  slot_read_[slot] = 1;
  return run_.pack->ReadColumn(slot, chosen_, &own_.columns.mutable_column(slot));
}

// Reads the columns that are returned and were not needed to choose rows. Where much of the pack
// was chosen, a column is taken whole, as the cache has it; else its chosen rows alone.
absl::Status TieredScan::ReadReturnedSlots() {
  const bool much = chosen_.size() * kTakenWhole >= run_.bounds->rows;
  for (size_t slot = 0; slot < columns_.num_returned; ++slot) {
    if (slot_read_[slot] != 0 || !much) {
      VARVE_RETURN_IF_ERROR(ReadSlot(slot));
    } else {
      VARVE_ASSIGN_OR_RETURN(
          whole_[slot],
          run_.pack->ReadShared(SlotOfColumn(*relation_, columns_.read[slot]), types_[slot]));
    }
  }
  return absl::OkStatus();
}

// Applies the predicate to the chosen rows of the pack, reading the columns it needs.
absl::Status TieredScan::FilterPack() {
  if (options_.predicate.empty() || chosen_.empty()) {
    return absl::OkStatus();
  }
  for (const Term& term : options_.predicate.terms()) {
    VARVE_RETURN_IF_ERROR(ReadSlot(columns_.slot_of[term.column]));
  }
  positions_.resize(chosen_.size());
  std::iota(positions_.begin(), positions_.end(), uint32_t{0});
  positions_.resize(options_.predicate.Filter(own_.columns, columns_.slot_of, positions_));
  if (positions_.size() < chosen_.size()) {
    for (size_t slot = 0; slot < slot_read_.size(); ++slot) {
      if (slot_read_[slot] != 0) {
        own_.columns.mutable_column(slot).Select(positions_);
      }
    }
    KeepChosen(positions_, &chosen_);
  }
  return absl::OkStatus();
}

absl::Status TieredScan::ChooseFromPack() {
  PackSource& pack = *run_.pack;
  const std::optional<CleanReadRejection> rejection = pack.rejection();
  if (rejection == CleanReadRejection::kRangeBoundary) {
    ++counters_.packs_normal;
    ++counters_.rejected[static_cast<size_t>(*rejection)];
    VARVE_RETURN_IF_ERROR(pack.ReadPack(PackRows::kAll, &own_));
    return ChooseFromBlock(own_, 0, own_.num_rows());
  }
  block_ = &own_;
  of_pack_ = true;
  const size_t rows = run_.bounds->rows;
  own_.columns.Reset(types_);
  own_.keys.clear();
  own_.begins.clear();
  own_.ends.clear();
  own_.erased.clear();
  slot_read_.assign(types_.size(), 0);
  whole_.assign(columns_.num_returned, nullptr);
  if (rejection.has_value()) {
    ++counters_.packs_normal;
    ++counters_.rejected[static_cast<size_t>(*rejection)];
    VARVE_RETURN_IF_ERROR(pack.ReadIntervals(&own_));
    if (options_.with_handles) {
      VARVE_RETURN_IF_ERROR(pack.ReadKeys(&own_));
    }
  } else {
    ++counters_.packs_clean;
    counters_.clean_rows += rows;
    counters_.mvcc_bytes_avoided += run_.bounds->mvcc_bytes;
  }
  if (parents_.has_value()) {
    chosen_.resize(rows);
    std::iota(chosen_.begin(), chosen_.end(), uint32_t{0});
    for (const ParentColumn& column : parent_columns_) {
      VARVE_RETURN_IF_ERROR(ReadSlot(column.slot));
    }
    chosen_.clear();
    VARVE_RETURN_IF_ERROR(ChooseByParents(0, rows));
    if (chosen_.size() < rows) {
      for (const ParentColumn& column : parent_columns_) {
        own_.columns.mutable_column(column.slot).Select(chosen_);
      }
    }
  } else if (rejection.has_value()) {
    VARVE_RETURN_IF_ERROR(ChooseVisible(0, rows));
  } else {
    chosen_.resize(rows);
    std::iota(chosen_.begin(), chosen_.end(), uint32_t{0});
  }
  VARVE_RETURN_IF_ERROR(FilterPack());
  if (!chosen_.empty()) {
    VARVE_RETURN_IF_ERROR(ReadReturnedSlots());
  }
  // From here on the block has the chosen rows alone.
  KeepChosen(chosen_, &own_.keys);
  KeepChosen(chosen_, &own_.begins);
  KeepChosen(chosen_, &own_.ends);
  if (parents_.has_value()) {
    KeepChosen(chosen_, &intervals_);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TieredScan::TakeRun() {
  next_chosen_ = 0;
  chosen_.clear();
  VARVE_ASSIGN_OR_RETURN(const bool more, merger_->Next(&run_));
  if (!more) {
    return false;
  }
  stats_.versions_read += run_.to - run_.from;
  VARVE_RETURN_IF_ERROR(run_.pack != nullptr ? ChooseFromPack()
                                             : ChooseFromBlock(*run_.block, run_.from, run_.to));
  return true;
}

// `rows`: the chosen ones from number next_chosen_ on.
void TieredScan::AppendColumn(size_t slot, std::span<const uint32_t> rows,
                              ColumnVector* column) const {
  if (!of_pack_) {
    column->AppendSelected(block_->columns.column(slot), rows);
  } else if (whole_[slot] == nullptr) {
    column->AppendRange(block_->columns.column(slot), next_chosen_, rows.size());
  } else if (rows.back() - rows.front() + 1 == rows.size()) {
    column->AppendRange(*whole_[slot], rows.front(), rows.size());
  } else {
    column->AppendSelected(*whole_[slot], rows);
  }
}

void TieredScan::AppendVersions(std::span<const uint32_t> rows, ScanBatch* batch) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = of_pack_ ? next_chosen_ + i : rows[i];
    if (options_.with_intervals) {
      batch->begins.push_back(parents_.has_value() ? intervals_[row].begin : block_->begins[row]);
      batch->ends.push_back(parents_.has_value() ? intervals_[row].end : block_->ends[row]);
    }
    if (options_.with_handles) {
      batch->handles.emplace_back(HandleOfVersionKey(block_->keys[row]));
    }
  }
}

void TieredScan::Append(ScanBatch* batch) {
  const uint64_t room = std::min<uint64_t>(options_.batch_rows, remaining_) - batch->num_rows();
  const auto count = static_cast<size_t>(std::min<uint64_t>(room, chosen_.size() - next_chosen_));
  const std::span<const uint32_t> rows = std::span(chosen_).subspan(next_chosen_, count);
  for (size_t slot = 0; slot < columns_.num_returned; ++slot) {
    AppendColumn(slot, rows, &batch->columns.mutable_column(slot));
  }
  if (options_.with_intervals || options_.with_handles) {
    AppendVersions(rows, batch);
  }
  batch->columns.SetNumRows(batch->num_rows() + count);
  next_chosen_ += count;
}

absl::StatusOr<bool> TieredScan::NextBatch(ScanBatch* batch) {
  batch->columns.Reset(std::span(types_).first(columns_.num_returned));
  batch->begins.clear();
  batch->ends.clear();
  batch->handles.clear();
  const uint64_t wanted = std::min<uint64_t>(options_.batch_rows, remaining_);
  while (batch->num_rows() < wanted) {
    if (next_chosen_ < chosen_.size()) {
      Append(batch);
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(const bool more, TakeRun());
    if (!more) {
      break;
    }
  }
  return batch->num_rows() > 0;
}

// Rows come in the same order there, so those that were returned are the first.
absl::StatusOr<bool> TieredScan::GoOnInRowStore(ScanBatch* batch) {
  if (row_store_ == nullptr) {
    ScanOptions options = options_;
    options.path = ScanPath::kRow;
    options.limit.reset();
    VARVE_ASSIGN_OR_RETURN(row_store_, view_.Scan(relation_, std::move(options)));
    for (uint64_t to_skip = stats_.rows_returned; to_skip > 0;) {
      VARVE_ASSIGN_OR_RETURN(const bool more, row_store_->Next(batch));
      if (!more) {
        return false;
      }
      if (batch->num_rows() > to_skip) {
        batch->DropFirst(to_skip);
        batch->Truncate(std::min<uint64_t>(batch->num_rows(), remaining_));
        return batch->num_rows() > 0;
      }
      to_skip -= batch->num_rows();
    }
  }
  if (remaining_ == 0) {
    batch->Truncate(0);
    return false;
  }
  VARVE_ASSIGN_OR_RETURN(const bool more, row_store_->Next(batch));
  batch->Truncate(std::min<uint64_t>(batch->num_rows(), remaining_));
  return more && batch->num_rows() > 0;
}

absl::StatusOr<bool> TieredScan::Next(ScanBatch* batch) {
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<bool> more = row_store_ == nullptr ? NextBatch(batch) : GoOnInRowStore(batch);
  if (!more.ok() && row_store_ == nullptr) {
    NoteDamage(relation_->name, more.status());
    stats_.fell_back = std::string(MessageOf(more.status()));
    more = GoOnInRowStore(batch);
  }
  VARVE_RETURN_IF_ERROR(more.status());
  remaining_ -= batch->num_rows();
  stats_.rows_returned += batch->num_rows();
  elapsed_ += std::chrono::steady_clock::now() - begin;
  FinishStats();
  return more;
}

void TieredScan::FinishStats() {
  ColumnarScanCounters counters = counters_;
  counters.packs_normal += merger_->packs_merged();
  counters.rejected[static_cast<size_t>(CleanReadRejection::kNeedsMerge)] +=
      merger_->packs_merged();
  counters.bytes_read = reads_.bytes_read;
  counters.mvcc_bytes_read = reads_.mvcc_bytes_read;
  stats_.columnar = counters;
}

}  // namespace varve

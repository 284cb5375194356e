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

// A column of a pack is read whole when at least one in so many rows is wanted: what is read whole
// is cached, and decoding chosen rows out of a compressed pack takes nearly as long.
constexpr size_t kTakenWhole = 64;

// Rows are copied range by range where the ranges have so many of them on average.
constexpr size_t kLongRange = 8;

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
      {.read = {.columns = columns_.read,
                .range = HandleRange::OfPrefix(handle_prefix),
                .at = options_.rows == ScanRows::kVisible ? std::optional(view_.snapshot())
                                                          : std::nullopt,
                .predicate = options_.predicate.empty() ? nullptr : &options_.predicate,
                .clean_read = options_.clean_read,
                .needs_versions = options_.with_intervals || options_.with_handles,
                .reads = &reads_,
                .counters = &counters_},
       .merge = {.in_any_order = options_.order == ScanOrder::kAny, .cuts_packs = true},
       .batch_rows = options_.batch_rows});
  stats_.path = merge.has_files ? ScanPath::kColumnar : ScanPath::kMemory;
  merger_ = std::move(merge.merger);
}

// Keeps those of the chosen rows whose parents are visible.
absl::Status TieredScan::ChooseByParents(const ColumnBatch& columns) {
  if (chosen_.empty()) {
    return absl::OkStatus();
  }
  const size_t end = chosen_.back() + 1;
  positions_.clear();
  if (options_.rows == ScanRows::kAllVersions) {
    intervals_.resize(end);
    for (const uint32_t row : chosen_) {
      for (const ParentColumn& column : parent_columns_) {
        decoded_.key[column.position] = columns.column(column.slot).at(row);
      }
      VARVE_ASSIGN_OR_RETURN(intervals_[row], parents_->Find(decoded_));
      positions_.push_back(row);
    }
  } else {
    intervals_.assign(options_.with_intervals ? end : 0, SnapshotInterval{});
    parent_key_.clear();
    for (const ParentColumn& column : parent_columns_) {
      parent_key_.push_back(&columns.column(column.slot));
    }
    VARVE_RETURN_IF_ERROR(parents_->FindVisible(parent_key_, chosen_, &positions_));
  }
  if (positions_.size() < chosen_.size()) {
    chosen_rows_.swap(positions_);
    chosen_ = chosen_rows_;
  }
  return absl::OkStatus();
}

absl::Status TieredScan::ChooseFromBlock(const VersionBlock& block, size_t from, size_t to) {
  const SnapshotId at = view_.snapshot();
  chosen_rows_.resize(to - from);
  size_t count = 0;
  for (size_t row = from; row < to; ++row) {
    // Written in any case: what is visible is mixed with what is not, and a branch costs more.
    chosen_rows_[count] = static_cast<uint32_t>(row);
    const bool is_visible = !by_interval_ || IsVisible(block.begins[row], block.ends[row], at);
    count += is_visible && !block.is_erased(row) ? 1 : 0;
  }
  chosen_rows_.resize(count);
  chosen_ = chosen_rows_;
  if (parents_.has_value()) {
    VARVE_RETURN_IF_ERROR(ChooseByParents(block.columns));
  }
  if (!options_.predicate.empty()) {
    chosen_rows_.resize(options_.predicate.Filter(block.columns, columns_.slot_of, chosen_rows_));
    chosen_ = chosen_rows_;
  }
  return absl::OkStatus();
}

// Where much of the pack was chosen, or it comes in several runs, a column is taken whole, as the
// cache has it; else its chosen rows alone.
bool TieredScan::TakesWholeColumns() const {
  return run_.rows.has_value() || chosen_.size() * kTakenWhole >= run_.bounds->rows;
}

// Reads a column of the pack, unless it was read.
absl::Status TieredScan::ReadSlot(size_t slot, bool whole) {
  if (slot_rows_[slot] != SlotRows::kNone) {
    return absl::OkStatus();
  }
  if (whole) {
    VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const ColumnVector> column,
                           run_.pack->ReadWholeColumn(slot));
    pack_columns_.ShareColumn(slot, std::move(column));
    slot_rows_[slot] = SlotRows::kAll;
    return absl::OkStatus();
  }
  slot_rows_[slot] = SlotRows::kChosen;
  return run_.pack->ReadColumn(slot, chosen_, &pack_columns_.mutable_column(slot));
}

// Applies the predicate to the chosen rows of the pack, reading the columns it needs.
absl::Status TieredScan::FilterPack() {
  if (options_.predicate.empty() || chosen_.empty()) {
    return absl::OkStatus();
  }
  const std::vector<Term>& terms = options_.predicate.terms();
  const bool whole = TakesWholeColumns() || std::ranges::any_of(terms, [&](const Term& term) {
                       return slot_rows_[columns_.slot_of[term.column]] == SlotRows::kAll;
                     });
  for (const Term& term : terms) {
    VARVE_RETURN_IF_ERROR(ReadSlot(columns_.slot_of[term.column], whole));
  }
  if (whole) {
    positions_.assign(chosen_.begin(), chosen_.end());
    positions_.resize(options_.predicate.Filter(pack_columns_, columns_.slot_of, positions_));
    if (positions_.size() < chosen_.size()) {
      chosen_rows_.swap(positions_);
      chosen_ = chosen_rows_;
    }
    return absl::OkStatus();
  }
  positions_.resize(chosen_.size());
  std::iota(positions_.begin(), positions_.end(), uint32_t{0});
  positions_.resize(options_.predicate.Filter(pack_columns_, columns_.slot_of, positions_));
  if (positions_.size() < chosen_.size()) {
    for (size_t slot = 0; slot < slot_rows_.size(); ++slot) {
      if (slot_rows_[slot] == SlotRows::kChosen) {
        pack_columns_.mutable_column(slot).Select(positions_);
      }
    }
    for (uint32_t& position : positions_) {
      position = chosen_[position];
    }
    chosen_rows_.swap(positions_);
    chosen_ = chosen_rows_;
  }
  return absl::OkStatus();
}

absl::Status TieredScan::ChooseFromPack() {
  PackSource& pack = *run_.pack;
  const size_t rows = run_.bounds->rows;
  pack_columns_.Reset(types_);
  slot_rows_.assign(types_.size(), SlotRows::kNone);
  if (run_.rows.has_value()) {  // the merger counts it
    chosen_ = *run_.rows;
  } else if (const auto rejection = pack.rejection(); rejection.has_value()) {
    ++counters_.packs_normal;
    ++counters_.rejected[static_cast<size_t>(*rejection)];
    VARVE_ASSIGN_OR_RETURN(chosen_, pack.VisibleRows());
  } else {
    ++counters_.packs_clean;
    counters_.clean_rows += rows;
    counters_.mvcc_bytes_avoided += run_.bounds->mvcc_bytes;
    for (auto row = static_cast<uint32_t>(all_rows_.size()); row < rows; ++row) {
      all_rows_.push_back(row);
    }
    chosen_ = std::span(all_rows_).first(rows);
  }
  if (parents_.has_value() && !chosen_.empty()) {
    for (const ParentColumn& column : parent_columns_) {
      VARVE_RETURN_IF_ERROR(ReadSlot(column.slot, /*whole=*/true));
    }
    VARVE_RETURN_IF_ERROR(ChooseByParents(pack_columns_));
  }
  VARVE_RETURN_IF_ERROR(FilterPack());
  if (!chosen_.empty()) {
    const bool whole = TakesWholeColumns();
    for (size_t slot = 0; slot < columns_.num_returned; ++slot) {
      VARVE_RETURN_IF_ERROR(ReadSlot(slot, whole));
    }
    if (options_.with_intervals && !parents_.has_value()) {
      VARVE_ASSIGN_OR_RETURN(pack_intervals_, pack.ReadIntervals());
    }
    if (options_.with_handles) {
      VARVE_RETURN_IF_ERROR(pack.ReadKeys());
    }
  }
  return absl::OkStatus();
}

// Everything that can fail comes before the first row of the run is returned.
absl::StatusOr<bool> TieredScan::TakeRun() {
  if (options_.order == ScanOrder::kAny && (run_.block != nullptr || run_.pack != nullptr)) {
    progress_.Note(run_);
  }
  run_ = {};  // what it had lives no longer, whether or not there is another one
  next_chosen_ = 0;
  chosen_ = {};
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
  if (run_.pack != nullptr && slot_rows_[slot] == SlotRows::kChosen) {
    column->AppendRange(pack_columns_.column(slot), next_chosen_, rows.size());
    return;
  }
  const ColumnVector& from =
      run_.pack != nullptr ? pack_columns_.column(slot) : run_.block->columns.column(slot);
  if (ranges_.empty()) {
    column->AppendSelected(from, rows);
    return;
  }
  for (const RowRange range : ranges_) {
    column->AppendRange(from, range.from, range.count);
  }
}

// Fills ranges_ with the ranges that the rows form.
void TieredScan::FindRanges(std::span<const uint32_t> rows) {
  ranges_.clear();
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    if (rows.back() - rows[i] == rows.size() - 1 - i) {
      end = rows.size();
    }
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) {
      ++end;
    }
    ranges_.push_back({.from = rows[i], .count = static_cast<uint32_t>(end - i)});
    i = end;
    if (ranges_.size() * kLongRange > rows.size()) {
      ranges_.clear();
      return;
    }
  }
}

void TieredScan::AppendVersions(std::span<const uint32_t> rows, ScanBatch* batch) {
  if (options_.with_intervals) {
    for (const uint32_t row : rows) {
      const SnapshotInterval interval = IntervalOf(row);
      batch->begins.push_back(interval.begin);
      batch->ends.push_back(interval.end);
    }
  }
  if (options_.with_handles) {
    for (const uint32_t row : rows) {
      if (run_.pack != nullptr) {
        key_.clear();
        run_.pack->AppendKey(row, &key_);
      }
      batch->handles.emplace_back(
          HandleOfVersionKey(run_.pack != nullptr ? key_ : run_.block->keys[row]));
    }
  }
}

SnapshotInterval TieredScan::IntervalOf(uint32_t row) const {
  if (parents_.has_value()) {
    return intervals_[row];
  }
  return run_.pack != nullptr
             ? SnapshotInterval{.begin = pack_intervals_.begin(row),
                                .end = pack_intervals_.end(row)}
             : SnapshotInterval{.begin = run_.block->begins[row], .end = run_.block->ends[row]};
}

void TieredScan::Append(ScanBatch* batch) {
  const uint64_t room = std::min<uint64_t>(options_.batch_rows, remaining_) - batch->num_rows();
  const auto count = static_cast<size_t>(std::min<uint64_t>(room, chosen_.size() - next_chosen_));
  const std::span<const uint32_t> rows = chosen_.subspan(next_chosen_, count);
  FindRanges(rows);
  for (size_t slot = 0; slot < columns_.num_returned; ++slot) {
    AppendColumn(slot, rows, &batch->columns.mutable_column(slot));
  }
  AppendVersions(rows, batch);
  batch->columns.SetNumRows(batch->num_rows() + count);
  next_chosen_ += count;
}

// Small packs are better copied into one batch.
bool TieredScan::IsWholePack() const {
  return run_.pack != nullptr && next_chosen_ == 0 && chosen_.size() == run_.bounds->rows &&
         chosen_.size() <= remaining_ && chosen_.size() * 2 >= options_.batch_rows &&
         std::all_of(slot_rows_.begin(),
                     slot_rows_.begin() + static_cast<std::ptrdiff_t>(columns_.num_returned),
                     [](SlotRows rows) { return rows == SlotRows::kAll; });
}

void TieredScan::HandOn(ScanBatch* batch) {
  for (size_t slot = 0; slot < columns_.num_returned; ++slot) {
    batch->columns.ShareColumn(slot, pack_columns_.shared_column(slot));
  }
  AppendVersions(chosen_, batch);
  batch->columns.SetNumRows(chosen_.size());
  next_chosen_ = chosen_.size();
}

absl::StatusOr<bool> TieredScan::NextBatch(ScanBatch* batch) {
  batch->columns.Reset(std::span(types_).first(columns_.num_returned));
  batch->begins.clear();
  batch->ends.clear();
  batch->handles.clear();
  const uint64_t wanted = std::min<uint64_t>(options_.batch_rows, remaining_);
  while (batch->num_rows() < wanted) {
    if (next_chosen_ == chosen_.size()) {
      absl::StatusOr<bool> more = TakeRun();
      if (!more.ok() && batch->num_rows() > 0) {
        failure_ = more.status();  // of the next batch
        break;
      }
      VARVE_RETURN_IF_ERROR(more.status());
      if (!*more) {
        break;
      }
    } else if (!IsWholePack()) {
      Append(batch);
    } else {
      if (batch->num_rows() == 0) {
        HandOn(batch);
      }
      break;
    }
  }
  return batch->num_rows() > 0;
}

// Opens the scan of the row store. In key order it goes up to the rows that were not returned: some
// of them may be in the batch then.
absl::Status TieredScan::OpenRowStore(ScanBatch* batch) {
  ScanOptions options = options_;
  options.path = ScanPath::kRow;
  options.limit.reset();
  if (options_.order == ScanOrder::kAny) {
    options.with_intervals = true;
    options.with_handles = true;
  }
  VARVE_ASSIGN_OR_RETURN(row_store_, view_.Scan(relation_, std::move(options)));
  batch->Clear();
  if (options_.order == ScanOrder::kAny) {
    return absl::OkStatus();
  }
  for (uint64_t to_skip = stats_.rows_returned; to_skip > 0;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, row_store_->Next(batch));
    if (!more) {
      break;
    }
    const uint64_t skipped = std::min<uint64_t>(to_skip, batch->num_rows());
    batch->DropFirst(skipped);
    to_skip -= skipped;
  }
  return absl::OkStatus();
}

// Drops rows that were returned before the row store took over.
void TieredScan::DropReturned(ScanBatch* batch) {
  positions_.clear();
  for (uint32_t row = 0; row < batch->num_rows(); ++row) {
    if (!progress_.Has(batch->handles[row], batch->begins[row], batch->ends[row])) {
      positions_.push_back(row);
    }
  }
  batch->Select(positions_);
  if (!options_.with_handles) {
    batch->handles.clear();
  }
}

absl::StatusOr<bool> TieredScan::GoOnInRowStore(ScanBatch* batch) {
  if (remaining_ == 0) {
    batch->Clear();
    return false;
  }
  if (row_store_ == nullptr) {
    NoteDamage(relation_->name, failure_);
    stats_.fell_back = std::string(MessageOf(failure_));
    VARVE_RETURN_IF_ERROR(OpenRowStore(batch));
  } else {
    batch->Clear();
  }
  while (batch->num_rows() == 0) {
    VARVE_ASSIGN_OR_RETURN(const bool more, row_store_->Next(batch));
    if (!more) {
      break;
    }
    if (options_.order == ScanOrder::kAny) {
      DropReturned(batch);
    }
  }
  batch->Truncate(std::min<uint64_t>(batch->num_rows(), remaining_));
  return batch->num_rows() > 0;
}

absl::StatusOr<bool> TieredScan::Next(ScanBatch* batch) {
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<bool> more = false;
  if (failure_.ok()) {
    more = NextBatch(batch);
    if (!more.ok()) {
      failure_ = more.status();
    }
  }
  // A batch that was begun before the failure is a batch.
  if (!failure_.ok() && !(more.ok() && *more)) {
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

#include "mvcc/memrowset_iterator.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "mvcc/memrowset.h"

namespace varve {
namespace {

constexpr uint32_t kNotPatched = UINT32_MAX;
constexpr size_t kCacheLine = 64;

// A few lines are enough: the hardware follows where rows were inserted in key order.
constexpr size_t kMaxPrefetch = 4 * kCacheLine;

void Prefetch(const void* memory, size_t size) {
  for (size_t at = 0; at < size; at += kCacheLine) {
    __builtin_prefetch(static_cast<const char*>(memory) + at);
  }
}

template <typename T>
void FillCells(std::span<const char* const> cells, size_t offset, std::span<T> out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    out[i] = LoadCell<T>(cells[i], offset);
  }
}

void StoreValue(std::string_view value, PhysicalType type, char* cell) {
  // Of constant sizes, so that each is one store.
  switch (type) {
    case PhysicalType::kBool: *cell = value[0]; return;
    case PhysicalType::kInt64:
    case PhysicalType::kFloat64: std::memcpy(cell, value.data(), sizeof(int64_t)); return;
    case PhysicalType::kInt128: std::memcpy(cell, value.data(), sizeof(int128_t)); return;
    case PhysicalType::kBytes: return;
  }
}

}  // namespace

MemRowSetIterator::MemRowSetIterator(std::shared_ptr<const MemRowSet> rows, MemRowSetScan scan)
    : row_set_(std::move(rows)),
      layout_(row_set_->layout()),
      scan_(std::move(scan)),
      tree_(row_set_->tree_.NewIterator()),
      projected_(layout_.num_columns(), 0) {
  assert(scan_.batch_rows > 0);
  assert(!scan_.snap_to_exclude.has_value() || *scan_.snap_to_exclude <= scan_.snap_to_include);
  for (const size_t column : scan_.projection) {
    if (column == kIsDeletedColumn) {
      types_.push_back(PhysicalType::kBool);
      continue;
    }
    assert(column < layout_.num_columns());
    types_.push_back(layout_.column(column).type);
    projected_[column] = 1;
  }
  if (scan_.lower.empty()) {
    tree_.SeekToStart();
  } else {
    bool exact = false;
    tree_.SeekAtOrAfter(scan_.lower, &exact);
  }
}

MemRowSetIterator::~MemRowSetIterator() = default;

bool MemRowSetIterator::Next(RowBlock* block) {
  CollectRows();
  const size_t num_rows = rows_.size();
  block->num_rows = num_rows;
  block->num_selected = 0;
  block->selected.assign(num_rows, 1);
  block->columns.Reset(types_);
  block->keys.clear();
  block->inserted_at.clear();
  block->written_at.clear();
  if (num_rows == 0) {
    return false;
  }
  JudgeInserts(block);
  ReplayRedos(block);
  for (size_t i = 0; i < types_.size(); ++i) {
    FillColumn(scan_.projection[i], &block->columns.mutable_column(i));
  }
  block->columns.SetNumRows(num_rows);
  if (scan_.want_keys) {
    for (const MrsRow* const row : rows_) {
      block->keys.push_back(row->key(layout_));
    }
  }
  for (const uint8_t selected : block->selected) {
    block->num_selected += selected;
  }
  return true;
}

void MemRowSetIterator::CollectRows() {
  const size_t row_size = std::min(sizeof(MrsRow) + layout_.cells_size(), kMaxPrefetch);
  rows_.clear();
  while (rows_.size() < scan_.batch_rows && !finished_ && tree_.IsValid()) {
    const std::span<MrsRow* const> leaf = tree_.LeafValues();
    size_t taken = std::min(leaf.size(), scan_.batch_rows - rows_.size());
    if (!scan_.upper.empty() && tree_.LeafKey(taken - 1) >= scan_.upper) {
      finished_ = true;
      while (taken > 0 && tree_.LeafKey(taken - 1) >= scan_.upper) {
        --taken;
      }
    }
    for (const MrsRow* const row : leaf.first(taken)) {
      Prefetch(row, row_size);
      rows_.push_back(row);
    }
    if (!finished_) {
      tree_.SkipLeaf(taken);
    }
  }
}

void MemRowSetIterator::JudgeInserts(RowBlock* block) {
  const size_t num_rows = rows_.size();
  cells_.resize(num_rows);
  patched_.assign(num_rows, kNotPatched);
  deleted_.assign(num_rows, 0);
  replays_.clear();
  num_patched_ = 0;
  for (size_t i = 0; i < num_rows; ++i) {
    const MrsRow& row = *rows_[i];
    const Timestamp inserted_at = row.inserted_at();
    cells_[i] = row.cells();
    // hidden so far := the insert is too new | it is excluded & there is no change at all
    const bool excluded = Excluded(inserted_at);
    if (!excluded && inserted_at > scan_.snap_to_include) {
      block->selected[i] = 0;
      continue;
    }
    const Mutation* const head = row.redo_head();
    if (head == nullptr) {
      block->selected[i] = excluded ? 0 : 1;
      continue;
    }
    Prefetch(head, 1);
    // Inserted in the window: it was not there at its start, which is as good as dead.
    replays_.push_back({.next = head,
                        .row = static_cast<uint32_t>(i),
                        .scratch = kNotPatched,
                        .insert_excluded = excluded,
                        .changed = false,
                        .dead_at_start = !excluded,
                        .dead_at_end = false});
  }
  if (scan_.want_timestamps) {
    for (const MrsRow* const row : rows_) {
      block->inserted_at.push_back(row->inserted_at());
    }
    block->written_at = block->inserted_at;
  }
}

void MemRowSetIterator::ReplayRedos(RowBlock* block) {
  // One change of every row per round; rows that are through are judged and dropped.
  size_t under_way = replays_.size();
  while (under_way > 0) {
    size_t kept = 0;
    for (size_t i = 0; i < under_way; ++i) {
      Replay replay = replays_[i];
      if (ReplayOne(&replay, block)) {
        replays_[kept++] = replay;
      } else {
        Judge(replay, block);
      }
    }
    under_way = kept;
  }
}

bool MemRowSetIterator::ReplayOne(Replay* replay, RowBlock* block) {
  const Mutation& redo = *replay->next;
  const Timestamp at = redo.timestamp();
  if (at > scan_.snap_to_include) {
    return false;  // and so are all behind it
  }
  if (!Excluded(at) && !replay->changed) {
    if (replay->insert_excluded) {
      replay->dead_at_start = replay->dead_at_end;
    }
    replay->changed = true;
  }
  const RowChangeList list = redo.list();
  replay->dead_at_end = list.is_delete();
  if (!replay->dead_at_end) {
    Patch(list, replay);
  }
  if (scan_.want_timestamps) {
    block->written_at[replay->row] = at;
  }
  replay->next = redo.next();
  if (replay->next == nullptr) {
    return false;
  }
  Prefetch(replay->next, 1);
  return true;
}

void MemRowSetIterator::Judge(const Replay& replay, RowBlock* block) {
  const bool closed = scan_.snap_to_exclude.has_value();
  const bool untouched = replay.insert_excluded && !replay.changed;
  const bool unobservable = closed && replay.dead_at_start && replay.dead_at_end;
  const bool unwanted = replay.dead_at_end && !scan_.include_deleted_rows;
  block->selected[replay.row] = untouched || unobservable || unwanted ? 0 : 1;
  deleted_[replay.row] = replay.dead_at_end ? 1 : 0;
}

void MemRowSetIterator::Patch(RowChangeList list, Replay* replay) {
  if (replay->scratch == kNotPatched) {
    MakeScratchRow(replay);
  }
  char* const cells = scratch_cells_.get() + replay->scratch * layout_.cells_size();
  std::string_view* const bytes =
      scratch_bytes_.get() + replay->scratch * layout_.num_bytes_columns();
  RowChangeListDecoder decoder(list);
  ColumnChange change;
  while (decoder.Next(&change)) {
    const size_t i = layout_.IndexOf(change.id);
    if (i == RowLayout::kNoColumn || projected_[i] == 0) {
      continue;
    }
    const RowLayout::Column& column = layout_.column(i);
    if (column.nullable) {
      const auto nulls = static_cast<uint8_t>(cells[column.null_byte]);
      cells[column.null_byte] =
          static_cast<char>(change.is_null ? nulls | column.null_mask : nulls & ~column.null_mask);
    }
    if (column.type == PhysicalType::kBytes) {
      bytes[column.bytes_column] = change.value;
    } else if (change.is_null) {
      std::memset(cells + column.offset, 0, static_cast<size_t>(FixedWidth(column.type)));
    } else {
      StoreValue(change.value, column.type, cells + column.offset);
    }
  }
}

void MemRowSetIterator::MakeScratchRow(Replay* replay) {
  if (scratch_cells_ == nullptr) {
    // For a whole block at once: scratch rows must not move, and later blocks find them there.
    scratch_cells_ =
        std::make_unique_for_overwrite<char[]>(scan_.batch_rows * layout_.cells_size());
    scratch_bytes_ =
        std::make_unique<std::string_view[]>(scan_.batch_rows * layout_.num_bytes_columns());
  }
  const MrsRow& row = *rows_[replay->row];
  replay->scratch = num_patched_++;
  patched_[replay->row] = replay->scratch;
  char* const cells = scratch_cells_.get() + replay->scratch * layout_.cells_size();
  std::memcpy(cells, row.cells(), layout_.cells_size());
  cells_[replay->row] = cells;
  std::string_view* const bytes =
      scratch_bytes_.get() + replay->scratch * layout_.num_bytes_columns();
  for (size_t i = 0; i < layout_.num_columns(); ++i) {
    const RowLayout::Column& column = layout_.column(i);
    if (column.type == PhysicalType::kBytes) {
      bytes[column.bytes_column] = row.bytes(column);
    }
  }
}

void MemRowSetIterator::FillColumn(size_t i, ColumnVector* out) const {
  const size_t num_rows = rows_.size();
  if (i == kIsDeletedColumn) {
    std::copy(deleted_.begin(), deleted_.end(), out->GrowBools(num_rows).begin());
    return;
  }
  const RowLayout::Column& column = layout_.column(i);
  switch (column.type) {
    case PhysicalType::kBool:
      FillCells<uint8_t>(cells_, column.offset, out->GrowBools(num_rows));
      break;
    case PhysicalType::kInt64:
      FillCells<int64_t>(cells_, column.offset, out->GrowInt64s(num_rows));
      break;
    case PhysicalType::kInt128:
      FillCells<int128_t>(cells_, column.offset, out->GrowInt128s(num_rows));
      break;
    case PhysicalType::kFloat64:
      FillCells<double>(cells_, column.offset, out->GrowFloat64s(num_rows));
      break;
    case PhysicalType::kBytes:
      for (size_t row = 0; row < num_rows; ++row) {
        const uint32_t scratch = patched_[row];
        out->AppendBytes(
            scratch == kNotPatched
                ? rows_[row]->bytes(column)
                : scratch_bytes_[scratch * layout_.num_bytes_columns() + column.bytes_column]);
      }
      break;
  }
  if (column.nullable) {
    const std::span<uint8_t> nulls = out->mutable_nulls();
    for (size_t row = 0; row < num_rows; ++row) {
      nulls[row] = layout_.IsNull(cells_[row], column) ? 1 : 0;
    }
  }
}

}  // namespace varve

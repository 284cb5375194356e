#include "mvcc/memrowset.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// Keys are bytes: messages show the start of them as hexadecimal digits.
std::string KeyText(std::string_view key) {
  constexpr size_t kShown = 32;
  return StrCat("the row with key ", BytesToHexString(key.substr(0, kShown)),
                key.size() > kShown ? "..." : "");
}

absl::Status CheckOrder(Timestamp at, const MrsRow& row, std::string_view key) {
  if (at < row.newest_timestamp()) {
    return absl::InvalidArgumentError(StrCat(KeyText(key), " was changed at ",
                                             row.newest_timestamp(), "; a change at ", at,
                                             " comes too late"));
  }
  return absl::OkStatus();
}

void StoreMin(std::atomic<Timestamp>* smallest, Timestamp at) {
  Timestamp seen = smallest->load(std::memory_order_relaxed);
  while (at < seen && !smallest->compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
  }
}

void StoreMax(std::atomic<Timestamp>* largest, Timestamp at) {
  Timestamp seen = largest->load(std::memory_order_relaxed);
  while (at > seen && !largest->compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::shared_ptr<MemRowSet> MemRowSet::Create(std::shared_ptr<const Schema> schema) {
  return Create(std::move(schema), Options());
}

std::shared_ptr<MemRowSet> MemRowSet::Create(std::shared_ptr<const Schema> schema,
                                             Options options) {
  return std::shared_ptr<MemRowSet>(new MemRowSet(std::move(schema), options));
}

MemRowSet::MemRowSet(std::shared_ptr<const Schema> schema, const Options& options)
    : schema_(std::move(schema)), layout_(*schema_), arena_(options.arena), tree_(&arena_) {}

absl::Status MemRowSet::CheckWrite(const RowKeyProbe& key) const {
  if (key.key().size() > RowKeyProbe::kMaxKeySize) {
    return absl::InvalidArgumentError(
        StrCat("a key has at most ", RowKeyProbe::kMaxKeySize, " bytes, not ", key.key().size()));
  }
  if (frozen()) {
    return absl::FailedPreconditionError("this row set is frozen; write to its successor");
  }
  return absl::OkStatus();
}

absl::Status MemRowSet::Insert(Timestamp at, const RowKeyProbe& key, std::span<const Datum> cells) {
  VARVE_RETURN_IF_ERROR(CheckWrite(key));
  VARVE_RETURN_IF_ERROR(layout_.CheckCells(cells));
  RowTree::PreparedMutation place(&tree_, key.key());
  if (place.exists()) {
    MrsRow* const row = place.value();
    if (!row->is_ghost()) {
      return absl::AlreadyExistsError(StrCat(KeyText(key.key()), " exists"));
    }
    VARVE_RETURN_IF_ERROR(CheckOrder(at, *row, key.key()));
    Revive(at, row, cells);
    return absl::OkStatus();
  }
  Anchor(at);
  MrsRow* const row = MrsRow::Create(&arena_, layout_, at, key.key(), cells);
  place.InsertWithStoredKey(row->stored_key(layout_), row);
  live_rows_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status MemRowSet::InsertPreImage(Timestamp written_at, const RowKeyProbe& key,
                                       std::span<const Datum> cells) {
  VARVE_RETURN_IF_ERROR(CheckWrite(key));
  VARVE_RETURN_IF_ERROR(layout_.CheckCells(cells));
  RowTree::PreparedMutation place(&tree_, key.key());
  if (place.exists()) {
    return absl::AlreadyExistsError(StrCat(KeyText(key.key()), " has an image"));
  }
  MrsRow* const row = MrsRow::Create(&arena_, layout_, written_at, key.key(), cells);
  place.InsertWithStoredKey(row->stored_key(layout_), row);
  live_rows_.fetch_add(1, std::memory_order_relaxed);
  pre_images_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status MemRowSet::Mutate(Timestamp at, const RowKeyProbe& key, RowChangeList list) {
  VARVE_RETURN_IF_ERROR(CheckWrite(key));
  VARVE_RETURN_IF_ERROR(layout_.CheckChanges(list));
  if (list.type() == ChangeType::kReinsert) {
    return absl::InvalidArgumentError(
        "a row is changed by an UPDATE or a DELETE, not a REINSERT; insert it to revive it");
  }
  RowTree::PreparedMutation place(&tree_, key.key());
  if (!place.exists()) {
    return absl::NotFoundError(StrCat(KeyText(key.key()), " is not in this row set"));
  }
  MrsRow* const row = place.value();
  if (row->is_ghost()) {
    return absl::NotFoundError(StrCat(KeyText(key.key()), " is deleted"));
  }
  VARVE_RETURN_IF_ERROR(CheckOrder(at, *row, key.key()));
  AppendMutation(at, row, list);
  if (list.is_delete()) {
    live_rows_.fetch_sub(1, std::memory_order_relaxed);
  }
  return absl::OkStatus();
}

void MemRowSet::Revive(Timestamp at, MrsRow* ghost, std::span<const Datum> cells) {
  std::string buffer;
  RowChangeListEncoder encoder(&buffer);
  encoder.SetToReinsert();
  for (size_t i = 0; i < cells.size(); ++i) {
    encoder.AddColumn(schema_->column(i).field, cells[i]);
  }
  AppendMutation(at, ghost, encoder.list());
  live_rows_.fetch_add(1, std::memory_order_relaxed);
}

void MemRowSet::AppendMutation(Timestamp at, MrsRow* row, RowChangeList list) {
  // The anchor first: a change that can be seen is one that is anchored.
  Anchor(at);
  row->Append(Mutation::Create(&arena_, at, list));
  mutations_.fetch_add(1, std::memory_order_relaxed);
}

void MemRowSet::Anchor(Timestamp at) {
  StoreMax(&newest_change_, at);
  StoreMin(&oldest_change_, at);
}

RowPresence MemRowSet::CheckRowPresent(const RowKeyProbe& key) const {
  const std::optional<MrsRow*> row = tree_.Find(key.key());
  if (!row.has_value()) {
    return RowPresence::kAbsent;
  }
  return (*row)->is_ghost() ? RowPresence::kGhost : RowPresence::kLive;
}

std::optional<RowImage> MemRowSet::ImageAt(const RowKeyProbe& key, Timestamp at) const {
  const std::optional<MrsRow*> found = tree_.Find(key.key());
  if (!found.has_value() || (*found)->inserted_at() > at) {
    return std::nullopt;
  }
  const MrsRow& row = **found;
  std::vector<Datum> cells(layout_.num_columns());
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = row.Cell(layout_, i);
  }
  RowState state{.written_at = row.inserted_at()};
  for (const Mutation* redo = row.redo_head(); redo != nullptr && redo->timestamp() <= at;
       redo = redo->next()) {
    ApplyChange(layout_, redo->timestamp(), redo->list(), &state, cells);
  }
  return RowImage{.cells = Row(cells),
                  .deleted = state.deleted,
                  .inserted_at = row.inserted_at(),
                  .written_at = state.written_at};
}

std::optional<Timestamp> MemRowSet::oldest_change() const {
  const Timestamp oldest = oldest_change_.load(std::memory_order_relaxed);
  return oldest == kMaxTimestamp ? std::nullopt : std::optional<Timestamp>(oldest);
}

std::optional<Timestamp> MemRowSet::newest_change() const {
  const Timestamp newest = newest_change_.load(std::memory_order_relaxed);
  return oldest_change().has_value() ? std::optional<Timestamp>(newest) : std::nullopt;
}

void MemRowSet::Freeze() {
  tree_.Freeze();
}

std::unique_ptr<MemRowSetIterator> MemRowSet::NewIterator(MemRowSetScan scan) const {
  return std::unique_ptr<MemRowSetIterator>(
      new MemRowSetIterator(shared_from_this(), std::move(scan)));
}

absl::StatusOr<std::unique_ptr<MemRowSetFlushIterator>> MemRowSet::NewFlushIterator(
    MemRowSetFlushOptions options) const {
  const Schema& to = options.schema == nullptr ? *schema_ : *options.schema;
  VARVE_ASSIGN_OR_RETURN(RowChangeListProjector projector,
                         RowChangeListProjector::Create(*schema_, to));
  return std::unique_ptr<MemRowSetFlushIterator>(
      new MemRowSetFlushIterator(shared_from_this(), options.flush_at, std::move(projector)));
}

}  // namespace varve

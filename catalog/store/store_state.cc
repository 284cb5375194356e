#include <rocksdb/snapshot.h>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/pins.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

absl::StatusOr<uint64_t> GetNumber(const RowStore& store, std::string_view key,
                                   const rocksdb::Snapshot* snapshot) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text, store.GetDefault(key, snapshot));
  const std::optional<uint64_t> number =
      text.has_value() ? ParseNumber<uint64_t>(*text) : std::nullopt;
  if (!number.has_value()) {
    return absl::DataLossError(
        StrCat("catalog ", store.path(), ": '", key, "' is ",
               text.has_value() ? StrCat("'", *text, "', no number") : "missing"));
  }
  return *number;
}

absl::StatusOr<std::shared_ptr<const RelationDirectory>> LoadDirectory(const StoreState& state) {
  std::vector<RelationRef> stored;
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(Family::kDefault)));
  for (it->Seek(ToSlice(kRelationKeyPrefix));
       it->Valid() && ToView(it->key()).starts_with(kRelationKeyPrefix); it->Next()) {
    VARVE_ASSIGN_OR_RETURN(RelationSchema relation, ParseRelation(ToView(it->value())));
    stored.push_back(std::make_shared<RelationSchema>(std::move(relation)));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the relation directory"));
  return std::make_shared<const RelationDirectory>(std::move(stored));
}

}  // namespace

// A state of what the store holds now, with nothing said about it yet.
std::shared_ptr<StoreState> NewState(std::shared_ptr<RowStore> store) {
  auto state = std::make_shared<StoreState>();
  state->store = std::move(store);
  if (state->store->read_only()) {
    state->store->states_.fetch_add(1, std::memory_order_relaxed);
  } else {
    state->snapshot = state->store->db().GetSnapshot();
  }
  return state;
}

namespace {

std::shared_ptr<StoreState> CopyOf(const StoreState& state) {
  std::shared_ptr<StoreState> copy = NewState(state.store);
  copy->csn = state.csn;
  copy->last_snapshot = state.last_snapshot;
  copy->retain_from = state.retain_from;
  copy->pins = state.pins;
  copy->directory = state.directory;
  copy->names_csn = state.names_csn;
  copy->definitions_csn = state.definitions_csn;
  copy->memory = state.memory;
  copy->columnar = state.columnar;
  return copy;
}

}  // namespace

StoreState::~StoreState() {
  if (snapshot != nullptr) {
    store->db().ReleaseSnapshot(snapshot);
  }
  if (store != nullptr && store->read_only()) {
    store->states_.fetch_sub(1, std::memory_order_release);
  }
}

rocksdb::ReadOptions StoreState::read_options() const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  return options;
}

absl::StatusOr<std::shared_ptr<const StoreState>> TakeState(std::shared_ptr<RowStore> store) {
  std::shared_ptr<StoreState> state = NewState(std::move(store));
  VARVE_ASSIGN_OR_RETURN(state->csn, GetNumber(*state->store, kLastCsnKey, state->snapshot));
  VARVE_ASSIGN_OR_RETURN(state->last_snapshot,
                         GetNumber(*state->store, kLastSnapshotKey, state->snapshot));
  VARVE_ASSIGN_OR_RETURN(state->retain_from,
                         GetNumber(*state->store, kRetainFromKey, state->snapshot));
  VARVE_ASSIGN_OR_RETURN(PinSet pins, LoadPins(*state->store, state->snapshot));
  state->pins = std::make_shared<const PinSet>(std::move(pins));
  VARVE_ASSIGN_OR_RETURN(state->directory, LoadDirectory(*state));
  state->names_csn = state->csn;
  state->definitions_csn = state->csn;
  return state;
}

std::shared_ptr<const StoreState> WithMemory(const StoreState& state,
                                             std::shared_ptr<const MemorySet> memory) {
  std::shared_ptr<StoreState> next = CopyOf(state);
  next->memory = std::move(memory);
  return next;
}

std::shared_ptr<const StoreState> WithColumnar(const StoreState& state,
                                               std::shared_ptr<const ColumnarSet> columnar) {
  std::shared_ptr<StoreState> next = CopyOf(state);
  next->columnar = std::move(columnar);
  return next;
}

}  // namespace varve

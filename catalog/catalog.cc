#include "catalog/catalog.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/load/bootstrap.h"
#include "catalog/store/commit.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

// The snapshots nearest to `snapshot` that exist, below and above.
struct Neighbours {
  std::optional<SnapshotId> below;
  std::optional<SnapshotId> above;
};

absl::StatusOr<Neighbours> FindNeighbours(const StoreState& state, SnapshotId snapshot) {
  const std::string lower = RelationPrefix(kSnapshot);
  const std::string upper = PrefixSuccessor(lower);
  const rocksdb::Slice lower_slice(lower);
  const rocksdb::Slice upper_slice(upper);
  rocksdb::ReadOptions options = state.read_options();
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(options, state.store->family(Family::kLive)));
  std::string handle;
  AppendIntHandle(static_cast<int64_t>(std::min(snapshot, kMaxSnapshotId)), &handle);
  const std::string key = LiveKey(kSnapshot, handle);

  Neighbours neighbours;
  const auto id_here = [&]() -> std::optional<SnapshotId> {
    StoredVersion version;
    if (!it->Valid() || !ParseLive(ToView(it->key()), ToView(it->value()), &version)) {
      return std::nullopt;
    }
    return version.begin;
  };
  it->SeekForPrev(key);
  neighbours.below = id_here();
  if (neighbours.below.has_value() && *neighbours.below < state.retain_from) {
    neighbours.below.reset();
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading ducklake_snapshot"));
  it->Seek(key);
  while (id_here().has_value() && *id_here() < state.retain_from) {
    it->Next();
  }
  neighbours.above = id_here();
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading ducklake_snapshot"));
  return neighbours;
}

absl::Status NoSuchSnapshot(const StoreState& state, SnapshotId snapshot,
                            const Neighbours& neighbours) {
  std::string nearest;
  for (const std::optional<SnapshotId>& id : {neighbours.below, neighbours.above}) {
    if (id.has_value()) {
      StrAppend(&nearest, nearest.empty() ? "" : " and ", *id);
    }
  }
  if (snapshot > state.last_snapshot) {
    return absl::NotFoundError(StrCat(
        "snapshot ", snapshot, " lies in the future: the last one is ", state.last_snapshot));
  }
  if (snapshot < state.retain_from) {
    return absl::NotFoundError(StrCat("snapshot ", snapshot,
                                      " is no longer retained (retained from ", state.retain_from,
                                      "); the nearest that is: ", nearest));
  }
  return absl::NotFoundError(StrCat("snapshot ", snapshot,
                                    " does not exist (expired, or never made); the nearest are ",
                                    nearest));
}

}  // namespace

struct Catalog::State {
  std::shared_ptr<RowStore> store;
  std::string uuid;

  // Held while a commit is validated, written and published.
  std::mutex commit_mutex;

  mutable std::mutex current_mutex;
  std::shared_ptr<const StoreState> current;

  std::shared_ptr<const StoreState> Current() const {
    const std::lock_guard<std::mutex> lock(current_mutex);
    return current;
  }
  void Publish(std::shared_ptr<const StoreState> state) {
    const std::lock_guard<std::mutex> lock(current_mutex);
    current.swap(state);
  }
};

Catalog::Catalog(std::unique_ptr<State> state) : state_(std::move(state)) {}
Catalog::~Catalog() = default;

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path,
                                                       const CatalogOptions& options) {
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<RowStore> store,
                         RowStore::Open(path, {.read_only = options.read_only,
                                               .block_cache_bytes = options.block_cache_bytes}));
  auto state = std::make_unique<State>();
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> uuid,
                         store->GetDefault(kUuidKey, nullptr));
  if (!uuid.has_value()) {
    return absl::DataLossError(StrCat("catalog ", path,
                                      ": its identity is missing; restore it from "
                                      "a copy, or import it again"));
  }
  state->uuid = *uuid;
  VARVE_ASSIGN_OR_RETURN(state->current, TakeState(store));
  state->store = std::move(store);
  return std::unique_ptr<Catalog>(new Catalog(std::move(state)));
}

absl::Status Catalog::Init(const std::string& path, const InitOptions& options) {
  return MakeBootstrapCatalog(path, options);
}

ReadView Catalog::Current() const {
  std::shared_ptr<const StoreState> state = state_->Current();
  const SnapshotId last = state->last_snapshot;
  return ReadView(std::move(state), last);
}

absl::StatusOr<ReadView> Catalog::At(SnapshotId snapshot) const {
  std::shared_ptr<const StoreState> state = state_->Current();
  VARVE_ASSIGN_OR_RETURN(const Neighbours neighbours, FindNeighbours(*state, snapshot));
  if (snapshot > state->last_snapshot || neighbours.below != snapshot) {
    return NoSuchSnapshot(*state, snapshot, neighbours);
  }
  return ReadView(std::move(state), snapshot);
}

absl::StatusOr<ReadView> Catalog::AtTime(absl::Time time) const {
  const ReadView current = Current();
  const RelationRef relation = current.relations().FindById(kSnapshot);
  ScanOptions options;
  options.columns = {*relation->columns.Find("snapshot_id"),
                     *relation->columns.Find("snapshot_time")};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, current.Scan(relation, options));
  const int64_t wanted = absl::ToUnixMicros(time);
  const SnapshotId retain_from = current.state()->retain_from;
  // Times are made strictly increasing here, but catalogs of other origin may have ties and clocks
  // set back: the latest time at or before the wanted one counts, and of equal times the later id.
  std::optional<std::pair<int64_t, int64_t>> best;      // time, id
  std::optional<std::pair<int64_t, int64_t>> earliest;  // for the message
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    const ColumnVector& ids = batch.columns.column(0);
    const ColumnVector& times = batch.columns.column(1);
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      if (times.is_null(row) || static_cast<SnapshotId>(ids.int64s()[row]) < retain_from) {
        continue;
      }
      const std::pair<int64_t, int64_t> here(times.int64s()[row], ids.int64s()[row]);
      if (!earliest.has_value() || here < *earliest) {
        earliest = here;
      }
      if (here.first <= wanted && (!best.has_value() || here >= *best)) {
        best = here;
      }
    }
  }
  if (!best.has_value()) {
    const std::string hint =
        earliest.has_value() ? StrCat("; the earliest retained one is ", earliest->second, " of ",
                                      ToText(TypeKind::kTimestampTz, Datum::Int64(earliest->first)))
                             : "";
    return absl::NotFoundError(StrCat("no snapshot is as old as ",
                                      ToText(TypeKind::kTimestampTz, Datum::Int64(wanted)), hint));
  }
  return ReadView(current.state(), static_cast<SnapshotId>(best->second));
}

absl::Status Catalog::Apply(const ChangeSet& changes) {
  if (state_->store->read_only()) {
    return absl::FailedPreconditionError(
        StrCat("catalog ", path(), " is open read-only; open it for writing to change it"));
  }
  const std::lock_guard<std::mutex> lock(state_->commit_mutex);
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const StoreState> next,
                         CommitChanges(state_->Current(), changes));
  state_->Publish(std::move(next));
  return absl::OkStatus();
}

const std::string& Catalog::path() const {
  return state_->store->path();
}
const std::string& Catalog::uuid() const {
  return state_->uuid;
}
RowStore& Catalog::store() {
  return *state_->store;
}

}  // namespace varve

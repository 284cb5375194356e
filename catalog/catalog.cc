#include "catalog/catalog.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/load/bootstrap.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/commit_queue.h"
#include "catalog/store/log_syncer.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_follower.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/catalog_memory.h"
#include "catalog/tiers/columnar_tier.h"
#include "catalog/tiers/maintenance.h"
#include "catalog/transaction/name_index.h"
#include "catalog/transaction/path_index.h"
#include "catalog/transaction/recent_commits.h"
#include "catalog/transaction/table_shape.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
struct Catalog::State {
  State(const std::shared_ptr<RowStore>& row_store, SyncMode sync)
      : path(row_store->path()),
        read_only(row_store->read_only()),
        columnar(row_store->options().file_system, row_store->path()),
        queue(
            sync, [this] { return Current(); },
            [this](std::shared_ptr<StoreState> next, const CommitGroup& commits) {
              // In this order: whoever sees the commits finds them in memory, and their paths, and
              // a transaction that begins in between has them in its base.
              memory.Apply(commits.changes(), next.get());
              paths.Note(commits.footprints());
              Publish(std::move(next));
              recent_commits->Add(commits.footprints());
              if (syncer != nullptr) {
                syncer->Note();
              }
            }) {}

  ~State() { memory.Stop(); }

  const std::string path;
  const bool read_only;
  std::string uuid;
  ColumnarTier columnar;

  mutable ViewRegistry views;
  CommitQueue queue;
  std::mutex follower_mutex;
  std::unique_ptr<StoreFollower> follower;     // open read-only
  std::shared_ptr<const StoreState> followed;  // what the follower gave last
  std::shared_ptr<RecentCommits> recent_commits = std::make_shared<RecentCommits>();
  PathIndex paths;
  TableShapes shapes;
  std::unique_ptr<LogSyncer> syncer;

  mutable std::mutex current_mutex;
  std::shared_ptr<const StoreState> current;

  std::mutex names_mutex;
  Csn names_csn = 0;  // of the state `names` was read from
  std::shared_ptr<const NameIndex> names;

  CatalogMemory memory{{
      .latest = [this] { return Current(); },
      .exclusively =
          [this](const std::function<absl::Status()>& work) {
            if (!read_only) {
              return queue.RunExclusively(work);
            }
            const std::lock_guard<std::mutex> lock(follower_mutex);
            return work();
          },
      .publish = [this](std::shared_ptr<const StoreState> state) { Publish(std::move(state)); },
  }};

  std::unique_ptr<TierMaintenance> maintenance;  // works with the catalog

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
Catalog::~Catalog() {
  state_->maintenance.reset();
}

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path,
                                                       const CatalogOptions& options) {
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<RowStore> store,
                         RowStore::Open(path, {.read_only = options.read_only,
                                               .block_cache_bytes = options.block_cache_bytes,
                                               .file_system = options.file_system}));
  auto state = std::make_unique<State>(store, options.sync);
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> uuid,
                         store->GetDefault(kUuidKey, nullptr));
  if (!uuid.has_value()) {
    return absl::DataLossError(StrCat("catalog ", path,
                                      ": its identity is missing; restore it from "
                                      "a copy, or import it again"));
  }
  state->uuid = *uuid;
  VARVE_ASSIGN_OR_RETURN(state->current, TakeState(store));
  VARVE_ASSIGN_OR_RETURN(state->current, state->columnar.WithFiles(state->current, nullptr));
  if (!options.read_only) {
    state->columnar.RemoveOrphans(*state->current->columnar);
  }
  if (options.read_only) {
    state->follower = std::make_unique<StoreFollower>(state->current);
    state->followed = state->current;
  } else if (options.sync == SyncMode::kInterval) {
    state->syncer = std::make_unique<LogSyncer>(std::move(store), options.sync_interval);
  }
  const bool keeps_memory = options.memory == MemoryMode::kAfterOpening;
  if (keeps_memory) {
    state->memory.Start();
  }
  std::unique_ptr<Catalog> catalog(new Catalog(std::move(state)));
  if (keeps_memory && !options.read_only && options.memrowset_budget_bytes > 0) {
    catalog->state_->maintenance =
        std::make_unique<TierMaintenance>(catalog.get(), options.memrowset_budget_bytes);
  }
  return catalog;
}

absl::Status Catalog::Init(const std::string& path, const InitOptions& options) {
  return MakeBootstrapCatalog(path, options);
}

ReadView Catalog::Current() const {
  std::shared_ptr<const StoreState> state;
  ViewRegistry::Token token = *state_->views.HoldWith([&]() -> absl::StatusOr<ViewRegistry::Held> {
    state = state_->Current();
    return ViewRegistry::Held{.snapshot = state->last_snapshot, .csn = state->csn};
  });
  const SnapshotId last = state->last_snapshot;
  return ReadView(std::move(state), last, std::move(token));
}

absl::StatusOr<ReadView> Catalog::At(SnapshotId snapshot) const {
  const absl::Time now = absl::Now();
  std::shared_ptr<const StoreState> state;
  VARVE_ASSIGN_OR_RETURN(ViewRegistry::Token token,
                         state_->views.HoldWith([&]() -> absl::StatusOr<ViewRegistry::Held> {
                           state = state_->Current();
                           VARVE_RETURN_IF_ERROR(CheckReadable(*state, snapshot, now));
                           return ViewRegistry::Held{.snapshot = snapshot, .csn = state->csn};
                         }));
  return ReadView(std::move(state), snapshot, std::move(token));
}

absl::StatusOr<ReadView> Catalog::AtTime(absl::Time time) const {
  const ReadView current = Current();
  const RelationRef relation = current.relations().FindById(kSnapshot);
  ScanOptions options;
  options.columns = {*relation->columns.Find("snapshot_id"),
                     *relation->columns.Find("snapshot_time")};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, current.Scan(relation, options));
  const int64_t wanted = absl::ToUnixMicros(time);
  const absl::Time now = absl::Now();
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
      if (times.is_null(row) ||
          !IsRetained(*current.state(), static_cast<SnapshotId>(ids.int64s()[row]), now)) {
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
  return At(static_cast<SnapshotId>(best->second));
}

absl::Status Catalog::Refresh() {
  const std::lock_guard<std::mutex> lock(state_->follower_mutex);
  if (state_->follower == nullptr) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const StoreState> followed, state_->follower->Refresh());
  if (followed == state_->followed) {
    return absl::OkStatus();  // nothing was written since
  }
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const StoreState> next,
                         state_->columnar.WithFiles(followed, state_->Current()->columnar.get()));
  VARVE_ASSIGN_OR_RETURN(next, state_->memory.CatchUp(std::move(next)));
  state_->Publish(std::move(next));
  state_->followed = std::move(followed);
  return absl::OkStatus();
}

absl::Status Catalog::WaitForMemory() {
  return state_->memory.Wait();
}

absl::StatusOr<std::shared_ptr<const StoreState>> Catalog::FreezeMemory() {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  std::shared_ptr<const StoreState> frozen;
  VARVE_RETURN_IF_ERROR(WithoutCommits([&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const MemorySet> set, state_->memory.Freeze());
    frozen = WithMemory(*state_->Current(), std::move(set));
    state_->Publish(frozen);
    return absl::OkStatus();
  }));
  return frozen;
}

ViewRegistry& Catalog::views() const {
  return state_->views;
}

absl::Status Catalog::Apply(const ChangeSet& changes) {
  return Commit({.prepare = [&](varve::Commit& commit) { return commit.Apply(changes); },
                 .reads_widely = !changes.dropped().empty()});
}

absl::Status Catalog::Commit(const CommitRequest& request) {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  return state_->queue.Commit(request);
}

absl::Status Catalog::CheckWritable() const {
  return state_->read_only
             ? absl::FailedPreconditionError(StrCat(
                   "catalog ", path(), " is open read-only; open it for writing to change it"))
             : absl::OkStatus();
}

absl::Status Catalog::WithoutCommits(const std::function<absl::Status()>& work) const {
  return state_->queue.RunExclusively(work);
}

absl::StatusOr<Transaction> Catalog::Begin() {
  return Begin(TransactionOptions());
}

absl::StatusOr<Transaction> Catalog::Begin(const TransactionOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  std::optional<ReadView> base;
  std::shared_ptr<const void> registration = state_->recent_commits->Register([&] {
    base = Current();
    return base->csn();
  });
  auto state = std::make_unique<Transaction::State>(this, *std::move(base));
  state->options = options;
  state->registration = std::move(registration);
  return Transaction(std::move(state));
}

std::shared_ptr<const StoreState> Catalog::LatestState() const {
  return state_->Current();
}

RecentCommits& Catalog::recent_commits() const {
  return *state_->recent_commits;
}
PathIndex& Catalog::paths() const {
  return state_->paths;
}
ColumnarTier& Catalog::columnar_tier() const {
  return state_->columnar;
}
TableShapes& Catalog::shapes() const {
  return state_->shapes;
}

absl::StatusOr<std::shared_ptr<const NameIndex>> Catalog::Names(
    const std::shared_ptr<const StoreState>& state) {
  {
    const std::lock_guard<std::mutex> lock(state_->names_mutex);
    if (state_->names != nullptr && state_->names_csn >= state->names_csn &&
        state_->names_csn <= state->csn) {
      return state_->names;
    }
  }
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const NameIndex> names,
                         NameIndex::Load(ReadView(state, state->last_snapshot)));
  const std::lock_guard<std::mutex> lock(state_->names_mutex);
  if (state_->names == nullptr || state_->names_csn < state->csn) {
    state_->names = names;
    state_->names_csn = state->csn;
  }
  return names;
}

const std::string& Catalog::path() const {
  return state_->path;
}
const std::string& Catalog::uuid() const {
  return state_->uuid;
}
RowStore& Catalog::store() {
  return *state_->Current()->store;
}

}  // namespace varve

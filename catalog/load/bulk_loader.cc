#include "catalog/load/bulk_loader.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/coding.h"
#include "base/failpoint.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/load/bootstrap.h"
#include "catalog/load/load_merger.h"
#include "catalog/load/scratch_store.h"
#include "catalog/load/sorted_file_writer.h"
#include "catalog/payload_codec.h"
#include "catalog/store/change_record.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_group.h"

namespace varve {
namespace {

constexpr std::string_view kWorkSuffix = ".loading";
constexpr std::string_view kScratch = "/scratch";

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

absl::Status CheckNothingAt(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const bool empty_directory = exists && std::filesystem::is_directory(path, error) &&
                               std::filesystem::is_empty(path, error);
  if (!exists || empty_directory) {
    return absl::OkStatus();
  }
  if (CheckIsCatalog(path).ok()) {
    return absl::AlreadyExistsError(StrCat(
        path, " holds a catalog already; a new one needs a path of its own (or remove that one)"));
  }
  return absl::AlreadyExistsError(StrCat(path, " exists and is no catalog; choose another path"));
}

// What stands at the working directory's name may be cleared only if a load left it: every load
// makes its lock file first.
absl::Status CheckIsLeftover(const std::string& work) {
  std::error_code error;
  if (!std::filesystem::exists(work, error)) {
    return absl::OkStatus();
  }
  const bool ours = std::filesystem::is_directory(work, error) &&
                    (std::filesystem::is_empty(work, error) ||
                     std::filesystem::exists(StrCat(work, "/", CatalogLock::kFileName), error));
  return ours ? absl::OkStatus()
              : absl::AlreadyExistsError(StrCat(work,
                                                " is in the way: a load works there, and it holds "
                                                "something else; move it or choose another path"));
}

}  // namespace

struct BulkLoader::State {
  std::string path;
  std::string work;  // path + ".loading"
  BulkLoadOptions options;
  std::unique_ptr<CatalogLock> lock;  // on `work`, held until it is published or removed
  std::unique_ptr<ScratchStore> scratch;
  bool published = false;

  std::vector<std::string> origins = {"the catalog"};
  std::map<RelationId, RelationRef> declared;  // dynamic, extended or reduced relations
  RelationId next_relation = kFirstDynamicRelation;
  absl::flat_hash_map<RelationId, int64_t> next_row_number;
  std::set<RelationId> loaded;  // relations with rows
  uint64_t rows = 0;
  bool has_snapshot = false;
  SnapshotId last_snapshot = 0;

  std::string key;
  std::string value;

  ~State() {
    scratch.reset();
    if (!published) {
      std::error_code ignored;
      std::filesystem::remove_all(work, ignored);
    }
  }

  absl::Status At(uint32_t origin, uint64_t line, const absl::Status& status) const {
    std::string where = origins[origin];
    if (line != 0) {
      StrAppend(&where, " line ", line);
    }
    return absl::Status(status.code(), StrCat(where, ": ", MessageOf(status)));
  }

  absl::Status Add(const RelationSchema& relation, std::span<const Datum> values, uint32_t origin,
                   uint64_t line);
  absl::Status AddIndexEntry(const RelationSchema& relation, std::span<const Datum> values,
                             std::string_view handle, uint32_t origin, uint64_t line);
  absl::StatusOr<BulkLoadSummary> Merge(SortedFileWriter* live, SortedFileWriter* ended);
  absl::Status BuildStore(SortedFileWriter* live, SortedFileWriter* ended);
};

BulkLoader::BulkLoader(std::unique_ptr<State> state) : state_(std::move(state)) {}
BulkLoader::~BulkLoader() = default;

absl::StatusOr<std::unique_ptr<BulkLoader>> BulkLoader::Create(const std::string& path,
                                                               const BulkLoadOptions& options) {
  auto state = std::make_unique<State>();
  state->published = true;  // nothing of ours is there to remove yet
  state->path = WithoutTrailingSlashes(path);
  if (state->path.empty()) {
    return absl::InvalidArgumentError("the path of the catalog is empty");
  }
  state->options = options;
  VARVE_RETURN_IF_ERROR(CheckNothingAt(state->path));
  state->work = StrCat(state->path, kWorkSuffix);
  VARVE_RETURN_IF_ERROR(CheckIsLeftover(state->work));
  std::error_code error;
  std::filesystem::create_directory(state->work, error);  // not its parents: a typo would make them
  if (error) {
    return absl::NotFoundError(StrCat("cannot make ", state->work, ": ", error.message()));
  }
  VARVE_ASSIGN_OR_RETURN(state->lock, CatalogLock::Acquire(state->work));
  // Whatever a killed load left is ours to remove now that we hold its lock.
  for (const auto& entry : std::filesystem::directory_iterator(state->work, error)) {
    if (entry.path().filename() != CatalogLock::kFileName) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
  state->published = false;
  VARVE_ASSIGN_OR_RETURN(state->scratch,
                         ScratchStore::Create(StrCat(state->work, kScratch), options.memory_bytes));
  return std::unique_ptr<BulkLoader>(new BulkLoader(std::move(state)));
}

absl::StatusOr<RelationRef> BulkLoader::AddRelation(RelationSchema relation) {
  if (relation.dynamic && relation.id == 0) {
    relation.id = state_->next_relation++;
  }
  if (relation.dynamic ? relation.id < kFirstDynamicRelation
                       : relation.id < 1 || relation.id > BuiltinRelations().size()) {
    return absl::InvalidArgumentError(
        StrCat("relation ", relation.name, " cannot have number ", relation.id));
  }
  state_->next_relation = std::max(state_->next_relation, relation.id + 1);
  for (const auto& [id, other] : state_->declared) {
    if (EqualsIgnoreCase(other->name, relation.name)) {
      return absl::AlreadyExistsError(StrCat("relation ", relation.name, " is there twice"));
    }
  }
  const RelationId id = relation.id;
  RelationRef ref = std::make_shared<RelationSchema>(std::move(relation));
  state_->declared[id] = ref;
  return ref;
}

uint32_t BulkLoader::AddOrigin(std::string name) {
  state_->origins.push_back(std::move(name));
  return static_cast<uint32_t>(state_->origins.size() - 1);
}

uint64_t BulkLoader::rows_added() const {
  return state_->rows;
}

absl::Status BulkLoader::AddRow(const RelationSchema& relation, std::span<const Datum> values,
                                uint32_t origin, uint64_t line) {
  const absl::Status status = state_->Add(relation, values, origin, line);
  return status.ok() ? status : state_->At(origin, line, status);
}

absl::Status BulkLoader::State::Add(const RelationSchema& relation, std::span<const Datum> values,
                                    uint32_t origin, uint64_t line) {
  VARVE_RETURN_IF_ERROR(CheckRowShape(relation, values));
  VARVE_ASSIGN_OR_RETURN(const SnapshotInterval interval, IntervalOfRow(relation, values));
  key.clear();
  loaded.insert(relation.id);
  AppendRelationPrefix(relation.id, &key);
  if (relation.handle_kind == HandleKind::kRowNumber) {
    AppendIntHandle(next_row_number[relation.id]++, &key);
  } else {
    VARVE_RETURN_IF_ERROR(AppendHandleOfRow(relation, values, &key));
  }
  if (relation.id == kSnapshot) {
    has_snapshot = true;
    last_snapshot = std::max(last_snapshot, interval.begin);
  }
  if (relation.unique_column.has_value()) {
    const std::string handle = key.substr(kRelationPrefixSize);
    VARVE_RETURN_IF_ERROR(AddIndexEntry(relation, values, handle, origin, line));
    key.assign(LiveKey(relation.id, handle));
  }
  AppendLoadSuffix(interval.begin, rows, &key);
  value.clear();
  AppendLoadHead({.end = interval.end, .origin = origin, .line = line}, &value);
  AppendPayload(relation, values, &value);
  ++rows;
  return scratch->Put(key, value);
}

absl::Status BulkLoader::State::AddIndexEntry(const RelationSchema& relation,
                                              std::span<const Datum> values,
                                              std::string_view handle, uint32_t origin,
                                              uint64_t line) {
  const Datum& id = values[*relation.unique_column];
  if (id.is_null()) {
    return absl::InvalidArgumentError(StrCat("column ",
                                             relation.columns.column(*relation.unique_column).name,
                                             " is NULL; it identifies the row and needs a value"));
  }
  key.assign(IndexKey(relation.id, id.int64_value()));
  AppendLoadSuffix(0, rows, &key);
  value.clear();
  AppendLoadHead({.origin = origin, .line = line}, &value);
  value.append(handle);
  return scratch->Put(key, value);
}

absl::StatusOr<BulkLoadSummary> BulkLoader::State::Merge(SortedFileWriter* live,
                                                         SortedFileWriter* ended) {
  LoadMerger merger({.keep_anomalies = options.keep_anomalies,
                     .last_snapshot = last_snapshot,
                     .csn = kBulkLoadCsn,
                     .origins = &origins,
                     .relation_of =
                         [this](RelationId id) {
                           const auto it = declared.find(id);
                           return it != declared.end() ? it->second : BuiltinRelationById(id);
                         }},
                    live, ended);
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<rocksdb::Iterator> it, scratch->Sort());
  uint64_t merged = 0;
  for (; it->Valid(); it->Next()) {
    VARVE_RETURN_IF_ERROR(merger.Add(ToView(it->key()), ToView(it->value())));
    constexpr uint64_t kProgressEvery = 16'384;
    if (++merged % kProgressEvery == 0 && options.on_progress) {
      options.on_progress(merged);
    }
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "sorting rows"));
  VARVE_RETURN_IF_ERROR(merger.Finish());
  BulkLoadSummary summary = merger.summary();
  summary.rows = rows;
  summary.last_snapshot = last_snapshot;
  return summary;
}

absl::Status BulkLoader::State::BuildStore(SortedFileWriter* live, SortedFileWriter* ended) {
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<RowStore> store, RowStore::Create(work));
  VARVE_RETURN_IF_ERROR(live->IngestInto(store.get()));
  VARVE_RETURN_IF_ERROR(ended->IngestInto(store.get()));
  rocksdb::WriteBatch batch;
  const auto put = [&](std::string_view name, std::string_view text) {
    batch.Put(store->family(Family::kDefault), ToSlice(name), ToSlice(text)).PermitUncheckedError();
  };
  int64_t row_numbers = 0;
  for (const auto& [relation, next] : next_row_number) {
    row_numbers = std::max(row_numbers, next);
  }
  put(kFormatKey, std::to_string(kFormatVersion));
  put(kUuidKey, RandomUuid());
  put(kLastCsnKey, std::to_string(kBulkLoadCsn));
  put(kLastSnapshotKey, std::to_string(last_snapshot));
  put(kRetainFromKey, "0");
  put(kLoadedRelationsKey, StrJoin(loaded, ","));
  put(kNextRelationKey, std::to_string(next_relation));
  put(kNextRowNumberKey, std::to_string(row_numbers));
  // The change feed begins behind what was loaded.
  put(kChangesFromKey, std::to_string(kBulkLoadCsn));
  batch
      .Put(store->family(Family::kChanges), ChangesKey(kBulkLoadCsn, kCommitEntry, 0),
           CommitEntry(last_snapshot))
      .PermitUncheckedError();
  for (const auto& [id, relation] : declared) {
    put(RelationKey(id), SerializeRelation(*relation));
  }
  rocksdb::WriteOptions write_options;
  write_options.sync = true;
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(store->db().Write(write_options, &batch), "building a catalog"));
  return store->Flush();
}

absl::StatusOr<BulkLoadSummary> BulkLoader::Finish() {
  State& state = *state_;
  if (!state.has_snapshot) {
    return absl::InvalidArgumentError(
        "ducklake_snapshot has no rows; a catalog has at least one snapshot");
  }
  SortedFileWriter live(Family::kLive, state.work);
  SortedFileWriter ended(Family::kEnded, state.work);
  VARVE_ASSIGN_OR_RETURN(BulkLoadSummary summary, state.Merge(&live, &ended));
  VARVE_RETURN_IF_ERROR(live.Finish());
  VARVE_RETURN_IF_ERROR(ended.Finish());
  state.scratch.reset();
  VARVE_RETURN_IF_ERROR(state.BuildStore(&live, &ended));
  VARVE_RETURN_IF_ERROR(SyncDirectory(state.work));
  VARVE_FAILPOINT("import/before_rename");
  VARVE_RETURN_IF_ERROR(PublishDirectory(state.work, state.path));
  state.published = true;
  state.lock.reset();  // it went along with the directory and is the new catalog's now
  return summary;
}

}  // namespace varve

#include "catalog/tiers/columnar_tier.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/feed/change_feed.h"
#include "catalog/relation_directory.h"
#include "catalog/store/commit_queue.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "columnar/io_status.h"

namespace varve {
namespace {

// Which relations had rows when the change log began: those of a bulk load. nullopt: any may have
// had some.
absl::StatusOr<std::optional<std::vector<RelationId>>> LoadedRelations(const StoreState& state) {
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(state));
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> list,
                         state.store->GetDefault(kLoadedRelationsKey, state.snapshot));
  if (begin != kBulkLoadCsn || !list.has_value()) {
    return std::nullopt;
  }
  std::vector<RelationId> relations;
  for (std::string_view rest = *list; !rest.empty();) {
    const std::string_view number = rest.substr(0, rest.find(','));
    const std::optional<RelationId> relation = ParseNumber<RelationId>(number);
    if (!relation.has_value()) {
      return absl::DataLossError(
          StrCat("the list of loaded relations, '", *list, "', is malformed"));
    }
    relations.push_back(*relation);
    rest.remove_prefix(std::min(number.size() + 1, rest.size()));
  }
  return relations;
}

}  // namespace

absl::StatusOr<proto::ColumnarManifest> ReadManifest(const StoreState& state) {
  proto::ColumnarManifest manifest;
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                         state.store->GetDefault(kColumnarManifestKey, state.snapshot));
  if (bytes.has_value()) {
    if (!manifest.ParseFromString(*bytes)) {
      return absl::DataLossError(
          StrCat("catalog ", state.store->path(), ": the manifest of columnar files is malformed"));
    }
    return manifest;
  }
  manifest.set_next_file(1);
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(state));
  manifest.set_flushed_csn(begin);
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::vector<RelationId>> loaded,
                         LoadedRelations(state));
  if (loaded.has_value()) {
    manifest.mutable_incomplete()->Add(loaded->begin(), loaded->end());
  } else {
    for (const RelationRef& relation : state.directory->relations()) {
      manifest.add_incomplete(relation->id);
    }
  }
  return manifest;
}

ColumnarTier::ColumnarTier(std::shared_ptr<rocksdb::FileSystem> file_system,
                           std::string catalog_path)
    : file_system_(file_system != nullptr ? std::move(file_system)
                                          : rocksdb::FileSystem::Default()),
      catalog_path_(std::move(catalog_path)),
      place_{.file_system = file_system_.get(),
             .directory = StrCat(catalog_path_, "/", kColumnarDirectory),
             .next_number = [this] { return next_file_++; }} {}

absl::StatusOr<std::shared_ptr<const StoreState>> ColumnarTier::WithFiles(
    const std::shared_ptr<const StoreState>& state, const ColumnarSet* earlier) {
  VARVE_ASSIGN_OR_RETURN(proto::ColumnarManifest manifest, ReadManifest(*state));
  next_file_ = std::max(next_file_.load(), manifest.next_file());
  std::call_once(cache_made_,
                 [&] { cache_ = std::make_shared<const PackCache>(state->store->cache()); });
  return WithColumnar(*state, ColumnarSet::Open(file_system_.get(), catalog_path_,
                                                std::move(manifest), earlier, cache_));
}

absl::Status ColumnarTier::PrepareDirectory() {
  return FromIoStatus(
      file_system_->CreateDirIfMissing(place_.directory, rocksdb::IOOptions(), nullptr),
      StrCat("making ", place_.directory));
}

void ColumnarTier::RemoveOrphans(const ColumnarSet& set) {
  std::vector<std::string> names;
  if (!file_system_->GetChildren(place_.directory, rocksdb::IOOptions(), &names, nullptr).ok()) {
    return;  // there is none yet
  }
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = ColumnarFileNumber(name);
    if (!number.has_value()) {
      continue;
    }
    next_file_ = std::max(next_file_.load(), *number + 1);
    const auto& files = set.manifest().files();
    const bool is_known = std::any_of(files.begin(), files.end(),
                                      [&](const auto& file) { return file.number() == *number; });
    if (!is_known) {
      file_system_->DeleteFile(StrCat(place_.directory, "/", name), rocksdb::IOOptions(), nullptr)
          .PermitUncheckedError();
    }
  }
}

absl::Status ColumnarTier::WithoutInstalls(const std::function<absl::Status()>& work) {
  const std::lock_guard lock(install_);
  return work();
}

absl::Status ColumnarTier::Install(Catalog& catalog, proto::ColumnarManifest manifest,
                                   const std::vector<proto::ColumnarFileEntry>& written,
                                   const std::function<absl::Status(Commit&)>& prepare) {
  const std::lock_guard lock(install_);
  manifest.set_next_file(next_file_);
  const std::shared_ptr<const StoreState> before = catalog.LatestState();
  bool may_be_installed = false;  // after a commit that failed, only the next opening tells
  const auto install = [&]() -> absl::Status {
    if (!written.empty()) {
      std::unique_ptr<rocksdb::FSDirectory> directory;
      VARVE_RETURN_IF_ERROR(FromIoStatus(
          file_system_->NewDirectory(place_.directory, rocksdb::IOOptions(), &directory, nullptr),
          StrCat("opening ", place_.directory)));
      VARVE_RETURN_IF_ERROR(FromIoStatus(directory->Fsync(rocksdb::IOOptions(), nullptr),
                                         StrCat("syncing ", place_.directory)));
    }
    const std::shared_ptr<const ColumnarSet> set = ColumnarSet::Open(
        file_system_.get(), catalog_path_, std::move(manifest), before->columnar.get(), cache_);
    for (const proto::ColumnarFileEntry& entry : written) {
      if (!set->files().contains(entry.number())) {
        return absl::DataLossError(StrCat("the columnar file just written, ",
                                          ColumnarFileName(entry.number()), ", cannot be read"));
      }
    }
    may_be_installed = true;
    return catalog.Commit({.prepare = [&](Commit& commit) -> absl::Status {
      if (prepare) {
        VARVE_RETURN_IF_ERROR(prepare(commit));
      }
      commit.SetColumnar(set);
      return absl::OkStatus();
    }});
  };
  absl::Status status = install();
  if (!status.ok()) {
    if (!may_be_installed) {
      RemoveFiles(place_, written);
    }
    return status;
  }
  const std::shared_ptr<const StoreState> after = catalog.LatestState();
  absl::flat_hash_set<uint64_t> kept;
  for (const proto::ColumnarFileEntry& entry : after->columnar->manifest().files()) {
    kept.insert(entry.number());
  }
  for (const proto::ColumnarFileEntry& entry : before->columnar->manifest().files()) {
    if (kept.contains(entry.number())) {
      continue;
    }
    const auto open = before->columnar->files().find(entry.number());
    if (open != before->columnar->files().end()) {
      open->second->MakeObsolete();
    } else {  // it could not be opened, so no reader has it
      RemoveFiles(place_, {entry});
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

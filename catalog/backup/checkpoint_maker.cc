#include "catalog/backup/checkpoint_maker.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/backup/columnar_files.h"
#include "catalog/backup/file_copy.h"
#include "catalog/backup/source_files.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/columnar_tier.h"

namespace varve {
namespace {

constexpr uint64_t kCacheBytes = uint64_t{8} << 20;

// Brings one claimed file to where it belongs, unless it is there, synced and checksummed.
absl::StatusOr<CheckpointFile> Store(const SourceFile& source, const std::string& rows,
                                     ByteProgress* progress) {
  const std::string path = StrCat(rows, "/", source.name);
  const auto count = [progress](uint64_t bytes) { progress->Add(bytes); };
  CheckpointFile file{.name = StrCat(kRowsDirectory, "/", source.name), .size = source.size};
  if (source.linked) {
    VARVE_RETURN_IF_ERROR(SyncFile(path));
    VARVE_ASSIGN_OR_RETURN(file.checksum, ChecksumFile(path, source.size, count));
  } else if (!source.contents.empty()) {
    VARVE_RETURN_IF_ERROR(WriteDurableFile(path, source.contents));
    VARVE_ASSIGN_OR_RETURN(file.checksum, ChecksumFile(path, source.size, count));
  } else {
    VARVE_ASSIGN_OR_RETURN(file.checksum,
                           CopyFile(source.file, source.name, source.size, path, count));
  }
  return file;
}

absl::StatusOr<CheckpointFile> CopyIdentity(const std::string& from, const std::string& to) {
  const std::string path = StrCat(from, "/", kIdentityFile);
  VARVE_ASSIGN_OR_RETURN(const FileDescriptor source, OpenForReading(path));
  VARVE_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(source, path));
  VARVE_ASSIGN_OR_RETURN(
      const uint64_t checksum,
      CopyFile(source, path, size, StrCat(to, "/", kIdentityFile), ByteCounter()));
  return CheckpointFile{.name = std::string(kIdentityFile), .size = size, .checksum = checksum};
}

std::set<uint64_t> NumbersIn(const proto::ColumnarManifest& manifest) {
  std::set<uint64_t> numbers;
  for (const proto::ColumnarFileEntry& entry : manifest.files()) {
    numbers.insert(entry.number());
  }
  return numbers;
}

// A writer in this process installs no manifest while files are claimed, so the columnar files are
// those of its latest state. One in another process cannot be asked to. So all columnar files that
// are there before the row store's are claimed, and all that came meanwhile, are claimed; one that
// the manifest of the copy names is among them, unless two changes of the manifest fell in between:
// then it is tried again. One that was named before the first look, is still named in the copy, and
// was not there, is lost: no writer has taken it away.
class CheckpointMaker {
 public:
  CheckpointMaker(const Catalog& catalog, const std::string& path, const CheckpointOptions& options)
      : catalog_(catalog),
        path_(path),
        rows_(StrCat(path, "/", kRowsDirectory)),
        options_(options),
        columnar_(catalog.path(), path, /*share=*/!options.copy) {}

  absl::StatusOr<CheckpointSummary> Make() {
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      VARVE_RETURN_IF_ERROR(MakeDirectory(rows_));
      VARVE_ASSIGN_OR_RETURN(const std::vector<SourceFile> sources,
                             state_->store->read_only() ? ClaimBesideWriter() : ClaimFromWriter());
      ByteProgress progress(options_.on_progress, 0);
      VARVE_ASSIGN_OR_RETURN(CheckpointSummary summary, StoreRows(sources, &progress));
      VARVE_ASSIGN_OR_RETURN(HeldState copy, ReadHeldState(path_));
      if (!HasAllOf(copy.manifest)) {
        named_.merge(NumbersIn(copy.manifest));
        VARVE_RETURN_IF_ERROR(Clear());
        continue;
      }
      VARVE_RETURN_IF_ERROR(StoreColumnar(copy.manifest, &progress, &summary));
      copy.info.files = std::move(summary.info.files);
      summary.info = std::move(copy.info);
      std::sort(summary.info.files.begin(), summary.info.files.end(),
                [](const CheckpointFile& a, const CheckpointFile& b) { return a.name < b.name; });
      return summary;
    }
    return absl::UnavailableError(StrCat("the writer of ", catalog_.path(),
                                         " changes its columnar files too fast; try again"));
  }

 private:
  absl::StatusOr<std::vector<SourceFile>> ClaimFromWriter() {
    std::vector<SourceFile> sources;
    const auto claim = [&]() -> absl::Status {
      const std::shared_ptr<const StoreState> latest = catalog_.LatestState();
      const proto::ColumnarManifest& manifest = latest->columnar->manifest();
      VARVE_RETURN_IF_ERROR(columnar_.ClaimNamed(manifest));
      lost_ = NumbersIn(manifest);
      VARVE_ASSIGN_OR_RETURN(sources, ClaimFiles(*state_->store, rows_, /*share=*/!options_.copy));
      return absl::OkStatus();
    };
    VARVE_RETURN_IF_ERROR(catalog_.columnar_tier().WithoutInstalls(claim));
    return sources;
  }

  absl::StatusOr<std::vector<SourceFile>> ClaimBesideWriter() {
    VARVE_RETURN_IF_ERROR(columnar_.ClaimAll());
    lost_ = named_;
    std::erase_if(lost_, [&](uint64_t number) { return columnar_.Has(number); });
    VARVE_ASSIGN_OR_RETURN(std::vector<SourceFile> sources,
                           ClaimFiles(*state_->store, rows_, /*share=*/!options_.copy));
    VARVE_RETURN_IF_ERROR(columnar_.ClaimAll());
    return sources;
  }

  bool HasAllOf(const proto::ColumnarManifest& manifest) const {
    return std::all_of(manifest.files().begin(), manifest.files().end(), [&](const auto& entry) {
      return columnar_.Has(entry.number()) || lost_.contains(entry.number());
    });
  }

  absl::Status Clear() {
    columnar_.Clear();
    for (const std::string& path : {rows_, StrCat(path_, "/", kIdentityFile)}) {
      std::error_code error;
      std::filesystem::remove_all(path, error);
      if (error) {
        return absl::InternalError(StrCat("cannot remove ", path, ": ", error.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CheckpointSummary> StoreRows(const std::vector<SourceFile>& sources,
                                              ByteProgress* progress) {
    uint64_t total = 0;
    for (const SourceFile& source : sources) {
      total += source.size;
    }
    for (const proto::ColumnarFileEntry& entry : state_->columnar->manifest().files()) {
      total += entry.bytes();  // about as many as there will be
    }
    progress->ExpectMore(total);
    CheckpointSummary summary;
    VARVE_ASSIGN_OR_RETURN(CheckpointFile identity, CopyIdentity(catalog_.path(), path_));
    summary.copied_bytes += identity.size;
    summary.info.files.push_back(std::move(identity));
    for (const SourceFile& source : sources) {
      VARVE_FAILPOINT("checkpoint/between_files");
      VARVE_ASSIGN_OR_RETURN(CheckpointFile file, Store(source, rows_, progress));
      (source.linked ? summary.linked_bytes : summary.copied_bytes) += file.size;
      summary.info.files.push_back(std::move(file));
    }
    VARVE_RETURN_IF_ERROR(SyncDirectory(rows_));
    return summary;
  }

  absl::Status StoreColumnar(const proto::ColumnarManifest& manifest, ByteProgress* progress,
                             CheckpointSummary* summary) {
    uint64_t total = 0;
    for (const proto::ColumnarFileEntry& entry : manifest.files()) {
      total += columnar_.Has(entry.number()) ? entry.bytes() : 0;
    }
    progress->ExpectMore(total);
    VARVE_ASSIGN_OR_RETURN(
        std::vector<ColumnarClaims::Stored> files,
        columnar_.Store(manifest, [progress](uint64_t bytes) { progress->Add(bytes); }));
    for (ColumnarClaims::Stored& stored : files) {
      (stored.linked ? summary->linked_bytes : summary->copied_bytes) += stored.file.size;
      summary->info.files.push_back(std::move(stored.file));
    }
    return absl::OkStatus();
  }

  const Catalog& catalog_;
  const std::string path_;
  const std::string rows_;
  const CheckpointOptions& options_;
  const std::shared_ptr<const StoreState> state_ = catalog_.LatestState();
  ColumnarClaims columnar_;
  // By a manifest that was read before the attempt under way.
  std::set<uint64_t> named_ = NumbersIn(state_->columnar->manifest());
  std::set<uint64_t> lost_;  // not there, and not because a writer removed them
};

}  // namespace

absl::StatusOr<HeldState> ReadHeldState(const std::string& path) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog,
                         Catalog::Open(path, {.read_only = true,
                                              .block_cache_bytes = kCacheBytes,
                                              .memory = MemoryMode::kOnDemand}));
  const ReadView view = catalog->Current();
  return HeldState{
      .info = {.uuid = catalog->uuid(), .csn = view.csn(), .last_snapshot = view.last_snapshot()},
      .manifest = view.state()->columnar->manifest()};
}

absl::StatusOr<CheckpointSummary> MakeCheckpointFiles(const Catalog& catalog,
                                                      const std::string& path,
                                                      const CheckpointOptions& options) {
  return CheckpointMaker(catalog, path, options).Make();
}

}  // namespace varve

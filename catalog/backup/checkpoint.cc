#include "catalog/backup/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/backup/file_copy.h"
#include "catalog/backup/source_files.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/work_directory.h"

namespace varve {
namespace {

constexpr std::string_view kMakingSuffix = ".making";
constexpr std::string_view kRestoringSuffix = ".restoring";
constexpr uint64_t kCacheBytes = uint64_t{8} << 20;

// Where the path leads, past symbolic links as far as it exists. Without a slash at its end.
std::filesystem::path Resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  std::filesystem::path resolved = std::filesystem::weakly_canonical(whole, error);
  if (error) {
    resolved = whole.lexically_normal();
  }
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

// InvalidArgument when `path` lies inside `directory`; `what` is what the directory is.
absl::Status CheckIsOutside(const std::string& path, const std::string& directory,
                            std::string_view what) {
  const std::filesystem::path inner = Resolved(path);
  const std::filesystem::path outer = Resolved(directory);
  const auto [outer_end, inner_at] =
      std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  if (outer_end != outer.end() || inner_at == inner.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat(path, " is inside the ", what, " ", directory, "; choose a path outside"));
}

// Counts the bytes of all files of a checkpoint as they are read.
class ByteProgress {
 public:
  ByteProgress(const CheckpointOptions& options, uint64_t total)
      : options_(options), total_(total) {}

  void Add(uint64_t bytes) {
    done_ += bytes;
    if (options_.on_progress) {
      options_.on_progress(done_, total_);
    }
  }

 private:
  const CheckpointOptions& options_;
  uint64_t done_ = 0;
  const uint64_t total_;
};

absl::Status MakeRowsDirectory(const std::string& path) {
  std::error_code error;
  const std::string rows = StrCat(path, "/", kRowsDirectory);
  std::filesystem::create_directory(rows, error);
  return error ? absl::InternalError(StrCat("cannot make ", rows, ": ", error.message()))
               : absl::OkStatus();
}

// The commit that a catalog or checkpoint holds, found by opening it.
absl::StatusOr<CheckpointInfo> ReadState(const std::string& path) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog,
                         Catalog::Open(path, {.read_only = true,
                                              .block_cache_bytes = kCacheBytes,
                                              .memory = MemoryMode::kOnDemand}));
  const ReadView view = catalog->Current();
  return CheckpointInfo{
      .uuid = catalog->uuid(), .csn = view.csn(), .last_snapshot = view.last_snapshot()};
}

// DataLoss when the catalog at `path` does not hold what its statement says.
absl::Status CheckState(const std::string& path, const CheckpointInfo& info) {
  VARVE_ASSIGN_OR_RETURN(const CheckpointInfo found, ReadState(path));
  if (found.uuid == info.uuid && found.csn == info.csn &&
      found.last_snapshot == info.last_snapshot) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      StrCat(path, " holds commit ", found.csn, ", snapshot ", found.last_snapshot, " of catalog ",
             found.uuid, "; ", kCheckpointFile, " says commit ", info.csn, ", snapshot ",
             info.last_snapshot, " of catalog ", info.uuid, "; take another checkpoint"));
}

// --- Creating ------------------------------------------------------------------------------------

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

// --- Checking ------------------------------------------------------------------------------------

// What is wrong with the file at `path`, by its statement; empty: nothing.
absl::StatusOr<std::string> WhatIsWrong(const std::string& path, const CheckpointFile& file,
                                        ByteProgress* progress) {
  const absl::StatusOr<FileDescriptor> opened = OpenForReading(path);
  if (absl::IsNotFound(opened.status())) {
    return StrCat(file.name, " is missing");
  }
  VARVE_RETURN_IF_ERROR(opened.status());
  VARVE_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(*opened, path));
  if (size != file.size) {
    return StrCat(file.name, size < file.size ? " is cut off: it has " : " has grown: it has ",
                  size, " bytes instead of ", file.size);
  }
  VARVE_ASSIGN_OR_RETURN(const uint64_t checksum,
                         ChecksumFile(path, size, [&](uint64_t bytes) { progress->Add(bytes); }));
  return checksum == file.checksum
             ? ""
             : StrCat(file.name, " is damaged: its checksum is ",
                      absl::StrFormat("%016x instead of %016x", checksum, file.checksum));
}

// Files of the directory that the statement does not list. RocksDB might read them.
absl::StatusOr<std::vector<std::string>> UnlistedFiles(const std::string& directory,
                                                       const CheckpointInfo& info) {
  std::set<std::string> known = {std::string(kCheckpointFile), std::string(CatalogLock::kFileName),
                                 std::string(kRowsDirectory)};
  for (const CheckpointFile& file : info.files) {
    known.insert(file.name);
  }
  std::vector<std::string> unlisted;
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(directory, error);
  for (; !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    std::string name = it->path().lexically_relative(directory).string();
    if (!known.contains(name)) {
      unlisted.push_back(std::move(name));
    }
  }
  if (error) {
    return absl::InternalError(StrCat("cannot list ", directory, ": ", error.message()));
  }
  std::sort(unlisted.begin(), unlisted.end());
  return unlisted;
}

absl::Status Damaged(const std::string& directory, const std::vector<std::string>& problems) {
  constexpr size_t kMostShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(problems.size(), kMostShown); ++i) {
    StrAppend(&text, i == 0 ? "" : "; ", problems[i]);
  }
  if (problems.size() > kMostShown) {
    StrAppend(&text, "; and ", problems.size() - kMostShown, " more");
  }
  return absl::DataLossError(
      StrCat("checkpoint ", directory, ": ", text, "; take another checkpoint"));
}

// --- Restoring -----------------------------------------------------------------------------------

// Tables never change; all other files are appended to or replaced by whoever opens the catalog.
bool IsTable(const CheckpointFile& file) {
  return file.name.ends_with(".sst");
}

// Brings one file of a checkpoint into a new catalog. What is wrong with it: DataLoss.
absl::StatusOr<bool> RestoreFile(const std::string& directory, const CheckpointFile& file,
                                 const std::string& work, bool share, ByteProgress* progress) {
  const std::string from = StrCat(directory, "/", file.name);
  const std::string to = StrCat(work, "/", file.name);
  VARVE_ASSIGN_OR_RETURN(const std::string problem, WhatIsWrong(from, file, progress));
  if (!problem.empty()) {
    return Damaged(directory, {problem});
  }
  if (share && IsTable(file)) {
    VARVE_ASSIGN_OR_RETURN(const bool linked, LinkFile(from, to));
    if (linked) {
      VARVE_RETURN_IF_ERROR(SyncFile(to));
      return true;
    }
  }
  VARVE_ASSIGN_OR_RETURN(const FileDescriptor source, OpenForReading(from));
  VARVE_ASSIGN_OR_RETURN(const uint64_t checksum,
                         CopyFile(source, from, file.size, to, ByteCounter()));
  return checksum == file.checksum
             ? absl::StatusOr<bool>(false)
             : Damaged(directory, {StrCat(file.name, " changed while it was copied")});
}

}  // namespace

absl::StatusOr<CheckpointSummary> CreateCheckpoint(const Catalog& catalog,
                                                   const std::string& directory,
                                                   const CheckpointOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckIsOutside(directory, catalog.path(), "catalog"));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkDirectory> work,
                         WorkDirectory::Create(directory, kMakingSuffix, "a checkpoint"));
  VARVE_RETURN_IF_ERROR(MakeRowsDirectory(work->path()));
  VARVE_FAILPOINT("checkpoint/before_files");

  CheckpointSummary summary;
  CheckpointInfo& info = summary.info;
  const std::string rows = StrCat(work->path(), "/", kRowsDirectory);
  {
    VARVE_ASSIGN_OR_RETURN(
        const std::vector<SourceFile> sources,
        ClaimFiles(*catalog.Current().state()->store, rows, /*share=*/!options.copy));
    uint64_t total = 0;
    for (const SourceFile& source : sources) {
      total += source.size;
    }
    ByteProgress progress(options, total);
    VARVE_ASSIGN_OR_RETURN(CheckpointFile identity, CopyIdentity(catalog.path(), work->path()));
    summary.copied_bytes += identity.size;
    info.files.push_back(std::move(identity));
    for (const SourceFile& source : sources) {
      VARVE_FAILPOINT("checkpoint/between_files");
      VARVE_ASSIGN_OR_RETURN(CheckpointFile file, Store(source, rows, &progress));
      (source.linked ? summary.linked_bytes : summary.copied_bytes) += file.size;
      info.files.push_back(std::move(file));
    }
  }
  VARVE_RETURN_IF_ERROR(SyncDirectory(rows));

  VARVE_ASSIGN_OR_RETURN(const CheckpointInfo state, ReadState(work->path()));
  info.uuid = state.uuid;
  info.csn = state.csn;
  info.last_snapshot = state.last_snapshot;
  info.created = absl::Now();
  VARVE_RETURN_IF_ERROR(
      WriteDurableFile(StrCat(work->path(), "/", kCheckpointFile), SerializeCheckpointInfo(info)));
  VARVE_FAILPOINT("checkpoint/before_rename");
  VARVE_RETURN_IF_ERROR(work->Publish());
  // The lock's file has served; a checkpoint is never locked.
  std::error_code ignored;
  std::filesystem::remove(StrCat(work->target(), "/", CatalogLock::kFileName), ignored);
  return summary;
}

absl::StatusOr<CheckpointInfo> CheckCheckpointFiles(const std::string& directory,
                                                    const CheckpointOptions& options) {
  VARVE_ASSIGN_OR_RETURN(CheckpointInfo info, ReadCheckpointInfo(directory));
  ByteProgress progress(options, info.total_bytes());
  std::vector<std::string> problems;
  for (const CheckpointFile& file : info.files) {
    VARVE_ASSIGN_OR_RETURN(std::string problem,
                           WhatIsWrong(StrCat(directory, "/", file.name), file, &progress));
    if (!problem.empty()) {
      problems.push_back(std::move(problem));
    }
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<std::string> unlisted, UnlistedFiles(directory, info));
  for (const std::string& name : unlisted) {
    problems.push_back(StrCat(name, " does not belong to it"));
  }
  if (!problems.empty()) {
    return Damaged(directory, problems);
  }
  return info;
}

absl::StatusOr<VerifySummary> VerifyCheckpoint(const std::string& directory,
                                               const CheckpointOptions& options,
                                               const VerifyOptions& verify_options,
                                               const std::function<void(const Finding&)>& report) {
  VARVE_ASSIGN_OR_RETURN(const CheckpointInfo info, CheckCheckpointFiles(directory, options));
  VARVE_RETURN_IF_ERROR(CheckState(directory, info));
  VARVE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Catalog> catalog,
      Catalog::Open(directory, {.read_only = true, .memory = MemoryMode::kOnDemand}));
  const ReadView view = catalog->Current();
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(view.state()->store->db().VerifyChecksum(), StrCat("reading ", directory)));
  return Verify(view, verify_options, report);
}

absl::StatusOr<CheckpointSummary> RestoreCheckpoint(const std::string& directory,
                                                    const std::string& path,
                                                    const CheckpointOptions& options) {
  CheckpointSummary summary;
  VARVE_ASSIGN_OR_RETURN(summary.info, ReadCheckpointInfo(directory));
  VARVE_RETURN_IF_ERROR(CheckIsOutside(path, directory, "checkpoint"));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkDirectory> work,
                         WorkDirectory::Create(path, kRestoringSuffix, "a restore"));
  VARVE_RETURN_IF_ERROR(MakeRowsDirectory(work->path()));
  ByteProgress progress(options, summary.info.total_bytes());
  for (const CheckpointFile& file : summary.info.files) {
    VARVE_ASSIGN_OR_RETURN(const bool linked, RestoreFile(directory, file, work->path(),
                                                          /*share=*/!options.copy, &progress));
    (linked ? summary.linked_bytes : summary.copied_bytes) += file.size;
  }
  VARVE_RETURN_IF_ERROR(SyncDirectory(StrCat(work->path(), "/", kRowsDirectory)));
  VARVE_RETURN_IF_ERROR(CheckState(work->path(), summary.info));
  VARVE_RETURN_IF_ERROR(work->Publish());
  return summary;
}

}  // namespace varve

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
#include "catalog/backup/checkpoint_maker.h"
#include "catalog/backup/file_copy.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/work_directory.h"
#include "catalog/tiers/columnar_set.h"

namespace varve {
namespace {

constexpr std::string_view kMakingSuffix = ".making";
constexpr std::string_view kRestoringSuffix = ".restoring";

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

// DataLoss when the catalog at `path` does not hold what its statement says.
absl::Status CheckState(const std::string& path, const CheckpointInfo& info) {
  VARVE_ASSIGN_OR_RETURN(const HeldState state, ReadHeldState(path));
  const CheckpointInfo& found = state.info;
  if (found.uuid == info.uuid && found.csn == info.csn &&
      found.last_snapshot == info.last_snapshot) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      StrCat(path, " holds commit ", found.csn, ", snapshot ", found.last_snapshot, " of catalog ",
             found.uuid, "; ", kCheckpointFile, " says commit ", info.csn, ", snapshot ",
             info.last_snapshot, " of catalog ", info.uuid, "; take another checkpoint"));
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
                                 std::string(kRowsDirectory), std::string(kColumnarDirectory)};
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

bool IsColumnar(const CheckpointFile& file) {
  return file.name.starts_with(StrCat(kColumnarDirectory, "/"));
}

// Tables and columnar files never change; all other files are appended to or replaced by whoever
// opens the catalog.
bool NeverChanges(const CheckpointFile& file) {
  return file.name.ends_with(".sst") || IsColumnar(file);
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
  if (share && NeverChanges(file)) {
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
  VARVE_FAILPOINT("checkpoint/before_files");
  VARVE_ASSIGN_OR_RETURN(CheckpointSummary summary,
                         MakeCheckpointFiles(catalog, work->path(), options));
  summary.info.created = absl::Now();
  VARVE_RETURN_IF_ERROR(WriteDurableFile(StrCat(work->path(), "/", kCheckpointFile),
                                         SerializeCheckpointInfo(summary.info)));
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
  ByteProgress progress(options.on_progress, info.total_bytes());
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
  if (!catalog->LatestState()->columnar->manifest().files().empty()) {
    catalog->WaitForMemory().IgnoreError();  // without it they are not compared with the row store
  }
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
  const std::string rows = StrCat(work->path(), "/", kRowsDirectory);
  const std::string columnar = StrCat(work->path(), "/", kColumnarDirectory);
  const std::vector<CheckpointFile>& files = summary.info.files;
  const bool has_columnar = std::any_of(files.begin(), files.end(), IsColumnar);
  VARVE_RETURN_IF_ERROR(MakeDirectory(rows));
  VARVE_RETURN_IF_ERROR(has_columnar ? MakeDirectory(columnar) : absl::OkStatus());
  ByteProgress progress(options.on_progress, summary.info.total_bytes());
  for (const CheckpointFile& file : files) {
    const absl::StatusOr<bool> linked =
        RestoreFile(directory, file, work->path(), /*share=*/!options.copy, &progress);
    if (absl::IsDataLoss(linked.status()) && IsColumnar(file)) {
      std::error_code ignored;
      std::filesystem::remove(StrCat(work->path(), "/", file.name), ignored);
      summary.left_out.emplace_back(MessageOf(linked.status()));
      continue;
    }
    VARVE_RETURN_IF_ERROR(linked.status());
    (*linked ? summary.linked_bytes : summary.copied_bytes) += file.size;
  }
  VARVE_RETURN_IF_ERROR(SyncDirectory(rows));
  VARVE_RETURN_IF_ERROR(has_columnar ? SyncDirectory(columnar) : absl::OkStatus());
  VARVE_RETURN_IF_ERROR(CheckState(work->path(), summary.info));
  VARVE_RETURN_IF_ERROR(work->Publish());
  return summary;
}

}  // namespace varve

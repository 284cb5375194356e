#include "catalog/backup/source_files.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/database_mark.h"

namespace varve {
namespace {

absl::StatusOr<std::vector<rocksdb::LiveFileStorageInfo>> LiveFiles(const RowStore& store) {
  std::vector<rocksdb::LiveFileStorageInfo> files;
  VARVE_RETURN_IF_ERROR(FromRocksDb(
      store.db().GetLiveFilesStorageInfo(rocksdb::LiveFilesStorageInfoOptions(), &files),
      StrCat("listing the files of ", store.path())));
  return files;
}

absl::StatusOr<SourceFile> Claim(const rocksdb::LiveFileStorageInfo& info, const RowStore& store,
                                 const std::string& target, bool share) {
  SourceFile source{.name = info.relative_filename, .size = info.size};
  if (!info.replacement_contents.empty()) {
    source.contents = info.replacement_contents;
    return source;
  }
  const std::string path = StrCat(info.directory, "/", info.relative_filename);
  if (share && info.file_type == rocksdb::kTableFile) {
    VARVE_ASSIGN_OR_RETURN(source.linked,
                           LinkFile(path, StrCat(target, "/", info.relative_filename)));
  }
  if (!source.linked) {
    VARVE_ASSIGN_OR_RETURN(source.file, OpenForReading(path));
  }
  if (store.read_only() && info.file_type == rocksdb::kDescriptorFile) {
    // An instance that does not write the manifest does not know how long it is. The state is the
    // whole of it: while files are claimed beside a writer, it does not change.
    VARVE_ASSIGN_OR_RETURN(source.size, SizeOf(source.file, path));
  }
  return source;
}

absl::StatusOr<std::vector<SourceFile>> ClaimAll(const RowStore& store, const std::string& target,
                                                 bool share) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<rocksdb::LiveFileStorageInfo> infos, LiveFiles(store));
  std::vector<SourceFile> sources;
  for (const rocksdb::LiveFileStorageInfo& info : infos) {
    if (!sources.empty()) {
      VARVE_FAILPOINT("checkpoint/between_files");
    }
    VARVE_ASSIGN_OR_RETURN(SourceFile source, Claim(info, store, target, share));
    sources.push_back(std::move(source));
  }
  std::sort(sources.begin(), sources.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  return sources;
}

absl::StatusOr<std::vector<SourceFile>> ClaimFromWriter(const RowStore& store,
                                                        const std::string& target, bool share) {
  VARVE_RETURN_IF_ERROR(store.CheckWritable());
  VARVE_RETURN_IF_ERROR(FromRocksDb(store.db().DisableFileDeletions(),
                                    StrCat("keeping the files of ", store.path())));
  absl::StatusOr<std::vector<SourceFile>> sources = ClaimAll(store, target, share);
  VARVE_RETURN_IF_ERROR(FromRocksDb(store.db().EnableFileDeletions(/*force=*/false),
                                    StrCat("letting go of the files of ", store.path())));
  return sources;
}

void Clear(const std::string& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    std::filesystem::remove(entry.path(), ignored);
  }
}

// A writer in another process cannot be asked to keep its files. But it enters every change of
// them in the manifest before it removes one; so if the same files are there before the store is
// opened and after the last one is claimed, these are the files of one state, and all of them.
absl::StatusOr<std::vector<SourceFile>> ClaimBesideWriter(const std::string& catalog,
                                                          const std::string& target, bool share) {
  constexpr int kAttempts = 50;  // with the pauses between them about five seconds
  constexpr int kPauseMilliseconds = 4;
  const std::string rows = StrCat(catalog, "/", kRowsDirectory);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt * kPauseMilliseconds));
    const DatabaseMark before = TakeMark(rows);
    const auto store = RowStore::Open(catalog, {.read_only = true});
    absl::StatusOr<std::vector<SourceFile>> sources =
        store.ok() ? ClaimAll(**store, target, share) : store.status();
    if (SameFiles(TakeMark(rows), before)) {
      return sources;
    }
    Clear(target);
  }
  return absl::UnavailableError(
      StrCat("the writer of ", catalog, " changes its files too fast; try again"));
}

}  // namespace

absl::StatusOr<std::vector<SourceFile>> ClaimFiles(const RowStore& store, const std::string& target,
                                                   bool share) {
  absl::StatusOr<std::vector<SourceFile>> sources =
      store.read_only() ? ClaimBesideWriter(store.path(), target, share)
                        : ClaimFromWriter(store, target, share);
  if (absl::IsNotFound(sources.status())) {
    return absl::DataLossError(StrCat(MessageOf(sources.status()),
                                      "; a file of the row store is missing: restore it from a "
                                      "copy, or import it again"));
  }
  return sources;
}

}  // namespace varve

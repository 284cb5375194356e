#include "golden/storage_state.h"

#include <array>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/backup/checkpoint.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"

namespace varve::golden {
namespace {

absl::Status OpenWriter(OpenCatalog* catalog) {
  VARVE_ASSIGN_OR_RETURN(catalog->writer, Catalog::Open(catalog->path));
  return absl::OkStatus();
}

absl::Status OpenReader(OpenCatalog* catalog) {
  VARVE_ASSIGN_OR_RETURN(catalog->reader, Catalog::Open(catalog->path, {.read_only = true}));
  return absl::OkStatus();
}

absl::Status Reopen(OpenCatalog* catalog) {
  catalog->writer.reset();
  return OpenWriter(catalog);
}

absl::Status ReopenReadOnly(OpenCatalog* catalog) {
  catalog->writer.reset();
  return OpenReader(catalog);
}

// Closes the catalog and puts the one at `other` in its place.
absl::Status Exchange(const std::string& other, OpenCatalog* catalog) {
  catalog->writer.reset();
  std::error_code error;
  std::filesystem::remove_all(catalog->path, error);
  if (!error) {
    std::filesystem::rename(other, catalog->path, error);
  }
  return error ? absl::InternalError(StrCat("cannot exchange ", catalog->path, " for ", other, ": ",
                                            error.message()))
               : OpenWriter(catalog);
}

// What a killed process leaves: the files as they are, with the log that was not yet replayed.
absl::Status CrashAndReopen(OpenCatalog* catalog) {
  // All files at one moment: nothing is flushed or compacted while they are copied. What an earlier
  // opening made superfluous may still be removed; a copy that missed such a file is made again.
  rocksdb::DB& db = catalog->writer->store().db();
  VARVE_RETURN_IF_ERROR(FromRocksDb(db.PauseBackgroundWork(), "pausing"));
  constexpr int kAttempts = 100;
  const std::string left = StrCat(catalog->path, ".left");
  std::error_code error;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::filesystem::remove_all(left);
    std::filesystem::copy(catalog->path, left, std::filesystem::copy_options::recursive, error);
    if (error != std::errc::no_such_file_or_directory) {
      break;
    }
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(db.ContinueBackgroundWork(), "going on"));
  return error ? absl::InternalError(StrCat("cannot copy ", catalog->path, ": ", error.message()))
               : Exchange(left, catalog);
}

absl::Status RestoreFromCheckpoint(OpenCatalog* catalog) {
  const std::string checkpoint = StrCat(catalog->path, ".checkpoint");
  const std::string restored = StrCat(catalog->path, ".restored");
  VARVE_RETURN_IF_ERROR(CreateCheckpoint(*catalog->writer, checkpoint).status());
  VARVE_RETURN_IF_ERROR(RestoreCheckpoint(checkpoint, restored).status());
  VARVE_RETURN_IF_ERROR(Exchange(restored, catalog));
  std::filesystem::remove_all(checkpoint);
  return absl::OkStatus();
}

absl::Status Follow(OpenCatalog* catalog) {
  if (catalog->follower != nullptr) {
    return catalog->follower->Refresh();
  }
  VARVE_ASSIGN_OR_RETURN(catalog->follower, Catalog::Open(catalog->path, {.read_only = true}));
  return absl::OkStatus();
}

absl::Status WaitForMemory(OpenCatalog* catalog) {
  return catalog->writer->WaitForMemory();
}

// Small packs and segments, so that even small relations have several.
ColumnarTableBuilderOptions SmallPacks() {
  ColumnarTableBuilderOptions options;
  options.rows_per_pack = 3;
  options.group_bytes = 0;
  return options;
}

// Relations that Init wrote in bulk come to be in files, too.
absl::Status Flush(OpenCatalog* catalog) {
  VARVE_RETURN_IF_ERROR(catalog->writer->WaitForMemory());
  VARVE_RETURN_IF_ERROR(RebuildColumns(*catalog->writer, {.table = SmallPacks()}).status());
  return FlushMemory(*catalog->writer, {.table = SmallPacks()}).status();
}

absl::Status CompactWhole(OpenCatalog* catalog) {
  return CompactColumns(*catalog->writer,
                        {.full = true, .segment_bytes = 2'000, .table = SmallPacks()})
      .status();
}

absl::Status Compact(OpenCatalog* catalog) {
  VARVE_RETURN_IF_ERROR(Flush(catalog));
  return CompactWhole(catalog);
}

absl::Status CompactAndRestoreFromCheckpoint(OpenCatalog* catalog) {
  VARVE_RETURN_IF_ERROR(Compact(catalog));
  VARVE_RETURN_IF_ERROR(RestoreFromCheckpoint(catalog));
  return catalog->writer->WaitForMemory();
}

// The second time over what the first one left, the changes of two blocks at once; in between they
// are in memory.
absl::Status CompactTwice(OpenCatalog* catalog) {
  return ++catalog->entered % 2 == 1 ? catalog->writer->WaitForMemory() : Compact(catalog);
}

// Everything but what the last flush wrote is compacted.
absl::Status FlushOverCompacted(OpenCatalog* catalog) {
  VARVE_RETURN_IF_ERROR(CompactWhole(catalog));
  return Flush(catalog);
}

absl::Status LeaveAsItIs(OpenCatalog* /*catalog*/) {
  return absl::OkStatus();
}

constexpr auto kStorageStates = std::to_array<StorageState>({
    {"Written", "as it is open", /*closes=*/false, LeaveAsItIs},
    {"ByTransactions", "written by transactions", /*closes=*/false, LeaveAsItIs, /*native=*/true},
    {"InMemory", "with its changes in MemRowSets", /*closes=*/false, WaitForMemory},
    {"Flushed", "flushed after every block", /*closes=*/false, Flush},
    {"Compacted", "flushed and compacted after every block", /*closes=*/false, Compact,
     /*native=*/false, /*reads_clean=*/true},
    {"CompactedTwice", "compacted again over changes of two blocks", /*closes=*/false, CompactTwice,
     /*native=*/false, /*reads_clean=*/true},
    {"FlushedOverCompacted", "flushed over what was compacted before", /*closes=*/false,
     FlushOverCompacted, /*native=*/false, /*reads_clean=*/true},
    {"Reopened", "closed and opened again", /*closes=*/true, Reopen},
    {"CrashedAndReopened", "killed and opened again", /*closes=*/true, CrashAndReopen},
    {"CheckpointRestored", "restored from a checkpoint of it", /*closes=*/true,
     RestoreFromCheckpoint},
    {"CompactedAndRestored", "compacted and restored from a checkpoint of it", /*closes=*/true,
     CompactAndRestoreFromCheckpoint, /*native=*/false, /*reads_clean=*/true},
    {"ReadOnly", "closed and opened read-only", /*closes=*/true, ReopenReadOnly},
    {"ReadOnlyBesideWriter", "opened read-only beside its writer", /*closes=*/false, OpenReader},
    {"ReadOnlyFollowing", "opened read-only once and refreshed", /*closes=*/false, Follow},
});

}  // namespace

std::span<const StorageState> StorageStates() {
  return kStorageStates;
}

void PrintTo(const StorageState& state, std::ostream* out) {
  *out << state.name;
}

absl::Status MakeWritable(OpenCatalog* catalog) {
  catalog->reader.reset();
  return catalog->writer != nullptr ? absl::OkStatus() : OpenWriter(catalog);
}

}  // namespace varve::golden

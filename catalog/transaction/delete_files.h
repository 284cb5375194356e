// Delete files of a table: finding and replacing them. Private to catalog/transaction.
//
// Functions on a State run within RunOperation.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

struct LiveDeleteFile {
  int64_t delete_file_id = 0;
  SnapshotId begin = 0;
};
// By data file: each has one at most.
using DeleteFilesOfTable = absl::flat_hash_map<int64_t, LiveDeleteFile>;
absl::StatusOr<DeleteFilesOfTable> LiveDeleteFiles(const Transaction::State& state,
                                                   int64_t table_id);

// Every version of the delete files of some data files (ascending ids), also those that have ended.
absl::StatusOr<std::vector<VersionedRow>> AllDeleteFiles(const Transaction::State& state,
                                                         int64_t table_id,
                                                         std::vector<int64_t> data_files);

// Deletes that are inlined for a data file, as rows of ducklake_inlined_delete_<table>.
absl::StatusOr<std::vector<VersionedRow>> InlinedDeletesOf(const Transaction::State& state,
                                                           int64_t table_id, int64_t file_id);

// Ends the live delete file of a data file, if it has one.
absl::Status EndDeleteFile(Transaction::State* state, int64_t table_id, int64_t data_file_id,
                           const DeleteFilesOfTable& delete_files);

// Inserts a checked delete file with this id for a data file that began at `data_file_begin`, in
// place of the one it has; `delete_files` is brought up to date. InvalidArgument: its snapshots.
absl::Status ReplaceDeleteFile(Transaction::State* state, const LiveObject& table,
                               const DeleteFile& file, SnapshotId data_file_begin, int64_t id,
                               DeleteFilesOfTable* delete_files);

}  // namespace varve

// What operations on files of a table share: finding them, counting, paths. Private to
// catalog/transaction.
//
// Functions on a State run within RunOperation.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// An error with `what: ` before its message.
absl::Status Within(std::string_view what, const absl::Status& error);

// --- Finding ---

// A live data file of the table. NotFound, with what is known of it.
absl::StatusOr<VersionedRow> FindDataFile(const Transaction::State& state, const LiveObject& table,
                                          int64_t file_id);

// --- Statistics of the table ---

// The next row id of the table as the transaction's base has it.
absl::StatusOr<int64_t> NextRowId(const Transaction::State& state, int64_t table_id);
// Takes row ids of the table; returns the first, a provisional one. InvalidArgument when there are
// not that many.
absl::StatusOr<int64_t> TakeRowIds(Transaction::State* state, int64_t table_id, int64_t count);
// Row ids that a file holds itself must have been given out: InvalidArgument otherwise. Requires:
// the file has a row_id_start.
absl::Status CheckRowIdStart(const Transaction::State& state, const LiveObject& table,
                             const DataFile& file);
// Counts rows and bytes that came to the table, or went.
void CountRows(Transaction::State* state, int64_t table_id, int64_t rows, int64_t bytes);

// --- Changing ---

// Erases statistics and partition values of a data file that the transaction made itself.
absl::Status EraseOwnFileRows(Transaction::State* state, int64_t table_id, int64_t file_id);

// Puts files that were erased, so that no snapshot shows them, in the queue of those to remove:
// unless another file of the table has the path, as restored files do. `rows`: of
// ducklake_data_file or ducklake_delete_file.
absl::Status ScheduleForDeletion(Transaction::State* state, const LiveObject& table,
                                 const RelationRef& relation, std::span<const VersionedRow> rows);

// --- Paths ---

// Paths that an operation registers for files of one table: none may be that of another live file
// of the table. One file by two spellings of its path is not recognized.
class NewPaths {
 public:
  NewPaths(Transaction::State* state, int64_t table_id) : state_(state), table_id_(table_id) {}

  // AlreadyExists when the operation has this path already.
  absl::Status Add(std::string_view path, bool is_relative, RegisteredFile file);
  // AlreadyExists when a file that the transaction sees has one of the paths.
  absl::Status Check() const;
  // For Action::paths, by which no two transactions commit one path.
  std::vector<uint64_t> Hashes() const;
  // The operation succeeds: the transaction has the paths from now on.
  void Keep();

 private:
  // AlreadyExists if this file is live and has this path.
  absl::Status CheckFile(const std::string& key, const RegisteredFile& file) const;

  Transaction::State* state_;
  int64_t table_id_;
  RegisteredPaths paths_;
};

}  // namespace varve

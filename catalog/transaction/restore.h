// Restoring: making an object what it was at a snapshot again, as a new snapshot. Private to
// catalog/transaction; docs/transactions.md says what it means for users.
//
// The past is read from the transaction's own base, so that nothing that was committed since is
// mixed in. Rows of the past come back as new versions of the same handles, beginning with the
// transaction; what is as it was stays untouched. Only data and delete files are registered anew,
// under new ids: theirs are primary keys.
//
// Functions on a State run within RunOperation; those that fail may leave it half changed.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// The state to go back to.
struct RestorePoint {
  SnapshotId snapshot = 0;
  TransactionRows rows;  // without changes
};

// Holds the snapshot until the transaction ends. Errors: those of Catalog::At; FailedPrecondition
// when the snapshot was committed after the transaction began.
absl::StatusOr<RestorePoint> OpenRestorePoint(Transaction::State* state, SnapshotId snapshot);

// The rows whose key begins with `prefix` and, if given, whose `column` has a value.
absl::StatusOr<std::vector<VersionedRow>> RowsWhere(
    const TransactionRows& rows, const RelationRef& relation, std::span<const Datum> prefix,
    const std::optional<NamedValue>& where = std::nullopt);

// What restoring did to rows.
struct Restored {
  bool came = false;  // some came back, or got other values
  bool went = false;  // some ended
  bool any() const { return came || went; }
  void Add(const Restored& other) {
    came = came || other.came;
    went = went || other.went;
  }
};

// Makes such rows of an interval relation what they were. `change` is applied to those of the past.
absl::StatusOr<Restored> RestoreRows(Transaction::State* state, const RestorePoint& past,
                                     const RelationRef& relation, std::span<const Datum> prefix,
                                     const std::optional<NamedValue>& where = std::nullopt,
                                     const std::function<void(Row*)>& change = nullptr);

// Restores the data files, delete files and inlined deletes of a table, and counts rows and bytes.
// `table`: as it was. FailedPrecondition when a file cannot be had back.
absl::StatusOr<Restored> RestoreFiles(Transaction::State* state, const RestorePoint& past,
                                      const LiveObject& table);

// Restores one table, view or macro. `then`: as it was; `schema_id`: what its schema of then has
// become. Nothing is said of its name being free.
absl::Status RestoreObject(Transaction::State* state, const RestorePoint& past,
                           const LiveObject& then, int64_t schema_id);

// AlreadyExists when another object has the name of one that was restored.
absl::Status CheckRestoredName(const Transaction::State& state, RelationId relation, int64_t id);

}  // namespace varve

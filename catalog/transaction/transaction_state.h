// What the operations of a transaction work on. Private to catalog/transaction.
//
// Thread-safety: one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "catalog/store/commit.h"
#include "catalog/transaction/footprint.h"
#include "catalog/transaction/name_index.h"
#include "catalog/transaction/table_statistics.h"
#include "catalog/transaction/transaction.h"
#include "catalog/transaction/transaction_rows.h"
#include "catalog/transaction/undoable.h"

namespace varve {

// What a transaction knows of a relation of inlined rows that it writes to.
struct InlinedRelation {
  int64_t table_id = 0;  // possibly provisional
  // The transaction made it. It is called ducklake_inlined_data_<table>_<schema version> when the
  // commit knows the two, and a row of ducklake_inlined_data_tables says so.
  bool is_new = false;
  std::optional<int64_t> schema_version;  // is_new: nullopt is the one that the commit makes
  std::vector<int64_t> columns;           // is_new: ids of the columns behind row_id, begin and end
};

// A file that the transaction registered.
struct RegisteredFile {
  int64_t id = 0;
  bool is_delete_file = false;
};
using RegisteredPaths = absl::flat_hash_map<std::string, RegisteredFile>;  // by PathKey

// The footprint of an open transaction: an operation's actions count when it has succeeded.
class OpenFootprint {
 public:
  void Add(Action action) { of_operation_.push_back(std::move(action)); }
  // Without those of the operation at work.
  const Footprint& get() const { return footprint_; }

  void Mark() { of_operation_.clear(); }
  void Rollback() { of_operation_.clear(); }
  void Keep() {
    for (Action& action : of_operation_) {
      footprint_.Add(std::move(action));
    }
    of_operation_.clear();
  }

 private:
  Footprint footprint_;
  std::vector<Action> of_operation_;
};

struct Transaction::State {
  Catalog* catalog = nullptr;
  TransactionOptions options;
  // Keeps commits since the base in memory for the conflict check.
  std::shared_ptr<const void> registration;
  TransactionRows rows;
  bool open = true;

  OpenFootprint footprint;
  // What the transaction adds to the statistics of tables, by (possibly provisional) table id.
  UndoableMap<int64_t, TableStatisticsDelta> statistics;
  // Tables whose columns, name or place changed: each gets a row of ducklake_schema_versions.
  UndoableSet<int64_t> altered_tables;
  // Tables dropped: what hangs on them at the commit ends with them, whoever added it.
  UndoableSet<int64_t> dropped_tables;
  UndoableSet<int64_t> dropped_views;  // so do its tags
  // Relations of inlined rows that the transaction writes to (inlined_relations.h).
  UndoableMap<RelationId, InlinedRelation> inlined_relations;
  // Paths it registered, by table. Only operations that succeed add to it.
  std::map<int64_t, RegisteredPaths> paths;
  // Views of snapshots it restores from: what they show stays until it ends.
  std::vector<ReadView> restored_from;
  int64_t new_catalog_ids = 0;
  int64_t new_file_ids = 0;
  int64_t catalog_ids_at_mark = 0;
  int64_t file_ids_at_mark = 0;

  // Everything done after Mark is taken back by Rollback, or stays by Keep.
  void Mark();
  void Rollback();
  void Keep();

  State(Catalog* owner, ReadView base) : catalog(owner), rows(std::move(base)) {}

  int64_t NewCatalogId() { return kFirstProvisionalCatalogId + new_catalog_ids++; }
  int64_t NewFileId() { return kFirstProvisionalFileId + new_file_ids++; }
  // Row ids of a table: the first of `count` new ones (counted in `statistics`).
  int64_t NewRowIds(int64_t table_id, int64_t count);

  const RelationRef& relation(RelationId id) const;  // built-in, never null
};

// Puts the commit of a transaction together (transaction_commit.cc): checks conflicts, gives ids,
// and adds the transaction's rows, statistics and snapshot to `commit`. The transaction's changes
// are used up.
absl::StatusOr<CommitResult> PrepareTransaction(Transaction::State* state,
                                                const CommitMessage& message, Commit* commit);

// Runs one operation: checks that the transaction is open, and takes everything back when `work`
// fails. So an operation may write while it still finds errors.
absl::Status RunOperation(Transaction::State* state, const std::function<absl::Status()>& work);

}  // namespace varve

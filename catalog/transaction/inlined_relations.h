// Relations of inlined rows: which ones a table has, and making the one that new rows go to.
// Private to catalog/transaction.
//
// A table's inlined rows lie in one dynamic relation for each version of its schema,
// ducklake_inlined_data_<table>_<schema version>, listed in ducklake_inlined_data_tables. An open
// transaction may know neither number: the table, or its new schema, is its own. Then the relation
// has a placeholder for a name until the commit, which
//
//   1. calls SettleInlinedRelations before anything else: relations get the columns their tables
//      have by now, and the rows of ducklake_inlined_data_tables that only the transaction saw are
//      taken back;
//   2. makes each relation of State::inlined_relations that is_new under InlinedDataName of the
//      resolved table id and its schema version (its own, or that of the commit), with its row of
//      ducklake_inlined_data_tables. When a relation of that name is there by then, because another
//      transaction made it meanwhile, it is the same one: rows go there, and nothing is made;
//   3. resolves row ids of the relations in State::inlined_relations by their table.
//
// Functions on a State run within RunOperation; those that fail may leave it half changed.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/relation.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// Columns of such a relation before those of the table: row_id, begin_snapshot, end_snapshot.
inline constexpr size_t kInlinedSystemColumns = 3;

std::string InlinedDataName(int64_t table_id, int64_t schema_version);
std::string InlinedDeleteName(int64_t table_id);

// Those the transaction sees, by schema version. DataLoss when one that is listed is not there.
absl::StatusOr<std::vector<RelationRef>> InlinedRelationsOf(const Transaction::State& state,
                                                            int64_t table_id);

// The one that new rows of the table go to, made if need be, with the columns given (all those of
// the table). FailedPrecondition when its columns are not those of the table.
absl::StatusOr<RelationRef> RelationForInlinedRows(Transaction::State* state, int64_t table_id,
                                                   const TableColumns& columns);

// The relation of deletes inlined for data files of the table, made if need be. Requires: the table
// id is not provisional.
absl::StatusOr<RelationRef> RelationForInlinedDeletes(Transaction::State* state, int64_t table_id);

// Before the commit; see above.
absl::Status SettleInlinedRelations(Transaction::State* state);

// What the transaction did to inlined rows of a table that it drops is taken back.
absl::Status ForgetInlinedRelations(Transaction::State* state, int64_t table_id);

}  // namespace varve

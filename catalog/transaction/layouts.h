// How a table lays its rows out in files: partitioning and sort order. Private to
// catalog/transaction.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// The live partitioning (kPartitionInfo) or sort order (kSortInfo) of a table; nullopt: none.
absl::StatusOr<std::optional<int64_t>> LayoutOf(const Transaction::State& state,
                                                RelationId relation, int64_t table_id);
// Their keys, in order; empty: none.
absl::StatusOr<std::vector<PartitionKey>> PartitionKeysOf(const Transaction::State& state,
                                                          int64_t table_id);
absl::StatusOr<std::vector<SortKey>> SortKeysOf(const Transaction::State& state, int64_t table_id);

// Ends it. One that the transaction made itself goes with its keys.
absl::Status EndLayout(Transaction::State* state, RelationId relation, int64_t table_id);
// Ends the sort order and, with keys, makes another.
absl::Status WriteSortOrder(Transaction::State* state, int64_t table_id,
                            std::span<const SortKey> keys);

}  // namespace varve

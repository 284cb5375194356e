// ducklake_snapshot_changes.changes_made: what a snapshot did, as text.
//
//   changes_made = change { "," change }
//   change       = word ":" value                                     word: "created_table", …
//   value        = id | name | name "." name                          tables, views, macros: schema
//   first name         = '"' { any byte but '"' | '""' } '"'
//
//   created_table:"sales"."orders",inserted_into_table:4,inlined_delete:4
//
// Sources: DuckLake 1.0 specification, ducklake_snapshot_changes; its extension for the words
// beyond it.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/transaction/action.h"

namespace varve {

// Lists the actions in DuckLake's order of words, each change once: ids of one word ascending,
// names in the order of the actions. A name may hold any byte.
std::string WriteChangesMade(std::span<const Action> actions);

// The text does not say everything. Ids of what was created, schema ids and files are unknown
// (schema_id is -1, all_files is set, except that a flush is one of inlined rows); a rename reads
// as a creation. Words are taken in any case, "flushed_inlined" for "inline_flush", and a comma at
// the end, as DuckLake does. Errors: InvalidArgument, with the position (in bytes, from 1) and what
// was expected there.
absl::StatusOr<std::vector<Action>> ParseChangesMade(std::string_view text);

}  // namespace varve

// The history of a small lake made by transactions, for tests that need many commits of known
// content: a table is made, gets files with statistics, tags, columns and inlined rows, is renamed;
// files are merged, deleted from, ended; inlined rows are flushed. Transaction n makes snapshot n,
// and is the same, byte for byte, whenever it is run. Every state is one that `verify` finds
// nothing wrong in.
//
// Thread-safety: free functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/catalog.h"

namespace varve {

// Commits transaction `step`, from 1 on. Requires: those before it are committed. `message` becomes
// the snapshot's commit message.
absl::Status CommitScriptedTransaction(Catalog* catalog, size_t step, std::string_view message);

}  // namespace varve

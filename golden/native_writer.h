// Executes a block of a scenario by the native API: a transaction with an operation for each
// statement. The rows must be those that block_writer.h makes, which knows nothing of it.
//
// Thread-safety: functions without state.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "golden/scenario.h"

namespace varve::golden {

// Whether the API has an operation for every statement of the block: it has none for single rows,
// gaps between snapshot ids, files that begin in the past, and expiry (which is no transaction).
bool IsNative(const Block& block);

// Commits the block. Requires: IsNative(block). UUIDs, paths and times are those of block_writer.h.
absl::Status CommitNatively(std::string_view file, const Block& block, Catalog* catalog);

}  // namespace varve::golden

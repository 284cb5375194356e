// MemRowSets as text, for tests that compare them row for row and chain for chain.
//
// Thread-safety: free functions.
#pragma once

#include <string>
#include <vector>

#include "catalog/read_view.h"
#include "catalog/tiers/memory_set.h"

namespace varve {

// What the sets hold as of a csn, newest set first, not rolled forward: a line for each row with
// its key, the csn it was inserted at, its base cells, and every change with its csn.
//
//   "0 ducklake_table table_id=4 from 2 @ 3: 1 | people | - ; 5 UPDATE 7=06…; 9 DELETE"
std::vector<std::string> MemoryTexts(const MemorySet& set, Csn at = kMaxTimestamp);

// What a reader at a csn sees of them, rolled forward and with the csn of the newest change:
// "0 ducklake_table table_id=4 from 2 @ 3, 5: 1 | people | 6", and "deleted" behind ghosts.
std::vector<std::string> MemoryRowTexts(const MemorySet& set, Csn at);

}  // namespace varve

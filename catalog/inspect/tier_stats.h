// What the columnar tier of a catalog holds, relation by relation, and how well it can be read.
//
// Thread-safety: a free function over a view. Reads no pack: what is counted stands in the metas of
// the files, which are in memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "catalog/read_view.h"

namespace varve {

struct RelationTierStats {
  RelationRef relation;
  uint64_t l1_files = 0;
  uint64_t l1_rows = 0;  // that no compaction has taken yet, at most
  uint64_t l2_files = 0;
  uint64_t live_rows = 0;   // of L2 files of live rows
  uint64_t ended_rows = 0;  // … of ended rows
  uint64_t bytes = 0;       // of its tables in the files
  uint64_t packs = 0;       // of L2
  // Of them, for a scan of the whole relation at the view's snapshot, were nothing in memory and in
  // L1:
  uint64_t clean_packs = 0;    // read without handle, version and end
  uint64_t skipped_packs = 0;  // passed over, for nothing of them is visible
  uint64_t scanned_rows = 0;   // of packs that are not skipped, and of L1
  // Files and later changes hold all of it.
  bool complete = false;
  std::string damage;  // of a file; empty: none
};

struct LevelStats {
  uint64_t files = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

struct TierStats {
  Csn csn = 0;
  Csn flushed_csn = 0;
  std::array<LevelStats, 2> levels;  // L1, L2: as the manifest says
  // Relations with files, and those that are not complete; by id.
  std::vector<RelationTierStats> relations;
};

TierStats CollectTierStats(const ReadView& view);

}  // namespace varve

// What all tiers have of a relation, merged: MemRowSets, L1 runs, L2 packs.
//
// Thread-safety: free functions; a merge belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>

#include "catalog/read_view.h"
#include "catalog/relation.h"
#include "catalog/tiers/tier_read_options.h"
#include "catalog/tiers/version_merger.h"

namespace varve {

struct TierMergeOptions {
  TierReadOptions read;
  VersionMergerOptions merge;
  size_t batch_rows = 1024;  // of memory
};

// The lanes of a merge's packs (VersionMerger::Run).
inline constexpr size_t kLiveLane = 0;
inline constexpr size_t kEndedLane = 1;
inline constexpr size_t kNumLanes = 2;

struct TierMerge {
  std::unique_ptr<VersionMerger> merger;
  bool has_files = false;  // columnar files take part
};

// Requires: the tiers of the view's state hold all of the relation (scan_path.h). The view outlives
// the merge.
TierMerge MergeTiers(const ReadView& view, const RelationRef& relation,
                     const TierMergeOptions& options);

}  // namespace varve

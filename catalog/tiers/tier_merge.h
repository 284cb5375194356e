// What all tiers have of a relation, merged: MemRowSets, L1 runs, L2 packs.
//
// Thread-safety: free functions; a merge belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "catalog/predicate.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"
#include "catalog/tiers/handle_range.h"
#include "catalog/tiers/version_merger.h"
#include "columnar/columnar_table_reader.h"

namespace varve {

struct TierMergeOptions {
  std::vector<size_t> columns;  // of the relation
  HandleRange range;            // of encoded handles
  // As for ColumnarSource (columnar_source.h). The predicate is borrowed.
  std::optional<SnapshotId> at;
  const Predicate* predicate = nullptr;
  bool clean_read = true;
  bool needs_versions = false;
  bool read_ahead = true;
  size_t batch_rows = 1024;
  // Where what is done is counted; borrowed, never null.
  ReadCounters* reads = nullptr;
  ColumnarScanCounters* counters = nullptr;
};

struct TierMerge {
  std::unique_ptr<VersionMerger> merger;
  bool has_files = false;  // columnar files take part
};

// Requires: the tiers of the view's state hold all of the relation (scan_path.h). The view outlives
// the merge.
TierMerge MergeTiers(const ReadView& view, const RelationRef& relation,
                     const TierMergeOptions& options);

}  // namespace varve

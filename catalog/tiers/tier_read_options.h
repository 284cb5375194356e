// What is read of the tiers: asked of a merge of them, and by it of each columnar source.
//
// Thread-safety: a value type. Ownership: borrows the predicate and what it counts in.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "catalog/predicate.h"
#include "catalog/scan.h"
#include "catalog/tiers/handle_range.h"
#include "columnar/columnar_table_reader.h"
#include "mvcc/visibility.h"

namespace varve {

struct TierReadOptions {
  std::vector<size_t> columns;  // of the relation
  HandleRange range;            // of encoded handles
  // The rows visible there are asked for. nullopt: all versions.
  std::optional<SnapshotId> at;
  // Packs of L2 that it lets no row of are passed over; null: none.
  const Predicate* predicate = nullptr;
  bool clean_read = true;
  // The keys and intervals of rows are needed even where all are visible.
  bool needs_versions = false;
  // Reads what the columns asked for take of several packs in one go. Not worth it where most packs
  // turn out not to be needed.
  bool read_ahead = true;
  // Where what is done is counted; never null.
  ReadCounters* reads = nullptr;
  ColumnarScanCounters* counters = nullptr;
};

}  // namespace varve

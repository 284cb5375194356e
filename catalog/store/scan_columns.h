// The columns a scan has to read.
//
// Thread-safety: a value type.
#pragma once

#include <cstddef>
#include <vector>

#include "catalog/relation.h"
#include "catalog/scan.h"

namespace varve {

struct ScanColumns {
  // Those that are returned, then those that only the predicate needs.
  ScanColumns(const RelationSchema& relation, const ScanOptions& options);

  // Has a column read, too.
  void Add(size_t column);

  std::vector<size_t> read;     // of the relation
  std::vector<size_t> slot_of;  // relation column -> place in `read`; nothing for others
  size_t num_returned = 0;      // the first so many of `read`
};

}  // namespace varve

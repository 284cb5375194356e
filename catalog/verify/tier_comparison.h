// Whether the tiers and the row store have the same rows of a relation.
//
// Thread-safety: a free function.
#pragma once

#include "absl/status/status.h"
#include "catalog/verify/run.h"

namespace varve {

// Compares every version, columns and interval, except for those that no retained snapshot shows:
// either side may have given them up. Then compares the rows that both give at the view's snapshot,
// read clean where that is allowed. Without MemRowSets only a relation of which nothing was
// committed since the last flush can be compared; others are left out.
//
// Requires: columnar files have all of the relation (ColumnarSet::IsComplete), and the row store's
// rows of it are sound. A file that is damaged ends the comparison; who checks files reports it.
absl::Status CompareTiers(VerifyRun* run, const RelationRef& relation);

}  // namespace varve

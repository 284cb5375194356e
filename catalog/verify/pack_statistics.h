// Whether the statistics of a columnar file are those of its rows.
//
// Thread-safety: a free function.
#pragma once

#include "absl/status/status.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/verify/run.h"

namespace varve {

// Reads every row that the file has of the relation, handles and versions first, and works flags,
// bounds, handles, the largest begin, min-max indexes and the bloom filter out anew. Damaged packs
// are findings, and end the check of the file.
absl::Status CheckPackStatistics(VerifyRun* run, const RelationRef& relation,
                                 const ColumnarPart& part);

}  // namespace varve

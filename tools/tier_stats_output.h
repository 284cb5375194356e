// What the columnar tier holds, as `varve stats` prints it.
//
// Thread-safety: one thread.
#pragma once

#include "absl/status/status.h"
#include "catalog/inspect/catalog_stats.h"
#include "catalog/inspect/tier_stats.h"
#include "tools/output.h"

namespace varve {

// A row for each relation and one for their sum. `stats` of the same view says how many rows are
// visible. Tables say above how many files there are, and below what is damaged.
absl::Status PrintTiers(const TierStats& tiers, const CatalogStats& stats, OutputFormat format,
                        Stdout* out);

}  // namespace varve

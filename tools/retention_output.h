// What the commands of retention print alike.
//
// Thread-safety: one thread.
#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "catalog/retention/reclaimable.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace varve {

// "1 row", "1,234 rows".
std::string Counted(uint64_t n, std::string_view what);

// "5", "5 to 9" or, where some in between are missing, "4 of 5 to 9".
std::string SnapshotRange(const std::vector<SnapshotId>& snapshots);

// Prints rows by relation, under `column`.
absl::Status PrintRowCounts(const RowCounts& counts, std::string_view column, OutputFormat format,
                            Stdout* out);

// A sentence: part of the result in tables, on standard error beside csv and json.
absl::Status PrintRemark(std::string_view remark, OutputFormat format, Stdout* out);

// A callback that shows how far a walk over the versions of the catalog has come.
std::function<void(uint64_t versions)> ShowVersions(std::string_view label, const Catalog& catalog,
                                                    Progress* progress);

// About how many versions a walk over what may be reclaimable looks at.
uint64_t EstimateVersions(const Catalog& catalog);

}  // namespace varve

// Which path answers a scan.
//
// Thread-safety: a free function.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"

namespace varve {

// Whether the tiers answer (tiered_scan.h), not the row store. What is left to choose is theirs
// where they have all of the relation, and either no columnar file has a pack in the range or some
// pack lies in it whole: narrower ranges take the row store less time than decoding a pack.
// FailedPrecondition when a path is asked for that cannot answer; the message says why.
absl::StatusOr<bool> IsAnsweredByTiers(const ReadView& view, const RelationSchema& relation,
                                       const ScanOptions& options, std::string_view handle_prefix);

}  // namespace varve

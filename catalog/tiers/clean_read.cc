#include "catalog/tiers/clean_read.h"

namespace varve {

std::string_view CleanReadRejectionName(CleanReadRejection reason) {
  switch (reason) {
    case CleanReadRejection::kMissingStats: return "missing_stats";
    case CleanReadRejection::kRangeBoundary: return "range_boundary";
    case CleanReadRejection::kDelete: return "delete";
    case CleanReadRejection::kMultiVersion: return "multi_version";
    case CleanReadRejection::kMaxVersion: return "max_version";
    case CleanReadRejection::kProjection: return "projection";
    case CleanReadRejection::kPredicate: return "predicate";
    case CleanReadRejection::kNeedsMerge: return "needs_merge";
    case CleanReadRejection::kNotL2: return "not_l2";
    case CleanReadRejection::kSwitchedOff: return "switched_off";
  }
  return "";
}

}  // namespace varve

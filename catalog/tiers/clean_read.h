// Clean reads: why a pack of a columnar file is read without handle, version and end, or is not.
//
// Thread-safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve {

// Why a pack is not read clean. One enum, and one place that decides (columnar_source.cc).
enum class CleanReadRejection : uint8_t {
  kMissingStats,   // there are no statistics, or they do not fit, or contradict each other
  kRangeBoundary,  // the range covers the pack only in part
  kDelete,         // some row is ended
  kMultiVersion,   // some handle repeats
  kMaxVersion,     // some version begins after the snapshot
  kProjection,     // handles or versions are to be returned
  kPredicate,      // the predicate needs versions
  kNeedsMerge,     // another tier has rows between its first and last handle
  kNotL2,          // it is of level 1
  kSwitchedOff,    // clean read is off
};
inline constexpr size_t kNumCleanReadRejections = 10;

// "missing_stats", "range_boundary", …
std::string_view CleanReadRejectionName(CleanReadRejection reason);

}  // namespace varve

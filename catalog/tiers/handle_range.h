// Ranges of encoded handles.
//
// Thread-safety: a value type.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_codec.h"

namespace varve {

// From `lower` (inclusive) to `upper` (exclusive; empty: to the end).
struct HandleRange {
  std::string lower;
  std::string upper;

  // The handles that begin with a prefix.
  static HandleRange OfPrefix(std::string_view prefix) {
    return {.lower = std::string(prefix), .upper = prefix.empty() ? "" : PrefixSuccessor(prefix)};
  }

  bool IsBelowUpper(std::string_view handle) const { return upper.empty() || handle < upper; }
  bool Contains(std::string_view handle) const { return handle >= lower && IsBelowUpper(handle); }
  bool empty() const { return !upper.empty() && lower >= upper; }
  friend bool operator==(const HandleRange&, const HandleRange&) = default;
};

inline HandleRange Intersection(const HandleRange& a, const HandleRange& b) {
  const bool a_ends_first = b.upper.empty() || (!a.upper.empty() && a.upper < b.upper);
  return {.lower = std::max(a.lower, b.lower), .upper = a_ends_first ? a.upper : b.upper};
}

// What of the ranges lies outside of `taken`.
inline std::vector<HandleRange> Without(const std::vector<HandleRange>& ranges,
                                        const HandleRange& taken) {
  std::vector<HandleRange> rest;
  for (const HandleRange& range : ranges) {
    if (Intersection(range, taken).empty()) {
      rest.push_back(range);
      continue;
    }
    if (range.lower < taken.lower) {
      rest.push_back({.lower = range.lower, .upper = taken.lower});
    }
    if (!taken.upper.empty() && range.IsBelowUpper(taken.upper)) {
      rest.push_back({.lower = taken.upper, .upper = range.upper});
    }
  }
  return rest;
}

}  // namespace varve

// The total order of doubles used by comparisons and keys.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace varve {

// A number whose unsigned order is the value order: -inf < … < -0.0 < 0.0 < … < inf < NaN. All NaNs
// map to one number, so that equal values have equal keys.
inline uint64_t OrderedBitsOfFloat(double value) {
  if (std::isnan(value)) {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

inline double FloatOfOrderedBits(uint64_t ordered) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return std::bit_cast<double>((ordered & kSign) != 0 ? ordered & ~kSign : ~ordered);
}

}  // namespace varve

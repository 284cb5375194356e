// Durations as people write them on a command line: "30d", "12h", "90m", "1d12h".
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace varve {

// The longest that is taken: a hundred years.
inline constexpr absl::Duration kLongestDuration = absl::Hours(24 * 36'525);

// One or more whole numbers, each with its unit: w, d, h, m or s. nullopt when the text is anything
// else, or longer than kLongestDuration.
std::optional<absl::Duration> ParseDuration(std::string_view text);

}  // namespace varve

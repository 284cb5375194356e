// What the commands of the columnar tier print alike.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace varve {

struct SummaryNumber {
  std::string_view name;
  uint64_t value = 0;
  Rendering rendering = Rendering::kPlain;
};

// One row of numbers, with elapsed_us at the end.
absl::Status PrintSummary(std::initializer_list<SummaryNumber> numbers, absl::Duration elapsed,
                          OutputFormat format, Stdout* out);

// A callback that shows how far work on rows has come.
std::function<void(uint64_t done, uint64_t total)> ShowRows(std::string_view label,
                                                            Progress* progress);

}  // namespace varve

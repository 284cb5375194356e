// Metrics of the process and of a catalog in the text form that Prometheus scrapes.
//
// Thread-safety: a free function.
#pragma once

#include <string>

#include "catalog/read_view.h"

namespace varve {

// What the process has done with tiers (tiers/tier_metrics.h), then what the catalog holds at the
// view: files, rows, bytes and MemRowSets as gauges.
std::string MetricsText(const ReadView& view);

}  // namespace varve

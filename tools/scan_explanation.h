// What a scan did, instead of its rows.
//
// Thread-safety: one thread.
#pragma once

#include "absl/status/status.h"
#include "catalog/read_view.h"
#include "tools/output.h"

namespace varve {

// Runs the scan to its end and prints what it did: one object in json, one row in csv, in tables a
// line for each number.
absl::Status PrintExplanation(const ReadView& view, RowScan* scan, OutputFormat format,
                              Stdout* out);

}  // namespace varve

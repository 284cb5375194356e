// Whether a read view shows what the model says, by every way of reading.
//
// Thread-safety: functions without state. Errors: Internal, with the first difference for a person
// to read.
#pragma once

#include "absl/status/status.h"
#include "catalog/read_view.h"
#include "golden/model.h"
#include "golden/snapshot_text.h"

namespace varve::golden {

// Compares, at the view's snapshot: scans of every relation, of rows with their intervals and of
// rows without, which may be read clean; point reads by every handle the model ever had, and by the
// unique ids of files. Compares scans of all versions when `with_history`. What the scans read is
// added to `counts`.
absl::Status CheckAgainstModel(const ReadView& view, const Model& model, bool with_history,
                               PackCounts* counts);

}  // namespace varve::golden

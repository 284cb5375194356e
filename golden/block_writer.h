// Executes a block of a scenario: what the statements say becomes the rows of one change set.
//
// This is the half of the scenarios that knows how a lake is kept in rows. Ids come from the
// counters of the last snapshot, UUIDs from the ids, times from the last snapshot's: the same
// script always makes the same rows.
//
// Thread-safety: a function without state. Errors: "script.txt:12: …".
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/change_set.h"
#include "golden/model.h"
#include "golden/scenario.h"

namespace varve::golden {

// `model` is the lake before the block; it is not changed. `file` names the script in messages.
absl::StatusOr<ChangeSet> WriteBlock(std::string_view file, const Model& model, const Block& block);

}  // namespace varve::golden

// Runs a scenario on a new catalog in one state of storage, beside the model, and notes what is
// seen.
//
// Thread-safety: none.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "golden/scenario.h"
#include "golden/snapshot_text.h"
#include "golden/storage_state.h"

namespace varve::golden {

// "7" before "7.1" before "10".
struct BySnapshot {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto key = [](const std::string& name) { return std::pair(std::stoull(name), name); };
    return key(a) < key(b);
  }
};

// What a reader sees of a scenario, and the content of its directory expected/.
struct Observations {
  // At each snapshot that exists when the script has run: "<S>.txt".
  std::map<std::string, SnapshotText, BySnapshot> now;
  // At the current snapshot directly after each block: "<S>" after the block that made snapshot S,
  // "<S>.1", "<S>.2", … after the upkeep that followed. In files only the relations that differ
  // from what is seen now: "<S>.then.txt".
  std::map<std::string, SnapshotText, BySnapshot> then;
  // What the readings did with packs; not in files.
  PackCounts packs;
};

// Runs the script in a new catalog at `path`, which must not exist. After each block, and at the
// end at every snapshot, everything read is also compared with the model; and unless the state
// closes the catalog, the view taken after each block is held and must show the same at the end.
// Errors: a statement that makes no sense, a step of the catalog that fails, a difference from the
// model or of a held view (the message names the block or snapshot).
absl::StatusOr<Observations> RunScenario(const Scenario& scenario, const StorageState& state,
                                         const std::string& path);

}  // namespace varve::golden

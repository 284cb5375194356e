// The audit log: who changed what can be read or physically removed rows, when, and how much.
//
// An entry is written in the commit that does what it says, so neither is there without the other.
// Nothing removes entries: one takes about 150 bytes, so a pin a minute makes 80 MB a year.
// Renewing a lease is not recorded, since it happens by the clock and changes nothing but its end.
//
// Thread-safety: free functions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/store/commit.h"
#include "catalog/store/row_store.h"

namespace varve {

// Rows by relation name.
using RowCounts = std::map<std::string, uint64_t, std::less<>>;
uint64_t TotalRows(const RowCounts& counts);

struct AuditEntry {
  Csn csn = 0;  // of the commit; set when it is written
  absl::Time time;
  std::string actor;   // "user@host, process 4711"
  std::string action;  // "pin", "lease", "unpin", "gc", "excise", "expire", "restore", …
  std::string object;  // what it was done to: a pin's name, a table; may be empty
  // The snapshots concerned, if any: [first, last].
  std::optional<SnapshotId> first_snapshot;
  std::optional<SnapshotId> last_snapshot;
  RowCounts rows;      // physically removed
  std::string detail;  // the rest, for people
};

// Adds the entry to the commit.
absl::Status AppendAudit(Commit* commit, const AuditEntry& entry);

// Calls `visit` for the entries of a state, oldest first; of the same commit in the order they were
// added. DataLoss when one cannot be read.
absl::Status ReadAudit(const StoreState& state,
                       const std::function<absl::Status(const AuditEntry&)>& visit);

// Who this process works for: "user@host, process 4711".
std::string ThisActor();

}  // namespace varve

// What holds snapshots back from retention: named pins, and leases, which are pins that expire.
//
// A pin names a snapshot, not a process: it survives closing the catalog. Readers of this process
// hold their snapshots by the view registry (view_registry.h) instead.
//
// Thread-safety: value types; the PinSet of a state never changes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "catalog/read_view.h"
#include "mvcc/visibility.h"

namespace varve {

struct Pin {
  SnapshotId snapshot = 0;
  // The commit it was placed on: files that were scheduled for deletion later are still read.
  Csn csn = 0;
  absl::Time placed = absl::InfinitePast();
  std::optional<absl::Time> expires;  // leases only
  std::string holder;                 // "user@host, process 4711"
  std::string note;
};

// An expired lease holds nothing, though its row may still be there.
inline bool IsExpired(const Pin& pin, absl::Time now) {
  return pin.expires.has_value() && *pin.expires <= now;
}

// By name.
using PinSet = std::map<std::string, Pin, std::less<>>;

}  // namespace varve

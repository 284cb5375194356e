// Which snapshots of a catalog are retained: the set that the one rule (mvcc/retention.h) is asked
// with.
//
// A snapshot is retained while its row exists and it is the last one, at or above the floor
// `retain_from`, or held by a pin or by a lease that has not expired. What a reader of this process
// holds is retained whether its row exists or not.
//
// Thread-safety: free functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/store/row_store.h"
#include "mvcc/retention.h"

namespace varve {

// All of them, in a state at a time. `held`: what readers hold (ViewRegistry::HeldSnapshots, taken
// after the state). `floor`: as if it were the floor of the state. Reads all of ducklake_snapshot.
absl::StatusOr<RetainedSnapshots> FindRetained(const StoreState& state,
                                               std::span<const SnapshotId> held, absl::Time now,
                                               std::optional<SnapshotId> floor = std::nullopt);

// Whether a snapshot that exists is retained by the state: what may be read, and pinned, anew. What
// only readers hold is not. Costs a look at the pins.
bool IsRetained(const StoreState& state, SnapshotId snapshot, absl::Time now);

// Whether a pin, or a lease that has not expired, holds the snapshot: the name of one; else empty.
std::string_view HolderOf(const PinSet& pins, SnapshotId snapshot, absl::Time now);

// Whether there is a row of this snapshot in the state.
absl::StatusOr<bool> SnapshotExists(const StoreState& state, SnapshotId snapshot);

// The nearest snapshots that exist and are retained by the state, at or below `snapshot` and at or
// above it.
struct NearestSnapshots {
  std::optional<SnapshotId> below;
  std::optional<SnapshotId> above;
};
absl::StatusOr<NearestSnapshots> NearestRetained(const StoreState& state, SnapshotId snapshot,
                                                 absl::Time now);

// OK when the snapshot exists and is retained by the state; else NotFound with the nearest that
// are.
absl::Status CheckReadable(const StoreState& state, SnapshotId snapshot, absl::Time now);

}  // namespace varve

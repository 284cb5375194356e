// The snapshots that are retained, and whether the rows of one object are there at each of them.
//
// Retention gives snapshots up and, lazily, removes what only they could see. So "a column lives
// inside its table's life" can be asked at the retained snapshots (retention/retained.h) and
// nowhere else.
//
// Thread-safety: immutable once built.
#pragma once

#include <optional>
#include <vector>

#include "mvcc/visibility.h"

namespace varve {

struct Lifetime {
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
};

// Sorts intervals and joins those that touch or overlap; empty ones are dropped.
void NormalizeLifetimes(std::vector<Lifetime>* intervals);

class SnapshotAxis {
 public:
  SnapshotAxis() = default;
  // `snapshots`: ascending.
  explicit SnapshotAxis(std::vector<SnapshotId> snapshots) : snapshots_(std::move(snapshots)) {}

  const std::vector<SnapshotId>& snapshots() const { return snapshots_; }
  bool Contains(SnapshotId snapshot) const;

  // The first retained snapshot in [begin, end).
  std::optional<SnapshotId> FirstIn(Lifetime interval) const;

  // The first retained snapshot in `child` that no interval of `parents` (normalized) holds.
  std::optional<SnapshotId> FirstUncovered(Lifetime child,
                                           const std::vector<Lifetime>& parents) const;

 private:
  std::vector<SnapshotId> snapshots_;
};

}  // namespace varve

#include "catalog/verify/snapshot_axis.h"

#include <algorithm>

namespace varve {

void NormalizeLifetimes(std::vector<Lifetime>* intervals) {
  std::erase_if(*intervals, [](const Lifetime& i) { return i.begin >= i.end; });
  std::sort(intervals->begin(), intervals->end(),
            [](const Lifetime& a, const Lifetime& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Lifetime& interval : *intervals) {
    if (kept > 0 && interval.begin <= (*intervals)[kept - 1].end) {
      SnapshotId& end = (*intervals)[kept - 1].end;
      end = std::max(end, interval.end);
    } else {
      (*intervals)[kept++] = interval;
    }
  }
  intervals->resize(kept);
}

bool SnapshotAxis::Contains(SnapshotId snapshot) const {
  return std::binary_search(snapshots_.begin(), snapshots_.end(), snapshot);
}

std::optional<SnapshotId> SnapshotAxis::FirstIn(Lifetime interval) const {
  const auto it = std::lower_bound(snapshots_.begin(), snapshots_.end(), interval.begin);
  if (it == snapshots_.end() || *it >= interval.end) {
    return std::nullopt;
  }
  return *it;
}

std::optional<SnapshotId> SnapshotAxis::FirstUncovered(Lifetime child,
                                                       const std::vector<Lifetime>& parents) const {
  std::optional<SnapshotId> snapshot = FirstIn(child);
  while (snapshot.has_value()) {
    auto it =
        std::upper_bound(parents.begin(), parents.end(), *snapshot,
                         [](SnapshotId at, const Lifetime& parent) { return at < parent.begin; });
    if (it == parents.begin() || !IsVisible((it - 1)->begin, (it - 1)->end, *snapshot)) {
      return snapshot;
    }
    // Everything up to the end of that interval is covered.
    snapshot = FirstIn({(it - 1)->end, child.end});
  }
  return std::nullopt;
}

}  // namespace varve

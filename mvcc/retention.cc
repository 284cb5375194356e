#include "mvcc/retention.h"

#include <algorithm>
#include <cassert>

namespace varve {

RetainedSnapshots::RetainedSnapshots(std::vector<SnapshotId> snapshots)
    : snapshots_(std::move(snapshots)) {
  std::sort(snapshots_.begin(), snapshots_.end());
  snapshots_.erase(std::unique(snapshots_.begin(), snapshots_.end()), snapshots_.end());
  for (auto it = snapshots_.rbegin(); it != snapshots_.rend(); ++it) {
    if (it != snapshots_.rbegin() && *it + 1 != dense_from_) {
      break;
    }
    dense_from_ = *it;
  }
}

bool RetainedSnapshots::Contains(SnapshotId snapshot) const {
  return std::binary_search(snapshots_.begin(), snapshots_.end(), snapshot);
}

std::optional<SnapshotId> RetainedSnapshots::FirstIn(SnapshotId begin, SnapshotId end) const {
  const std::optional<SnapshotId> first = AtOrAbove(begin);
  return first.has_value() && *first < end ? first : std::nullopt;
}

std::optional<SnapshotId> RetainedSnapshots::AtOrBelow(SnapshotId snapshot) const {
  const auto it = std::upper_bound(snapshots_.begin(), snapshots_.end(), snapshot);
  return it == snapshots_.begin() ? std::nullopt : std::optional<SnapshotId>(*(it - 1));
}

std::optional<SnapshotId> RetainedSnapshots::AtOrAbove(SnapshotId snapshot) const {
  const auto it = std::lower_bound(snapshots_.begin(), snapshots_.end(), snapshot);
  return it == snapshots_.end() ? std::nullopt : std::optional<SnapshotId>(*it);
}

size_t RetainedSnapshots::SelectReclaimable(std::span<const SnapshotId> begins,
                                            std::span<const SnapshotId> ends,
                                            uint32_t* selection) const {
  assert(begins.size() == ends.size());
  // reclaimable := [begin, end) holds no retained snapshot
  size_t selected = 0;
  for (size_t row = 0; row < begins.size(); ++row) {
    selection[selected] = static_cast<uint32_t>(row);
    selected += static_cast<size_t>(IsReclaimable(begins[row], ends[row]));
  }
  return selected;
}

}  // namespace varve

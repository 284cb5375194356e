#include "mvcc/visibility.h"

#include <cassert>

namespace varve {

size_t SelectVisible(std::span<const SnapshotId> begins, std::span<const SnapshotId> ends,
                     SnapshotId at, uint32_t* selection) {
  assert(begins.size() == ends.size());
  // visible := begin <= at & at < end. Written without a branch: the row number is always stored,
  // and the cursor advances only past visible ones.
  size_t selected = 0;
  for (size_t row = 0; row < begins.size(); ++row) {
    selection[selected] = static_cast<uint32_t>(row);
    selected += static_cast<size_t>(begins[row] <= at) & static_cast<size_t>(at < ends[row]);
  }
  return selected;
}

size_t SelectVisible(std::span<const int64_t> begins, std::span<const int64_t> ends,
                     std::span<const uint8_t> has_no_end, size_t from, size_t to, SnapshotId at,
                     uint32_t* selection) {
  assert(begins.size() == ends.size() && ends.size() == has_no_end.size());
  assert(from <= to && to <= begins.size());
  // visible := begin <= at & (no end | at < end), as above.
  size_t selected = 0;
  for (size_t row = from; row < to; ++row) {
    selection[selected] = static_cast<uint32_t>(row);
    selected += static_cast<size_t>(static_cast<SnapshotId>(begins[row]) <= at) &
                (static_cast<size_t>(has_no_end[row]) |
                 static_cast<size_t>(at < static_cast<SnapshotId>(ends[row])));
  }
  return selected;
}

size_t SelectCurrent(std::span<const SnapshotId> ends, uint32_t* selection) {
  // visible := end is absent
  size_t selected = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    selection[selected] = static_cast<uint32_t>(row);
    selected += static_cast<size_t>(ends[row] == kNoEnd);
  }
  return selected;
}

}  // namespace varve

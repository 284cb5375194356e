#include "catalog/tiers/lane_progress.h"

#include "catalog/tiers/memory_format.h"

namespace varve {

void LaneProgress::Note(const VersionMerger::Run& run) {
  for (size_t lane = 0; lane < kNumLanes; ++lane) {
    if (run.lane != VersionMerger::kNoLane && run.lane != lane) {
      continue;
    }
    Mark& mark = marks_[lane];
    if (run.pack != nullptr) {  // it stands alone, so all of it is taken
      mark.handle = run.bounds->last;
      mark.begin = run.bounds->last_is_in_pack ? std::optional(kNoEnd) : std::nullopt;
    } else {
      const std::string_view key = run.block->keys[run.to - 1];
      mark.handle = HandleOfVersionKey(key);
      mark.begin = BeginOfVersionKey(key);
    }
  }
}

bool LaneProgress::Has(std::string_view handle, SnapshotId begin, SnapshotId end) const {
  const Mark& mark = marks_[IsCurrent(end) ? kLiveLane : kEndedLane];
  if (handle != mark.handle) {
    return handle < mark.handle;
  }
  return mark.begin.has_value() && begin <= *mark.begin;
}

}  // namespace varve

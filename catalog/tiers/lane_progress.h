// How far a scan in any order has come in each lane of L2, to go on elsewhere: whether a version is
// among the runs it has taken.
//
// A merger in any order still gives the rows of each lane in key order, and a row of a source
// behind all rows of either lane with a smaller key, before all with a larger one
// (version_merger.h). So what was taken is, for live rows and for ended ones, all up to some
// version.
//
// Thread-safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/tiers/tier_merge.h"
#include "catalog/tiers/version_merger.h"
#include "mvcc/visibility.h"

namespace varve {

class LaneProgress {
 public:
  // Requires: the runs of a merge of tiers in any order, one after the other, each while it lives.
  void Note(const VersionMerger::Run& run);

  // Whether a run had the version, which is the newest image of it. Of rows without begin and end
  // of their own the begin is 0.
  bool Has(std::string_view handle, SnapshotId begin, SnapshotId end) const;

 private:
  // The last version taken; without a begin, all of handles before this one.
  struct Mark {
    std::string handle;
    std::optional<SnapshotId> begin;
  };
  std::array<Mark, kNumLanes> marks_;
};

}  // namespace varve

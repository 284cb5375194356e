// Which handles of which relations a window of csns touched.
//
// A window that lies within memory is answered by MemRowSets, any other by the change feed. Both
// name every handle of which a version at the end of the window is another one than at its
// beginning, was overwritten, ended, or erased. Beyond that they differ:
//
//   the window did                                          the feed   memory
//   insert a version and erase it again                     names it   names it or not
//   write a version anew with the values it had before      names it   names it or not
//   anything to a relation that was dropped by the view     names it   names nothing
//
// Nothing of this can be seen in the state at the end of the window: who compares what that state
// shows needs none of it.
//
// Thread-safety: immutable once collected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

struct MemorySet;

class TouchedHandles {
 public:
  // The handles touched in (from, to]. `relations`: those of interest; empty: all. Errors: those of
  // Changes; memory may still know what the feed has forgotten.
  static absl::StatusOr<TouchedHandles> Collect(const ReadView& view, Csn from, Csn to,
                                                std::vector<RelationId> relations);

  // The handles, with their ordinals, in key order, each once.
  std::span<const std::string> Of(RelationId relation) const;

 private:
  // Requires: the sets reach back to `from`.
  void AddFromMemory(const MemorySet& newest, Csn from, Csn to,
                     const std::vector<RelationId>& relations);
  absl::Status AddFromFeed(const ReadView& view, Csn from, Csn to,
                           std::vector<RelationId> relations);

  absl::flat_hash_map<RelationId, std::vector<std::string>> handles_;
};

}  // namespace varve

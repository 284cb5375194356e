// Which handles of which relations a window of csns touched.
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

class TouchedHandles {
 public:
  // Reads the change feed over (from, to]. `relations`: those of interest; empty: all. Errors:
  // those of Changes.
  static absl::StatusOr<TouchedHandles> Collect(const ReadView& view, Csn from, Csn to,
                                                std::vector<RelationId> relations);

  // The handles, with their ordinals, in key order, each once.
  std::span<const std::string> Of(RelationId relation) const;

 private:
  absl::flat_hash_map<RelationId, std::vector<std::string>> handles_;
};

}  // namespace varve

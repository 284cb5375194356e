// Forgetting the old end of the change feed.
//
// Thread-safety: free functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

// What a commit has to write so that the feed begins at a later csn.
struct ChangesTruncation {
  // The keys of the `changes` family to remove: [first_key, end_key). Empty: nothing.
  std::string first_key;
  std::string end_key;
  // Pairs of the `default` family to write; nullopt removes one.
  std::vector<std::pair<std::string, std::optional<std::string>>> defaults;
};

// Makes the feed of `state` begin at csn `begin`: changes of earlier csns go, those of `begin` can
// no longer be asked for, and descriptions of relations dropped by then go, too. The commit's own
// entry at `begin` stays: it says which snapshot was the last one there. A `begin` at or before the
// present one changes nothing. Views taken before the commit keep the changes they see. Errors:
// InvalidArgument (`begin` lies beyond the last csn of the state).
absl::StatusOr<ChangesTruncation> TruncateChanges(const StoreState& state, Csn begin);

}  // namespace varve

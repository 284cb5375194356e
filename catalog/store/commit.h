// Committing a set of row changes to the row store.
//
// The versions of every handle touched are read once, changed in memory, checked as a whole, and
// what differs from the store is written in one batch with one sync. So changes of one identity
// collapse, and the order of changes inside a set does not matter for what is checked (an inlined
// row's new version may be inserted before its old one is ended).
//
// Thread-safety: the caller holds the commit lock. `base` is the state the changes apply to: the
// latest one.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "catalog/change_set.h"
#include "catalog/store/row_store.h"

namespace varve {

// Returns the state after the commit. On error the store is unchanged. Errors: InvalidArgument (a
// row of the wrong shape, an interval that is none), NotFound (what is to be ended or erased is not
// there), AlreadyExists (a second live version, overlapping intervals, a duplicate key),
// FailedPrecondition (a begin or end above the last snapshot, deleting the last snapshot).
absl::StatusOr<std::shared_ptr<const StoreState>> CommitChanges(
    const std::shared_ptr<const StoreState>& base, const ChangeSet& changes);

}  // namespace varve

// Placing and removing pins and leases.
//
// A pin names a snapshot and holds it back from retention until it is removed; a lease is a pin
// that expires by itself. Both live in the catalog and survive the process that placed them. One is
// placed only on a snapshot that is retained at that moment by the floor or by another pin: what
// has been given up cannot be had back. An expired lease holds nothing; the next commit that
// touches pins or the floor removes it.
//
// Thread-safety: free functions, from any thread; changes go through the catalog's commit lock.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/catalog.h"
#include "catalog/retention/pin_set.h"
#include "catalog/store/commit.h"
#include "catalog/store/row_store.h"

namespace varve {

// Longest name of a pin, in bytes.
inline constexpr size_t kMaxPinName = 200;
// Longest note, in bytes.
inline constexpr size_t kMaxPinNote = 2'000;
// Longest lease. What shall hold longer is a pin.
inline constexpr absl::Duration kMaxLease = absl::Hours(24 * 3'660);

struct PinRequest {
  std::string name;
  // Unset: the latest; of a lease that is renewed, the one it is on.
  std::optional<SnapshotId> snapshot;
  // Set: a lease for this long from now.
  std::optional<absl::Duration> lease;
  std::string note;
};

struct PlacedPin {
  Pin pin;
  bool renewed = false;  // the lease was there and holds on from now
};

// Places a pin or a lease; or renews a lease, which goes on holding what it held from the commit it
// was placed on. Errors: InvalidArgument (a name that is empty, too long, or has control
// characters; a text that is no UTF-8; a lease that is not positive or too long), AlreadyExists
// (the name is taken), NotFound (the snapshot does not exist or is not retained),
// FailedPrecondition (the catalog is open read-only).
absl::StatusOr<PlacedPin> PlacePin(Catalog* catalog, const PinRequest& request,
                                   absl::Time now = absl::Now());

// Removes a pin or lease and returns it. NotFound, with the nearest name, when there is none.
absl::StatusOr<Pin> RemovePin(Catalog* catalog, std::string_view name,
                              absl::Time now = absl::Now());

// Removes expired leases with the commit; returns how many.
size_t DropExpiredLeases(Commit* commit, absl::Time now);

// Whether there are any to drop.
bool HasExpiredLeases(const PinSet& pins, absl::Time now);

// The pins the state holds: what opening a catalog reads. DataLoss when one cannot be read.
absl::StatusOr<PinSet> LoadPins(const RowStore& store, const rocksdb::Snapshot* snapshot);

}  // namespace varve

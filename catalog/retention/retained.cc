#include "catalog/retention/retained.h"

#include <rocksdb/iterator.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_cursor.h"

namespace varve {
namespace {

bool Holds(const Pin& pin, SnapshotId snapshot, absl::Time now) {
  return pin.snapshot == snapshot && !IsExpired(pin, now);
}

std::string SnapshotKey(SnapshotId snapshot) {
  std::string handle;
  AppendIntHandle(static_cast<int64_t>(std::min(snapshot, kMaxSnapshotId)), &handle);
  return LiveKey(kSnapshot, handle);
}

// Walks the rows of ducklake_snapshot from one to its neighbours.
class SnapshotIterator {
 public:
  explicit SnapshotIterator(const StoreState& state)
      : lower_(RelationPrefix(kSnapshot)),
        upper_(RelationPrefix(kSnapshot + 1)),
        lower_slice_(lower_),
        upper_slice_(upper_) {
    rocksdb::ReadOptions options = state.read_options();
    options.iterate_lower_bound = &lower_slice_;
    options.iterate_upper_bound = &upper_slice_;
    it_.reset(state.store->db().NewIterator(options, state.store->family(Family::kLive)));
  }
  SnapshotIterator(const SnapshotIterator&) = delete;
  SnapshotIterator& operator=(const SnapshotIterator&) = delete;

  absl::StatusOr<std::optional<SnapshotId>> AtOrBelow(SnapshotId snapshot) {
    it_->SeekForPrev(SnapshotKey(snapshot));
    return Here();
  }
  absl::StatusOr<std::optional<SnapshotId>> AtOrAbove(SnapshotId snapshot) {
    it_->Seek(SnapshotKey(snapshot));
    return Here();
  }

 private:
  absl::StatusOr<std::optional<SnapshotId>> Here() const {
    if (!it_->Valid()) {
      VARVE_RETURN_IF_ERROR(FromRocksDb(it_->status(), "reading ducklake_snapshot"));
      return std::nullopt;
    }
    StoredVersion version;
    if (!ParseLive(ToView(it_->key()), ToView(it_->value()), &version)) {
      return MalformedPair(*BuiltinRelationById(kSnapshot), ToView(it_->key()));
    }
    return version.begin;
  }

  std::string lower_;
  std::string upper_;
  rocksdb::Slice lower_slice_;
  rocksdb::Slice upper_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;
};

}  // namespace

std::string_view HolderOf(const PinSet& pins, SnapshotId snapshot, absl::Time now) {
  for (const auto& [name, pin] : pins) {
    if (Holds(pin, snapshot, now)) {
      return name;
    }
  }
  return {};
}

bool IsRetained(const StoreState& state, SnapshotId snapshot, absl::Time now) {
  return snapshot >= state.retain_from || snapshot == state.last_snapshot ||
         std::any_of(state.pins->begin(), state.pins->end(),
                     [&](const auto& named) { return Holds(named.second, snapshot, now); });
}

absl::StatusOr<bool> SnapshotExists(const StoreState& state, SnapshotId snapshot) {
  if (snapshot > state.last_snapshot) {
    return false;
  }
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      state.store->db().Get(state.read_options(), state.store->family(Family::kLive),
                            ToSlice(SnapshotKey(snapshot)), &value);
  if (status.IsNotFound()) {
    return false;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, "reading ducklake_snapshot"));
  return true;
}

absl::StatusOr<RetainedSnapshots> FindRetained(const StoreState& state,
                                               std::span<const SnapshotId> held, absl::Time now,
                                               std::optional<SnapshotId> floor) {
  std::vector<SnapshotId> pinned;
  for (const auto& [name, pin] : *state.pins) {
    if (!IsExpired(pin, now)) {
      pinned.push_back(pin.snapshot);
    }
  }
  std::sort(pinned.begin(), pinned.end());
  std::vector<SnapshotId> retained(held.begin(), held.end());
  retained.push_back(state.last_snapshot);
  VersionCursor cursor(state, state.directory->FindById(kSnapshot), VersionSet::kLive, "");
  VARVE_RETURN_IF_ERROR(cursor.Start());
  while (cursor.valid()) {
    // retained := retain_from <= id or a pin or lease holds it
    const SnapshotId snapshot = cursor.version().begin;
    if (snapshot >= floor.value_or(state.retain_from) ||
        std::binary_search(pinned.begin(), pinned.end(), snapshot)) {
      retained.push_back(snapshot);
    }
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  return RetainedSnapshots(std::move(retained));
}

absl::StatusOr<NearestSnapshots> NearestRetained(const StoreState& state, SnapshotId snapshot,
                                                 absl::Time now) {
  SnapshotIterator snapshots(state);
  NearestSnapshots nearest;
  VARVE_ASSIGN_OR_RETURN(nearest.below, snapshots.AtOrBelow(snapshot));
  if (nearest.below.has_value() && !IsRetained(state, *nearest.below, now)) {
    nearest.below.reset();
  }
  VARVE_ASSIGN_OR_RETURN(nearest.above, snapshots.AtOrAbove(std::max(snapshot, state.retain_from)));
  // Below the floor only what is pinned.
  for (const auto& [name, pin] : *state.pins) {
    if (IsExpired(pin, now)) {
      continue;
    }
    const bool nearer_below =
        pin.snapshot <= snapshot && (!nearest.below.has_value() || pin.snapshot > *nearest.below);
    const bool nearer_above =
        pin.snapshot >= snapshot && (!nearest.above.has_value() || pin.snapshot < *nearest.above);
    if (!nearer_below && !nearer_above) {
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(const bool exists, SnapshotExists(state, pin.snapshot));
    if (exists && nearer_below) {
      nearest.below = pin.snapshot;
    }
    if (exists && nearer_above) {
      nearest.above = pin.snapshot;
    }
  }
  return nearest;
}

absl::Status CheckReadable(const StoreState& state, SnapshotId snapshot, absl::Time now) {
  if (snapshot > state.last_snapshot) {
    return absl::NotFoundError(StrCat(
        "snapshot ", snapshot, " lies in the future: the last one is ", state.last_snapshot));
  }
  if (IsRetained(state, snapshot, now)) {
    VARVE_ASSIGN_OR_RETURN(const bool exists, SnapshotExists(state, snapshot));
    if (exists) {
      return absl::OkStatus();
    }
  }
  VARVE_ASSIGN_OR_RETURN(const NearestSnapshots nearest, NearestRetained(state, snapshot, now));
  std::string names;
  for (const std::optional<SnapshotId>& id : {nearest.below, nearest.above}) {
    if (id.has_value()) {
      StrAppend(&names, names.empty() ? "" : " and ", *id);
    }
  }
  if (snapshot < state.retain_from) {
    return absl::NotFoundError(StrCat("snapshot ", snapshot,
                                      " is no longer retained (retained from ", state.retain_from,
                                      "); the nearest that is: ", names));
  }
  return absl::NotFoundError(StrCat(
      "snapshot ", snapshot, " does not exist (expired, or never made); the nearest are ", names));
}

}  // namespace varve

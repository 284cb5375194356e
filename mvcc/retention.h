// The one rule of retention.
//
// Retained snapshots are the states of the catalog that can still be asked for. A version is
// reclaimable iff its interval [begin, end) holds none of them: then no reader can ever see it, and
// what removes it changes no answer. Everything that asks what may go, or what must still be right,
// asks here: excision, expiry, compaction, verify.
//
// The rule is monotone: a snapshot that is no longer retained never is again, and a new one lies
// above every end there is. So a version that is reclaimable stays so.
//
// Which snapshots are retained is the catalog's to say (catalog/retention/retained.h).
//
// Thread-safety: immutable once built; a value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mvcc/visibility.h"

namespace varve {

class RetainedSnapshots {
 public:
  // Retains nothing: every version that has ended is reclaimable.
  RetainedSnapshots() = default;
  // In any order; repetitions are dropped. The last snapshot must be among them: it is always
  // retained, which is why a version without an end never is reclaimable.
  explicit RetainedSnapshots(std::vector<SnapshotId> snapshots);

  // Ascending, each once.
  const std::vector<SnapshotId>& snapshots() const { return snapshots_; }
  bool Contains(SnapshotId snapshot) const;

  // The first retained snapshot in [begin, end).
  std::optional<SnapshotId> FirstIn(SnapshotId begin, SnapshotId end) const;

  // The nearest retained snapshots, at or below and at or above.
  std::optional<SnapshotId> AtOrBelow(SnapshotId snapshot) const;
  std::optional<SnapshotId> AtOrAbove(SnapshotId snapshot) const;

  // An interval that is empty is reclaimable, one without an end is not.
  bool IsReclaimable(SnapshotId begin, SnapshotId end) const {
    if (begin >= end) {
      return true;
    }
    if (IsCurrent(end) || (end > dense_from_ && begin <= snapshots_.back())) {
      return false;
    }
    return !FirstIn(begin, end).has_value();
  }
  template <Versioned T>
  bool IsReclaimable(const T& version) const {
    return IsReclaimable(version.begin_snapshot(), version.end_snapshot());
  }

  // Writes the numbers of the reclaimable rows, ascending, to `selection`, and returns how many
  // there are. Requires: begins and ends are equally long, and selection has room for as many.
  size_t SelectReclaimable(std::span<const SnapshotId> begins, std::span<const SnapshotId> ends,
                           uint32_t* selection) const;

  friend bool operator==(const RetainedSnapshots&, const RetainedSnapshots&) = default;

 private:
  std::vector<SnapshotId> snapshots_;
  // From here to the last one every id is retained: mostly everything above the floor is, and a
  // version that reaches it needs no search. kNoEnd while nothing is retained.
  SnapshotId dense_from_ = kNoEnd;
};

}  // namespace varve

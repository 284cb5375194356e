// The one rule of visibility.
//
// A version of a row lives on the half-open interval [begin, end) of snapshot ids. It is visible at
// snapshot S iff begin <= S and S < end. Ending one version at S and beginning its successor at S
// leaves exactly one visible version at every S (DuckLake 1.0 specification, "snapshots").
//
// The same rule has five forms here: scalar, on anything Versioned, on whole vectors, on columns as
// files have them, and the fast path for the current snapshot, where every begin is visible and the
// test is "end is absent".
// Nothing else in the project decides visibility; comparisons of begins and ends stand here.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace varve {

// Number of a catalog state: 0 is the bootstrap state, ids only grow, gaps are legal.
using SnapshotId = uint64_t;

// The end of a version that has not ended.
inline constexpr SnapshotId kNoEnd = std::numeric_limits<SnapshotId>::max();

// The largest snapshot id: the catalog stores them as BIGINT.
inline constexpr SnapshotId kMaxSnapshotId =
    static_cast<SnapshotId>(std::numeric_limits<int64_t>::max());

// An interval [begin, end) of snapshot ids; the default holds all of them.
struct SnapshotInterval {
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;

  constexpr SnapshotId begin_snapshot() const { return begin; }
  constexpr SnapshotId end_snapshot() const { return end; }
  constexpr bool empty() const { return begin >= end; }
  friend constexpr bool operator==(const SnapshotInterval&, const SnapshotInterval&) = default;
};

// The interval of what is visible nowhere.
inline constexpr SnapshotInterval kNowhere{.begin = kNoEnd, .end = kNoEnd};

// What has a begin and an end. `end` is kNoEnd for a version that has not ended.
template <typename T>
concept Versioned = requires(const T& version) {
  { version.begin_snapshot() } -> std::convertible_to<SnapshotId>;
  { version.end_snapshot() } -> std::convertible_to<SnapshotId>;
};

constexpr bool IsVisible(SnapshotId begin, SnapshotId end, SnapshotId at) {
  return begin <= at && at < end;
}

template <Versioned T>
constexpr bool IsVisible(const T& version, SnapshotId at) {
  return IsVisible(version.begin_snapshot(), version.end_snapshot(), at);
}

// The current fast path. Exact at the latest snapshot only: no begin lies above it, and an end that
// is set lies at or below it.
constexpr bool IsCurrent(SnapshotId end) {
  return end == kNoEnd;
}

template <Versioned T>
constexpr bool IsCurrent(const T& version) {
  return IsCurrent(version.end_snapshot());
}

// Whether a version begins or ends above the last snapshot: what the current fast path rests on not
// to be. A committed state holds none.
constexpr bool ReachesBeyond(SnapshotId begin, SnapshotId end, SnapshotId last_snapshot) {
  return begin > last_snapshot || (end != kNoEnd && end > last_snapshot);
}

// Whether two versions of one handle are ever visible together.
constexpr bool IntervalsOverlap(SnapshotId begin_a, SnapshotId end_a, SnapshotId begin_b,
                                SnapshotId end_b) {
  return begin_a < end_b && begin_b < end_a && begin_a < end_a && begin_b < end_b;
}

// Writes the numbers of the visible rows, ascending, to `selection`, and returns how many there
// are. Requires: begins and ends are equally long, and selection has room for as many.
size_t SelectVisible(std::span<const SnapshotId> begins, std::span<const SnapshotId> ends,
                     SnapshotId at, uint32_t* selection);

// The same of the rows [from, to) of columns with an end only where the version has ended:
// `has_no_end` is 1 elsewhere. Requires: columns of one length, to at most; from <= to;
// selection has room for to - from.
size_t SelectVisible(std::span<const int64_t> begins, std::span<const int64_t> ends,
                     std::span<const uint8_t> has_no_end, size_t from, size_t to, SnapshotId at,
                     uint32_t* selection);

// The same by the current fast path.
size_t SelectCurrent(std::span<const SnapshotId> ends, uint32_t* selection);

}  // namespace varve

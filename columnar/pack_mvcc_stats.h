// What is known of the versions in each pack without reading it: the ground that clean reads and
// the skipping of packs stand on.
//
// Statistics are parallel to the packs of the handle column. They may be trusted, never required: a
// value that is missing, malformed, of a later version or of another number of packs parses to
// nullopt, and the reader takes the normal path. Absent is not zero.
//
// Thread-safety: PackMvccStats and PackSnapshotBounds are values; a builder belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column_batch.h"
#include "columnar/columnar_rows.h"
#include "mvcc/visibility.h"

namespace varve {

// Flags of a pack. PACK_HAS_DELETE: some row is ended (L2) or a delete marker (L1).
// PACK_HAS_MULTI_VERSION: two adjacent rows have the same handle.
inline constexpr uint8_t kPackHasDelete = 1 << 0;
inline constexpr uint8_t kPackHasMultiVersion = 1 << 1;

// The property pack_mvcc_stats_v1: version(1) = 1 | num_packs(4) | flags(1) × num_packs.
class PackMvccStats {
 public:
  PackMvccStats() = default;
  explicit PackMvccStats(std::vector<uint8_t> flags) : flags_(std::move(flags)) {}

  // nullopt unless the value is of version 1, whole, and holds exactly `num_packs` flags that are
  // known.
  static std::optional<PackMvccStats> Parse(std::string_view value, size_t num_packs);
  std::string Encode() const;

  size_t num_packs() const { return flags_.size(); }
  uint8_t flags(size_t pack) const { return flags_[pack]; }
  bool has_delete(size_t pack) const { return (flags_[pack] & kPackHasDelete) != 0; }
  bool has_multi_version(size_t pack) const { return (flags_[pack] & kPackHasMultiVersion) != 0; }

  friend bool operator==(const PackMvccStats&, const PackMvccStats&) = default;

 private:
  std::vector<uint8_t> flags_;
};

// The smallest and largest begin and end of a pack's rows. A live row's end is kNoEnd. A delete
// marker is visible nowhere: it counts with end 0, so bounds never prove a pack with one visible.
struct PackSnapshotBounds {
  SnapshotId min_begin = kNoEnd;
  SnapshotId max_begin = 0;
  SnapshotId min_end = kNoEnd;
  SnapshotId max_end = 0;

  // Every row begins at or before max_begin and ends at or after min_end.
  bool ProvesAllVisible(SnapshotId at) const { return IsVisible(max_begin, min_end, at); }
  // No row begins before min_begin or ends after max_end.
  bool ProvesNoneVisible(SnapshotId at) const { return !IsVisible(min_begin, max_end, at); }
  // Whether such bounds can belong to rows with such flags; if not, neither may be trusted.
  bool Contradicts(uint8_t flags) const;

  friend bool operator==(const PackSnapshotBounds&, const PackSnapshotBounds&) = default;
};

// The property pack_snapshot_bounds_v1:
// version(1) = 1 | num_packs(4)
// | (min_begin(8) | max_begin(8) | min_end(8) | max_end(8)) × num_packs
std::string EncodePackSnapshotBounds(std::span<const PackSnapshotBounds> bounds);
std::optional<std::vector<PackSnapshotBounds>> ParsePackSnapshotBounds(std::string_view value,
                                                                       size_t num_packs);

// Builds all of them while rows are appended, in any portions: the last handle of a portion takes
// part in the comparison with the first of the next, as long as both are of one pack.
class PackMvccStatsBuilder {
 public:
  // The rows [from, to) go to the pack under way.
  void Add(const ColumnarRows& rows, size_t from, size_t to);
  // Ends the pack under way. Requires: it has rows.
  void FinishPack();

  // Of the finished packs.
  PackMvccStats stats() const { return PackMvccStats(flags_); }
  const std::vector<PackSnapshotBounds>& bounds() const { return bounds_; }
  // The largest begin of all rows added, ended and erased ones included; nullopt without rows.
  std::optional<SnapshotId> max_version() const { return max_version_; }

 private:
  bool IsLastHandle(const Datum& handle) const;
  void KeepLastHandle(const Datum& handle);

  std::vector<uint8_t> flags_;
  std::vector<PackSnapshotBounds> bounds_;
  std::optional<SnapshotId> max_version_;

  // The pack under way.
  bool has_rows_ = false;
  uint8_t pack_flags_ = 0;
  PackSnapshotBounds pack_bounds_;
  int64_t last_int_handle_ = 0;
  std::string last_common_handle_;
};

}  // namespace varve

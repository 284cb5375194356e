#include "columnar/pack_mvcc_stats.h"

#include <algorithm>
#include <cassert>

#include "base/coding.h"
#include "columnar/format.h"

namespace varve {
namespace {

constexpr uint8_t kKnownFlags = kPackHasDelete | kPackHasMultiVersion;

void PutHead(size_t num_packs, std::string* out) {
  PutLittleEndian<uint8_t>(out, kPropertyVersion);
  PutLittleEndian<uint32_t>(out, static_cast<uint32_t>(num_packs));
}

// Takes version and pack count off; whether they are as expected and `bytes_per_pack` bytes follow
// for each pack, no more.
bool TakeHead(std::string_view* in, size_t num_packs, size_t bytes_per_pack) {
  uint8_t version = 0;
  uint32_t packs = 0;
  return GetLittleEndian(in, &version) && version == kPropertyVersion &&
         GetLittleEndian(in, &packs) && packs == num_packs &&
         in->size() == uint64_t{packs} * bytes_per_pack;
}

}  // namespace

std::optional<PackMvccStats> PackMvccStats::Parse(std::string_view value, size_t num_packs) {
  if (!TakeHead(&value, num_packs, 1)) {
    return std::nullopt;
  }
  std::vector<uint8_t> flags(value.begin(), value.end());
  if (std::ranges::any_of(flags, [](uint8_t f) { return (f & ~kKnownFlags) != 0; })) {
    return std::nullopt;
  }
  return PackMvccStats(std::move(flags));
}

std::string PackMvccStats::Encode() const {
  std::string out;
  PutHead(flags_.size(), &out);
  out.append(flags_.begin(), flags_.end());
  return out;
}

bool PackSnapshotBounds::Contradicts(uint8_t flags) const {
  const bool some_ended = min_end != kNoEnd;
  return min_begin > max_begin || min_end > max_end ||
         some_ended != ((flags & kPackHasDelete) != 0);
}

std::string EncodePackSnapshotBounds(std::span<const PackSnapshotBounds> bounds) {
  std::string out;
  PutHead(bounds.size(), &out);
  for (const PackSnapshotBounds& pack : bounds) {
    for (const SnapshotId id : {pack.min_begin, pack.max_begin, pack.min_end, pack.max_end}) {
      PutLittleEndian(&out, id);
    }
  }
  return out;
}

std::optional<std::vector<PackSnapshotBounds>> ParsePackSnapshotBounds(std::string_view value,
                                                                       size_t num_packs) {
  if (!TakeHead(&value, num_packs, 4 * sizeof(SnapshotId))) {
    return std::nullopt;
  }
  std::vector<PackSnapshotBounds> bounds(num_packs);
  for (PackSnapshotBounds& pack : bounds) {
    for (SnapshotId* id : {&pack.min_begin, &pack.max_begin, &pack.min_end, &pack.max_end}) {
      GetLittleEndian(&value, id);
    }
  }
  return bounds;
}

bool PackMvccStatsBuilder::IsLastHandle(const Datum& handle) const {
  return handle.physical() == PhysicalType::kInt64 ? handle.int64_value() == last_int_handle_
                                                   : handle.bytes() == last_common_handle_;
}

void PackMvccStatsBuilder::KeepLastHandle(const Datum& handle) {
  if (handle.physical() == PhysicalType::kInt64) {
    last_int_handle_ = handle.int64_value();
  } else {
    last_common_handle_.assign(handle.bytes());
  }
}

void PackMvccStatsBuilder::Add(const ColumnarRows& rows, size_t from, size_t to) {
  if (from == to) {
    return;
  }
  // has_multi_version := some row's handle = the handle of the row before it, in the pack
  bool repeats = has_rows_ && IsLastHandle(rows.handles.at(from));
  for (size_t row = from + 1; row < to && !repeats; ++row) {
    repeats = rows.handles.at(row) == rows.handles.at(row - 1);
  }
  // has_delete := some row is erased or its end is present
  bool has_delete = false;
  SnapshotId max_begin = 0;
  for (size_t row = from; row < to; ++row) {
    const SnapshotId begin = rows.begins[row];
    const SnapshotId end = rows.is_erased(row) ? 0 : rows.ends[row];
    has_delete |= !IsCurrent(end);
    max_begin = std::max(max_begin, begin);
    pack_bounds_.min_begin = std::min(pack_bounds_.min_begin, begin);
    pack_bounds_.min_end = std::min(pack_bounds_.min_end, end);
    pack_bounds_.max_end = std::max(pack_bounds_.max_end, end);
  }
  pack_bounds_.max_begin = std::max(pack_bounds_.max_begin, max_begin);
  max_version_ = std::max(max_version_.value_or(0), max_begin);
  pack_flags_ |= (repeats ? kPackHasMultiVersion : 0) | (has_delete ? kPackHasDelete : 0);
  has_rows_ = true;
  KeepLastHandle(rows.handles.at(to - 1));
}

void PackMvccStatsBuilder::FinishPack() {
  assert(has_rows_);
  flags_.push_back(pack_flags_);
  bounds_.push_back(pack_bounds_);
  has_rows_ = false;
  pack_flags_ = 0;
  pack_bounds_ = {};
}

}  // namespace varve

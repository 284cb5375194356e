#include "columnar/min_max_index.h"

#include <compare>

#include "base/coding.h"
#include "base/float_order.h"
#include "base/key_codec.h"
#include "columnar/format.h"
#include "columnar/pack_codec.h"

namespace varve {
namespace {

constexpr uint8_t kHasNull = 1 << 0;
constexpr uint8_t kHasValue = 1 << 1;
constexpr uint8_t kMaxIsOpen = 1 << 2;
constexpr uint8_t kKnownFlags = kHasNull | kHasValue | kMaxIsOpen;

bool DecodeBounds(std::string_view* in, size_t num_packs, ColumnVector* bounds) {
  std::string_view encoded;
  return GetLengthPrefixed(in, &encoded) &&
         PackDecoder().Decode(encoded, bounds->type(), num_packs, bounds).ok();
}

// A lower bound that is no longer than bounds may be.
Datum Lower(const Datum& value) {
  return value.physical() == PhysicalType::kBytes
             ? Datum::Bytes(value.bytes().substr(0, MinMaxIndex::kMaxBoundSize))
             : value;
}

// Which rows of a pack hold its smallest and its largest value.
struct Extremes {
  bool has_null = false;
  bool has_value = false;
  size_t min_row = 0;
  size_t max_row = 0;
};

// `key` gives for a row what orders it: the order of CompareDatums, without its dispatch per value.
template <typename Key>
Extremes FindExtremes(const ColumnVector& column, std::span<const uint8_t> left_out,
                      const Key& key) {
  Extremes found;
  decltype(key(0)) min{};
  decltype(key(0)) max{};
  for (size_t row = 0; row < column.size(); ++row) {
    if (!left_out.empty() && left_out[row] != 0) {
      continue;
    }
    if (column.is_null(row)) {
      found.has_null = true;
      continue;
    }
    const auto value = key(row);
    if (!found.has_value || value < min) {
      min = value;
      found.min_row = row;
    }
    if (!found.has_value || max < value) {
      max = value;
      found.max_row = row;
    }
    found.has_value = true;
  }
  return found;
}

Extremes FindExtremes(const ColumnVector& column, std::span<const uint8_t> left_out) {
  switch (column.type()) {
    case PhysicalType::kBool:
      return FindExtremes(column, left_out, [&](size_t row) { return column.bools()[row]; });
    case PhysicalType::kInt64:
      return FindExtremes(column, left_out, [&](size_t row) { return column.int64s()[row]; });
    case PhysicalType::kInt128:
      return FindExtremes(column, left_out, [&](size_t row) { return column.int128s()[row]; });
    case PhysicalType::kFloat64:
      return FindExtremes(column, left_out,
                          [&](size_t row) { return OrderedBitsOfFloat(column.float64s()[row]); });
    case PhysicalType::kBytes:
      return FindExtremes(column, left_out, [&](size_t row) { return column.bytes(row); });
  }
  return {};
}

}  // namespace

std::optional<MinMaxIndex> MinMaxIndex::Parse(std::string_view value, PhysicalType type,
                                              size_t num_packs) {
  uint8_t version = 0;
  uint32_t packs = 0;
  if (!GetLittleEndian(&value, &version) || version != kPropertyVersion ||
      !GetLittleEndian(&value, &packs) || packs != num_packs || value.size() < packs) {
    return std::nullopt;
  }
  std::vector<uint8_t> flags(value.begin(), value.begin() + packs);
  value.remove_prefix(packs);
  ColumnVector mins(type);
  ColumnVector maxs(type);
  if (!DecodeBounds(&value, num_packs, &mins) || !DecodeBounds(&value, num_packs, &maxs) ||
      !value.empty()) {
    return std::nullopt;
  }
  for (size_t pack = 0; pack < num_packs; ++pack) {
    const bool has_value = (flags[pack] & kHasValue) != 0;
    const bool has_max = has_value && (flags[pack] & kMaxIsOpen) == 0;
    if ((flags[pack] & ~kKnownFlags) != 0 || mins.is_null(pack) == has_value ||
        maxs.is_null(pack) == has_max ||
        (has_max && CompareDatums(mins.at(pack), maxs.at(pack)) > 0)) {
      return std::nullopt;
    }
  }
  return MinMaxIndex(std::move(flags), std::move(mins), std::move(maxs));
}

PackMinMax MinMaxIndex::pack(size_t pack) const {
  return {.has_null = (flags_[pack] & kHasNull) != 0,
          .has_value = (flags_[pack] & kHasValue) != 0,
          .min = mins_.at(pack),
          .max = maxs_.at(pack),
          .max_is_open = (flags_[pack] & kMaxIsOpen) != 0};
}

void MinMaxIndexBuilder::AddPack(const ColumnVector& column, std::span<const uint8_t> left_out) {
  const Extremes found = FindExtremes(column, left_out);
  uint8_t flags = found.has_null ? kHasNull : 0;
  if (found.has_value) {
    flags |= kHasValue;
    mins_.Append(Lower(column.at(found.min_row)));
    AppendUpper(column.at(found.max_row), &flags);
  } else {
    mins_.AppendNull();
    maxs_.AppendNull();
  }
  flags_.push_back(flags);
}

void MinMaxIndexBuilder::AppendUpper(const Datum& value, uint8_t* flags) {
  if (value.physical() != PhysicalType::kBytes ||
      value.bytes().size() <= MinMaxIndex::kMaxBoundSize) {
    maxs_.Append(value);
    return;
  }
  // Every value at or below this one starts with the prefix or lies before it.
  const std::string upper = PrefixSuccessor(value.bytes().substr(0, MinMaxIndex::kMaxBoundSize));
  if (upper.empty()) {
    *flags |= kMaxIsOpen;
    maxs_.AppendNull();
  } else {
    maxs_.AppendBytes(upper);
  }
}

std::string MinMaxIndexBuilder::Encode() const {
  std::string out;
  PutLittleEndian<uint8_t>(&out, kPropertyVersion);
  PutLittleEndian<uint32_t>(&out, static_cast<uint32_t>(flags_.size()));
  out.append(flags_.begin(), flags_.end());
  PackEncoder encoder;
  for (const ColumnVector* bounds : {&mins_, &maxs_}) {
    std::string encoded;
    encoder.Encode(*bounds, 0, bounds->size(), &encoded);
    PutLengthPrefixed(&out, encoded);
  }
  return out;
}

}  // namespace varve

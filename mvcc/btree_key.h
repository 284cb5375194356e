// Keys in the nodes of a B-tree: 8 bytes each, whatever their length.
//
//   byte      0    1    2    3    4    5    6    7
//   inline    k0   k1   k2   k3   k4   k5   k6   length          at most 7 bytes, rest zero
//   stored    address of the stored form (56 bits)    0xff
//
//   stored form, unaligned, in memory that is never freed while the tree lives:
//             length (2 bytes, little-endian)   k0 k1 … k(length-1)
//
// A slot is one word, read and written as a whole: a reader that races with a writer may see the
// key that stood there before, never half of one and never half an address. As the stored form is
// written before the slot that points to it, and never changes, following the address is safe even
// before the node has been validated.
//
// Read as a big-endian number an inline slot sorts as its key does: the bytes first, and where they
// are the same but for trailing zeros, the length. A stored key of which only the first 7 bytes are
// taken, with 0xff in place of the length, sorts rightly among inline ones. So most comparisons are
// of two integers.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/coding.h"

namespace varve {

static_assert(std::endian::native == std::endian::little, "the layout above is of such machines");

class BTreeKey {
 public:
  static constexpr size_t kMaxInline = 7;
  static constexpr size_t kMaxSize = 65535;

  BTreeKey() = default;  // the empty key

  // Requires: key.size() <= kMaxInline.
  static BTreeKey Inline(std::string_view key) {
    assert(key.size() <= kMaxInline);
    uint64_t word = 0;
    if (!key.empty()) {
      std::memcpy(&word, key.data(), key.size());
    }
    return BTreeKey(word | (uint64_t{key.size()} << kMarkShift));
  }

  // Requires: a stored form of more than kMaxInline bytes.
  static BTreeKey Stored(const char* stored) {
    const auto address = reinterpret_cast<uintptr_t>(stored);
    assert((address & kMarkMask) == 0);
    return BTreeKey(address | kMarkMask);
  }

  static size_t StoredSize(std::string_view key) { return sizeof(uint16_t) + key.size(); }
  static void Store(std::string_view key, char* out) {
    assert(key.size() <= kMaxSize);
    const auto size = static_cast<uint16_t>(key.size());
    std::memcpy(out, &size, sizeof(size));
    if (!key.empty()) {
      std::memcpy(out + sizeof(size), key.data(), key.size());
    }
  }
  static std::string_view ReadStored(const char* stored) {
    return {stored + sizeof(uint16_t), LoadLittleEndian<uint16_t>(stored)};
  }

  bool is_stored() const { return word_ >= kMarkMask; }

  // An inline key's bytes are those of the slot: valid while it is.
  std::string_view view() const {
    return is_stored() ? ReadStored(stored())
                       : std::string_view(reinterpret_cast<const char*>(this),
                                          static_cast<size_t>(word_ >> kMarkShift));
  }

  // Requires: is_stored().
  const char* stored() const { return reinterpret_cast<const char*>(word_ & ~kMarkMask); }

  // The number by which inline keys sort. Requires: !is_stored().
  uint64_t order() const { return __builtin_bswap64(word_); }

 private:
  // Addresses of programs have at most 56 bits (x86-64 with five levels of pages; Arm has 52).
  static constexpr int kMarkShift = 56;
  static constexpr uint64_t kMarkMask = uint64_t{0xff} << kMarkShift;

  explicit BTreeKey(uint64_t word) : word_(word) {}

  uint64_t word_ = 0;
};

static_assert(sizeof(BTreeKey) == 8);

// A key that is looked for, prepared for many comparisons. Borrows the bytes.
class BTreeKeyProbe {
 public:
  explicit BTreeKeyProbe(std::string_view key)
      : key_(key),
        order_(key.size() <= BTreeKey::kMaxInline ? BTreeKey::Inline(key).order()
                                                  : OrderOfLong(key.data())) {}

  std::string_view key() const { return key_; }

  // Below, at or above 0 as the probe sorts before, at or after `slot`.
  int Compare(BTreeKey slot) const {
    if (!slot.is_stored()) {
      return Sign(order_, slot.order());
    }
    const std::string_view other = BTreeKey::ReadStored(slot.stored());
    return key_.size() <= BTreeKey::kMaxInline ? Sign(order_, OrderOfLong(other.data()))
                                               : CompareLong(key_, other);
  }

 private:
  static int Sign(uint64_t a, uint64_t b) {
    return static_cast<int>(a > b) - static_cast<int>(a < b);
  }

  // 8 bytes as the number that sorts as they do.
  static uint64_t Load(const char* data) {
    uint64_t word;
    std::memcpy(&word, data, sizeof(word));
    return __builtin_bswap64(word);
  }

  // The number of a key of 8 bytes or more among those of inline keys.
  static uint64_t OrderOfLong(const char* data) { return Load(data) | 0xff; }

  // Both have 8 bytes or more.
  static int CompareLong(std::string_view a, std::string_view b) {
    const size_t common = a.size() < b.size() ? a.size() : b.size();
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= common; at += sizeof(uint64_t)) {
      const uint64_t x = Load(a.data() + at);
      const uint64_t y = Load(b.data() + at);
      if (x != y) {
        return x < y ? -1 : 1;
      }
    }
    if (at < common) {
      // The last 8 common bytes; those of them that were compared already are the same.
      at = common - sizeof(uint64_t);
      const uint64_t x = Load(a.data() + at);
      const uint64_t y = Load(b.data() + at);
      if (x != y) {
        return x < y ? -1 : 1;
      }
    }
    return Sign(a.size(), b.size());
  }

  std::string_view key_;
  uint64_t order_;
};

}  // namespace varve

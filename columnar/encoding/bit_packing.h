// Unsigned integers of 0 … 64 bits each, packed without gaps.
//
// Value i takes the bits [i * width, (i + 1) * width) of a string of bits; bit b of the string is
// bit b % 8 (bit 0 lowest) of byte b / 8, lower bits of a value first. The unused bits of the last
// byte are 0. Example, width 3, values 1 2 3 4: bits 100 010 110 001, bytes D1 08.
//
// Because every eight values start at a byte, a value is found without reading those before it, and
// 64 values are unpacked by code made for their width, at a speed near that of copying.
//
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace varve {

static_assert(std::endian::native == std::endian::little,
              "columnar files are little-endian and are read in place");

inline constexpr int kMaxPackedWidth = 64;

// The bits that `largest` and everything below it need; 0 for 0.
constexpr int PackedWidth(uint64_t largest) {
  return std::bit_width(largest);
}

// The bits of codes that tell `count` things apart. Requires: count >= 1.
constexpr int CodeWidth(size_t count) {
  return PackedWidth(count - 1);
}

// The bytes that `count` values take. Requires: 0 <= width <= 64.
constexpr size_t PackedBytes(size_t count, int width) {
  const auto bits = static_cast<size_t>(width);
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

// Appends the values. Requires: each fits into `width` bits.
void PackBits(std::span<const uint64_t> values, int width, std::string* out);

// Writes `base` plus each of the values [from, to), modulo 2^64, to `out`. Requires: `packed` holds
// PackedBytes(to, width) bytes at least.
void UnpackBits(std::string_view packed, int width, size_t from, size_t to, uint64_t base,
                uint64_t* out);

// Value `index` alone. Requires: `packed` holds PackedBytes(index + 1, width) bytes at least.
uint64_t UnpackOne(std::string_view packed, int width, size_t index);

}  // namespace varve

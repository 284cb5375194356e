// NULL marks as bits: eight rows a byte.
//
// Bit r % 8 (bit 0 lowest) of byte r / 8 says that row r is NULL; the unused bits of the last byte
// are 0. In memory a mark is a byte, 0 or 1 (base/column_batch.h).
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace varve {

constexpr size_t NullBitmapBytes(size_t rows) {
  return rows / 8 + (rows % 8 != 0 ? 1 : 0);
}

// How many of the marks are 1.
size_t CountNulls(std::span<const uint8_t> marks);
// How many bits of the bitmap are 1.
size_t CountNullBits(std::string_view bitmap);

void AppendNullBitmap(std::span<const uint8_t> marks, std::string* out);

// Writes the marks of the rows [from, from + marks.size()). Requires: the bitmap holds them.
void ReadNullBitmap(std::string_view bitmap, size_t from, std::span<uint8_t> marks);

inline bool NullBit(std::string_view bitmap, size_t row) {
  return ((static_cast<uint8_t>(bitmap[row / 8]) >> (row % 8)) & 1) != 0;
}

}  // namespace varve

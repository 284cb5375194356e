#include "columnar/encoding/null_bitmap.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace varve {
namespace {

// Eight marks (one a byte, 0 or 1) as the bits of one byte: the product moves bit 8 * i to bit
// 56 + i, and no two of its terms meet there.
constexpr uint64_t kGatherMarks = 0x0102040810204080;

// The other way round: bit i of every byte's copy of the bits is kept in byte i, then made 1.
uint64_t SpreadBits(uint8_t bits) {
  const uint64_t kept = (bits * uint64_t{0x0101010101010101}) & 0x8040201008040201;
  return ((kept + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101;
}

}  // namespace

size_t CountNulls(std::span<const uint8_t> marks) {
  size_t count = 0;
  size_t row = 0;
  for (; row + 8 <= marks.size(); row += 8) {
    uint64_t word;
    std::memcpy(&word, marks.data() + row, sizeof(word));
    count += static_cast<size_t>(std::popcount(word));
  }
  for (; row < marks.size(); ++row) {
    count += marks[row];
  }
  return count;
}

size_t CountNullBits(std::string_view bitmap) {
  size_t count = 0;
  for (const char byte : bitmap) {
    count += static_cast<size_t>(std::popcount(static_cast<uint8_t>(byte)));
  }
  return count;
}

void AppendNullBitmap(std::span<const uint8_t> marks, std::string* out) {
  out->reserve(out->size() + NullBitmapBytes(marks.size()));
  for (size_t row = 0; row < marks.size(); row += 8) {
    uint64_t word = 0;
    std::memcpy(&word, marks.data() + row, std::min<size_t>(8, marks.size() - row));
    out->push_back(static_cast<char>((word * kGatherMarks) >> 56));
  }
}

void ReadNullBitmap(std::string_view bitmap, size_t from, std::span<uint8_t> marks) {
  size_t done = 0;
  for (; done < marks.size() && (from + done) % 8 != 0; ++done) {
    marks[done] = NullBit(bitmap, from + done) ? 1 : 0;
  }
  while (done < marks.size()) {
    const uint64_t word = SpreadBits(static_cast<uint8_t>(bitmap[(from + done) / 8]));
    const size_t count = std::min<size_t>(8, marks.size() - done);
    std::memcpy(marks.data() + done, &word, count);
    done += count;
  }
}

}  // namespace varve

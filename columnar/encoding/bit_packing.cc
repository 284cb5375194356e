#include "columnar/encoding/bit_packing.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace varve {
namespace {

constexpr size_t kBlock = 64;  // values unpacked at once; they take 8 * width bytes
// A value is loaded as a whole word from the byte it starts in, so up to this many bytes after the
// value are read too.
constexpr size_t kSlack = sizeof(uint64_t) + 1;

constexpr uint64_t MaskOf(int width) {
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

uint64_t LoadWord(const char* in) {
  uint64_t word;
  std::memcpy(&word, in, sizeof(word));
  return word;
}

// Value `I` of eight values that start at a byte.
template <int kWidth, size_t I>
inline uint64_t ValueOfEight(const char* in) {
  constexpr size_t kBit = I * static_cast<size_t>(kWidth);
  constexpr int kShift = kBit % 8;
  const char* from = in + kBit / 8;
  uint64_t value = LoadWord(from) >> kShift;
  if constexpr (kShift + kWidth > 64) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(from[8])) << (64 - kShift);
  }
  return value & MaskOf(kWidth);
}

template <int kWidth, size_t... I>
inline void UnpackEight(const char* in, uint64_t base, uint64_t* out, std::index_sequence<I...>) {
  ((out[I] = base + ValueOfEight<kWidth, I>(in)), ...);
}

// Reads up to kSlack bytes beyond the 8 * kWidth of the block.
template <int kWidth>
void UnpackBlock(const char* in, uint64_t base, uint64_t* out) {
  for (size_t i = 0; i < kBlock; i += 8) {
    UnpackEight<kWidth>(in, base, out + i, std::make_index_sequence<8>());
    in += kWidth;
  }
}

using UnpackFunction = void (*)(const char*, uint64_t, uint64_t*);

template <size_t... I>
constexpr auto MakeUnpackFunctions(std::index_sequence<I...>) {
  return std::array<UnpackFunction, sizeof...(I)>{&UnpackBlock<static_cast<int>(I) + 1>...};
}

// By width minus one.
constexpr auto kUnpackFunctions = MakeUnpackFunctions(std::make_index_sequence<kMaxPackedWidth>());

}  // namespace

void PackBits(std::span<const uint64_t> values, int width, std::string* out) {
  assert(width >= 0 && width <= kMaxPackedWidth);
  if (width == 0) {
    return;
  }
  const size_t start = out->size();
  const size_t bytes = PackedBytes(values.size(), width);
  out->resize(start + bytes + sizeof(uint64_t));  // whole words are stored
  char* to = out->data() + start;
  uint64_t word = 0;
  int used = 0;
  for (const uint64_t value : values) {
    assert((value & ~MaskOf(width)) == 0);
    word |= value << used;
    used += width;
    if (used >= 64) {
      std::memcpy(to, &word, sizeof(word));
      to += sizeof(word);
      used -= 64;
      word = used == 0 ? 0 : value >> (width - used);
    }
  }
  std::memcpy(to, &word, sizeof(word));
  out->resize(start + bytes);
}

void UnpackBits(std::string_view packed, int width, size_t from, size_t to, uint64_t base,
                uint64_t* out) {
  assert(width >= 0 && width <= kMaxPackedWidth && from <= to);
  assert(PackedBytes(to, width) <= packed.size());
  if (width == 0) {
    std::fill_n(out, to - from, base);
    return;
  }
  // Up to a multiple of eight values one by one: from there on they start at a byte.
  for (; from < to && from % 8 != 0; ++from) {
    *out++ = base + UnpackOne(packed, width, from);
  }
  const UnpackFunction unpack = kUnpackFunctions[static_cast<size_t>(width) - 1];
  const size_t block_bytes = kBlock / 8 * static_cast<size_t>(width);
  size_t offset = from / 8 * static_cast<size_t>(width);
  while (to - from >= kBlock && packed.size() - offset >= block_bytes + kSlack) {
    unpack(packed.data() + offset, base, out);
    from += kBlock;
    out += kBlock;
    offset += block_bytes;
  }
  // The last blocks from a copy, so that nothing is read or written beyond the ends.
  while (from < to) {
    std::array<char, kBlock / 8 * kMaxPackedWidth + kSlack> bytes{};
    std::array<uint64_t, kBlock> values;
    std::memcpy(bytes.data(), packed.data() + offset,
                std::min(block_bytes, packed.size() - offset));
    unpack(bytes.data(), base, values.data());
    const size_t count = std::min(kBlock, to - from);
    std::memcpy(out, values.data(), count * sizeof(uint64_t));
    from += count;
    out += count;
    offset += block_bytes;
  }
}

uint64_t UnpackOne(std::string_view packed, int width, size_t index) {
  assert(PackedBytes(index + 1, width) <= packed.size());
  if (width == 0) {
    return 0;
  }
  const size_t bits = index % 8 * static_cast<size_t>(width);
  const size_t byte = index / 8 * static_cast<size_t>(width) + bits / 8;
  const int shift = static_cast<int>(bits % 8);
  std::array<char, kSlack> copy{};
  const char* from = packed.data() + byte;
  if (packed.size() - byte < kSlack) {
    std::memcpy(copy.data(), from, packed.size() - byte);
    from = copy.data();
  }
  uint64_t value = LoadWord(from) >> shift;
  if (shift + width > 64) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(from[8])) << (64 - shift);
  }
  return value & MaskOf(width);
}

}  // namespace varve

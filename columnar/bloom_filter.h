// A Bloom filter over the handles of a file, so that a look-up can leave the file unread.
//
// Keys are 64-bit hashes (XXH3-64 of the handle's bytes) given by the caller. The filter is
// blocked: all bits of one key lie in one block of 64 bytes, a cache line, so a look-up touches
// one. At 10 bits and 6 probes per key about one absent key in a hundred is answered "maybe".
//
// Format, all integers little-endian:
//
//   filter    size(4) | version(1) = 1 | probes(1) | zero(2) | num_blocks(4) | blocks | checksum(8)
//   size      bytes after this field
//   blocks    num_blocks * 64 bytes
//   checksum  XXH3-64 of everything before it, size included
//
// The block of a hash h is ((h >> 32) * num_blocks) >> 32. Its bits come from m = the low 32 bits
// of h: for each probe m becomes m * 0x9E3779B1 mod 2^32, and the bit is m >> 23. Bit b is bit b %
// 8 (bit 0 lowest) of byte b / 8 of the block.
//
// Thread-safety: a BloomFilter is immutable once made; a builder is for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve {

struct BloomFilterOptions {
  size_t bits_per_key = 10;
  size_t probes = 6;  // 1 … 16
};

class BloomFilterBuilder {
 public:
  explicit BloomFilterBuilder(BloomFilterOptions options = {}) : options_(options) {}

  // Keys may repeat; a key equal to the one before it is not counted again.
  void Add(uint64_t hash);
  size_t num_keys() const { return hashes_.size(); }

  // Appends the filter of all keys added and starts anew.
  void Finish(std::string* out);

 private:
  BloomFilterOptions options_;
  std::vector<uint64_t> hashes_;
};

class BloomFilter {
 public:
  // A filter that answers "maybe" for every key.
  BloomFilter() = default;

  // The filter at the start of `bytes`, copied; bytes after it are ignored. A filter that is cut
  // short, damaged or of a later version answers "maybe" for every key: it may cost a read, never a
  // row.
  explicit BloomFilter(std::string_view bytes);

  // False: no such key was added.
  bool MayContain(uint64_t hash) const;

  // Whether it can answer "no" at all.
  bool valid() const { return num_blocks_ != 0; }

 private:
  size_t num_blocks_ = 0;
  size_t probes_ = 0;
  std::string blocks_;
};

}  // namespace varve

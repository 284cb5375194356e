#include "columnar/bloom_filter.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>

#include "base/coding.h"

namespace varve {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kBlockBytes = 64;
constexpr size_t kMaxProbes = 16;
constexpr size_t kHeadBytes = 4 + 1 + 1 + 2 + 4;
constexpr size_t kChecksumBytes = 8;
constexpr int kBitShift = 32 - 9;  // the top nine bits: one of the 512 of a block

size_t BlockOf(uint64_t hash, size_t num_blocks) {
  return static_cast<size_t>(((hash >> 32) * num_blocks) >> 32);
}

// Calls visit(byte of the block, mask) for each probe until it returns false.
template <typename Visit>
void VisitProbes(uint64_t hash, size_t probes, const Visit& visit) {
  auto mixed = static_cast<uint32_t>(hash);
  for (size_t i = 0; i < probes; ++i) {
    mixed *= 0x9E3779B1U;
    const uint32_t bit = mixed >> kBitShift;
    if (!visit(bit / 8, static_cast<uint8_t>(1U << (bit % 8)))) {
      return;
    }
  }
}

}  // namespace

void BloomFilterBuilder::Add(uint64_t hash) {
  if (hashes_.empty() || hashes_.back() != hash) {
    hashes_.push_back(hash);
  }
}

void BloomFilterBuilder::Finish(std::string* out) {
  assert(options_.probes >= 1 && options_.probes <= kMaxProbes);
  const size_t bits = std::max<size_t>(hashes_.size() * options_.bits_per_key, 1);
  const size_t num_blocks = (bits + kBlockBytes * 8 - 1) / (kBlockBytes * 8);
  const size_t start = out->size();
  PutLittleEndian(out, static_cast<uint32_t>(kHeadBytes - sizeof(uint32_t) +
                                             num_blocks * kBlockBytes + kChecksumBytes));
  PutLittleEndian(out, kVersion);
  PutLittleEndian(out, static_cast<uint8_t>(options_.probes));
  PutLittleEndian(out, uint16_t{0});
  PutLittleEndian(out, static_cast<uint32_t>(num_blocks));
  const size_t blocks_at = out->size();
  out->resize(blocks_at + num_blocks * kBlockBytes);
  for (const uint64_t hash : hashes_) {
    char* block = out->data() + blocks_at + BlockOf(hash, num_blocks) * kBlockBytes;
    VisitProbes(hash, options_.probes, [&](size_t byte, uint8_t mask) {
      block[byte] = static_cast<char>(block[byte] | mask);
      return true;
    });
  }
  PutLittleEndian(out, uint64_t{XXH3_64bits(out->data() + start, out->size() - start)});
  hashes_.clear();
}

BloomFilter::BloomFilter(std::string_view bytes) {
  std::string_view in = bytes;
  uint32_t size = 0;
  uint8_t version = 0;
  uint8_t probes = 0;
  uint16_t zero = 0;
  uint32_t num_blocks = 0;
  if (!GetLittleEndian(&in, &size) || in.size() < size || !GetLittleEndian(&in, &version) ||
      !GetLittleEndian(&in, &probes) || !GetLittleEndian(&in, &zero) ||
      !GetLittleEndian(&in, &num_blocks)) {
    return;
  }
  const size_t block_bytes = size_t{num_blocks} * kBlockBytes;
  if (version != kVersion || probes < 1 || probes > kMaxProbes || num_blocks == 0 ||
      sizeof(uint32_t) + size != kHeadBytes + block_bytes + kChecksumBytes) {
    return;
  }
  const std::string_view checked = bytes.substr(0, kHeadBytes + block_bytes);
  if (XXH3_64bits(checked.data(), checked.size()) !=
      LoadLittleEndian<uint64_t>(bytes.data() + checked.size())) {
    return;
  }
  num_blocks_ = num_blocks;
  probes_ = probes;
  blocks_ = in.substr(0, block_bytes);
}

bool BloomFilter::MayContain(uint64_t hash) const {
  if (num_blocks_ == 0) {
    return true;
  }
  const char* block = blocks_.data() + BlockOf(hash, num_blocks_) * kBlockBytes;
  bool found = true;
  VisitProbes(hash, probes_, [&](size_t byte, uint8_t mask) {
    found = (static_cast<uint8_t>(block[byte]) & mask) != 0;
    return found;
  });
  return found;
}

}  // namespace varve

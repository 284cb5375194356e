// zstd, with contexts that are kept between calls, and the rule that bounds what bytes expand to.
//
// Thread-safety: none; each object is for one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

extern "C" {
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
}

namespace varve {

// Bytes may expand to kFreelyExpandedBytes, and beyond that to kMaxExpansion times their length.
// Encoders keep to it (they store what would break it less densely), so that a decoder can refuse
// anything else before it allocates.
inline constexpr size_t kFreelyExpandedBytes = size_t{64} << 20;
inline constexpr size_t kMaxExpansion = 1024;

constexpr bool ExpansionIsBounded(size_t expanded, size_t stored) {
  return expanded <= kFreelyExpandedBytes || expanded / kMaxExpansion <= stored;
}

class Compressor {
 public:
  explicit Compressor(int level) : level_(level) {}

  // Appends `bytes` as a zstd frame if that takes `limit` bytes at most and ExpansionIsBounded;
  // else appends nothing and returns false.
  bool Compress(std::string_view bytes, size_t limit, std::string* out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  int level_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class Decompressor {
 public:
  // The `size` bytes that the frame holds, valid until the next call. DataLoss when it holds
  // something else, or would expand further than ExpansionIsBounded allows.
  absl::StatusOr<std::string_view> Decompress(std::string_view frame, size_t size);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::string buffer_;
};

}  // namespace varve

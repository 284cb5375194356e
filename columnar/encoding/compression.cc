#include "columnar/encoding/compression.h"

#include <zstd.h>

#include "base/strings.h"

namespace varve {

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

bool Compressor::Compress(std::string_view bytes, size_t limit, std::string* out) {
  if (context_ == nullptr) {
    context_.reset(ZSTD_createCCtx());
    if (context_ == nullptr) {
      return false;
    }
  }
  const size_t start = out->size();
  out->resize(start + limit);
  // A frame that does not fit into `limit` is given up as soon as that shows.
  const size_t size = ZSTD_compressCCtx(context_.get(), out->data() + start, limit, bytes.data(),
                                        bytes.size(), level_);
  const bool compressed = ZSTD_isError(size) == 0 && ExpansionIsBounded(bytes.size(), size);
  out->resize(compressed ? start + size : start);
  return compressed;
}

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

absl::StatusOr<std::string_view> Decompressor::Decompress(std::string_view frame, size_t size) {
  if (!ExpansionIsBounded(size, frame.size())) {
    return absl::DataLossError(StrCat("pack: the ", frame.size(),
                                      " compressed bytes claim to hold ", size,
                                      ", more than any writer compresses"));
  }
  const unsigned long long declared = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (declared != size) {
    return absl::DataLossError(
        StrCat("pack: the zstd frame does not hold the ", size, " bytes the pack says"));
  }
  if (context_ == nullptr) {
    context_.reset(ZSTD_createDCtx());
    if (context_ == nullptr) {
      return absl::ResourceExhaustedError("no memory for a zstd context");
    }
  }
  if (buffer_.size() < size) {
    buffer_.resize(size);
  }
  const size_t got =
      ZSTD_decompressDCtx(context_.get(), buffer_.data(), size, frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) {
    return absl::DataLossError(StrCat("pack: the zstd frame is damaged: ", ZSTD_getErrorName(got)));
  }
  if (got != size) {
    return absl::DataLossError(
        StrCat("pack: the zstd frame holds ", got, " bytes instead of ", size));
  }
  return std::string_view(buffer_).substr(0, size);
}

}  // namespace varve

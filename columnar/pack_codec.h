// Packs: the rows of one column of a columnar file, a few thousand at a time, as bytes.
//
// A pack is written once by a PackEncoder and read, whole or in part, by a PackDecoder. The encoder
// looks at the values and takes the smallest of the encodings below; what still repeats is left to
// zstd, where it pays. A value that lies under a NULL is kept like any other.
//
// Format, all integers little-endian:
//
//   pack      encoding(1) | flags(1) | rows(varint) | null_bitmap | body_size(varint) | body
//   flags     bits 0-1: nulls. 0 no row is NULL, 1 every row is, 2 null_bitmap says which
//             bit 2: the body is a zstd frame
//             others: 0
//   null_bitmap  (nulls = 2 only) ceil(rows / 8) bytes; bit r % 8 (bit 0 lowest) of byte r / 8 is
//             set where row r is NULL; the unused bits of the last byte are 0
//   body_size (bit 2 only) bytes of the body before compression
//   body      the rest: by encoding and physical type, in columnar/encoding/integers.h (bool,
//             int64, int128, float64), columnar/encoding/bytes.h and key_tuples.h (bytes)
//
//   encoding  0 plain, 1 constant, 2 run-length, 3 delta, 4 frame of reference, 5 dictionary,
//             6 frames, 7 delta frames, 8 key tuples
//
// varint: base 128, lowest group first (base/coding.h). A bool is the integer 0 or 1. A float64 is
// the integer with its bits, so NaN payloads and -0.0 survive. The physical type is not in the
// pack: the file's schema knows it. A new encoding takes a new number; a reader that does not know
// it says so and reads nothing.
//
// What one damaged byte can make a reader allocate is bounded: numbers take what the row count
// says, and bytes that would expand beyond kFreelyExpandedBytes must not expand more than
// kMaxExpansion-fold, a rule the encoder keeps too (columnar/encoding/compression.h).
//
// Thread-safety: none; encoders and decoders own scratch memory and are meant to be reused. Packs
// are borrowed for the length of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "base/type.h"
#include "columnar/encoding/pack_encoding.h"

namespace varve {

template <typename T>
class IntegerEncoder;

enum class PackCompression : uint8_t { kNone, kZstd };

// Rows of a pack at most; writers stay far below it. A reader refuses more before it allocates.
inline constexpr size_t kMaxPackRows = size_t{1} << 24;

struct PackCodecOptions {
  int zstd_level = 3;
};

class PackEncoder {
 public:
  explicit PackEncoder(PackCodecOptions options = {});
  ~PackEncoder();
  PackEncoder(PackEncoder&&) noexcept;
  PackEncoder& operator=(PackEncoder&&) noexcept;

  // Appends a pack of the column's rows [from, to). Requires: from <= to <= column.size() and
  // to - from <= kMaxPackRows.
  void Encode(const ColumnVector& column, size_t from, size_t to, std::string* out);

 private:
  // Writes the body into the scratch.
  PackEncoding EncodeBody(const ColumnVector& column, size_t from, size_t to);
  // Appends the body's size and its zstd frame, or nothing and returns false if zstd does not pay.
  bool AppendCompressed(PhysicalType type, std::string* out);
  // Writes the values, if they are tuples of integers, as columns into the scratch, and returns
  // true if that is worth it.
  bool EncodeTuples(const ColumnVector& column, size_t from, size_t to);
  // Replaces the body at the end of `out` by a compressed one whose offsets take whole bytes, if
  // that is much smaller; returns its encoding.
  template <typename T>
  std::optional<PackEncoding> ReplaceByAligned(IntegerEncoder<T>* encoder,
                                               std::span<const T> values, size_t body_at,
                                               std::string* out);

  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

// Every function appends rows of a pack to `column`, whose type is `type`, or leaves the column as
// it was and returns DataLoss with one line that says what is wrong with the pack. `rows` is the
// number of rows the pack must have. Whether values are well-formed is checked as far as they are
// decoded; there is no checksum here.
class PackDecoder {
 public:
  PackDecoder();
  ~PackDecoder();
  PackDecoder(PackDecoder&&) noexcept;
  PackDecoder& operator=(PackDecoder&&) noexcept;

  // All rows.
  absl::Status Decode(std::string_view encoded, PhysicalType type, size_t rows,
                      ColumnVector* column);

  // The rows [from, to). Requires: from <= to <= rows.
  absl::Status DecodeRange(std::string_view encoded, PhysicalType type, size_t rows, size_t from,
                           size_t to, ColumnVector* column);

  // The rows named by `selection`. Requires: ascending numbers below `rows`. Cheaper than decoding
  // all and selecting: values that are not wanted are not unpacked where the encoding allows it,
  // and bytes that are not wanted are not copied.
  absl::Status DecodeSelected(std::string_view encoded, PhysicalType type, size_t rows,
                              std::span<const uint32_t> selection, ColumnVector* column);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

struct PackDescription {
  PackEncoding encoding = PackEncoding::kPlain;
  PackCompression compression = PackCompression::kNone;
  size_t rows = 0;
  size_t null_count = 0;
  size_t bytes = 0;               // of the whole pack
  size_t uncompressed_bytes = 0;  // the same, had zstd not been applied
};

// What the head of a pack says; the body is not looked at. DataLoss if the head is malformed or the
// encoding is none of the type's.
absl::StatusOr<PackDescription> DescribePack(std::string_view encoded, PhysicalType type);

}  // namespace varve

// Encodings of the integers of a pack: int64, int128, and as int64 the bits of float64 and the
// bools.
//
// Format of a body of n integers of T (8 bytes, or 16 for int128), all little-endian, all
// arithmetic modulo 2^64 or 2^128:
//
//   block(k)            base(T) | width(1) | offsets: k numbers, packed (bit_packing.h)
//                       integer i is base + offset i; width is 0 … 64. For int128 it may be 128:
//                       then each offset takes 16 bytes.
//
//   plain               n integers of T
//   constant            value(T), for all n
//   run-length          num_runs(4) | block<int64>(num_runs): lengths, at least 1, together n
//                       | block(num_runs): the value of each run
//   delta               first(T) | block(n - 1): what each integer is more than the one before
//   frame of reference  block(n)
//   dictionary          num_entries(4) | width(1) | codes: n numbers below num_entries, packed
//                       | block(num_entries): the entries
//   frames              frames(n), see frames.h
//   delta frames        first(T) | frames(n - 1): what each integer is more than the one before
//
// Every body has exactly this length. All but plain and frame of reference need n >= 1, delta
// frames n >= 2. The encoder takes the smallest (it looks at dictionaries of n / 4 entries at
// most); of equal ones the first of constant, frame of reference, delta, run-length, dictionary,
// plain. Frames, which are read more slowly, must save a tenth. Base is the smallest integer of a
// block or frame (of differences: the smallest taken as signed), so that a sequence of even steps
// has width 0.
//
// Thread-safety: none; the objects own scratch memory and are meant to be reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "base/int128.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/pack_encoding.h"

namespace varve {

// The type in which arithmetic on T wraps around.
template <typename T>
using Unsigned = std::conditional_t<sizeof(T) == sizeof(uint64_t), uint64_t, uint128_t>;

// The width of offsets of an int128 that are kept whole, 16 bytes each.
inline constexpr int kWholeWidth = 128;

// The width that offsets up to `range` take: 0 … 64, or kWholeWidth.
template <typename T>
constexpr int OffsetWidth(Unsigned<T> range) {
  if constexpr (sizeof(T) > sizeof(uint64_t)) {
    if ((range >> 64) != 0) {
      return kWholeWidth;
    }
  }
  return PackedWidth(static_cast<uint64_t>(range));
}

// Whether a file may say that offsets of T have this width.
template <typename T>
constexpr bool IsOffsetWidth(int width) {
  return (width >= 0 && width <= kMaxPackedWidth) ||
         (width == kWholeWidth && sizeof(T) > sizeof(uint64_t));
}

constexpr size_t OffsetBytes(size_t count, int width) {
  return width == kWholeWidth ? count * sizeof(uint128_t) : PackedBytes(count, width);
}

// The integers of one block, in place.
template <typename T>
class IntegerBlock {
 public:
  // Takes a block of `count` integers off the front of `in`; false if it is cut short or its width
  // is none.
  bool Read(std::string_view* in, size_t count);

  void Unpack(size_t from, size_t to, T* out) const;
  T At(size_t index) const;

  // The bytes of a block of `count` integers between these two.
  static size_t Bytes(size_t count, T smallest, T largest);
  // `aligned`: the offsets take whole bytes.
  static void Append(std::span<const T> values, T smallest, T largest,
                     std::vector<uint64_t>* scratch, std::string* out, bool aligned = false);

 private:
  T base_ = 0;
  int width_ = 0;
  std::string_view packed_;
};

template <typename T>
class FrameWriter;
template <typename T>
class FrameReader;

template <typename T>
class IntegerEncoder {
 public:
  IntegerEncoder();
  ~IntegerEncoder();

  // Appends the body in the encoding it returns.
  PackEncoding Encode(std::span<const T> values, std::string* body);

  // Whether a compressor may find more in EncodeAligned's body than the last Encode has used: of
  // int64s sequences that come again (a relation ordered by column lists the same files for each),
  // of int128s the bytes of texts, of which prefixes are numbers.
  bool MayCompressAligned(std::span<const T> values) const;
  // Appends another body of the values of the last Encode, in an encoding it returns. It is no
  // smaller, but its offsets take whole bytes, so that a compressor finds what is alike.
  PackEncoding EncodeAligned(std::span<const T> values, std::string* body);

 private:
  // What the choice of the encoding rests on.
  struct Shape {
    T smallest = 0;
    T largest = 0;
    T smallest_step = 0;
    T largest_step = 0;
    size_t num_runs = 0;
  };
  static void Measure(std::span<const T> values, Shape* shape);
  bool Repeats(std::span<const T> values) const;
  // Fills lengths_ and derived_.
  void FindRuns(std::span<const T> values);
  // Fills entries_ and codes_; false when there are more than `max_entries` different integers.
  bool BuildDictionary(std::span<const T> values, size_t max_entries);
  // Fills steps_.
  void FindSteps(std::span<const T> values);

  // Of the values of the last Encode: their shape, and how and in how many bytes they were encoded.
  Shape shape_;
  PackEncoding encoding_ = PackEncoding::kPlain;
  size_t bytes_ = 0;
  std::vector<uint64_t> offsets_;  // of a block that is being written
  std::vector<T> derived_;         // the values of runs
  std::vector<T> steps_;
  std::vector<int64_t> lengths_;  // of runs
  int64_t shortest_run_ = 0;
  int64_t longest_run_ = 0;
  std::vector<T> entries_;  // of the dictionary, in order of appearance
  std::vector<uint64_t> codes_;
  std::vector<uint32_t> slots_;  // hash table: 1 + entry number, 0 empty
  std::unique_ptr<FrameWriter<T>> frames_;
  std::unique_ptr<FrameWriter<T>> step_frames_;
};

template <typename T>
class IntegerDecoder {
 public:
  IntegerDecoder();
  ~IntegerDecoder();

  // Writes the integers [from, to) of the `rows` in the body to `out`.
  absl::Status Decode(PackEncoding encoding, std::string_view body, size_t rows, size_t from,
                      size_t to, T* out);

  // Writes those named by `selection`, ascending numbers below `rows`.
  absl::Status Gather(PackEncoding encoding, std::string_view body, size_t rows,
                      std::span<const uint32_t> selection, T* out);

 private:
  absl::Status DecodeRuns(std::string_view body, size_t rows, size_t from, size_t to, T* out);
  // `encoding`: delta or delta frames.
  absl::Status DecodeSteps(PackEncoding encoding, std::string_view body, size_t rows, size_t from,
                           size_t to, T* out);
  struct Dictionary {
    std::string_view codes;
    int width = 0;
  };
  // Reads the entries into entries_.
  absl::Status ReadDictionary(std::string_view body, size_t rows, Dictionary* dictionary);
  // Writes the entries that codes_ name.
  absl::Status LookUp(T* out) const;

  std::vector<T> entries_;  // of a dictionary; values of runs; steps before a range
  std::vector<uint64_t> codes_;
  std::vector<int64_t> lengths_;  // of runs
  std::vector<T> values_;         // from which Gather picks
  std::unique_ptr<FrameReader<T>> frames_;
};

extern template class IntegerBlock<int64_t>;
extern template class IntegerBlock<int128_t>;
extern template class IntegerEncoder<int64_t>;
extern template class IntegerEncoder<int128_t>;
extern template class IntegerDecoder<int64_t>;
extern template class IntegerDecoder<int128_t>;

}  // namespace varve

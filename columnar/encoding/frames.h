// Integers cut into frames: stretches that each have a base, a divisor and a width of their own.
//
// A pack of a relation that is ordered by table holds rows of many tables, and one width for all of
// them is that of the worst. Frames end where the values jump, so that each is as narrow as its own
// values are. The divisor takes out what all values of a frame have in common: microseconds of
// timestamps that are whole seconds.
//
// Format of frames(n), for n >= 1 integers of T; block as in integers.h:
//
//   num_frames(4) | block<int64>(num_frames): length of each frame, at least 1, together n
//   | block<T>(num_frames): base of each | block<int64>(num_frames): divisor of each, at least 1
//   | width(1) of each: 0 … 64, or 128 for int128
//   | the offsets of each frame, packed (bit_packing.h): integer i of a frame is
//     base + divisor * offset i, modulo 2^64 or 2^128. Width 128: offsets of 16 bytes.
//
// Thread-safety: none; the objects own scratch memory and are meant to be reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/int128.h"
#include "columnar/encoding/integers.h"

namespace varve {

// Chooses the frames of a sequence, and writes them.
template <typename T>
class FrameWriter {
 public:
  // Chooses frames for `values`, and returns the bytes that Append will take; nullopt if they come
  // to `limit` bytes or more. Requires: values.
  std::optional<size_t> Plan(std::span<const T> values, size_t limit);
  // Requires: the values of the last Plan, which found frames. `aligned`: the offsets take whole
  // bytes.
  void Append(std::span<const T> values, std::string* out, bool aligned = false);

 private:
  // Consecutive values that are not cut further: a frame is one or several units.
  struct Unit {
    size_t from = 0;
    T smallest = 0;
    T largest = 0;
  };
  // The cheapest way to cut all values before a unit into frames.
  struct Cut {
    uint64_t bits = 0;
    size_t first_unit = 0;  // of the last of these frames
  };

  // Fills blocks_.
  void FindBlocks(std::span<const T> values);
  // About what frames could take at best, in bytes; 0 where that is hard to tell.
  size_t BytesAtBest(std::span<const T> values) const;
  // Fills units_.
  void FindUnits(std::span<const T> values);
  void CutBlock(std::span<const T> values, size_t from, size_t to);
  void AddUnit(std::span<const T> values, size_t from, size_t to);
  // The width of the blocks beside a block: what its own would be, were it not for a jump in it.
  int WidthBeside(size_t block) const;
  void JoinUnits(size_t count);
  // Adds the values [from, to) as a frame, and returns the bytes its offsets take.
  size_t AddFrame(std::span<const T> values, size_t from, size_t to, T smallest, T largest);

  std::vector<Unit> blocks_;  // equally long
  std::vector<int> block_widths_;
  std::vector<Unit> units_;
  std::vector<Cut> cuts_;
  // Of the frames chosen:
  std::vector<int64_t> lengths_;
  std::vector<T> bases_;
  std::vector<int64_t> divisors_;
  std::vector<uint8_t> widths_;
  std::vector<uint64_t> offsets_;  // of a block or frame that is being written
};

template <typename T>
class FrameReader {
 public:
  // Reads the frames of `count` integers, which take all of `body`; they are borrowed from it.
  // DataLoss if they are malformed.
  absl::Status Read(std::string_view body, size_t count);

  // Writes the integers [from, to). Requires: Read returned OK, to <= count.
  void Unpack(size_t from, size_t to, T* out) const;

 private:
  struct Frame {
    size_t from = 0;
    size_t to = 0;
    T base = 0;
    uint64_t divisor = 1;
    int width = 0;
    std::string_view packed;
  };
  static void UnpackFrame(const Frame& frame, size_t from, size_t to, T* out);

  std::vector<Frame> frames_;
  std::vector<int64_t> lengths_;  // scratch of Read
  std::vector<T> bases_;
  std::vector<int64_t> divisors_;
};

extern template class FrameWriter<int64_t>;
extern template class FrameWriter<int128_t>;
extern template class FrameReader<int64_t>;
extern template class FrameReader<int128_t>;

}  // namespace varve

#include "columnar/encoding/frames.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/coding.h"
#include "base/strings.h"
#include "columnar/encoding/bit_packing.h"

namespace varve {
namespace {

// The values of a block. A block is a unit, unless there is a jump in it: it is cut there, so that
// frames begin where it is.
constexpr size_t kBlockValues = 32;
// A block that is so many bits wider than those beside it may have a jump: a step so many times as
// large as the others.
constexpr int kJumpBits = 4;
// Of so many blocks one is looked at for a divisor.
constexpr size_t kDivisorSample = 8;
// A frame joins so many units at most: that bounds the search.
constexpr size_t kMaxJoinedUnits = 32;

constexpr std::string_view kWhat = "frames";

template <typename T>
Unsigned<T> Distance(T smaller, T larger) {
  return static_cast<Unsigned<T>>(larger) - static_cast<Unsigned<T>>(smaller);
}

template <typename T>
size_t BlockBytes(std::span<const T> values) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  return IntegerBlock<T>::Bytes(values.size(), *smallest, *largest);
}

template <typename T>
void AppendBlock(std::span<const T> values, std::vector<uint64_t>* scratch, std::string* out) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  IntegerBlock<T>::Append(values, *smallest, *largest, scratch, out);
}

// What divides the distances of all values from `base`; at least 1.
template <typename T>
uint64_t DivisorOf(std::span<const T> values, T base) {
  uint64_t divisor = 0;
  for (const T value : values) {
    const auto offset = static_cast<uint64_t>(Distance(base, value));
    if (offset != 0 && (divisor == 0 || offset % divisor != 0)) {
      divisor = std::gcd(divisor, offset);
      if (divisor == 1) {
        break;
      }
    }
  }
  // Written as an int64.
  return divisor == 0 || divisor > uint64_t{std::numeric_limits<int64_t>::max()} ? 1 : divisor;
}

}  // namespace

// --- Writing -------------------------------------------------------------------------------------

template <typename T>
void FrameWriter<T>::FindBlocks(std::span<const T> values) {
  blocks_.clear();
  block_widths_.clear();
  for (size_t from = 0; from < values.size(); from += kBlockValues) {
    const size_t to = std::min(from + kBlockValues, values.size());
    T smallest = values[from];
    T largest = values[from];
    for (size_t i = from + 1; i < to; ++i) {
      smallest = values[i] < smallest ? values[i] : smallest;
      largest = values[i] > largest ? values[i] : largest;
    }
    blocks_.push_back({.from = from, .smallest = smallest, .largest = largest});
    block_widths_.push_back(OffsetWidth<T>(Distance(smallest, largest)));
  }
}

template <typename T>
int FrameWriter<T>::WidthBeside(size_t block) const {
  const int before = block == 0 ? 0 : block_widths_[block - 1];
  const int behind = block + 1 == block_widths_.size() ? 0 : block_widths_[block + 1];
  return std::max(before, behind);
}

template <typename T>
size_t FrameWriter<T>::BytesAtBest(std::span<const T> values) const {
  for (size_t block = 0; block < blocks_.size(); block += kDivisorSample) {
    const auto of_block = values.subspan(
        blocks_[block].from, std::min(kBlockValues, values.size() - blocks_[block].from));
    if (block_widths_[block] > 1 && block_widths_[block] <= kMaxPackedWidth &&
        DivisorOf(of_block, blocks_[block].smallest) > 1) {
      return 0;
    }
  }
  size_t bits = 0;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    bits += kBlockValues * static_cast<size_t>(std::min(block_widths_[block], WidthBeside(block)));
  }
  return bits / 8;
}

template <typename T>
void FrameWriter<T>::AddUnit(std::span<const T> values, size_t from, size_t to) {
  if (from == to) {
    return;
  }
  const auto [smallest, largest] =
      std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(from),
                          values.begin() + static_cast<std::ptrdiff_t>(to));
  units_.push_back({.from = from, .smallest = *smallest, .largest = *largest});
}

// Adds a block as units, cut where a jump is: a step that is far larger than all others but one.
// Two, because where a single number lies apart there is a jump to it and one back.
template <typename T>
void FrameWriter<T>::CutBlock(std::span<const T> values, size_t from, size_t to) {
  // The three largest steps, and before which values the two largest are.
  std::array<Unsigned<T>, 3> largest{};
  std::array<size_t, 2> at = {from, from};
  for (size_t i = from + 1; i < to; ++i) {
    const Unsigned<T> step = values[i] >= values[i - 1] ? Distance(values[i - 1], values[i])
                                                        : Distance(values[i], values[i - 1]);
    if (step > largest[0]) {
      largest = {step, largest[0], largest[1]};
      at = {i, at[0]};
    } else if (step > largest[1]) {
      largest = {largest[0], step, largest[1]};
      at[1] = i;
    } else if (step > largest[2]) {
      largest[2] = step;
    }
  }
  const auto jump_or_start = [&](size_t i) {
    return largest[i] >> kJumpBits >= largest[2] ? at[i] : from;
  };
  const auto [first, second] = std::minmax({jump_or_start(0), jump_or_start(1)});
  AddUnit(values, from, first);
  AddUnit(values, first, second);
  AddUnit(values, second, to);
}

template <typename T>
void FrameWriter<T>::FindUnits(std::span<const T> values) {
  units_.clear();
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (block_widths_[block] > WidthBeside(block) + kJumpBits) {
      CutBlock(values, blocks_[block].from,
               std::min(blocks_[block].from + kBlockValues, values.size()));
    } else {
      units_.push_back(blocks_[block]);
    }
  }
}

// Chooses which units make up frames: of all ways to cut the sequence, with frames of
// kMaxJoinedUnits at most, the one that takes the fewest bits.
template <typename T>
void FrameWriter<T>::JoinUnits(size_t count) {
  // About what a frame takes in the blocks of bases, lengths, divisors and widths.
  constexpr uint64_t kFrameBits = 8 * sizeof(T) + 32;
  cuts_.resize(units_.size() + 1);
  cuts_[0] = {};
  for (size_t end = 1; end <= units_.size(); ++end) {
    const size_t to = end == units_.size() ? count : units_[end].from;
    Cut best{.bits = std::numeric_limits<uint64_t>::max()};
    T smallest = units_[end - 1].smallest;
    T largest = units_[end - 1].largest;
    const size_t first = end - std::min(end, kMaxJoinedUnits);
    for (size_t unit = end; unit-- > first;) {
      smallest = std::min(smallest, units_[unit].smallest);
      largest = std::max(largest, units_[unit].largest);
      const auto width = static_cast<uint64_t>(OffsetWidth<T>(Distance(smallest, largest)));
      const uint64_t of_frame = kFrameBits + width * (to - units_[unit].from);
      if (of_frame >= best.bits) {
        break;  // a longer one takes more
      }
      if (const uint64_t bits = cuts_[unit].bits + of_frame; bits < best.bits) {
        best = {.bits = bits, .first_unit = unit};
      }
    }
    cuts_[end] = best;
  }
}

template <typename T>
size_t FrameWriter<T>::AddFrame(std::span<const T> values, size_t from, size_t to, T smallest,
                                T largest) {
  const Unsigned<T> range = Distance(smallest, largest);
  int width = OffsetWidth<T>(range);
  uint64_t divisor = 1;
  if (width > 1 && width <= kMaxPackedWidth) {
    divisor = DivisorOf(values.subspan(from, to - from), smallest);
    width = OffsetWidth<T>(range / divisor);
  }
  lengths_.push_back(static_cast<int64_t>(to - from));
  // Whole values need no base, and compress better without one.
  bases_.push_back(width == kWholeWidth ? T{0} : smallest);
  divisors_.push_back(static_cast<int64_t>(divisor));
  widths_.push_back(static_cast<uint8_t>(width));
  return OffsetBytes(to - from, width);
}

template <typename T>
std::optional<size_t> FrameWriter<T>::Plan(std::span<const T> values, size_t limit) {
  FindBlocks(values);
  if (BytesAtBest(values) >= limit) {
    return std::nullopt;
  }
  FindUnits(values);
  JoinUnits(values.size());
  lengths_.clear();
  bases_.clear();
  divisors_.clear();
  widths_.clear();
  // The frames are found from the last one on.
  size_t bytes = sizeof(uint32_t);
  size_t to = values.size();
  for (size_t end = units_.size(); end > 0;) {
    const size_t first = cuts_[end].first_unit;
    T smallest = units_[first].smallest;
    T largest = units_[first].largest;
    for (size_t unit = first + 1; unit < end; ++unit) {
      smallest = std::min(smallest, units_[unit].smallest);
      largest = std::max(largest, units_[unit].largest);
    }
    bytes += AddFrame(values, units_[first].from, to, smallest, largest);
    to = units_[first].from;
    end = first;
  }
  std::reverse(lengths_.begin(), lengths_.end());
  std::reverse(bases_.begin(), bases_.end());
  std::reverse(divisors_.begin(), divisors_.end());
  std::reverse(widths_.begin(), widths_.end());
  bytes += BlockBytes<int64_t>(lengths_) + BlockBytes<T>(bases_) + BlockBytes<int64_t>(divisors_) +
           widths_.size();
  return bytes < limit ? std::optional(bytes) : std::nullopt;
}

template <typename T>
void FrameWriter<T>::Append(std::span<const T> values, std::string* out, bool aligned) {
  if (aligned) {
    for (uint8_t& width : widths_) {
      width = static_cast<uint8_t>((width + 7) / 8 * 8);
    }
  }
  PutLittleEndian(out, static_cast<uint32_t>(lengths_.size()));
  AppendBlock<int64_t>(lengths_, &offsets_, out);
  AppendBlock<T>(bases_, &offsets_, out);
  AppendBlock<int64_t>(divisors_, &offsets_, out);
  out->append(reinterpret_cast<const char*>(widths_.data()), widths_.size());
  size_t from = 0;
  for (size_t frame = 0; frame < lengths_.size(); ++frame) {
    const auto of_frame = values.subspan(from, static_cast<size_t>(lengths_[frame]));
    from += of_frame.size();
    if (widths_[frame] == kWholeWidth) {
      out->append(reinterpret_cast<const char*>(of_frame.data()), of_frame.size_bytes());
      continue;
    }
    const auto divisor = static_cast<uint64_t>(divisors_[frame]);
    offsets_.clear();
    for (const T value : of_frame) {
      offsets_.push_back(static_cast<uint64_t>(Distance(bases_[frame], value)));
    }
    if (divisor != 1) {
      for (uint64_t& offset : offsets_) {
        offset /= divisor;
      }
    }
    PackBits(offsets_, widths_[frame], out);
  }
}

// --- Reading -------------------------------------------------------------------------------------

template <typename T>
absl::Status FrameReader<T>::Read(std::string_view body, size_t count) {
  const auto cut_short = [] {
    return absl::DataLossError(StrCat(kWhat, ": the body is cut short"));
  };
  uint32_t num_frames = 0;
  if (!GetLittleEndian(&body, &num_frames)) {
    return cut_short();
  }
  if (num_frames > count) {
    return absl::DataLossError(StrCat(kWhat, ": ", num_frames, " of them for ", count, " numbers"));
  }
  IntegerBlock<int64_t> lengths;
  IntegerBlock<T> bases;
  IntegerBlock<int64_t> divisors;
  if (!lengths.Read(&body, num_frames) || !bases.Read(&body, num_frames) ||
      !divisors.Read(&body, num_frames) || body.size() < num_frames) {
    return cut_short();
  }
  lengths_.resize(num_frames);
  bases_.resize(num_frames);
  divisors_.resize(num_frames);
  lengths.Unpack(0, num_frames, lengths_.data());
  bases.Unpack(0, num_frames, bases_.data());
  divisors.Unpack(0, num_frames, divisors_.data());
  const std::string_view widths = body.substr(0, num_frames);
  body.remove_prefix(num_frames);

  frames_.clear();
  size_t from = 0;
  for (size_t i = 0; i < num_frames; ++i) {
    const auto length = static_cast<uint64_t>(lengths_[i]);  // a negative one is huge
    const int width = static_cast<uint8_t>(widths[i]);
    if (length == 0 || length > count - from) {
      return absl::DataLossError(StrCat(kWhat, ": frame ", i, " has length ", lengths_[i],
                                        " at number ", from, " of ", count));
    }
    if (divisors_[i] < 1 || !IsOffsetWidth<T>(width)) {
      return absl::DataLossError(
          StrCat(kWhat, ": frame ", i, " has width ", width, " and divisor ", divisors_[i]));
    }
    const size_t bytes = OffsetBytes(length, width);
    if (body.size() < bytes) {
      return cut_short();
    }
    frames_.push_back({.from = from,
                       .to = from + length,
                       .base = bases_[i],
                       .divisor = static_cast<uint64_t>(divisors_[i]),
                       .width = width,
                       .packed = body.substr(0, bytes)});
    body.remove_prefix(bytes);
    from += length;
  }
  if (from != count) {
    return absl::DataLossError(StrCat(kWhat, ": they make ", from, " numbers instead of ", count));
  }
  return body.empty() ? absl::OkStatus()
                      : absl::DataLossError(
                            StrCat(kWhat, ": ", body.size(), " bytes follow the end of the body"));
}

template <typename T>
void FrameReader<T>::UnpackFrame(const Frame& frame, size_t from, size_t to, T* out) {
  const auto base = static_cast<Unsigned<T>>(frame.base);
  if (frame.width == kWholeWidth) {
    for (size_t i = from; i < to; ++i) {
      Unsigned<T> offset;
      std::memcpy(&offset, frame.packed.data() + i * sizeof(T), sizeof(T));
      *out++ = static_cast<T>(base + offset * frame.divisor);
    }
    return;
  }
  if constexpr (sizeof(T) == sizeof(uint64_t)) {
    // An int64_t may be written as the uint64_t of the same bits.
    auto* const values = reinterpret_cast<uint64_t*>(out);
    if (frame.divisor == 1) {
      UnpackBits(frame.packed, frame.width, from, to, base, values);
      return;
    }
    UnpackBits(frame.packed, frame.width, from, to, 0, values);
    for (size_t i = 0; i < to - from; ++i) {
      values[i] = base + values[i] * frame.divisor;
    }
  } else {
    std::array<uint64_t, 256> offsets;
    while (from < to) {
      const size_t count = std::min(offsets.size(), to - from);
      UnpackBits(frame.packed, frame.width, from, from + count, 0, offsets.data());
      for (size_t i = 0; i < count; ++i) {
        out[i] = static_cast<T>(base + Unsigned<T>{offsets[i]} * frame.divisor);
      }
      from += count;
      out += count;
    }
  }
}

template <typename T>
void FrameReader<T>::Unpack(size_t from, size_t to, T* out) const {
  assert(from <= to);
  auto frame = std::upper_bound(frames_.begin(), frames_.end(), from,
                                [](size_t row, const Frame& f) { return row < f.to; });
  while (from < to) {
    const size_t end = std::min(to, frame->to);
    UnpackFrame(*frame, from - frame->from, end - frame->from, out);
    out += end - from;
    from = end;
    ++frame;
  }
}

template class FrameWriter<int64_t>;
template class FrameWriter<int128_t>;
template class FrameReader<int64_t>;
template class FrameReader<int128_t>;

}  // namespace varve

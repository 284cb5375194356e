#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/coding.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/frames.h"
#include "columnar/encoding/integers.h"

namespace varve {
namespace {

// Integers that take so few bits each are left as they are.
constexpr size_t kPlannedBits = 1;

// Fewer integers, or such that take so few bits each, are not searched for sequences that come
// again.
constexpr size_t kMinRepeating = 1'024;
constexpr size_t kRepeatingBits = 3;

// Texts take more bits than this; few of them are not looked at.
constexpr size_t kTextBits = 18;
constexpr size_t kMinTexts = 256;

// a - b modulo 2^64 or 2^128.
template <typename T>
T WrappingDifference(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}

template <typename T>
uint64_t HashOf(T value) {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
  auto bits = static_cast<uint64_t>(value);
  if constexpr (sizeof(T) > sizeof(uint64_t)) {
    bits ^= static_cast<uint64_t>(static_cast<Unsigned<T>>(value) >> 64) * 0xC2B2AE3D27D4EB4F;
  }
  bits *= kGoldenRatio;
  return bits ^ (bits >> 32);
}

}  // namespace

template <typename T>
IntegerEncoder<T>::IntegerEncoder()
    : frames_(std::make_unique<FrameWriter<T>>()),
      step_frames_(std::make_unique<FrameWriter<T>>()) {}
template <typename T>
IntegerEncoder<T>::~IntegerEncoder() = default;

template <typename T>
void IntegerEncoder<T>::Measure(std::span<const T> values, Shape* measured) {
  Shape shape{.smallest = values[0], .largest = values[0], .num_runs = 1};
  if (values.size() > 1) {
    shape.smallest_step = shape.largest_step = WrappingDifference(values[1], values[0]);
  }
  T previous = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    const T value = values[i];
    const T step = WrappingDifference(value, previous);
    shape.smallest = std::min(shape.smallest, value);
    shape.largest = std::max(shape.largest, value);
    shape.smallest_step = std::min(shape.smallest_step, step);
    shape.largest_step = std::max(shape.largest_step, step);
    shape.num_runs += step != 0 ? 1 : 0;
    previous = value;
  }
  *measured = shape;
}

template <typename T>
bool IntegerEncoder<T>::BuildDictionary(std::span<const T> values, size_t max_entries) {
  const size_t num_slots = std::bit_ceil(2 * max_entries);
  slots_.assign(num_slots, 0);
  entries_.clear();
  codes_.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    size_t slot = HashOf(values[i]) & (num_slots - 1);
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1] != values[i]) {
      slot = (slot + 1) & (num_slots - 1);
    }
    if (slots_[slot] == 0) {
      if (entries_.size() == max_entries) {
        return false;
      }
      entries_.push_back(values[i]);
      slots_[slot] = static_cast<uint32_t>(entries_.size());
    }
    codes_[i] = slots_[slot] - 1;
  }
  return true;
}

template <typename T>
void IntegerEncoder<T>::FindRuns(std::span<const T> values) {
  lengths_.clear();
  derived_.clear();
  size_t start = 0;
  for (size_t i = 1; i <= values.size(); ++i) {
    if (i == values.size() || values[i] != values[start]) {
      lengths_.push_back(static_cast<int64_t>(i - start));
      derived_.push_back(values[start]);
      start = i;
    }
  }
  const auto [shortest, longest] = std::minmax_element(lengths_.begin(), lengths_.end());
  shortest_run_ = *shortest;
  longest_run_ = *longest;
}

template <typename T>
PackEncoding IntegerEncoder<T>::Encode(std::span<const T> values, std::string* body) {
  using Block = IntegerBlock<T>;
  const size_t count = values.size();
  if (count == 0) {
    return PackEncoding::kPlain;
  }
  Measure(values, &shape_);
  const Shape& shape = shape_;
  encoding_ = PackEncoding::kConstant;
  bytes_ = sizeof(T);
  if (shape.num_runs == 1) {
    PutLittleEndian(body, static_cast<Unsigned<T>>(values[0]));
    return PackEncoding::kConstant;
  }

  PackEncoding best = PackEncoding::kPlain;
  size_t best_bytes = count * sizeof(T) + 1;  // plain gives way to what is as small
  const auto offer = [&](PackEncoding encoding, size_t bytes) {
    if (bytes < best_bytes) {
      best = encoding;
      best_bytes = bytes;
    }
  };
  const size_t head = sizeof(uint32_t);
  offer(PackEncoding::kFrameOfReference, Block::Bytes(count, shape.smallest, shape.largest));
  offer(PackEncoding::kDelta,
        sizeof(T) + Block::Bytes(count - 1, shape.smallest_step, shape.largest_step));
  if (shape.num_runs <= count / 2) {
    FindRuns(values);
    offer(PackEncoding::kRunLength,
          head + IntegerBlock<int64_t>::Bytes(shape.num_runs, shortest_run_, longest_run_) +
              Block::Bytes(shape.num_runs, shape.smallest, shape.largest));
  }
  // Beyond a quarter of the rows a dictionary saves little, and looking for one costs most.
  const size_t max_entries = std::min(count / 4, best_bytes / sizeof(T));
  if (max_entries >= 2 && best_bytes > head + 1 + PackedBytes(count, 1) + 2 * sizeof(T) &&
      BuildDictionary(values, max_entries)) {
    offer(PackEncoding::kDictionary,
          head + 1 + PackedBytes(count, CodeWidth(entries_.size())) +
              Block::Bytes(entries_.size(), shape.smallest, shape.largest));
  }
  if (best_bytes > count * kPlannedBits / 8 + sizeof(T)) {
    FindSteps(values);
    const size_t limit = best_bytes - best_bytes / 10;
    if (const std::optional<size_t> bytes = frames_->Plan(values, limit)) {
      offer(PackEncoding::kFrames, *bytes);
    }
    if (const std::optional<size_t> bytes =
            step_frames_->Plan(steps_, std::min(limit, best_bytes) - sizeof(T))) {
      offer(PackEncoding::kDeltaFrames, sizeof(T) + *bytes);
    }
  }

  encoding_ = best;
  bytes_ = best_bytes;
  switch (best) {
    case PackEncoding::kFrameOfReference:
      Block::Append(values, shape.smallest, shape.largest, &offsets_, body);
      break;
    case PackEncoding::kDelta:
      FindSteps(values);
      PutLittleEndian(body, static_cast<Unsigned<T>>(values[0]));
      Block::Append(steps_, shape.smallest_step, shape.largest_step, &offsets_, body);
      break;
    case PackEncoding::kFrames: frames_->Append(values, body); break;
    case PackEncoding::kDeltaFrames:
      PutLittleEndian(body, static_cast<Unsigned<T>>(values[0]));
      step_frames_->Append(steps_, body);
      break;
    case PackEncoding::kRunLength:
      PutLittleEndian(body, static_cast<uint32_t>(lengths_.size()));
      IntegerBlock<int64_t>::Append(lengths_, shortest_run_, longest_run_, &offsets_, body);
      Block::Append(derived_, shape.smallest, shape.largest, &offsets_, body);
      break;
    case PackEncoding::kDictionary:
      PutLittleEndian(body, static_cast<uint32_t>(entries_.size()));
      body->push_back(static_cast<char>(CodeWidth(entries_.size())));
      PackBits(codes_, CodeWidth(entries_.size()), body);
      Block::Append(entries_, shape.smallest, shape.largest, &offsets_, body);
      break;
    case PackEncoding::kConstant:
    case PackEncoding::kKeyTuples:
    case PackEncoding::kPlain:
      body->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
      break;
  }
  return best;
}

template <typename T>
void IntegerEncoder<T>::FindSteps(std::span<const T> values) {
  steps_.resize(values.size() - 1);
  for (size_t i = 1; i < values.size(); ++i) {
    steps_[i - 1] = WrappingDifference(values[i], values[i - 1]);
  }
}

template <typename T>
bool IntegerEncoder<T>::Repeats(std::span<const T> values) const {
  constexpr size_t kWindow = 4;
  if (values.size() < kMinRepeating || bytes_ < values.size() * kRepeatingBits / 8) {
    return false;
  }
  // Of the windows of steps one in sixteen is looked at, chosen by its contents, so that it is
  // chosen again where it comes again.
  std::array<uint64_t, 1024> seen{};
  size_t looked_at = 0;
  size_t found = 0;
  uint64_t window = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const uint64_t step = HashOf(WrappingDifference(values[i], values[i - 1]));
    window = (window << (64 / kWindow)) + step * 0x9E3779B97F4A7C15;
    if (i < kWindow || window >> 60 != 0) {
      continue;
    }
    ++looked_at;
    uint64_t& slot = seen[(window >> 50) % seen.size()];
    found += slot == window ? 1 : 0;
    slot = window;
  }
  return found > looked_at / 4;
}

template <typename T>
bool IntegerEncoder<T>::MayCompressAligned(std::span<const T> values) const {
  if constexpr (sizeof(T) == sizeof(uint64_t)) {
    return Repeats(values);
  } else {
    return values.size() >= kMinTexts && bytes_ >= values.size() * kTextBits / 8;
  }
}

template <typename T>
PackEncoding IntegerEncoder<T>::EncodeAligned(std::span<const T> values, std::string* body) {
  using Block = IntegerBlock<T>;
  const size_t start = body->size();
  const auto prefers_steps = [&] {
    const size_t offsets = Block::Bytes(values.size(), shape_.smallest, shape_.largest);
    const size_t steps = Block::Bytes(values.size(), shape_.smallest_step, shape_.largest_step);
    // Of ids that ascend nearly all steps are small, whatever the one between two columns is.
    size_t ascents = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      ascents += values[i] >= values[i - 1] ? 1 : 0;
    }
    return ascents >= values.size() / 16 * 15 ? steps / 4 * 3 <= offsets : steps < offsets;
  };
  PackEncoding encoding = PackEncoding::kFrameOfReference;
  if (encoding_ == PackEncoding::kFrames) {
    encoding = encoding_;
    frames_->Append(values, body, /*aligned=*/true);
  } else if (encoding_ == PackEncoding::kDeltaFrames) {
    encoding = encoding_;
    FindSteps(values);
    PutLittleEndian(body, static_cast<Unsigned<T>>(values[0]));
    step_frames_->Append(steps_, body, /*aligned=*/true);
  } else if (!prefers_steps()) {
    Block::Append(values, shape_.smallest, shape_.largest, &offsets_, body, /*aligned=*/true);
  } else {
    encoding = PackEncoding::kDelta;
    FindSteps(values);
    PutLittleEndian(body, static_cast<Unsigned<T>>(values[0]));
    Block::Append(steps_, shape_.smallest_step, shape_.largest_step, &offsets_, body,
                  /*aligned=*/true);
  }
  if (body->size() - start > values.size_bytes()) {  // offsets as wide as the integers
    encoding = PackEncoding::kPlain;
    body->resize(start);
    body->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  return encoding;
}

template class IntegerEncoder<int64_t>;
template class IntegerEncoder<int128_t>;

}  // namespace varve

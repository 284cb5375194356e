#include <algorithm>
#include <array>
#include <cstring>

#include "base/coding.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/integers.h"

namespace varve {
namespace {

// How far `largest` lies above `smallest`.
template <typename T>
Unsigned<T> Range(T smallest, T largest) {
  return static_cast<Unsigned<T>>(largest) - static_cast<Unsigned<T>>(smallest);
}

template <typename T>
T LoadWhole(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

template <typename T>
size_t IntegerBlock<T>::Bytes(size_t count, T smallest, T largest) {
  return sizeof(T) + 1 + OffsetBytes(count, OffsetWidth<T>(Range(smallest, largest)));
}

template <typename T>
void IntegerBlock<T>::Append(std::span<const T> values, T smallest, T largest,
                             std::vector<uint64_t>* scratch, std::string* out, bool aligned) {
  int width = OffsetWidth<T>(Range(smallest, largest));
  if (aligned) {
    width = (width + 7) / 8 * 8;
  }
  PutLittleEndian(out, static_cast<Unsigned<T>>(smallest));
  out->push_back(static_cast<char>(width));
  if (width == kWholeWidth) {
    for (const T value : values) {
      PutLittleEndian(out, static_cast<Unsigned<T>>(value) - static_cast<Unsigned<T>>(smallest));
    }
    return;
  }
  if (width == 0) {
    return;
  }
  scratch->resize(values.size());
  const auto base = static_cast<uint64_t>(smallest);
  for (size_t i = 0; i < values.size(); ++i) {
    (*scratch)[i] = static_cast<uint64_t>(values[i]) - base;
  }
  PackBits(*scratch, width, out);
}

template <typename T>
bool IntegerBlock<T>::Read(std::string_view* in, size_t count) {
  if (in->size() < sizeof(T) + 1) {
    return false;
  }
  const int width = static_cast<uint8_t>((*in)[sizeof(T)]);
  if (!IsOffsetWidth<T>(width)) {
    return false;
  }
  const size_t bytes = OffsetBytes(count, width);
  if (in->size() - sizeof(T) - 1 < bytes) {
    return false;
  }
  base_ = LoadWhole<T>(in->data());
  width_ = width;
  packed_ = in->substr(sizeof(T) + 1, bytes);
  in->remove_prefix(sizeof(T) + 1 + bytes);
  return true;
}

template <typename T>
void IntegerBlock<T>::Unpack(size_t from, size_t to, T* out) const {
  const auto base = static_cast<Unsigned<T>>(base_);
  if constexpr (sizeof(T) == sizeof(uint64_t)) {
    // An int64_t may be written as the uint64_t of the same bits.
    UnpackBits(packed_, width_, from, to, base, reinterpret_cast<uint64_t*>(out));
  } else if (width_ == kWholeWidth) {
    for (size_t i = from; i < to; ++i) {
      *out++ = static_cast<T>(base + LoadWhole<Unsigned<T>>(packed_.data() + i * sizeof(T)));
    }
  } else {
    std::array<uint64_t, 256> offsets;
    while (from < to) {
      const size_t count = std::min(offsets.size(), to - from);
      UnpackBits(packed_, width_, from, from + count, 0, offsets.data());
      for (size_t i = 0; i < count; ++i) {
        out[i] = static_cast<T>(base + offsets[i]);
      }
      from += count;
      out += count;
    }
  }
}

template <typename T>
T IntegerBlock<T>::At(size_t index) const {
  Unsigned<T> offset = 0;
  if (width_ == kWholeWidth) {
    offset = LoadWhole<Unsigned<T>>(packed_.data() + index * sizeof(T));
  } else {
    offset = UnpackOne(packed_, width_, index);
  }
  return static_cast<T>(static_cast<Unsigned<T>>(base_) + offset);
}

template class IntegerBlock<int64_t>;
template class IntegerBlock<int128_t>;

}  // namespace varve

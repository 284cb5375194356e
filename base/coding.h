// Little building blocks of binary formats: varints, zigzag, fixed-width integers.
//
// Readers take a std::string_view and advance it; they return false when the bytes run out or are
// malformed, and leave the output untouched then.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace varve {

inline constexpr int kMaxVarint64Bytes = 10;

// Base-128 varint, least significant group first, as protobuf writes it.
inline void PutVarint64(std::string* out, uint64_t value) {
  char buffer[kMaxVarint64Bytes];
  int n = 0;
  while (value >= 0x80) {
    buffer[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[n++] = static_cast<char>(value);
  out->append(buffer, static_cast<size_t>(n));
}

inline bool GetVarint64(std::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  const size_t limit = in->size() < kMaxVarint64Bytes ? in->size() : kMaxVarint64Bytes;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<uint8_t>((*in)[i]);
    if (i == kMaxVarint64Bytes - 1 && byte > 1) {
      return false;  // more than 64 bits
    }
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

constexpr uint64_t ZigZagEncode(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t ZigZagDecode(uint64_t v) {
  return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

// Big-endian: the byte order of keys, where bytes must sort as numbers.
template <typename T>
void PutBigEndian(std::string* out, T value) {
  char buffer[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) {
    buffer[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
  }
  out->append(buffer, sizeof(T));
}

template <typename T>
T LoadBigEndian(const char* data) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>((value << 8) | static_cast<uint8_t>(data[i]));
  }
  return value;
}

template <typename T>
bool GetBigEndian(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) {
    return false;
  }
  *value = LoadBigEndian<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

// Little-endian: the byte order of values and files.
template <typename T>
void PutLittleEndian(std::string* out, T value) {
  char buffer[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) {
    buffer[i] = static_cast<char>(value >> (8 * i));
  }
  out->append(buffer, sizeof(T));
}

template <typename T>
T LoadLittleEndian(const char* data) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(static_cast<uint8_t>(data[i])) << (8 * i)));
  }
  return value;
}

template <typename T>
bool GetLittleEndian(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) {
    return false;
  }
  *value = LoadLittleEndian<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

}  // namespace varve

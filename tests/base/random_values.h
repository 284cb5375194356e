// Random datums for property tests: as often as not NULL, an extreme, or a value close to another.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/datum.h"
#include "base/type.h"

namespace varve {

inline constexpr std::array<PhysicalType, 5> kAllPhysicalTypes = {
    PhysicalType::kBool, PhysicalType::kInt64, PhysicalType::kInt128, PhysicalType::kFloat64,
    PhysicalType::kBytes};

// Makes random datums and keeps the bytes they point to until it is destroyed.
class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : engine_(seed) {}

  uint64_t Bits() { return engine_(); }
  // 0..bound-1. Requires: bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  // Bits of a random length, so that small and large numbers are equally likely.
  uint128_t BitsOfAnyLength(int max_length) {
    const auto length = static_cast<int>(Below(static_cast<uint64_t>(max_length) + 1));
    const uint128_t bits = (static_cast<uint128_t>(engine_()) << 64) | engine_();
    return length == 0 ? 0 : bits >> (128 - length);
  }

  int64_t Int64() {
    switch (Below(8)) {
      case 0: return std::numeric_limits<int64_t>::min() + static_cast<int64_t>(Below(2));
      case 1: return std::numeric_limits<int64_t>::max() - static_cast<int64_t>(Below(2));
      case 2: return static_cast<int64_t>(Below(7)) - 3;
      case 3: {  // around a power of 256, where encoded lengths change
        const auto power = static_cast<int64_t>(uint64_t{1} << (8 * (1 + Below(7))));
        return (OneIn(2) ? power : -power) + static_cast<int64_t>(Below(5)) - 2;
      }
      default: {
        const auto magnitude = static_cast<int64_t>(BitsOfAnyLength(63));
        return OneIn(2) ? magnitude : -magnitude;
      }
    }
  }

  int128_t Int128() {
    switch (Below(8)) {
      case 0: return kInt128Min + static_cast<int128_t>(Below(2));
      case 1: return kInt128Max - static_cast<int128_t>(Below(2));
      case 2: return Int64();
      case 3: {
        const auto power =
            static_cast<int128_t>(static_cast<uint128_t>(1) << (8 * (1 + Below(15))));
        return (OneIn(2) ? power : -power) + static_cast<int128_t>(Below(5)) - 2;
      }
      default: {
        const auto magnitude = static_cast<int128_t>(BitsOfAnyLength(127));
        return OneIn(2) ? magnitude : -magnitude;
      }
    }
  }

  double Float64() {
    using Limits = std::numeric_limits<double>;
    static constexpr std::array<double, 12> kSpecial = {0.0,
                                                        -0.0,
                                                        Limits::infinity(),
                                                        -Limits::infinity(),
                                                        Limits::max(),
                                                        Limits::lowest(),
                                                        Limits::min(),
                                                        -Limits::min(),
                                                        Limits::denorm_min(),
                                                        -Limits::denorm_min(),
                                                        Limits::quiet_NaN(),
                                                        1.0};
    switch (Below(4)) {
      case 0: return kSpecial[Below(kSpecial.size())];
      case 1: return static_cast<double>(Int64());
      case 2: return std::ldexp(static_cast<double>(Below(2001)) - 1000, -7);
      default: return std::bit_cast<double>(engine_());  // NaNs with payloads and signs included
    }
  }

  // Short strings over few letters: often equal, often a prefix of one another, full of the bytes
  // that codecs treat specially.
  std::string Bytes() {
    static constexpr std::array<char, 8> kLetters = {'\x00', '\x01', '\x02', '\x7f',
                                                     '\x80', '\xfe', '\xff', 'a'};
    std::string bytes(Below(OneIn(8) ? 40 : 5), 'a');
    for (char& c : bytes) {
      c = OneIn(8) ? static_cast<char>(engine_()) : kLetters[Below(kLetters.size())];
    }
    return bytes;
  }

  Datum NonNull(PhysicalType type) {
    switch (type) {
      case PhysicalType::kBool: return Datum::Bool(OneIn(2));
      case PhysicalType::kInt64: return Datum::Int64(Int64());
      case PhysicalType::kInt128: return Datum::Int128(Int128());
      case PhysicalType::kFloat64: return Datum::Float64(Float64());
      case PhysicalType::kBytes: return Datum::Bytes(kept_.emplace_back(Bytes()));
    }
    return Datum::Null();
  }
  Datum Next(PhysicalType type) { return OneIn(8) ? Datum::Null() : NonNull(type); }

  std::vector<PhysicalType> Types(size_t count) {
    std::vector<PhysicalType> types(count);
    for (PhysicalType& type : types) {
      type = kAllPhysicalTypes[Below(kAllPhysicalTypes.size())];
    }
    return types;
  }
  std::vector<Datum> Tuple(const std::vector<PhysicalType>& types) {
    std::vector<Datum> tuple;
    tuple.reserve(types.size());
    for (const PhysicalType type : types) {
      tuple.push_back(Next(type));
    }
    return tuple;
  }

 private:
  std::mt19937_64 engine_;
  std::deque<std::string> kept_;
};

}  // namespace varve

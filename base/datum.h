// One value of a row: NULL or a physical value. A Datum borrows its bytes.
//
// Thread-safety: a value type. Ownership: a kBytes datum points into memory someone else keeps
// alive (a Row, a ColumnBatch, a literal); see Row for owned values.
#pragma once

#include <bit>
#include <cassert>
#include <compare>
#include <cstdint>
#include <string_view>

#include "base/int128.h"
#include "base/type.h"

namespace varve {

class Datum {
 public:
  constexpr Datum() = default;  // NULL

  static constexpr Datum Null() { return Datum(); }
  static constexpr Datum Bool(bool v) { return Datum(PhysicalType::kBool, v ? 1 : 0, 0); }
  static constexpr Datum Int64(int64_t v) {
    return Datum(PhysicalType::kInt64, static_cast<uint64_t>(v), 0);
  }
  static constexpr Datum Int128(int128_t v) {
    const auto u = static_cast<uint128_t>(v);
    return Datum(PhysicalType::kInt128, static_cast<uint64_t>(u), static_cast<uint64_t>(u >> 64));
  }
  static constexpr Datum Float64(double v) {
    return Datum(PhysicalType::kFloat64, std::bit_cast<uint64_t>(v), 0);
  }
  static Datum Bytes(std::string_view v) {
    return Datum(PhysicalType::kBytes, reinterpret_cast<uint64_t>(v.data()), v.size());
  }

  constexpr bool is_null() const { return is_null_; }
  // The accessors require a non-null datum of that physical type.
  constexpr PhysicalType physical() const { return physical_; }
  constexpr bool bool_value() const {
    assert(Is(PhysicalType::kBool));
    return low_ != 0;
  }
  constexpr int64_t int64_value() const {
    assert(Is(PhysicalType::kInt64));
    return static_cast<int64_t>(low_);
  }
  constexpr int128_t int128_value() const {
    assert(Is(PhysicalType::kInt128));
    return static_cast<int128_t>((static_cast<uint128_t>(high_) << 64) | low_);
  }
  constexpr double float64_value() const {
    assert(Is(PhysicalType::kFloat64));
    return std::bit_cast<double>(low_);
  }
  std::string_view bytes() const {
    assert(Is(PhysicalType::kBytes));
    return {reinterpret_cast<const char*>(low_), high_};  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  constexpr Datum(PhysicalType type, uint64_t low, uint64_t high)
      : low_(low), high_(high), physical_(type), is_null_(false) {}
  constexpr bool Is(PhysicalType type) const { return !is_null_ && physical_ == type; }

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  PhysicalType physical_ = PhysicalType::kInt64;
  bool is_null_ = true;
};

// The total order of values of one physical type: NULL first; integers by value; bytes as unsigned
// bytes; floats as -inf < … < -0.0 < 0.0 < … < inf < NaN, all NaNs equal. This is the order that
// encoded keys have as bytes (base/key_codec.h), and the one predicates compare by.
// Requires: a and b are NULL or of the same physical type.
std::strong_ordering CompareDatums(const Datum& a, const Datum& b);

inline bool operator==(const Datum& a, const Datum& b) {
  return CompareDatums(a, b) == std::strong_ordering::equal;
}

}  // namespace varve

// Order-preserving encoding of values into key bytes.
//
// The bytes of an encoded tuple compare (as unsigned bytes, memcmp) exactly as the tuple of values
// compares with CompareDatums, column by column, NULL first; and every value can be read back. No
// encoded value is a proper prefix of another of its type, so tuples need no separators and the
// encoding of the first k columns is a prefix of the whole: prefix scans are byte-prefix scans.
//
//   NULL      00
//   bytes     01 | bytes with each 00 written as 01 01 and each 01 as 01 02 | 00
//   integers  0x20 + n | the n significant big-endian bytes of a value >= 0        (n = 0..16)
//             0x20 - n | the n bytes of value - (-(256^n - 1)), for a value < 0    (n = 1..16)
//   floats    40 | 8 big-endian bytes of the ordered bits (float_order.h)
//   booleans  50 false, 51 true
//
// Small ids take two or three bytes. Example: (7, 300, NULL) is 21 07 | 22 01 2C | 00.
//
// An *int handle* is not a tuple: exactly 8 bytes, big-endian with the sign bit flipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/datum.h"

namespace varve {

// Appends the encoding of a value.
void AppendKey(const Datum& value, std::string* out);

// Reads one value of the physical type (or NULL) off the front of `in`. Bytes values without an
// escape point into `in`; others are unescaped into `scratch`, which must then outlive the
// datum and is only appended to (its earlier content stays, but may move: use one scratch a value
// or reserve). Returns false when the bytes are not the one encoding of a value of that type; `in`
// may have moved then.
bool ReadKey(std::string_view* in, PhysicalType type, std::string* scratch, Datum* value);

// Skips one encoded value of any type, looking no closer than it needs to find the end. Returns
// false when there is none.
bool SkipKey(std::string_view* in);

inline constexpr size_t kIntHandleSize = 8;

inline uint64_t IntHandleBits(int64_t value) {
  return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
}
inline int64_t IntOfHandleBits(uint64_t bits) {
  return static_cast<int64_t>(bits ^ (uint64_t{1} << 63));
}
void AppendIntHandle(int64_t value, std::string* out);
bool ReadIntHandle(std::string_view* in, int64_t* value);

// The smallest byte string greater than every string that starts with `prefix`; empty when there is
// none (the prefix is empty or all FF).
std::string PrefixSuccessor(std::string_view prefix);

}  // namespace varve

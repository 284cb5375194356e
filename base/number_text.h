// Integers, decimals and floats as text. base/text.h parses and prints values of any type by these.
//
// Pure functions; any thread. The parsers leave their output alone unless they return kNone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/int128.h"
#include "base/text_scanner.h"

namespace varve {

// Digits with an optional sign, least..most.
TextFault ParseInteger(std::string_view text, int64_t least, int64_t most, int64_t* value);
TextFault ParseWideInteger(std::string_view text, int128_t least, int128_t most, int128_t* value);
TextFault ParseUnsigned128(std::string_view text, uint128_t* value);
void AppendInteger(int64_t value, std::string* out);
// Appends at least `width` digits.
void AppendPadded(uint64_t value, int width, std::string* out);

// "12.5" with scale 2 is 1250. Fewer digits behind the point than the scale are fine, more only if
// they are zeros. Requires: 1 <= precision <= 38, scale <= precision.
TextFault ParseDecimal(std::string_view text, uint8_t precision, uint8_t scale, int128_t* value);
// With exactly `scale` digits behind the point.
void AppendDecimal(int128_t value, uint8_t scale, std::string* out);

// Decimal numbers with an optional exponent; nan, inf and infinity in any case. What is nearer to
// zero than the smallest number, or beyond the largest, is out of range. ParseFloat32 rounds to the
// nearest float.
TextFault ParseFloat32(std::string_view text, double* value);
TextFault ParseFloat64(std::string_view text, double* value);
// The fewest digits that read back as the same number, with an exponent only where the number is
// very large or very small; NaN, Infinity, -Infinity.
void AppendFloat32(double value, std::string* out);
void AppendFloat64(double value, std::string* out);

}  // namespace varve

// 128-bit integers: the alias used throughout, and their decimal text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace varve {

__extension__ using int128_t = __int128;
__extension__ using uint128_t = unsigned __int128;

inline constexpr int128_t kInt128Max =
    static_cast<int128_t>((static_cast<uint128_t>(1) << 127) - 1);
inline constexpr int128_t kInt128Min = -kInt128Max - 1;

// Added to or removed from unsigned and bytewise values so that signed order is their order.
inline constexpr uint128_t kInt128SignBit = static_cast<uint128_t>(1) << 127;

// Decimal digits, for ParseInt128 with an optional sign. nullopt when the text is no such number or
// out of range.
std::optional<int128_t> ParseInt128(std::string_view text);
std::optional<uint128_t> ParseUInt128(std::string_view text);

void AppendInt128(int128_t value, std::string* out);
void AppendUInt128(uint128_t value, std::string* out);

}  // namespace varve

// Text functions over std::string_view.
//
// Debian builds abseil with a string_view type of its own, to and from which std::string_view does
// not convert. These are abseil's functions under the same names, taking and giving the standard
// type; use them instead of absl::StrCat and the like.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace varve {

inline absl::string_view ToAbsl(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view FromAbsl(absl::string_view text) {
  return {text.data(), text.size()};
}

namespace strings_internal {

// What absl::AlphaNum takes: strings as absl::string_view, anything else as it is.
template <typename T>
decltype(auto) Piece(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return ToAbsl(value);
  } else {
    return (value);
  }
}

}  // namespace strings_internal

template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  return absl::StrCat(strings_internal::Piece(pieces)...);
}

template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  absl::StrAppend(out, strings_internal::Piece(pieces)...);
}

// The elements of a range of strings or numbers, with `separator` between them.
template <typename Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) {
      out.append(separator);
    }
    first = false;
    StrAppend(&out, element);
  }
  return out;
}

inline std::string AsciiStrToLower(std::string_view text) {
  return absl::AsciiStrToLower(ToAbsl(text));
}
inline bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(ToAbsl(a), ToAbsl(b));
}
inline bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix) {
  return absl::StartsWithIgnoreCase(ToAbsl(text), ToAbsl(prefix));
}

inline std::string BytesToHexString(std::string_view bytes) {
  return absl::BytesToHexString(ToAbsl(bytes));
}

// The whole text as a number of type T; nullopt when it is none or out of range.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional<T>(number)
             : std::nullopt;
}

inline std::string_view MessageOf(const absl::Status& status) {
  return FromAbsl(status.message());
}

}  // namespace varve

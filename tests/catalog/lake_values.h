// Values of a lake as the model and the random draws have them: canonical text.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "tests/catalog/lake_operation.h"

namespace varve {

inline std::string TextOfBool(bool value) {
  return value ? "true" : "false";
}

// Sets a column unless the value is NULL.
inline void PutText(const std::string& column, const NullableText& text, LakeRow* row) {
  if (text.has_value()) {
    (*row)[column] = *text;
  }
}
inline void PutNumber(const std::string& column, const std::optional<int64_t>& number,
                      LakeRow* row) {
  if (number.has_value()) {
    (*row)[column] = StrCat(*number);
  }
}

// Types of columns that have no bounds themselves.
inline bool IsCompound(std::string_view type) {
  return type == "struct" || type == "list" || type == "map" || type == "variant";
}

// Whether a is less than b as values of the type.
inline bool IsSmaller(std::string_view type, const std::string& a, const std::string& b) {
  const bool by_number =
      type.starts_with("int") || type.starts_with("float") || type.starts_with("decimal");
  return by_number ? std::strtod(a.c_str(), nullptr) < std::strtod(b.c_str(), nullptr) : a < b;
}

}  // namespace varve

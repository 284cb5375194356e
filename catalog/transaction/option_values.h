// The settings of a lake: which there are, and what values they take.
//
// Source: DuckLake documentation, configuration; duckdb/ducklake,
// src/functions/ducklake_set_option.cpp.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace varve {

// The value as DuckLake stores it: sizes in bytes, booleans as true and false, names in lower case.
// Errors: NotFound (no such option, with the nearest), InvalidArgument (not such a value, or one
// that is fixed when the lake is made).
absl::StatusOr<std::string> OptionToStore(std::string_view key, std::string_view value);

// Whether the option can be set for one schema or table. Requires: there is one of this name.
bool HasScopes(std::string_view key);

// OK when there is an option of this name that can be set.
absl::Status CheckOption(std::string_view key);

}  // namespace varve

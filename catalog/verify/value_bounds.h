// Minimum and maximum of statistics: text in the catalog, values of the column's type to compare.
//
// Thread-safety: free functions.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "base/row.h"
#include "base/type.h"

namespace varve {

// The type whose order the bounds of a DuckLake column type ("int32", "decimal(12,2)") have;
// nullopt for types that have no order of their own here (nested types, variants, JSON, intervals),
// and for blobs, whose spelling differs between clients.
std::optional<Type> BoundType(std::string_view ducklake_type);

// Reads the texts as values of `type`, NULL for nullopt. Returns nullopt when one is no such value.
std::optional<Row> ParseBounds(const Type& type,
                               std::span<const std::optional<std::string_view>> texts);

// Whether `low` is surely above `high`. NULL means unknown, and NaN is ordered differently by
// different clients: neither proves anything.
bool IsSurelyAbove(const Datum& low, const Datum& high);

}  // namespace varve

// What columns may be defined as. Private to catalog/transaction.
//
// Sources: DuckLake 1.0 specification, data types and ducklake_column; DuckLake documentation,
// schema evolution.
//
// Thread-safety: free functions. Errors are InvalidArgument unless said otherwise; they call a
// column `path`, as TableColumns::PathText gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

bool IsStruct(std::string_view type);
bool IsNestedType(std::string_view type);  // struct, list, map

// A type as it is stored: lower case, without blanks.
std::string TypeToStore(std::string_view type);
// The name of a field that has none of its own: a list's is "element", a map's are "key" and
// "value"; empty for structs.
std::string FieldName(std::string_view type, size_t index);

// The name, the type, the defaults, and the fields with theirs.
absl::Status CheckColumn(const ColumnDefinition& column, std::string_view path);

// A name of a top-level column must not be one that DuckLake uses for its own columns in files and
// inlined tables. Those of inlined tables are free where inlining is turned off for the table, or
// would be for a new one in the schema.
absl::Status CheckNotReserved(const Transaction::State& state, int64_t schema_id,
                              std::optional<int64_t> table_id, std::string_view name);

// A default is text of the column's type, or an expression. nullopt: none.
absl::Status CheckDefault(std::string_view path, std::string_view type, const NullableText& value,
                          std::string_view value_type);

// Types change only to wider ones.
absl::Status CheckPromotion(std::string_view path, std::string_view from, std::string_view to);

}  // namespace varve

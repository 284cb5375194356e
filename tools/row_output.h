// Rows of a relation as texts and JSON objects, for commands that show changes rather than tables.
//
// Thread-safety: free functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/datum.h"
#include "catalog/relation.h"

namespace varve {

// "NULL", 'text', or the value's plain text; control characters escaped.
std::string ShownValue(const ColumnSchema& column, const Datum& value);

// "table_id=4 column_id=7". `row` has a value for every column of the relation.
std::string ShownKey(const RelationSchema& relation, std::span<const Datum> row);

// {"name":value,…} of some columns.
std::string JsonObject(const RelationSchema& relation, std::span<const Datum> row,
                       const std::vector<size_t>& columns);

// The columns of a row that say something: neither of its handle, nor begin or end, nor NULL.
std::vector<size_t> TellingColumns(const RelationSchema& relation, std::span<const Datum> row);

}  // namespace varve

// A catalog whose inlined tables hold a value of every type, for the tests of exports.
#pragma once

#include <string>

namespace varve {

// Writes the tiny catalog as DuckDB would export it, with ducklake_inlined_data_1_1 of every DuckDB
// type (its columns known to ducklake_column), a table without a key and one with a key of two
// columns.
void WriteEveryTypeExport(const std::string& directory);

}  // namespace varve

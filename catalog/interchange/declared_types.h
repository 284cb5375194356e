// The table in which an exported database keeps the types that it cannot express itself.
//
// SQLite and PostgreSQL have no such types as UBIGINT or VARCHAR[]; DuckLake stores those values in
// other types there, and so does an export. The types the catalog knew are written beside, so that
// importing the export gives back what was there. DuckLake's clients do not look at this table.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace varve {

// Columns: table_name, column_name, declared_type.
inline constexpr std::string_view kDeclaredTypesTable = "varve_declared_types";

class DeclaredTypes {
 public:
  void Add(std::string_view table, std::string_view column, std::string_view type) {
    types_[Key(table, column)] = std::string(type);
  }
  // Empty when nothing is written down for the column.
  std::string_view Find(std::string_view table, std::string_view column) const {
    const auto it = types_.find(Key(table, column));
    return it == types_.end() ? std::string_view() : it->second;
  }

 private:
  static std::string Key(std::string_view table, std::string_view column) {
    std::string key(table);
    key.push_back('\0');
    key.append(column);
    return key;
  }
  absl::flat_hash_map<std::string, std::string> types_;
};

}  // namespace varve

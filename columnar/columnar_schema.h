// What the tables of columnar files consist of: the schema of one relation in one file.
//
// Columns are known by id; their order in the file means nothing. Handle, version and end are not
// listed: every table has them.
//
// Thread-safety: value types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/type.h"

namespace varve {

// How rows of a relation are ordered: by one 64-bit integer, or by bytes in memcmp order.
enum class HandleType : uint8_t { kInt = 0, kCommon = 1 };

constexpr PhysicalType PhysicalOfHandle(HandleType handle) {
  return handle == HandleType::kInt ? PhysicalType::kInt64 : PhysicalType::kBytes;
}

struct ColumnarColumn {
  uint32_t id = 0;  // below kFirstReservedColumnId (format.h), unique in its table
  std::string name;
  Type type;

  friend bool operator==(const ColumnarColumn&, const ColumnarColumn&) = default;
};

struct ColumnarTableSchema {
  uint32_t relation = 0;
  HandleType handle = HandleType::kInt;
  std::vector<ColumnarColumn> columns;

  friend bool operator==(const ColumnarTableSchema&, const ColumnarTableSchema&) = default;
};

}  // namespace varve

// The columns of a relation: names, types and the numbers they are stored under.
//
// Thread-safety: immutable once built; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/type.h"

namespace varve {

// How a column's value is written into a payload. Built-in relations use the encoding their
// protobuf field declares; dynamic and extra columns use DefaultWire of their type.
enum class WireEncoding : uint8_t {
  kVarint = 0,   // int64, bool: two's complement varint
  kZigZag = 1,   // sint64
  kFixed64 = 2,  // double, sfixed64: 8 little-endian bytes
  kBytes = 3,    // string, bytes: length-delimited
  kInt128 = 4,   // 16 big-endian bytes, length-delimited; a UUID reads as its 16 bytes
};

WireEncoding DefaultWire(const Type& type);

struct ColumnSchema {
  std::string name;
  Type type;
  // The id of the column: its protobuf field number. Unique in its schema and never reused.
  uint32_t field = 0;
  bool nullable = true;
  WireEncoding wire = WireEncoding::kVarint;
  // The SQL type as the catalog declared it, where it says more than TypeName(type): "varchar[]",
  // "time with time zone". Empty: TypeName(type).
  std::string declared_type;

  std::string SqlType() const { return declared_type.empty() ? TypeName(type) : declared_type; }
};

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<ColumnSchema> columns);

  size_t num_columns() const { return columns_.size(); }
  const ColumnSchema& column(size_t i) const { return columns_[i]; }
  const std::vector<ColumnSchema>& columns() const { return columns_; }

  // Index by name, case-insensitively (as SQL identifiers are), or nullopt.
  std::optional<size_t> Find(std::string_view name) const;

 private:
  std::vector<ColumnSchema> columns_;
  absl::flat_hash_map<std::string, size_t> by_lower_name_;
};

}  // namespace varve

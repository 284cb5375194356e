#include "base/schema.h"

#include <utility>

#include "base/strings.h"

namespace varve {

WireEncoding DefaultWire(const Type& type) {
  switch (type.physical()) {
    case PhysicalType::kBool: return WireEncoding::kVarint;
    case PhysicalType::kInt64: return WireEncoding::kZigZag;
    case PhysicalType::kInt128: return WireEncoding::kInt128;
    case PhysicalType::kFloat64: return WireEncoding::kFixed64;
    case PhysicalType::kBytes: return WireEncoding::kBytes;
  }
  return WireEncoding::kBytes;
}

Schema::Schema(std::vector<ColumnSchema> columns) : columns_(std::move(columns)) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    by_lower_name_.emplace(AsciiStrToLower(columns_[i].name), i);
  }
}

std::optional<size_t> Schema::Find(std::string_view name) const {
  const auto it = by_lower_name_.find(AsciiStrToLower(name));
  return it == by_lower_name_.end() ? std::nullopt : std::optional<size_t>(it->second);
}

}  // namespace varve

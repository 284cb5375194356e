#include "catalog/verify/value_bounds.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

// DuckLake's own names (specification, data types); some mean something else in SQL ("int8").
constexpr std::array kTypes = {
    std::pair{"boolean", TypeKind::kBoolean},
    std::pair{"int8", TypeKind::kInt8},
    std::pair{"int16", TypeKind::kInt16},
    std::pair{"int32", TypeKind::kInt32},
    std::pair{"int64", TypeKind::kInt64},
    std::pair{"int128", TypeKind::kInt128},
    std::pair{"uint8", TypeKind::kUInt8},
    std::pair{"uint16", TypeKind::kUInt16},
    std::pair{"uint32", TypeKind::kUInt32},
    std::pair{"uint64", TypeKind::kUInt64},
    std::pair{"uint128", TypeKind::kUInt128},
    std::pair{"float32", TypeKind::kFloat32},
    std::pair{"float64", TypeKind::kFloat64},
    std::pair{"date", TypeKind::kDate},
    std::pair{"time", TypeKind::kTime},
    std::pair{"timestamp", TypeKind::kTimestamp},
    std::pair{"timestamptz", TypeKind::kTimestampTz},
    std::pair{"timestamp_s", TypeKind::kTimestampS},
    std::pair{"timestamp_ms", TypeKind::kTimestampMs},
    std::pair{"timestamp_ns", TypeKind::kTimestampNs},
    std::pair{"varchar", TypeKind::kVarchar},
    std::pair{"uuid", TypeKind::kUuid},
};

bool IsNan(const Datum& value) {
  return !value.is_null() && value.physical() == PhysicalType::kFloat64 &&
         std::isnan(value.float64_value());
}

}  // namespace

std::optional<Type> BoundType(std::string_view ducklake_type) {
  for (const auto& [name, kind] : kTypes) {
    if (EqualsIgnoreCase(ducklake_type, name)) {
      return Type(kind);
    }
  }
  if (StartsWithIgnoreCase(ducklake_type, "decimal(")) {
    const Type type = TypeFromDeclaration(ducklake_type);
    return type.kind() == TypeKind::kDecimal ? std::optional(type) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Row> ParseBounds(const Type& type,
                               std::span<const std::optional<std::string_view>> texts) {
  Row row(texts.size());
  std::string scratch;
  for (size_t i = 0; i < texts.size(); ++i) {
    Datum value;
    if (texts[i].has_value()) {
      if (!ParseDatum(type, *texts[i], BlobText::kEscaped, &scratch, &value).ok()) {
        return std::nullopt;
      }
      row.Set(i, value);
    }
  }
  return row;
}

bool IsSurelyAbove(const Datum& low, const Datum& high) {
  return !low.is_null() && !high.is_null() && !IsNan(low) && !IsNan(high) &&
         CompareDatums(low, high) == std::strong_ordering::greater;
}

}  // namespace varve

// The types a catalog column can have.
//
// A Type is a value (a kind plus, for decimals, precision and scale); it is what a user sees and
// what text is parsed and printed by. A PhysicalType is how the value sits in memory; batches,
// datums and codecs work on the physical type alone.
//
// The kinds are those of DuckLake's catalog columns and of the columns that inlined tables can have
// (DuckLake 1.0 specification, data types and data inlining). A type the catalog knows only by name
// (lists, structs, maps, variants, geometries, TIMETZ) is kText: its text is kept as it came.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace varve {

enum class TypeKind : uint8_t {
  kBoolean = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kInt128 = 5,
  kUInt8 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kUInt64 = 9,
  kUInt128 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  kDecimal = 13,      // the number times 10^scale; precision 1..38
  kDate = 14,         // days since 1970-01-01; infinities as for timestamps
  kTime = 15,         // microseconds since midnight, 24:00:00 included
  kTimestamp = 16,    // microseconds since 1970-01-01 00:00:00, no zone; the largest int64 is
                      // infinity, the smallest -infinity
  kTimestampTz = 17,  // microseconds since 1970-01-01 00:00:00 UTC; infinities likewise
  kTimestampS = 18,   // seconds, else as kTimestamp
  kTimestampMs = 19,  // milliseconds, else as kTimestamp
  kTimestampNs = 20,  // nanoseconds, else as kTimestamp
  kInterval = 21,     // months, days, microseconds, ordered in this sequence (base/interval.h)
  kVarchar = 22,      // UTF-8
  kJson = 23,         // UTF-8
  kBlob = 24,         // any bytes
  kUuid = 25,         // 128 bits, ordered as its 16 bytes
  kText = 26,         // the text of a type known only by name
};

enum class PhysicalType : uint8_t { kBool, kInt64, kInt128, kFloat64, kBytes };

// Width in bytes of a fixed-width physical value; 0 for kBytes.
constexpr int FixedWidth(PhysicalType type) {
  switch (type) {
    case PhysicalType::kBool: return 1;
    case PhysicalType::kInt64: return 8;
    case PhysicalType::kInt128: return 16;
    case PhysicalType::kFloat64: return 8;
    case PhysicalType::kBytes: return 0;
  }
  return 0;
}

class Type {
 public:
  constexpr Type() = default;
  constexpr Type(TypeKind kind) : kind_(kind) {}  // NOLINT(google-explicit-constructor)
  static constexpr Type Decimal(uint8_t precision, uint8_t scale) {
    Type type(TypeKind::kDecimal);
    type.precision_ = precision;
    type.scale_ = scale;
    return type;
  }

  constexpr TypeKind kind() const { return kind_; }
  constexpr uint8_t precision() const { return precision_; }  // kDecimal only
  constexpr uint8_t scale() const { return scale_; }          // kDecimal only

  constexpr PhysicalType physical() const {
    switch (kind_) {
      case TypeKind::kBoolean: return PhysicalType::kBool;
      case TypeKind::kInt8:
      case TypeKind::kInt16:
      case TypeKind::kInt32:
      case TypeKind::kInt64:
      case TypeKind::kUInt8:
      case TypeKind::kUInt16:
      case TypeKind::kUInt32:
      case TypeKind::kDate:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz:
      case TypeKind::kTimestampS:
      case TypeKind::kTimestampMs:
      case TypeKind::kTimestampNs: return PhysicalType::kInt64;
      case TypeKind::kDecimal:
        return precision_ <= 18 ? PhysicalType::kInt64 : PhysicalType::kInt128;
      case TypeKind::kInt128:
      case TypeKind::kUInt64:
      case TypeKind::kUInt128:   // stored minus 2^127, so that signed order is value order
      case TypeKind::kInterval:  // months << 96 | days + 2^31 << 64 | microseconds + 2^63
      case TypeKind::kUuid:  // stored with the top bit flipped, so that signed order is byte order
        return PhysicalType::kInt128;
      case TypeKind::kFloat32:
      case TypeKind::kFloat64: return PhysicalType::kFloat64;
      case TypeKind::kVarchar:
      case TypeKind::kJson:
      case TypeKind::kBlob:
      case TypeKind::kText: return PhysicalType::kBytes;
    }
    return PhysicalType::kBytes;
  }

  friend constexpr bool operator==(const Type&, const Type&) = default;

 private:
  TypeKind kind_ = TypeKind::kInt64;
  uint8_t precision_ = 0;
  uint8_t scale_ = 0;
};

// The canonical SQL spelling ("bigint", "decimal(12,2)", "timestamp with time zone"); what
// schema.sql and messages show. kText has no spelling of its own: a column keeps the name it was
// declared with (see ColumnSchema::declared_type).
std::string TypeName(const Type& type);

// The type a declaration names, in the spelling of PostgreSQL, DuckDB or SQLite,
// case-insensitively. A declaration that is no scalar type known here gives kText, never an error:
// the catalog keeps the text of such columns as it came.
Type TypeFromDeclaration(std::string_view declaration);

}  // namespace varve

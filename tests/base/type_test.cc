#include "base/type.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace varve {
namespace {

constexpr int kNumKinds = static_cast<int>(TypeKind::kText) + 1;

TEST(TypeTest, DeclarationsOfPostgres) {
  const std::vector<std::pair<const char*, Type>> table = {
      {"boolean", TypeKind::kBoolean},
      {"bool", TypeKind::kBoolean},
      {"smallint", TypeKind::kInt16},
      {"int2", TypeKind::kInt16},
      {"integer", TypeKind::kInt32},
      {"int4", TypeKind::kInt32},
      {"bigint", TypeKind::kInt64},
      {"int8", TypeKind::kInt64},
      {"real", TypeKind::kFloat32},
      {"double precision", TypeKind::kFloat64},
      {"numeric(12,2)", Type::Decimal(12, 2)},
      {"numeric(38, 38)", Type::Decimal(38, 38)},
      {"numeric(5)", Type::Decimal(5, 0)},
      {"character varying", TypeKind::kVarchar},
      {"character varying(20)", TypeKind::kVarchar},
      {"character(3)", TypeKind::kVarchar},
      {"text", TypeKind::kVarchar},
      {"bytea", TypeKind::kBlob},
      {"date", TypeKind::kDate},
      {"time without time zone", TypeKind::kTime},
      {"time(3) without time zone", TypeKind::kTime},
      {"timestamp without time zone", TypeKind::kTimestamp},
      {"timestamp(3) without time zone", TypeKind::kTimestamp},
      {"timestamp with time zone", TypeKind::kTimestampTz},
      {"timestamp(6) with time zone", TypeKind::kTimestampTz},
      {"timestamptz", TypeKind::kTimestampTz},
      {"interval", TypeKind::kInterval},
      {"uuid", TypeKind::kUuid},
      {"json", TypeKind::kJson},
      {"jsonb", TypeKind::kJson},
  };
  for (const auto& [declaration, type] : table) {
    EXPECT_EQ(TypeFromDeclaration(declaration), type) << declaration;
  }
}

TEST(TypeTest, DeclarationsOfDuckDb) {
  const std::vector<std::pair<const char*, Type>> table = {
      {"BOOLEAN", TypeKind::kBoolean},
      {"TINYINT", TypeKind::kInt8},
      {"SMALLINT", TypeKind::kInt16},
      {"INTEGER", TypeKind::kInt32},
      {"BIGINT", TypeKind::kInt64},
      {"HUGEINT", TypeKind::kInt128},
      {"UTINYINT", TypeKind::kUInt8},
      {"USMALLINT", TypeKind::kUInt16},
      {"UINTEGER", TypeKind::kUInt32},
      {"UBIGINT", TypeKind::kUInt64},
      {"UHUGEINT", TypeKind::kUInt128},
      {"FLOAT", TypeKind::kFloat32},
      {"DOUBLE", TypeKind::kFloat64},
      {"DECIMAL(18,3)", Type::Decimal(18, 3)},
      {"VARCHAR", TypeKind::kVarchar},
      {"BLOB", TypeKind::kBlob},
      {"DATE", TypeKind::kDate},
      {"TIME", TypeKind::kTime},
      {"TIMESTAMP", TypeKind::kTimestamp},
      {"TIMESTAMP_S", TypeKind::kTimestampS},
      {"TIMESTAMP_MS", TypeKind::kTimestampMs},
      {"TIMESTAMP_NS", TypeKind::kTimestampNs},
      {"TIMESTAMP WITH TIME ZONE", TypeKind::kTimestampTz},
      {"INTERVAL", TypeKind::kInterval},
      {"UUID", TypeKind::kUuid},
      {"JSON", TypeKind::kJson},
  };
  for (const auto& [declaration, type] : table) {
    EXPECT_EQ(TypeFromDeclaration(declaration), type) << declaration;
  }
}

TEST(TypeTest, DeclarationsOfSqlite) {
  const std::vector<std::pair<const char*, Type>> table = {
      {"BIGINT", TypeKind::kInt64},       {"INTEGER", TypeKind::kInt32},
      {"TEXT", TypeKind::kVarchar},       {"BLOB", TypeKind::kBlob},
      {"REAL", TypeKind::kFloat32},       {"VARCHAR(255)", TypeKind::kVarchar},
      {"DATETIME", TypeKind::kTimestamp},
  };
  for (const auto& [declaration, type] : table) {
    EXPECT_EQ(TypeFromDeclaration(declaration), type) << declaration;
  }
}

TEST(TypeTest, SpacesAndCaseDoNotMatter) {
  EXPECT_EQ(TypeFromDeclaration("  Timestamp\t WITH  time\nzone "), Type(TypeKind::kTimestampTz));
  EXPECT_EQ(TypeFromDeclaration("Decimal ( 12 , 2 )"), Type::Decimal(12, 2));
}

TEST(TypeTest, OtherDeclarationsKeepTheirText) {
  for (const char* declaration : {"",
                                  "numeric",
                                  "decimal",
                                  "numeric(39,2)",
                                  "numeric(0)",
                                  "numeric(5,6)",
                                  "numeric(1000,2)",
                                  "numeric(5,-2)",
                                  "numeric(5,2,1)",
                                  "numeric()",
                                  "numeric(a)",
                                  "numeric(5",
                                  "integer[]",
                                  "character varying[]",
                                  "varchar(20)[]",
                                  "INTEGER[3]",
                                  "STRUCT(a INTEGER, b VARCHAR)",
                                  "MAP(INTEGER, VARCHAR)",
                                  "VARIANT",
                                  "GEOMETRY",
                                  "time with time zone",
                                  "timetz",
                                  "TIME WITH TIME ZONE",
                                  "interval year to month",
                                  "ENUM('a', 'b')",
                                  "bit(8)",
                                  "bigint(20)",
                                  "time zone",
                                  "double  precision precision",
                                  "\xff"}) {
    EXPECT_EQ(TypeFromDeclaration(declaration), Type(TypeKind::kText)) << declaration;
  }
}

TEST(TypeTest, TheNameOfATypeDeclaresIt) {
  for (int kind = 0; kind < kNumKinds; ++kind) {
    const Type type = static_cast<TypeKind>(kind);
    if (type.kind() == TypeKind::kText || type.kind() == TypeKind::kDecimal) {
      continue;  // kText has no spelling of its own; decimals follow below
    }
    EXPECT_EQ(TypeFromDeclaration(TypeName(type)), type) << TypeName(type);
  }
  for (uint8_t precision = 1; precision <= 38; ++precision) {
    for (uint8_t scale = 0; scale <= precision; ++scale) {
      const Type type = Type::Decimal(precision, scale);
      ASSERT_EQ(TypeFromDeclaration(TypeName(type)), type) << TypeName(type);
    }
  }
}

TEST(TypeTest, NamesAreTheCanonicalSpellings) {
  EXPECT_EQ(TypeName(TypeKind::kInt64), "bigint");
  EXPECT_EQ(TypeName(Type::Decimal(12, 2)), "decimal(12,2)");
  EXPECT_EQ(TypeName(TypeKind::kTimestampTz), "timestamp with time zone");
  EXPECT_EQ(TypeName(TypeKind::kFloat64), "double precision");
}

TEST(TypeTest, DecimalsUpTo18DigitsAreNarrow) {
  EXPECT_EQ(Type::Decimal(18, 0).physical(), PhysicalType::kInt64);
  EXPECT_EQ(Type::Decimal(19, 0).physical(), PhysicalType::kInt128);
}

TEST(TypeTest, FixedWidthsAreThoseOfThePhysicalValues) {
  EXPECT_EQ(FixedWidth(PhysicalType::kBool), 1);
  EXPECT_EQ(FixedWidth(PhysicalType::kInt64), 8);
  EXPECT_EQ(FixedWidth(PhysicalType::kInt128), 16);
  EXPECT_EQ(FixedWidth(PhysicalType::kFloat64), 8);
  EXPECT_EQ(FixedWidth(PhysicalType::kBytes), 0);
}

}  // namespace
}  // namespace varve

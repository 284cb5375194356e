#include "base/schema.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

Schema ThreeColumns() {
  return Schema({{.name = "id", .type = TypeKind::kInt64, .field = 1, .nullable = false},
                 {.name = "Name", .type = TypeKind::kVarchar, .field = 3},
                 {.name = "größe", .type = TypeKind::kText, .field = 4, .declared_type = "int[]"}});
}

TEST(SchemaTest, KeepsColumnsInOrder) {
  const Schema schema = ThreeColumns();
  ASSERT_EQ(schema.num_columns(), 3U);
  EXPECT_EQ(schema.column(0).name, "id");
  EXPECT_EQ(schema.column(1).name, "Name");
  EXPECT_EQ(schema.columns()[2].field, 4U);
}

TEST(SchemaTest, FindsNamesIgnoringCase) {
  const Schema schema = ThreeColumns();
  EXPECT_EQ(schema.Find("id"), 0U);
  EXPECT_EQ(schema.Find("ID"), 0U);
  EXPECT_EQ(schema.Find("name"), 1U);
  EXPECT_EQ(schema.Find("NAME"), 1U);
  EXPECT_EQ(schema.Find("größe"), 2U);
  EXPECT_EQ(schema.Find("i"), std::nullopt);
  EXPECT_EQ(schema.Find(""), std::nullopt);
}

TEST(SchemaTest, EmptySchemaFindsNothing) {
  const Schema schema;
  EXPECT_EQ(schema.num_columns(), 0U);
  EXPECT_EQ(schema.Find("id"), std::nullopt);
}

TEST(SchemaTest, CopiesFindTheirOwnColumns) {
  Schema copy;
  {
    const Schema schema = ThreeColumns();
    copy = schema;
  }
  EXPECT_EQ(copy.Find("name"), 1U);
}

TEST(SchemaTest, SqlTypeIsTheDeclarationWhereThereIsOne) {
  const Schema schema = ThreeColumns();
  EXPECT_EQ(schema.column(0).SqlType(), "bigint");
  EXPECT_EQ(schema.column(2).SqlType(), "int[]");
}

TEST(SchemaTest, DefaultWireFollowsThePhysicalType) {
  EXPECT_EQ(DefaultWire(TypeKind::kBoolean), WireEncoding::kVarint);
  EXPECT_EQ(DefaultWire(TypeKind::kInt8), WireEncoding::kZigZag);
  EXPECT_EQ(DefaultWire(TypeKind::kTimestampTz), WireEncoding::kZigZag);
  EXPECT_EQ(DefaultWire(Type::Decimal(18, 2)), WireEncoding::kZigZag);
  EXPECT_EQ(DefaultWire(Type::Decimal(19, 2)), WireEncoding::kInt128);
  EXPECT_EQ(DefaultWire(TypeKind::kUuid), WireEncoding::kInt128);
  EXPECT_EQ(DefaultWire(TypeKind::kFloat32), WireEncoding::kFixed64);
  EXPECT_EQ(DefaultWire(TypeKind::kVarchar), WireEncoding::kBytes);
}

}  // namespace
}  // namespace varve

#include "catalog/transaction/sort_expression.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

TEST(SortExpression, FindsColumnsByTheirWords) {
  EXPECT_TRUE(MentionsColumn("ts", "ts"));
  EXPECT_TRUE(MentionsColumn("TS", "ts"));
  EXPECT_TRUE(MentionsColumn("date_trunc('hour', ts)", "ts"));
  EXPECT_TRUE(MentionsColumn("lower(\"My Col\")", "my col"));
  EXPECT_TRUE(MentionsColumn("address.street", "address"));
  EXPECT_TRUE(MentionsColumn("\"end\" + 1", "end"));
  EXPECT_TRUE(MentionsColumn("a+b", "b"));
  EXPECT_TRUE(MentionsColumn("größe * 2", "größe"));
  EXPECT_TRUE(MentionsColumn("a \"quote\"\"d\"", "quote\"d"));
}

TEST(SortExpression, WhatOnlyLooksLikeAColumnIsNone) {
  EXPECT_FALSE(MentionsColumn("ts_local", "ts"));
  EXPECT_FALSE(MentionsColumn("'ts'", "ts"));
  EXPECT_FALSE(MentionsColumn("'it''s ts'", "ts"));
  EXPECT_FALSE(MentionsColumn("ts(a)", "ts"));
  EXPECT_FALSE(MentionsColumn("ts (a)", "ts"));
  EXPECT_FALSE(MentionsColumn("address.street", "street"));
  EXPECT_FALSE(MentionsColumn("CASE WHEN a THEN b END", "end"));
  EXPECT_FALSE(MentionsColumn("a /* ts */ + 1 -- ts", "ts"));
  EXPECT_FALSE(MentionsColumn("1e5", "e5"));
  EXPECT_FALSE(MentionsColumn("", "ts"));
  EXPECT_FALSE(MentionsColumn("'open", "open"));
  EXPECT_FALSE(MentionsColumn("/* open", "open"));
}

TEST(SortExpression, RenamesEveryMention) {
  EXPECT_EQ(WithColumnRenamed("ts", "ts", "at"), "at");
  EXPECT_EQ(WithColumnRenamed("coalesce(ts, TS, 'ts') + ts(1)", "ts", "at"),
            "coalesce(at, at, 'ts') + ts(1)");
  EXPECT_EQ(WithColumnRenamed("\"ts\" DESC", "ts", "My Col"), "\"My Col\" DESC");
  EXPECT_EQ(WithColumnRenamed("ts", "ts", "end"), "\"end\"");
  EXPECT_EQ(WithColumnRenamed("ts", "ts", "Upper"), "\"Upper\"");
  EXPECT_EQ(WithColumnRenamed("ts", "ts", "with\"quote"), "\"with\"\"quote\"");
  EXPECT_EQ(WithColumnRenamed("a + b", "ts", "at"), "a + b");
}

TEST(SortExpression, KnowsWhenItIsOneColumn) {
  EXPECT_EQ(SingleColumn(" ts "), "ts");
  EXPECT_EQ(SingleColumn("\"a b\""), "a b");
  EXPECT_EQ(SingleColumn("ts + 1"), std::nullopt);
  EXPECT_EQ(SingleColumn("ts desc"), std::nullopt);
  EXPECT_EQ(SingleColumn("s.a"), std::nullopt);
  EXPECT_EQ(SingleColumn(""), std::nullopt);
  EXPECT_EQ(SingleColumn("42"), std::nullopt);
}

}  // namespace
}  // namespace varve

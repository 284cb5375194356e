#include "catalog/inspect/object_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "catalog/inspect/row_reader.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;

class ObjectNamesTest : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    MustApply(R"(
      snapshot 1
      insert schema 1 | - | 1 | - | 'a.b' | 'ab/' | true
      insert schema 2 | - | 1 | - | sales | 's3://bucket/sales/' | false
      insert table 3 | - | 1 | - | 0 | orders | 'orders/' | true
      insert table 4 | - | 1 | - | 2 | Orders | 'orders/' | true
      insert table 5 | - | 1 | - | 1 | 'c.d' | 'cd/' | true
      insert table 6 | - | 1 | - | 9 | lost | 'lost/' | true
      insert table 7 | - | 1 | - | 0 | sales | '/abs/' | false
    )");
  }

  std::string Select(std::string_view name) const {
    const absl::StatusOr<ObjectNames> names = ObjectNames::Load(catalog_->Current());
    EXPECT_TRUE(names.ok()) << names.status();
    const absl::StatusOr<std::vector<const TableName*>> tables = names->SelectTables(name);
    if (!tables.ok()) {
      return std::string(MessageOf(tables.status()));
    }
    std::vector<int64_t> ids;
    for (const TableName* table : *tables) {
      ids.push_back(table->id);
    }
    return StrJoin(ids, " ");
  }
};

TEST_F(ObjectNamesTest, ATableOfSeveralSchemasHasToBeQualified) {
  EXPECT_EQ(Select("orders"),
            "table 'orders' is in more than one schema: write main.orders or sales.Orders");
  EXPECT_EQ(Select("main.orders"), "3");
  EXPECT_EQ(Select("sales.orders"), "4");
}

TEST_F(ObjectNamesTest, DotsInNamesAreNoObstacle) {
  EXPECT_EQ(Select("c.d"), "5");
  EXPECT_EQ(Select("a.b.c.d"), "5");
  EXPECT_EQ(Select("\"a.b\".\"c.d\""), "5");
  EXPECT_EQ(Select("a.b"), "5");  // the schema, for no table is called so
}

TEST_F(ObjectNamesTest, ATableWinsOverASchemaOfTheSameName) {
  EXPECT_EQ(Select("sales"), "7");
}

TEST_F(ObjectNamesTest, ATableOfAMissingSchemaIsListedUnderTheSchemasNumber) {
  EXPECT_EQ(Select("#9.lost"), "6");
}

TEST_F(ObjectNamesTest, PathsContinueTheSchemasUnlessAbsolute) {
  const absl::StatusOr<ObjectNames> names = ObjectNames::Load(catalog_->Current());
  ASSERT_TRUE(names.ok()) << names.status();
  std::vector<std::string> paths;
  for (const TableName& table : names->tables()) {
    paths.push_back(StrCat(table.id, " ", table.path));
  }
  EXPECT_THAT(paths, ElementsAre("6 /lake/lost/", "5 /lake/ab/cd/", "3 /lake/main/orders/",
                                 "7 /abs/", "4 s3://bucket/sales/orders/"));
}

TEST_F(ObjectNamesTest, NothingIsThereBeforeItBegan) {
  const absl::StatusOr<ObjectNames> names = ObjectNames::Load(At(0));
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(names->schemas().size(), 1U);
  EXPECT_TRUE(names->tables().empty());
}

TEST_F(ObjectNamesTest, RowReaderGivesNullForColumnsTheRelationHasNot) {
  const ReadView view = catalog_->Current();
  std::vector<std::string> rows;
  const absl::Status status =
      ForEachRow(view, kTable, {"table_id", "no_such_column", "table_name", "path_is_relative"},
                 {.key_prefix = {Datum::Int64(7)}}, [&](const RowReader& row) {
                   EXPECT_TRUE(row.IsNull(1));
                   EXPECT_EQ(row.Int(1, -1), -1);
                   EXPECT_EQ(row.Text(1), "");
                   rows.push_back(StrCat(row.Int(0), " ", row.Text(2), " ", row.Bool(3, true), " ",
                                         row.begin()));
                 });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(rows, ElementsAre("7 sales 0 1"));
}

}  // namespace
}  // namespace varve

#include "catalog/transaction/name_index.h"

#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

class NameIndexTest : public CatalogFixture {
 protected:
  std::shared_ptr<const NameIndex> Load() {
    absl::StatusOr<std::shared_ptr<const NameIndex>> index = NameIndex::Load(catalog_->Current());
    EXPECT_TRUE(index.ok()) << index.status();
    return *index;
  }
};

// "table 4", or empty.
std::string Found(const NameIndex& index, NameSpace space, int64_t schema, std::string_view name) {
  const std::optional<NameIndex::Object> object = index.Find(space, schema, name);
  if (!object.has_value()) {
    return "";
  }
  return StrCat(BuiltinRelationById(object->relation)->short_name(), " ", object->id);
}

constexpr std::string_view kObjects = R"(
  snapshot 1
  insert schema 1 | - | 1 | - | Sales
  insert table 2 | - | 1 | - | 1 | orders
  insert table 3 | - | 1 | - | 0 | orders
  insert view 4 | - | 1 | - | 1 | Report
  insert macro 1 | 5 | orders | 1 | -
  insert table 6 | - | 1 | - | 1 | gone
  snapshot 2
  end table 6 @ 2
)";

TEST_F(NameIndexTest, FindsLiveObjectsByNameInAnyCase) {
  MustApply(kObjects);
  const auto index = Load();
  EXPECT_EQ(Found(*index, NameSpace::kSchema, 0, "SALES"), "schema 1");
  EXPECT_EQ(Found(*index, NameSpace::kTableOrView, 1, "Orders"), "table 2");
  EXPECT_EQ(Found(*index, NameSpace::kTableOrView, 0, "orders"), "table 3");
  EXPECT_EQ(Found(*index, NameSpace::kTableOrView, 1, "report"), "view 4");
  EXPECT_EQ(Found(*index, NameSpace::kMacro, 1, "orders"), "macro 5");
  EXPECT_EQ(Found(*index, NameSpace::kMacro, 0, "orders"), "");
  EXPECT_EQ(Found(*index, NameSpace::kTableOrView, 1, "gone"), "");
  EXPECT_EQ(Found(*index, NameSpace::kTableOrView, 1, ""), "");
}

TEST_F(NameIndexTest, ListsWhatLiesInASchema) {
  MustApply(kObjects);
  std::vector<std::string> objects;
  for (const NameIndex::Object& object : Load()->ObjectsIn(1)) {
    objects.push_back(StrCat(BuiltinRelationById(object.relation)->short_name(), " ", object.id));
  }
  EXPECT_THAT(objects, testing::ElementsAre("table 2", "view 4", "macro 5"));
  EXPECT_THAT(Load()->ObjectsIn(7), testing::IsEmpty());
}

TEST_F(NameIndexTest, KnowsTheNearestNameAsItIsWritten) {
  MustApply(kObjects);
  const auto index = Load();
  EXPECT_EQ(index->Nearest(NameSpace::kTableOrView, 1, "reprot"), "Report");
  EXPECT_EQ(index->Nearest(NameSpace::kSchema, 0, "slaes"), "Sales");
  EXPECT_EQ(index->Nearest(NameSpace::kTableOrView, 0, "reprot"), "");
}

TEST_F(NameIndexTest, OfSeveralWithOneNameOneIsFound) {
  MustApply(
      "snapshot 1\ninsert table 2 | - | 1 | - | 0 | twice\ninsert table 3 | - | 1 | - | 0 | TWICE");
  EXPECT_EQ(Found(*Load(), NameSpace::kTableOrView, 0, "twice"), "table 2");
}

}  // namespace
}  // namespace varve

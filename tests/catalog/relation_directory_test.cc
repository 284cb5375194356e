#include "catalog/relation_directory.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace varve {
namespace {

RelationRef Dynamic(RelationId id, std::string name) {
  absl::StatusOr<RelationSchema> relation =
      MakeDynamicRelation(std::move(name),
                          {{.name = "row_id", .type = TypeKind::kInt64},
                           {.name = "begin_snapshot", .type = TypeKind::kInt64},
                           {.name = "end_snapshot", .type = TypeKind::kInt64}},
                          {});
  relation->id = id;
  return std::make_shared<RelationSchema>(*std::move(relation));
}

RelationDirectory TestDirectory() {
  return RelationDirectory(
      {Dynamic(1031, "ducklake_inlined_data_7_9"), Dynamic(1030, "ducklake_inlined_data_4_15")});
}

std::string Resolved(std::string_view name) {
  const absl::StatusOr<RelationRef> relation = TestDirectory().Resolve(name);
  return relation.ok() ? (*relation)->name : StrCat("error: ", MessageOf(relation.status()));
}

TEST(RelationDirectory, ListsBuiltinsThenDynamicRelationsById) {
  const RelationDirectory directory = TestDirectory();
  ASSERT_EQ(directory.relations().size(), 30U);
  for (RelationId id = 1; id <= 28; ++id) {
    EXPECT_EQ(directory.relations()[id - 1]->id, id);
  }
  EXPECT_EQ(directory.relations()[28]->name, "ducklake_inlined_data_4_15");
  EXPECT_EQ(directory.relations()[29]->name, "ducklake_inlined_data_7_9");
}

TEST(RelationDirectory, AStoredDescriptionReplacesTheBuiltinOne) {
  RelationSchema wider = WithExtraColumns(*BuiltinRelationById(kTable),
                                          {{.name = "extra", .type = TypeKind::kVarchar}});
  const RelationDirectory directory({std::make_shared<RelationSchema>(std::move(wider))});
  EXPECT_EQ(directory.relations().size(), 28U);
  EXPECT_TRUE(directory.FindById(kTable)->columns.Find("extra").has_value());
  EXPECT_EQ(directory.FindByName("ducklake_table"), directory.FindById(kTable));
}

TEST(RelationDirectory, FindsByIdAndFullNameOnly) {
  const RelationDirectory directory = TestDirectory();
  EXPECT_EQ(directory.FindById(kDataFile)->name, "ducklake_data_file");
  EXPECT_EQ(directory.FindById(99), nullptr);
  EXPECT_EQ(directory.FindByName("DUCKLAKE_Data_File")->id, kDataFile);
  EXPECT_EQ(directory.FindByName("data_file"), nullptr);
}

TEST(RelationDirectory, ResolvesFullShortAndBegunNames) {
  EXPECT_EQ(Resolved("ducklake_data_file"), "ducklake_data_file");
  EXPECT_EQ(Resolved("data_file"), "ducklake_data_file");
  EXPECT_EQ(Resolved("DATA_FILE"), "ducklake_data_file");
  EXPECT_EQ(Resolved("data"), "ducklake_data_file");
  EXPECT_EQ(Resolved("ducklake_del"), "ducklake_delete_file");
  EXPECT_EQ(Resolved("inlined_data_4"), "ducklake_inlined_data_4_15");
}

TEST(RelationDirectory, AWholeNameWinsOverLongerOnes) {
  EXPECT_EQ(Resolved("table"), "ducklake_table");
  EXPECT_EQ(Resolved("snapshot"), "ducklake_snapshot");
  EXPECT_EQ(Resolved("column"), "ducklake_column");
}

TEST(RelationDirectory, AmbiguousBeginningsNameTheChoices) {
  EXPECT_EQ(Resolved("tab"),
            "error: relation 'tab' could be table, table_stats, table_column_stats; write more of "
            "the name");
  EXPECT_EQ(Resolved("ducklake_"),
            "error: relation 'ducklake_' could be metadata, snapshot, snapshot_changes, schema, "
            "table, view and 24 more; write more of the name");
}

TEST(RelationDirectory, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(Resolved("data_flie"),
            "error: unknown relation 'data_flie'; did you mean 'data_file'?");
  EXPECT_EQ(Resolved("ducklake_snapshto"),
            "error: unknown relation 'ducklake_snapshto'; did you mean 'ducklake_snapshot'?");
  EXPECT_EQ(Resolved("pg_class"), "error: unknown relation 'pg_class'");
  EXPECT_EQ(Resolved(""), "error: unknown relation ''");
}

TEST(NearestName, CountsExchangedNeighboursAsOneEdit) {
  EXPECT_EQ(NearestName("tabel", {"cable", "table", "label"}), "table");
  EXPECT_EQ(NearestName("FORMAT", {"from", "format"}), "format");
  EXPECT_EQ(NearestName("xyz", {"format", "from"}), "");
  EXPECT_EQ(NearestName("a", {}), "");
}

TEST(UnknownColumnMessage, SuggestsOrLists) {
  const RelationRef relation = BuiltinRelationById(kPartitionInfo);
  EXPECT_EQ(UnknownColumnMessage(*relation, "tabel_id"),
            "unknown column 'tabel_id' of ducklake_partition_info; did you mean 'table_id'?");
  EXPECT_EQ(UnknownColumnMessage(*relation, "colour"),
            "unknown column 'colour' of ducklake_partition_info; its columns are partition_id, "
            "table_id, begin_snapshot, end_snapshot");
}

}  // namespace
}  // namespace varve

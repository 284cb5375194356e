// The small real catalog, brought in from each form it can have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ImportSmallCatalog, BringsInEveryRow) {
  const TemporaryDirectory place;
  std::vector<std::string> relations;
  ImportOptions options;
  options.on_progress = [&](const ImportProgress& progress) {
    EXPECT_GT(progress.total_bytes, 0U);
    EXPECT_LE(progress.bytes, progress.total_bytes);
  };
  const absl::StatusOr<ImportSummary> summary =
      ImportCatalog("csv:" + SmallCatalogDirectory(), place / "catalog", options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->version, "1.0");
  EXPECT_EQ(summary->relations, 46U);
  EXPECT_EQ(summary->dynamic_relations, 18U);
  EXPECT_EQ(summary->load.rows, 650U);
  EXPECT_EQ(summary->load.last_snapshot, 93U);
  EXPECT_EQ(summary->load.anomalies, 0U);
}

TEST(ImportSmallCatalog, GivesDynamicTablesTheTypesOfSchemaSql) {
  const TemporaryDirectory place;
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + SmallCatalogDirectory(), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const ReadView view = catalog->Current();
  const RelationRef types = view.relations().FindByName("ducklake_inlined_data_7_7");
  ASSERT_NE(types, nullptr);
  EXPECT_EQ(types->versioning, Versioning::kInterval);
  EXPECT_EQ(types->columns.column(*types->columns.Find("de")).type, Type::Decimal(38, 10));
  EXPECT_EQ(types->columns.column(*types->columns.Find("s")).type, TypeKind::kBlob);
  EXPECT_EQ(types->columns.column(*types->columns.Find("u")).type, TypeKind::kUuid);
  EXPECT_EQ(types->columns.column(*types->columns.Find("iv")).type, TypeKind::kInterval);
  EXPECT_THAT(VisibleRows(view, "ducklake_inlined_data_7_7"),
              ElementsAre(HasSubstr("'-170141183460469231731687303715884105727'|'255'"),
                          HasSubstr("'1'|'10'|NULL|NULL|NULL")));
}

TEST(ImportSmallCatalog, KeepsTheOrderOfColumnsOutOfTheHeader) {
  const TemporaryDirectory place;
  CopySmallCatalog(place / "csv");
  // The columns of sort_info the other way round.
  WriteFile(place / "csv/ducklake_sort_info.csv",
            "end_snapshot,begin_snapshot,table_id,sort_id\n\\N,54,20,30\n");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_sort_info"),
              ElementsAre("'30'|'20'|'54'|NULL"));
}

TEST(ImportSmallCatalog, FindsOutTypesWithoutSchemaSql) {
  const TemporaryDirectory place;
  CopySmallCatalog(place / "csv");
  std::filesystem::remove(place / "csv/schema.sql");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const ReadView view = catalog->Current();
  const RelationRef types = view.relations().FindByName("ducklake_inlined_data_7_7");
  ASSERT_NE(types, nullptr);
  EXPECT_EQ(types->columns.column(*types->columns.Find("row_id")).type, TypeKind::kInt64);
  EXPECT_EQ(types->columns.column(*types->columns.Find("b")).type, TypeKind::kBoolean);
  EXPECT_EQ(types->columns.column(*types->columns.Find("ti")).type, TypeKind::kInt64);
  EXPECT_EQ(types->columns.column(*types->columns.Find("hi")).type, TypeKind::kVarchar);
  EXPECT_EQ(types->columns.column(*types->columns.Find("f")).type, TypeKind::kFloat64);
  // An inlined table without rows still has its bigint columns.
  const RelationRef empty = view.relations().FindByName("ducklake_inlined_data_17_37");
  EXPECT_EQ(empty->columns.column(*empty->columns.Find("end_snapshot")).type, TypeKind::kInt64);
}

TEST(ImportSmallCatalog, IgnoresFilesThatAreNoTables) {
  const TemporaryDirectory place;
  CopySmallCatalog(place / "csv");
  WriteFile(place / "csv/notes.csv", "this,is\nno table at all\n");
  WriteFile(place / "csv/ducklake_README.txt", "nor is this");
  EXPECT_NE(ImportAndOpen("csv:" + (place / "csv"), place / "catalog"), nullptr);
}

// A table DuckLake does not know is kept: by its declared key, or by a row number in file order.
TEST(ImportSmallCatalog, KeepsOtherTablesWithAndWithoutAKey) {
  const TemporaryDirectory place;
  CopySmallCatalog(place / "csv");
  EditFile(place / "csv/schema.sql", "CREATE TABLE public.ducklake_view (",
           "CREATE TABLE ducklake_owner (name text, team int, PRIMARY KEY (team, name));\n"
           "CREATE TABLE public.ducklake_view (");
  WriteFile(place / "csv/ducklake_owner.csv", "name,team\nzoe,2\nann,1\nbob,2\n");
  WriteFile(place / "csv/ducklake_log.csv", "line\nlast\nfirst\nlast\n");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_owner"),
              ElementsAre("'ann'|'1'", "'bob'|'2'", "'zoe'|'2'"));
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_log"),
              ElementsAre("'last'", "'first'", "'last'"));
}

// What DuckDB's EXPORT DATABASE writes: other file names, NULL as nothing, blobs in escapes, times
// in the zone of its session.
TEST(ImportSmallCatalog, TakesADuckDbExport) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "duck");
  std::string load;
  for (const RelationRef& relation : BuiltinRelations()) {
    const std::string path = StrCat(place / "duck/", relation->name, ".csv");
    std::string text = ReadFile(path);
    for (size_t at = text.find("\\N"); at != std::string::npos; at = text.find("\\N", at)) {
      text.erase(at, 2);
    }
    WriteFile(path, text);
    StrAppend(&load, "COPY ", relation->name, " FROM '/elsewhere/", relation->name,
              ".csv' (FORMAT 'csv', quote '\"', delimiter ',', header 1);\n");
  }
  EditFile(place / "duck/ducklake_snapshot.csv", "2026-01-01 00:00:02.5+00",
           "2026-01-01 05:30:02.5+05:30");
  WriteFile(place / "duck/ducklake_inlined_data___.csv",
            "row_id,begin_snapshot,end_snapshot,s,bl,l\n"
            "0,1,,\\N,\\x00\\xFFab,\"[x, 'a,b']\"\n"
            "1,1,2,\"\",,\n");
  StrAppend(&load,
            "COPY ducklake_inlined_data_1_1 FROM '/elsewhere/ducklake_inlined_data___.csv' "
            "(FORMAT 'csv', quote '\"', delimiter ',', header 1);\n"
            "COPY other FROM '/elsewhere/other.csv' (FORMAT 'csv');\n");
  WriteFile(place / "duck/load.sql", load);
  WriteFile(place / "duck/schema.sql",
            "CREATE TABLE ducklake_inlined_data_1_1(row_id BIGINT, begin_snapshot BIGINT, "
            "end_snapshot BIGINT, s VARCHAR, bl BLOB, l VARCHAR[]);;\n");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "duck"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const CatalogText rows = AllRows(catalog->Current());
  EXPECT_THAT(
      rows.at("ducklake_inlined_data_1_1"),
      ElementsAre(HasSubstr("s:varchar/ bl:blob/ l:text/VARCHAR[]"),
                  "'0'|'1'|NULL|'\\N'|'\\x00ff6162'|'[x, 'a,b']'", "'1'|'1'|'2'|''|NULL|NULL"));
  EXPECT_EQ(rows.at("ducklake_snapshot")[3], "'2'|'2026-01-01 00:00:02.5+00'|'1'|'2'|'1'");
  EXPECT_EQ(rows.at("ducklake_table")[1],
            "'1'|'00000000-0000-0000-0000-000000000002'|'1'|NULL|'0'|'t'|'t/'|'true'");
}

}  // namespace
}  // namespace varve

// Catalogs of older versions: what they have not got is absent, what only they have is kept, and an
// export is what came in.

#include "catalog/interchange/catalog_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(CatalogVersion, TakesZeroPointThreeToOneAndTheirStages) {
  for (const std::string_view version :
       {"0.3-dev1", "0.3", "0.4-dev1", "0.4-dev12", "0.4", "1.0"}) {
    EXPECT_TRUE(ParseCatalogVersion(version, "x").ok()) << version;
  }
}

TEST(CatalogVersion, RefusesOthersByNameAndSaysWhatIsTaken) {
  for (const std::string_view version : {"0.1", "0.2", "1.1-dev1", "1.1", "2.0", "", "0.4-dev",
                                         "0.4-devx", "0.5", "one", "0.3 ", "1.0.0"}) {
    const absl::StatusOr<CatalogVersion> parsed = ParseCatalogVersion(version, "csv:x");
    ASSERT_FALSE(parsed.ok()) << version;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(MessageOf(parsed.status())),
                HasSubstr(StrCat("csv:x: the catalog's version is '", version, "'")));
    EXPECT_THAT(std::string(MessageOf(parsed.status())), HasSubstr("it takes 0.3, 0.4 and 1.0"));
  }
}

TEST(CatalogVersion, AStageMayLackWhatItsReleaseBrings) {
  EXPECT_FALSE(ParseCatalogVersion("0.3", "x")->Has("0.4"));
  EXPECT_FALSE(ParseCatalogVersion("0.4-dev1", "x")->Has("0.4"));
  EXPECT_TRUE(ParseCatalogVersion("0.4-dev1", "x")->Has("0.3"));
  EXPECT_TRUE(ParseCatalogVersion("0.4", "x")->Has("0.4"));
  EXPECT_TRUE(ParseCatalogVersion("1.0", "x")->Has("0.4"));
  EXPECT_TRUE(ParseCatalogVersion("0.3-dev1", "x")->Has(""));
}

TEST(ImportVersions, MarksAbsentWhatTheVersionHasNotGot) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "csv", "0.3");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const ReadView view = catalog->Current();
  EXPECT_TRUE(view.relations().FindByName("ducklake_macro")->absent);
  EXPECT_THAT(VisibleRows(view, "ducklake_macro"), SizeIs(0));
  const RelationRef column = view.relations().FindByName("ducklake_column");
  EXPECT_TRUE(column->IsAbsentColumn(*column->columns.Find("default_value_type")));
  EXPECT_FALSE(column->IsAbsentColumn(*column->columns.Find("parent_column")));
  EXPECT_EQ(VisibleRows(view, "ducklake_column")[0],
            "'1'|'1'|NULL|'1'|'1'|'a'|'int64'|NULL|NULL|'true'|NULL|NULL|NULL");
}

TEST(ImportVersions, AnExportOfAnOldCatalogIsWhatCameIn) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "csv", "0.3");
  const std::string with_retired =
      "data_file_id,table_id,begin_snapshot,end_snapshot,file_order,path,path_is_relative,"
      "file_format,record_count,file_size_bytes,footer_size,row_id_start,partition_id,"
      "encryption_key,partial_file_info,mapping_id\n"
      "0,1,2,\\N,\\N,a.parquet,t,parquet,10,500,100,0,\\N,\\N,2:4|6:7,\\N\n";
  WriteFile(place / "csv/ducklake_data_file.csv", with_retired);
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const absl::StatusOr<ExportSummary> exported =
      ExportCatalog(catalog->Current(), "csv:" + (place / "out"), {.history = true});
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->relations, 22U);
  for (const auto& entry : std::filesystem::directory_iterator(place / "csv")) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(SortedLines(ReadFile(place / ("out/" + name))),
              SortedLines(ReadFile(place / ("csv/" + name))))
        << name;
  }
  EXPECT_FALSE(std::filesystem::exists(place / "out/ducklake_macro.csv"));
  // By position, as DuckLake inserts.
  EXPECT_EQ(ReadFile(place / "out/ducklake_data_file.csv"), with_retired);
}

TEST(ImportVersions, AStageMayHaveBothTheOldAndTheNewColumn) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "csv", "0.4-dev1");
  EditFile(place / "csv/ducklake_data_file.csv", ",partial_max\n",
           ",partial_max,partial_file_info\n");
  EditFile(place / "csv/ducklake_data_file.csv", "0,\\N,\\N,\\N,\\N\n", "0,\\N,\\N,\\N,7,x\n");
  EXPECT_EQ(ImportError("csv:" + (place / "csv")), "");
}

TEST(ImportVersions, AReleaseMustHaveWhatItBrought) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "csv", "0.3");
  EditFile(place / "csv/ducklake_metadata.csv", "version,0.3", "version,0.4");
  EXPECT_THAT(
      ImportError("csv:" + (place / "csv")),
      HasSubstr("ducklake_data_file.csv: column partial_max is missing; catalogs of version "
                "0.4 have it"));
}

TEST(ImportVersions, KeepsColumnsThatSchemaSqlDeclares) {
  const TemporaryDirectory place;
  WriteTinyCatalog(place / "csv");
  WriteFile(place / "csv/ducklake_table_stats.csv",
            "table_id,heat,record_count,next_row_id,file_size_bytes\n1,0.25,10,10,500\n");
  WriteFile(place / "csv/schema.sql",
            "CREATE TABLE ducklake_table_stats (table_id bigint, heat double precision, "
            "record_count bigint, next_row_id bigint, file_size_bytes bigint);");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "csv"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const CatalogText rows = AllRows(catalog->Current());
  EXPECT_EQ(rows.at("ducklake_table_stats")[1], "'1'|'10'|'10'|'500'|'0.25'");

  ASSERT_TRUE(ExportCatalog(catalog->Current(), "csv:" + (place / "out"), {.history = true}).ok());
  const std::unique_ptr<Catalog> again = ImportAndOpen("csv:" + (place / "out"), place / "again");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(FirstDifference(rows, AllRows(again->Current())), "");
}

}  // namespace
}  // namespace varve

// Catalogs kept in SQLite, as DuckLake declares them there and as SQLite lets them be.

#include "catalog/interchange/sqlite/sqlite_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void ExecuteAll(const std::string& path, std::initializer_list<std::string_view> statements) {
  const absl::StatusOr<std::unique_ptr<SqliteDatabase>> database =
      SqliteDatabase::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(database.ok()) << database.status();
  for (const std::string_view sql : statements) {
    ASSERT_TRUE((*database)->Execute(sql).ok()) << sql << ": " << (*database)->Execute(sql);
  }
}

// The tiny catalog in a SQLite file, by way of Varve itself.
void WriteTinySqlite(const TemporaryDirectory& place, const std::string& path) {
  WriteTinyCatalog(place / "tiny_csv");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "tiny_csv"), place / "tiny_catalog");
  ASSERT_NE(catalog, nullptr);
  const absl::StatusOr<ExportSummary> exported =
      ExportCatalog(catalog->Current(), "sqlite:" + path, {.history = true});
  ASSERT_TRUE(exported.ok()) << exported.status();
}

TEST(SqliteSource, RefusesAFileThatIsNotThereOrNoDatabaseOrNoDuckLake) {
  const TemporaryDirectory place;
  EXPECT_THAT(ImportError("sqlite:" + (place / "no.db")), HasSubstr("no such file"));
  WriteFile(place / "text.db", std::string(5000, 'x'));
  EXPECT_THAT(ImportError("sqlite:" + (place / "text.db")), HasSubstr("is not a SQLite database"));
  ExecuteAll(place / "other.db", {"CREATE TABLE orders (id INTEGER)"});
  EXPECT_THAT(ImportError("sqlite:" + (place / "other.db")),
              HasSubstr("is a SQLite database but no DuckLake catalog"));
  ExecuteAll(place / "half.db", {"CREATE TABLE ducklake_table (table_id BIGINT)"});
  EXPECT_THAT(ImportError("sqlite:" + (place / "half.db")),
              HasSubstr("it has no table ducklake_metadata"));
}

TEST(SqliteSource, TakesAnyStorageClassUnderAnyDeclaredType) {
  const TemporaryDirectory place;
  WriteTinySqlite(place, place / "lake.db");
  ExecuteAll(
      place / "lake.db",
      {"CREATE TABLE ducklake_inlined_data_1_1 (row_id BIGINT, begin_snapshot INT, end_snapshot "
       "INTEGER, i INT, s VARCHAR, bl BLOB, d DOUBLE, b BOOLEAN, n)",
       "INSERT INTO ducklake_inlined_data_1_1 VALUES (0, 1, NULL, 9223372036854775807, x'6869', "
       "'text', 1.5, 1, 'any')",
       "INSERT INTO ducklake_inlined_data_1_1 VALUES (1, 1, 2, '7', 'a' || char(0) || 'b', "
       "x'00ff', "
       "2, 'false', 5)"});
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("sqlite:" + (place / "lake.db"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(AllRows(catalog->Current()).at("ducklake_inlined_data_1_1"),
              ElementsAre(HasSubstr("i:bigint/ s:varchar/ bl:blob/ d:double precision/DOUBLE "
                                    "b:boolean/ n:blob/"),
                          "'0'|'1'|NULL|'9223372036854775807'|'hi'|'\\x74657874'|'1.5'|'true'|"
                          "'\\x616e79'",
                          StrCat("'1'|'1'|'2'|'7'|'a", std::string(1, '\0'),
                                 "b'|'\\x00ff'|'2'|'false'|'\\x35'")));
}

TEST(SqliteSource, NamesTheRowAndColumnOfAValueThatDoesNotFit) {
  const TemporaryDirectory place;
  WriteTinySqlite(place, place / "lake.db");
  ExecuteAll(place / "lake.db", {"UPDATE ducklake_table_stats SET record_count = 'many'"});
  EXPECT_EQ(ImportError("sqlite:" + (place / "lake.db")),
            "ducklake_table_stats row 1, column record_count: 'many' is not a bigint");
  ExecuteAll(place / "lake.db", {"UPDATE ducklake_table_stats SET record_count = x'00ff'"});
  EXPECT_EQ(
      ImportError("sqlite:" + (place / "lake.db")),
      "ducklake_table_stats row 1, column record_count: 2 bytes of binary data are not a bigint");
  ExecuteAll(place / "lake.db", {"UPDATE ducklake_table_stats SET record_count = 1.5"});
  EXPECT_EQ(ImportError("sqlite:" + (place / "lake.db")),
            "ducklake_table_stats row 1, column record_count: '1.5' is not a bigint");
  ExecuteAll(place / "lake.db", {"UPDATE ducklake_table_stats SET record_count = 1",
                                 "UPDATE ducklake_table SET path_is_relative = 5"});
  EXPECT_EQ(ImportError("sqlite:" + (place / "lake.db")),
            "ducklake_table row 1, column path_is_relative: '5' is not a boolean");
}

TEST(SqliteSource, KeepsColumnsThatDuckLakeDoesNotKnow) {
  const TemporaryDirectory place;
  WriteTinySqlite(place, place / "lake.db");
  ExecuteAll(place / "lake.db", {"ALTER TABLE ducklake_table ADD COLUMN owner VARCHAR",
                                 "UPDATE ducklake_table SET owner = 'ann'"});
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("sqlite:" + (place / "lake.db"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_table"),
              ElementsAre(HasSubstr("|'t/'|'true'|'ann'")));
}

TEST(SqliteSource, ReadsTimesOfAnyOffset) {
  const TemporaryDirectory place;
  WriteTinySqlite(place, place / "lake.db");
  ExecuteAll(place / "lake.db",
             {"UPDATE ducklake_snapshot SET snapshot_time = '2026-01-01 05:30:02.5+05:30' "
              "WHERE snapshot_id = 2"});
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("sqlite:" + (place / "lake.db"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_EQ(VisibleRows(catalog->Current(), "ducklake_snapshot")[2],
            "'2'|'2026-01-01 00:00:02.5+00'|'1'|'2'|'1'");
}

TEST(SqliteSource, KeepsKeysInTheirDeclaredOrder) {
  const TemporaryDirectory place;
  WriteTinySqlite(place, place / "lake.db");
  ExecuteAll(place / "lake.db",
             {"CREATE TABLE ducklake_pairs (a BIGINT, b VARCHAR, PRIMARY KEY (b, a))",
              "INSERT INTO ducklake_pairs VALUES (1, 'y'), (2, 'x'), (1, 'x')"});
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("sqlite:" + (place / "lake.db"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_pairs"),
              ElementsAre("'1'|'x'", "'2'|'x'", "'1'|'y'"));
}

}  // namespace
}  // namespace varve

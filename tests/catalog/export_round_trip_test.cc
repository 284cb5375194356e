// Importing an export with the whole history gives the same catalog, row for row, through each
// form.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "catalog/interchange/postgres/postgres_connection.h"
#include "catalog/interchange/sqlite/sqlite_database.h"
#include "tests/catalog/export_test_rows.h"
#include "tests/catalog/interchange_fixtures.h"
#include "tests/catalog/postgres_server.h"

namespace varve {
namespace {

enum class Form { kCsv, kSqlite, kPostgres };

// Which catalog goes round, and through what.
struct RoundTrip {
  std::string_view catalog;
  Form form;
};

std::ostream& operator<<(std::ostream& out, const RoundTrip& round_trip) {
  return out << round_trip.catalog;
}

std::string NameOf(const testing::TestParamInfo<RoundTrip>& info) {
  const std::string_view form = info.param.form == Form::kCsv      ? "Csv"
                                : info.param.form == Form::kSqlite ? "Sqlite"
                                                                   : "Postgres";
  return StrCat(info.param.catalog, "Through", form);
}

class ExportRoundTrip : public testing::TestWithParam<RoundTrip> {
 protected:
  // The directory of the catalog to start from.
  std::string SourceDirectory() const {
    const std::string_view catalog = GetParam().catalog;
    if (catalog == "Small") {
      return SmallCatalogDirectory();
    }
    std::string directory = place_ / "source";
    if (catalog == "EveryType") {
      WriteEveryTypeExport(directory);
    } else {
      WriteTinyCatalog(directory, "0.3");
    }
    return directory;
  }
  std::string Target(std::string_view name) const {
    switch (GetParam().form) {
      case Form::kCsv: return StrCat("csv:", place_ / name);
      case Form::kSqlite: return StrCat("sqlite:", place_ / name, ".db");
      case Form::kPostgres: break;
    }
    const absl::StatusOr<PostgresServer*> server = PostgresServer::Shared();
    if (!server.ok()) {
      ADD_FAILURE() << server.status();
      return "";
    }
    const absl::StatusOr<std::string> conninfo = (*server)->CreateDatabase();
    EXPECT_TRUE(conninfo.ok()) << conninfo.status();
    return StrCat("postgres:", *conninfo, "?schema=", name);
  }

  TemporaryDirectory place_;
};

TEST_P(ExportRoundTrip, GivesTheSameRows) {
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + SourceDirectory(), place_ / "first");
  ASSERT_NE(catalog, nullptr);
  const CatalogText rows = AllRows(catalog->Current());
  const std::string target = Target("round");
  const absl::StatusOr<ExportSummary> exported =
      ExportCatalog(catalog->Current(), target, {.history = true});
  ASSERT_TRUE(exported.ok()) << exported.status();
  const std::unique_ptr<Catalog> again = ImportAndOpen(target, place_ / "second");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(FirstDifference(rows, AllRows(again->Current())), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, ExportRoundTrip,
    testing::Values(RoundTrip{"Small", Form::kCsv}, RoundTrip{"Small", Form::kSqlite},
                    RoundTrip{"Small", Form::kPostgres}, RoundTrip{"EveryType", Form::kCsv},
                    RoundTrip{"EveryType", Form::kSqlite}, RoundTrip{"EveryType", Form::kPostgres},
                    RoundTrip{"Old", Form::kCsv}, RoundTrip{"Old", Form::kSqlite},
                    RoundTrip{"Old", Form::kPostgres}),
    NameOf);

// The files are those PostgreSQL wrote, but for the order of the rows.
TEST(ExportCsv, WritesTheFilesThatCameIn) {
  const TemporaryDirectory place;
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + SmallCatalogDirectory(), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  ASSERT_TRUE(ExportCatalog(catalog->Current(), "csv:" + (place / "out"), {.history = true}).ok());
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SmallCatalogDirectory())) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".csv")) {
      ++files;
      EXPECT_EQ(SortedLines(ReadFile(place / ("out/" + name))), SortedLines(ReadFile(entry.path())))
          << name;
    }
  }
  EXPECT_EQ(files, 46U);
}

// DuckLake's SQLite reader goes by the declared types: only those it writes itself may occur.
TEST(ExportSqlite, DeclaresTheTypesDuckLakeDeclares) {
  const TemporaryDirectory place;
  WriteEveryTypeExport(place / "source");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "source"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  ASSERT_TRUE(
      ExportCatalog(catalog->Current(), "sqlite:" + (place / "x.db"), {.history = true}).ok());
  const absl::StatusOr<std::unique_ptr<SqliteDatabase>> database =
      SqliteDatabase::Open(place / "x.db", SQLITE_OPEN_READONLY);
  ASSERT_TRUE(database.ok()) << database.status();
  const auto rows_of = [&](std::string_view sql) {
    std::vector<std::string> rows;
    absl::StatusOr<SqliteStatement> statement = (*database)->Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.status();
    while (statement->Step().value()) {
      rows.emplace_back(statement->Bytes(0));
    }
    return rows;
  };
  EXPECT_THAT(rows_of("SELECT DISTINCT c.type FROM sqlite_master t, pragma_table_info(t.name) c "
                      "WHERE t.name LIKE 'ducklake%' ORDER BY 1"),
              testing::ElementsAre("BIGINT", "BLOB", "VARCHAR"));
  EXPECT_THAT(rows_of("SELECT sql FROM sqlite_master WHERE name = 'ducklake_snapshot'"),
              testing::ElementsAre(testing::HasSubstr("\"snapshot_id\" BIGINT PRIMARY KEY")));
  EXPECT_THAT(
      rows_of("SELECT typeof(b) || ' ' || b || ' ' || typeof(hi) || ' ' || typeof(bl) || ' ' "
              "|| dt || ' ' || d FROM ducklake_inlined_data_1_1 WHERE row_id = 0"),
      testing::ElementsAre("integer 1 text blob 0044-03-15 (BC) NaN"));
}

TEST(ExportSqlite, WritesTextForTextThatPostgresKeptAsBytes) {
  const TemporaryDirectory place;
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + SmallCatalogDirectory(), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  ASSERT_TRUE(
      ExportCatalog(catalog->Current(), "sqlite:" + (place / "x.db"), {.history = true}).ok());
  const absl::StatusOr<std::unique_ptr<SqliteDatabase>> database =
      SqliteDatabase::Open(place / "x.db", SQLITE_OPEN_READONLY);
  ASSERT_TRUE(database.ok()) << database.status();
  absl::StatusOr<SqliteStatement> row = (*database)->Prepare(
      "SELECT typeof(s) || ' ' || typeof(bl) || ' ' || j FROM ducklake_inlined_data_7_7");
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_TRUE(row->Step().value());
  EXPECT_EQ(row->Bytes(0), "text blob {\"k\":[1,2]}");
}

// As DuckLake's PostgreSQL catalogs have it: inlined text as bytea, dates as text, the rest native.
TEST(ExportPostgres, DeclaresTheTypesDuckLakeDeclares) {
  const TemporaryDirectory place;
  WriteEveryTypeExport(place / "source");
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("csv:" + (place / "source"), place / "catalog");
  ASSERT_NE(catalog, nullptr);
  const absl::StatusOr<PostgresServer*> server = PostgresServer::Shared();
  ASSERT_TRUE(server.ok()) << server.status();
  const absl::StatusOr<std::string> conninfo = (*server)->CreateDatabase();
  ASSERT_TRUE(conninfo.ok()) << conninfo.status();
  const absl::StatusOr<ExportSummary> exported =
      ExportCatalog(catalog->Current(), "postgres:" + *conninfo, {.history = true});
  ASSERT_TRUE(exported.ok()) << exported.status();
  const absl::StatusOr<std::unique_ptr<PostgresConnection>> connection =
      PostgresConnection::Connect(*conninfo);
  ASSERT_TRUE(connection.ok()) << connection.status();
  const absl::StatusOr<PostgresResult> types =
      (*connection)
          ->Query(
              "SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' "
              "ORDER BY "
              "a.attnum) FROM pg_attribute a WHERE a.attrelid = "
              "'ducklake_inlined_data_1_1'::regclass AND "
              "a.attnum > 3");
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ(types->text(0, 0),
            "b boolean, ti smallint, si smallint, i integer, bi bigint, hi character varying, "
            "uti integer, usi integer, ui bigint, ubi character varying, uhi character varying, "
            "f real, d double precision, de numeric(38,10), s bytea, bl bytea, "
            "dt character varying, tm time without time zone, tz time with time zone, "
            "ts character varying, tstz character varying, tss character varying, "
            "tsms character varying, tsns character varying, u uuid, iv interval, j bytea, "
            "l character varying, st character varying, empty bytea");
  const absl::StatusOr<PostgresResult> keys =
      (*connection)
          ->Query(
              "SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_index i JOIN pg_class "
              "c ON c.oid = "
              "i.indrelid WHERE i.indisprimary AND c.relname LIKE 'ducklake%'");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(
      keys->text(0, 0),
      "ducklake_data_file ducklake_delete_file ducklake_owner ducklake_schema ducklake_snapshot "
      "ducklake_snapshot_changes");
}

}  // namespace
}  // namespace varve

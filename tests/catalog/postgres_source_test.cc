// Catalogs kept in PostgreSQL, on a server started for the test.

#include "catalog/interchange/postgres/postgres_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"
#include "tests/catalog/postgres_server.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PostgresSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<PostgresServer*> server = PostgresServer::Shared();
    ASSERT_TRUE(server.ok()) << server.status();
    const absl::StatusOr<std::string> conninfo = (*server)->CreateDatabase();
    ASSERT_TRUE(conninfo.ok()) << conninfo.status();
    conninfo_ = *conninfo;
  }

  void Execute(std::initializer_list<std::string> statements) {
    const absl::StatusOr<std::unique_ptr<PostgresConnection>> connection =
        PostgresConnection::Connect(conninfo_);
    ASSERT_TRUE(connection.ok()) << connection.status();
    for (const std::string& sql : statements) {
      const absl::StatusOr<PostgresResult> result = (*connection)->Query(sql);
      ASSERT_TRUE(result.ok()) << sql << ": " << result.status();
    }
  }

  // The tiny catalog in a schema, by way of Varve itself.
  void WriteTinyPostgres(const std::string& schema) {
    WriteTinyCatalog(place_ / "tiny_csv");
    const std::string path = place_ / ("tiny_" + schema);
    const std::unique_ptr<Catalog> catalog = ImportAndOpen("csv:" + (place_ / "tiny_csv"), path);
    ASSERT_NE(catalog, nullptr);
    const absl::StatusOr<ExportSummary> exported = ExportCatalog(
        catalog->Current(), StrCat("postgres:", conninfo_, "?schema=", schema), {.history = true});
    ASSERT_TRUE(exported.ok()) << exported.status();
  }

  TemporaryDirectory place_;
  std::string conninfo_;
};

TEST_F(PostgresSourceTest, NamesWhyItCannotConnect) {
  EXPECT_THAT(ImportError("postgres:host=/nowhere dbname=x"),
              HasSubstr("cannot connect to PostgreSQL"));
}

TEST_F(PostgresSourceTest, RefusesADatabaseWithoutDuckLake) {
  EXPECT_THAT(ImportError("postgres:" + conninfo_), HasSubstr("holds no DuckLake catalog"));
  EXPECT_THAT(ImportError("postgres:" + conninfo_ + "?schema=no"), HasSubstr("has no schema 'no'"));
  EXPECT_THAT(ImportError("postgres:" + conninfo_ + "?schema=public"),
              HasSubstr("is no DuckLake catalog: it has no table ducklake_metadata"));
}

TEST_F(PostgresSourceTest, FindsTheSchemaOrAsksForIt) {
  WriteTinyPostgres("Odd \"lake\"");
  EXPECT_EQ(ImportError("postgres:" + conninfo_), "");
  WriteTinyPostgres("second");
  EXPECT_THAT(ImportError("postgres:" + conninfo_),
              HasSubstr("holds 2 DuckLake catalogs, in the schemas Odd \"lake\", second: add "
                        "?schema=NAME"));
  EXPECT_EQ(ImportError("postgres:" + conninfo_ + "?schema=second"), "");
  EXPECT_EQ(ImportError("postgres:" + conninfo_ + "?schema=Odd \"lake\""), "");
}

TEST_F(PostgresSourceTest, ReadsTextsBytesKeysAndExtraColumns) {
  WriteTinyPostgres("lake");
  Execute({R"(CREATE TABLE lake.ducklake_inlined_data_1_1 (row_id bigint, begin_snapshot bigint,
              end_snapshot bigint, s bytea, dt character varying, n numeric(5,2), iv interval,
              tz time with time zone, arr integer[]))",
           R"(INSERT INTO lake.ducklake_inlined_data_1_1 VALUES
              (0, 1, NULL, '\x6100ff', E'tab\there\\ line\nend', 1.5,
               '1 month 2 days 3 seconds', '10:00+02', '{1,2}'),
              (1, 1, 2, '', '\N', NULL, NULL, NULL, NULL))",
           "CREATE TABLE lake.ducklake_pairs (a bigint, b text, PRIMARY KEY (b, a))",
           "INSERT INTO lake.ducklake_pairs VALUES (1, 'y'), (2, 'x'), (1, 'x')",
           R"(ALTER TABLE lake.ducklake_table ADD COLUMN "Ow ner" text DEFAULT 'ann')",
           R"(ALTER TABLE lake.ducklake_table DROP COLUMN "Ow ner")",
           R"(ALTER TABLE lake.ducklake_table ADD COLUMN "Ow ner" text DEFAULT 'bob')"});
  const std::unique_ptr<Catalog> catalog =
      ImportAndOpen("postgres:" + conninfo_ + "?schema=lake", place_ / "catalog");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(AllRows(catalog->Current()).at("ducklake_inlined_data_1_1"),
              ElementsAre(HasSubstr("s:blob/bytea dt:varchar/character varying "
                                    "n:decimal(5,2)/numeric(5,2) iv:interval/ "
                                    "tz:text/time with time zone arr:text/integer[]"),
                          "'0'|'1'|NULL|'\\x6100ff'|'tab\there\\ line\nend'|'1.50'|"
                          "'1 mon 2 days 00:00:03'|'10:00:00+02'|'{1,2}'",
                          "'1'|'1'|'2'|'\\x'|'\\N'|NULL|NULL|NULL|NULL"));
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_pairs"),
              ElementsAre("'1'|'x'", "'2'|'x'", "'1'|'y'"));
  EXPECT_THAT(VisibleRows(catalog->Current(), "ducklake_table"),
              ElementsAre(HasSubstr("'true'|'bob'")));
}

TEST_F(PostgresSourceTest, NamesTheRowAndColumnOfAValueThatDoesNotFit) {
  WriteTinyPostgres("lake");
  Execute(
      {"ALTER TABLE lake.ducklake_table_stats ALTER COLUMN record_count TYPE text "
       "USING 'many'"});
  EXPECT_EQ(ImportError("postgres:" + conninfo_),
            "ducklake_table_stats row 1, column record_count: 'many' is not a bigint");
}

TEST(CopyLine, UndoesEscapesAndTellsNull) {
  std::string line = "a\\tb\t\\N\t\\\\N\t\t\\n\\r\\b\\f\\v\\x\n";
  std::vector<SourceValue> values;
  ParseCopyLine(&line, &values);
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values[0].text, "a\tb");
  EXPECT_EQ(values[1].kind, SourceValue::Kind::kNull);
  EXPECT_EQ(values[2].kind, SourceValue::Kind::kText);
  EXPECT_EQ(values[2].text, "\\N");
  EXPECT_EQ(values[3].text, "");
  EXPECT_EQ(values[4].text, "\n\r\b\f\vx");
}

TEST(CopyLine, DecodesBytea) {
  std::string out(8, '?');
  size_t size = 0;
  EXPECT_TRUE(DecodeHexBytes("\\x61ff", out.data(), &size));
  EXPECT_EQ(out.substr(0, size), "a\xff");
  EXPECT_TRUE(DecodeHexBytes("\\x", out.data(), &size));
  EXPECT_EQ(size, 0U);
  EXPECT_FALSE(DecodeHexBytes("\\x6", out.data(), &size));
  EXPECT_FALSE(DecodeHexBytes("61", out.data(), &size));
  EXPECT_FALSE(DecodeHexBytes("\\x6g", out.data(), &size));
}

}  // namespace
}  // namespace varve

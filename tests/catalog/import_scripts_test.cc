// What an import reads besides rows: schema.sql, load.sql, and types that nothing declares.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "catalog/interchange/csv/load_script.h"
#include "catalog/interchange/csv/type_guess.h"
#include "catalog/interchange/sql_schema.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "name type[!], …; key" of every table, or the error.
std::string Describe(std::string_view script) {
  const absl::StatusOr<SqlSchema> schema = SqlSchema::Parse(script, "schema.sql");
  if (!schema.ok()) {
    return std::string(MessageOf(schema.status()));
  }
  std::string text;
  for (const DeclaredTable& table : schema->tables()) {
    StrAppend(&text, text.empty() ? "" : " / ", table.name, ":");
    for (const DeclaredColumn& column : table.columns) {
      StrAppend(&text, " <", column.name, "> ", column.type, column.not_null ? "!" : "", ";");
    }
    StrAppend(&text, " key ", StrJoin(table.primary_key, "+"));
  }
  return text;
}

TEST(SqlSchema, ReadsPgDumpsDialect) {
  EXPECT_EQ(Describe(R"(
\restrict token
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);
-- Name: t; Type: TABLE; CREATE TABLE in a comment (a int);
CREATE TABLE public.t (
    id bigint NOT NULL,
    "name ""x"", y" character varying(20) DEFAULT 'a;b'::character varying,
    balance numeric(12,2),
    at timestamp with time zone
);
ALTER TABLE public.t OWNER TO someone;
CREATE TABLE "Odd"."s.t" (a integer[], b bytea);
COPY public.t (id) FROM stdin;
1
CREATE TABLE inside_data (a int);
\.
ALTER TABLE ONLY public.t
    ADD CONSTRAINT t_pkey PRIMARY KEY (id);
CREATE INDEX i ON public.t (id);
)"),
            "t: <id> bigint!; <name \"x\", y> character varying(20); <balance> numeric(12,2); "
            "<at> timestamp with time zone; key id / s.t: <a> integer[]; <b> bytea; key ");
}

TEST(SqlSchema, ReadsDuckDbsDialect) {
  EXPECT_EQ(Describe(R"(CREATE SCHEMA s2;;

CREATE TABLE m("key" VARCHAR NOT NULL, l STRUCT(a INTEGER, b VARCHAR[])[], m MAP(VARCHAR, INT));;
CREATE TABLE d(id BIGINT PRIMARY KEY, v VARCHAR DEFAULT('literal'), e ENUM('a', 'b c'));;
CREATE VIEW v1 AS SELECT 1 AS a;;
)"),
            "m: <key> VARCHAR!; <l> STRUCT(a INTEGER, b VARCHAR[])[]; <m> MAP(VARCHAR, INT); "
            "key  / d: <id> BIGINT; <v> VARCHAR; <e> ENUM('a', 'b c'); key id");
}

TEST(SqlSchema, ReadsKeysOfSeveralColumnsAndTableConstraints) {
  EXPECT_EQ(Describe("create table if not exists x (a int, b int check (b > 0), unique (b),"
                     " constraint pk primary key (b, a), foreign key (a) references y (z))"),
            "x: <a> int; <b> int; key b+a");
}

TEST(SqlSchema, PassesOverDollarQuotesAndBlockComments) {
  EXPECT_EQ(Describe("CREATE FUNCTION f() AS $x$ CREATE TABLE no (a int); $x$;"
                     "/* CREATE TABLE no (a int); */ CREATE TABLE yes (a E'x')"),
            "yes: <a> E'x'; key ");
}

TEST(SqlSchema, NamesWhatCannotBeRead) {
  EXPECT_EQ(Describe("\nCREATE TABLE \"t (a int)"),
            "schema.sql line 2: the quoted name that begins here is never closed");
  EXPECT_THAT(Describe("CREATE TABLE t (a int"), HasSubstr("the list of columns is never closed"));
  EXPECT_THAT(Describe("CREATE TABLE t (a int,)"), HasSubstr("expected a column, found nothing"));
  EXPECT_THAT(Describe("CREATE TABLE t (5 int)"), HasSubstr("expected a column name, found '5'"));
  EXPECT_THAT(Describe("CREATE TABLE t (a int); CREATE TABLE s.T (b int)"),
              HasSubstr("table T is declared twice"));
}

TEST(SqlSchema, ReadsTheSmallCatalogs) {
  const absl::StatusOr<SqlSchema> schema =
      SqlSchema::Parse(ReadFile(SmallCatalogDirectory() + "/schema.sql"), "schema.sql");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->tables().size(), 46U);
  EXPECT_THAT(schema->Find("ducklake_data_file")->primary_key, ElementsAre("data_file_id"));
  EXPECT_EQ(schema->Find("ducklake_inlined_data_7_7")->Find("de")->type, "numeric(38,10)");
  EXPECT_EQ(schema->Find("ducklake_inlined_data_8_8")->columns[4].name, "SELECT");
}

std::vector<LoadedFile> Load(std::string_view script, std::string* error) {
  absl::StatusOr<std::vector<LoadedFile>> files = ParseLoadScript(script, "load.sql");
  *error = std::string(MessageOf(files.status()));
  return files.ok() ? *std::move(files) : std::vector<LoadedFile>();
}

TEST(LoadScript, TellsWhichFileHoldsWhichTable) {
  std::string error;
  const std::vector<LoadedFile> files = Load(
      "COPY ducklake_inlined_data_4_15 FROM '/home/o''neil/out/ducklake_inlined_data_____.csv' "
      "(FORMAT 'csv', quote '\"', delimiter ',', header 1);\n"
      "COPY s2.\"odd name\" FROM 'x/odd.csv' (FORMAT 'csv', force_not_null ('key', 'value'), quote "
      "'''', delimiter '|', header false, nullstr 'NUL');\n",
      &error);
  ASSERT_EQ(error, "");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].table, "ducklake_inlined_data_4_15");
  EXPECT_EQ(files[0].file, "ducklake_inlined_data_____.csv");
  EXPECT_TRUE(files[0].header);
  EXPECT_EQ(files[0].null_text, "");
  EXPECT_EQ(files[1].table, "odd name");
  EXPECT_EQ(files[1].file, "odd.csv");
  EXPECT_EQ(files[1].delimiter, '|');
  EXPECT_EQ(files[1].quote, '\'');
  EXPECT_FALSE(files[1].header);
  EXPECT_EQ(files[1].null_text, "NUL");
  EXPECT_THAT(files[1].never_null, ElementsAre("key", "value"));
}

TEST(LoadScript, RefusesWhatItDoesNotUnderstand) {
  std::string error;
  Load("COPY t FROM 'x.parquet' (FORMAT 'parquet');", &error);
  EXPECT_THAT(error, HasSubstr("load.sql: COPY t: option FORMAT: expected csv"));
  Load("COPY t FROM 'x.csv' (FORMAT 'csv', compression 'zstd');", &error);
  EXPECT_THAT(error, HasSubstr("option compression: expected one of"));
  Load("COPY t FROM 'x.csv' (escape '\\');", &error);
  EXPECT_THAT(error, HasSubstr("option escape: expected the quote character"));
}

std::string_view Guess(std::initializer_list<std::string_view> texts) {
  TypeGuess guess;
  for (const std::string_view text : texts) {
    guess.Add(text);
  }
  return guess.SqlType();
}

TEST(TypeGuess, ChoosesATypeOnlyIfEveryTextComesBack) {
  EXPECT_EQ(Guess({}), "varchar");
  EXPECT_EQ(Guess({"1", "-5", "9223372036854775807"}), "bigint");
  EXPECT_EQ(Guess({"9223372036854775808"}), "varchar");
  EXPECT_EQ(Guess({"007"}), "varchar");
  EXPECT_EQ(Guess({"1.5", "2", "NaN"}), "double precision");
  EXPECT_EQ(Guess({"1.50"}), "varchar");
  EXPECT_EQ(Guess({"t", "f"}), "boolean");
  EXPECT_EQ(Guess({"true", "1"}), "varchar");
  EXPECT_EQ(Guess({"a", ""}), "varchar");
  EXPECT_EQ(Guess({""}), "varchar");
}

}  // namespace
}  // namespace varve

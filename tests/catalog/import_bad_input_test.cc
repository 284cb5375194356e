// Sources that are no catalog, and rows that are not right: each a one-line error that names file,
// line and column, with nothing left at the catalog's path (ImportError checks both).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ImportBadInput : public testing::Test {
 protected:
  ImportBadInput() { WriteTinyCatalog(directory_); }

  std::string File(std::string_view table) const { return StrCat(directory_, "/", table, ".csv"); }
  // The error of importing after a change to one file.
  std::string ErrorAfterEdit(std::string_view table, std::string_view from, std::string_view to) {
    EditFile(File(table), from, to);
    return Error();
  }
  std::string ErrorWith(std::string_view table, std::string_view extra_rows) {
    WriteFile(File(table), ReadFile(File(table)) + std::string(extra_rows));
    return Error();
  }
  std::string Error(const ImportOptions& options = {}) {
    return ImportError("csv:" + directory_, options);
  }

  TemporaryDirectory place_;
  std::string directory_ = place_ / "csv";
};

TEST_F(ImportBadInput, TheTinyCatalogItselfIsTaken) {
  EXPECT_EQ(Error(), "");
}

TEST_F(ImportBadInput, ASchemaScriptThatDeclaresNothing) {
  WriteFile(directory_ + "/schema.sql", "garbage ;;; nothing here\n");
  EXPECT_THAT(Error(), HasSubstr("schema.sql declares no table"));
}

TEST_F(ImportBadInput, ADirectoryWhereAFileIsDue) {
  std::filesystem::create_directory(File("ducklake_zzz"));
  EXPECT_THAT(Error(), HasSubstr("ducklake_zzz.csv is no regular file"));
  EXPECT_THAT(ImportError("sqlite:" + directory_), HasSubstr("is a directory"));
}

TEST_F(ImportBadInput, ASpecOfNoKnownForm) {
  EXPECT_EQ(ImportError("mysql:lake"),
            "'mysql:lake': expected csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]");
  EXPECT_THAT(ImportError("duckdb:lake.db"), HasSubstr("EXPORT DATABASE"));
  EXPECT_THAT(ImportError("/srv/dump"), HasSubstr("expected csv:DIR"));
  EXPECT_THAT(ImportError("csv:"), HasSubstr("expected a path behind the colon"));
}

TEST_F(ImportBadInput, ADirectoryThatIsNotThereOrIsAFile) {
  EXPECT_THAT(ImportError("csv:" + (place_ / "no")), HasSubstr("no such directory"));
  EXPECT_THAT(ImportError("csv:" + File("ducklake_table")), HasSubstr("is not a directory"));
}

TEST_F(ImportBadInput, ADirectoryWithoutACatalog) {
  std::filesystem::create_directory(place_ / "empty");
  EXPECT_THAT(ImportError("csv:" + (place_ / "empty")),
              HasSubstr("is no DuckLake catalog: it has no table ducklake_metadata"));
}

TEST_F(ImportBadInput, ANewerOrOlderVersion) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_metadata", "version,1.0", "version,1.1-dev1"),
              HasSubstr("the catalog's version is '1.1-dev1'"));
  EXPECT_THAT(ErrorAfterEdit("ducklake_metadata", "version,1.1-dev1", "version,0.2"),
              HasSubstr("the catalog's version is '0.2'"));
}

TEST_F(ImportBadInput, NoVersionOrTwo) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_metadata", "version,1.0", "edition,1.0"),
              HasSubstr("ducklake_metadata.csv: expected one row with key 'version', found none"));
  EXPECT_THAT(ErrorAfterEdit("ducklake_metadata", "edition,1.0,\\N,\\N\n",
                             "version,1.0,\\N,\\N\nversion,0.3,\\N,\\N\n"),
              HasSubstr("found 0.3 and 1.0"));
}

TEST_F(ImportBadInput, AMandatoryTableThatIsMissing) {
  std::filesystem::remove(File("ducklake_partition_column"));
  EXPECT_THAT(Error(), HasSubstr("table ducklake_partition_column is missing; catalogs of version "
                                 "1.0 have it"));
}

TEST_F(ImportBadInput, AnUnknownColumnInTheHeader) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "table_name", "tabel_name"),
              HasSubstr("ducklake_table.csv: column table_name is missing"));
  EditFile(File("ducklake_table"), "tabel_name", "table_name");
  EXPECT_THAT(
      ErrorAfterEdit("ducklake_tag", "key,value", "key,value,valeu"),
      AllOf(StartsWith("ducklake_tag.csv line 1: unknown column 'valeu', did you mean value?"),
            HasSubstr("of version 1.0 has no such column")));
}

TEST_F(ImportBadInput, AColumnTwiceInTheHeader) {
  EXPECT_EQ(ErrorAfterEdit("ducklake_tag", "key,value", "key,value,Key"),
            "ducklake_tag.csv line 1: column Key is there twice; remove one");
}

TEST_F(ImportBadInput, AnEmptyFile) {
  WriteFile(File("ducklake_tag"), "");
  EXPECT_THAT(Error(), HasSubstr("ducklake_tag.csv is empty; expected a header line"));
}

TEST_F(ImportBadInput, TooFewFields) {
  EXPECT_EQ(
      ErrorWith("ducklake_snapshot", "3,2026-01-01 00:00:03+00,1,2\n"),
      "ducklake_snapshot.csv line 5: expected 5 fields as in the header, found 4; the value of "
      "column next_file_id is missing");
}

TEST_F(ImportBadInput, TooManyFields) {
  EXPECT_EQ(
      ErrorWith("ducklake_snapshot", "3,2026-01-01 00:00:03+00,1,2,3,more\n"),
      "ducklake_snapshot.csv line 5: expected 5 fields as in the header, found 6; too many, the "
      "first one is 'more'");
}

TEST_F(ImportBadInput, AValueOfTheWrongType) {
  EXPECT_EQ(ErrorAfterEdit("ducklake_table", "\n1,", "\nabc,"),
            "ducklake_table.csv line 2, column table_id: 'abc' is not a bigint");
}

TEST_F(ImportBadInput, EachTypeSaysWhatItExpected) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "-000000000002", "-2"),
              HasSubstr("ducklake_table.csv line 2, column table_uuid: "));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "t/,t\n", "t/,maybe\n"),
              HasSubstr("column path_is_relative: 'maybe' is not a boolean"));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_snapshot", "2026-01-01 00:00:01+00", "yesterday"),
              HasSubstr("ducklake_snapshot.csv line 3, column snapshot_time: 'yesterday'"));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_data_file", ",500,", ",99999999999999999999,"),
              HasSubstr("ducklake_data_file.csv line 2, column file_size_bytes: "));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "0,t,t/", "0,\xFF,t/"),
              HasSubstr("ducklake_table.csv line 2, column table_name: "));
}

TEST_F(ImportBadInput, TheLineIsTheOneTheRecordBeganOn) {
  EXPECT_THAT(
      ErrorWith("ducklake_view",
                "5,\\N,1,\\N,0,v,duckdb,\"SELECT\n1\",\\N\nx,\\N,1,\\N,0,w,duckdb,\\N,\\N\n"),
      StartsWith("ducklake_view.csv line 4, column view_id: 'x'"));
}

TEST_F(ImportBadInput, BrokenCsv) {
  EXPECT_THAT(ErrorWith("ducklake_tag", "1,1,\\N,\"k,v\n"),
              HasSubstr("ducklake_tag.csv line 2, field 4: a quote opened in this record is never "
                        "closed"));
}

TEST_F(ImportBadInput, NullWhereAValueIsNeeded) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_metadata", "encrypted,false", "encrypted,\\N"),
              AllOf(StartsWith("ducklake_metadata.csv line 4"), HasSubstr("value")));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "\n1,", "\n\\N,"),
              AllOf(StartsWith("ducklake_table.csv line 2"), HasSubstr("table_id")));
  WriteTinyCatalog(directory_);
  EXPECT_THAT(ErrorAfterEdit("ducklake_schema", ",0,\\N,main", ",\\N,\\N,main"),
              AllOf(StartsWith("ducklake_schema.csv line 2"), HasSubstr("begin_snapshot")));
}

TEST_F(ImportBadInput, AnIntervalThatEndsBeforeItBegins) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "2,1,\\N,0", "2,1,1,0"),
              StartsWith("ducklake_table.csv line 2"));
}

TEST_F(ImportBadInput, ADuplicateOfADeclaredKey) {
  const std::string file = "0,1,1,\\N,\\N,b.parquet,t,parquet,1,1,1,0,\\N,\\N,\\N,\\N\n";
  EXPECT_THAT(ErrorWith("ducklake_data_file", file),
              AllOf(HasSubstr("ducklake_data_file.csv"), HasSubstr("line 3")));
  EXPECT_NE(Error({.keep_anomalies = true}), "") << "a declared key holds whatever is asked";
}

TEST_F(ImportBadInput, OverlappingIntervalsUnlessTheyAreKept) {
  EXPECT_THAT(
      ErrorWith("ducklake_table", "1,00000000-0000-0000-0000-000000000002,2,\\N,0,u,t/,t\n"),
      AllOf(HasSubstr("ducklake_table.csv"), HasSubstr("line 3")));
  EXPECT_EQ(Error({.keep_anomalies = true}), "");
}

TEST_F(ImportBadInput, RowsBeyondTheLastSnapshot) {
  EXPECT_THAT(ErrorAfterEdit("ducklake_table", "2,1,\\N,0", "2,7,\\N,0"),
              AllOf(HasSubstr("ducklake_table.csv"), HasSubstr("line 2"), HasSubstr("7")));
}

TEST_F(ImportBadInput, NoSnapshotAtAll) {
  const std::string header = ReadFile(File("ducklake_snapshot"));
  WriteFile(File("ducklake_snapshot"), header.substr(0, header.find('\n') + 1));
  EXPECT_NE(Error(), "");
}

TEST_F(ImportBadInput, AnInlinedTableWithoutItsOwnColumns) {
  WriteFile(File("ducklake_inlined_data_1_1"), "row_id,begin_snapshot,a\n0,1,5\n");
  EXPECT_THAT(Error(), HasSubstr("ducklake_inlined_data_1_1: column 'end_snapshot' is missing"));
}

TEST_F(ImportBadInput, AFileThatLoadSqlNamesButIsNotThere) {
  WriteFile(directory_ + "/load.sql", "COPY ducklake_metadata FROM '/x/gone.csv' (FORMAT 'csv');");
  EXPECT_THAT(Error(), HasSubstr("gone.csv"));
}

TEST_F(ImportBadInput, ABrokenSchemaSql) {
  WriteFile(directory_ + "/schema.sql", "CREATE TABLE \"ducklake_tag (a int);");
  EXPECT_THAT(Error(), HasSubstr("schema.sql line 1: the quoted name"));
}

TEST_F(ImportBadInput, SomethingIsAtThePathAlready) {
  const TemporaryDirectory other;
  WriteFile(other / "catalog", "precious");
  const absl::StatusOr<ImportSummary> summary =
      ImportCatalog("csv:" + directory_, other / "catalog");
  EXPECT_EQ(summary.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadFile(other / "catalog"), "precious");
}

}  // namespace
}  // namespace varve

// log, ls, scan, get, diff, stats and verify on the small real catalog.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Standard output of a run that must succeed.
std::string Printed(const std::vector<std::string>& words) {
  const Outcome outcome = RunVarve(SmallCatalog(), words);
  EXPECT_EQ(outcome.exit_code, 0) << StrJoin(words, " ") << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty()) << StrJoin(words, " ");
  return outcome.out;
}

std::vector<std::string> PrintedCsv(std::vector<std::string> words) {
  words.emplace_back("--format=csv");
  return Lines(Printed(words));
}

std::vector<nlohmann::json> PrintedJson(std::vector<std::string> words) {
  words.emplace_back("--format=json");
  std::vector<nlohmann::json> objects;
  for (const std::string& line : Lines(Printed(words))) {
    objects.push_back(nlohmann::json::parse(line));
  }
  return objects;
}

// Expects an error of one line with this code.
void ExpectError(const std::vector<std::string>& words, int exit_code, const std::string& message) {
  const Outcome outcome = RunVarve(SmallCatalog(), words);
  EXPECT_EQ(outcome.exit_code, exit_code) << StrJoin(words, " ");
  EXPECT_EQ(outcome.err, StrCat("varve: ", message, "\n"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(Log, ListsSnapshotsNewestFirst) {
  EXPECT_EQ(
      Printed({"log", "--limit=2"}),
      "id  time                           author  message  changes\n"
      "--  -----------------------------  ------  -------  ---------------------------------\n"
      "93  2026-11-30 08:37:09.674008+00  NULL    NULL     inlined_delete:4\n"
      "92  2026-11-30 08:37:09.626564+00  NULL    NULL     inlined_insert:4,inlined_delete:4\n"
      "(2 rows)\n");
  const std::vector<std::string> all = PrintedCsv({"log"});
  ASSERT_THAT(all, SizeIs(89));
  EXPECT_EQ(all[0], "id,time,author,message,changes");
  EXPECT_EQ(all.back(), "0,2026-11-30 08:37:06.331149+00,\\N,\\N,\"created_schema:\"\"main\"\"\"");
}

TEST(Log, ShowsWhoCommittedAndWhy) {
  bool found = false;
  for (const nlohmann::json& snapshot : PrintedJson({"log"})) {
    if (!snapshot["message"].is_null()) {
      found = true;
      EXPECT_TRUE(snapshot["author"].is_string());
      EXPECT_TRUE(snapshot["id"].is_number_integer());
    }
  }
  EXPECT_TRUE(found);
}

TEST(Log, WithLimitZeroIsEmpty) {
  EXPECT_THAT(PrintedCsv({"log", "--limit=0"}), SizeIs(1));
}

TEST(Ls, RoundsSizesInTablesOnly) {
  EXPECT_EQ(Printed({"ls", "tables", "hr"}),
            "schema  table   columns  files  rows     size\n"
            "------  ------  -------  -----  ----  -------\n"
            "hr      depts         3      1     3    376 B\n"
            "hr      nested        2      0     0      0 B\n"
            "hr      people        6      1    32  2.4 KiB\n"
            "(3 rows)\n");
  EXPECT_THAT(PrintedCsv({"ls", "tables", "hr"}),
              ElementsAre("schema,table,columns,files,rows,size", "hr,depts,3,1,3,376",
                          "hr,nested,2,0,0,0", "hr,people,6,1,32,2407"));
  EXPECT_EQ(PrintedJson({"ls", "tables", "hr"})[2]["size"], 2407);
}

TEST(Ls, ShowsEveryKindAtASnapshot) {
  EXPECT_THAT(PrintedCsv({"ls", "schemas", "--at=2"}),
              ElementsAre("schema,path,tables,views", "hr,/srv/lake/small/hr/,0,0",
                          "main,/srv/lake/small/main/,0,0", "sales,/srv/lake/small/sales/,0,0"));
  EXPECT_THAT(PrintedCsv({"ls", "views", "--at", "38"}),
              ElementsAre("schema,view,columns,dialect,sql",
                          "sales,paid,\\N,duckdb,SELECT * FROM sales.purchases WHERE (status = "
                          "'paid')"));
  EXPECT_THAT(PrintedCsv({"ls", "macros", "--at=45"}),
              ElementsAre("schema,macro,kind,parameters,dialect,sql",
                          "main,addp,scalar,\"a, b := 5\",duckdb,(a + b)",
                          "main,tm,table,n,duckdb,\"SELECT * FROM \"\"range\"\"(n) AS t(k)\""));
  EXPECT_THAT(PrintedCsv({"ls", "columns", "depts"}),
              ElementsAre("schema,table,column,type,nullable,default", "hr,depts,id,int32,true,\\N",
                          "hr,depts,name,varchar,true,\\N", "hr,depts,boss,int32,true,\\N"));
  EXPECT_THAT(
      PrintedCsv({"ls", "files", "sales.orders", "--at=13"}),
      ElementsAre("schema,table,path,rows,size,deletes,begin,partition",
                  "sales,orders,/srv/lake/small/sales/orders/"
                  "ducklake-01a22b99-c2b8-7a11-b09b-219be4df5ecc.parquet,5000,36822,0,13,\\N"));
  EXPECT_THAT(PrintedCsv({"ls", "tables", "--at-time=2026-11-30 08:37:06.509899+00"}), SizeIs(1));
}

TEST(Ls, FindsOddNames) {
  EXPECT_THAT(PrintedCsv({"ls", "columns", "\"Mixed Case\".\"Odd \"\"Table\"\" 'name'\""}),
              ElementsAre("schema,table,column,type,nullable,default",
                          "Mixed Case,\"Odd \"\"Table\"\" 'name'\",a b,int32,true,\\N",
                          "Mixed Case,\"Odd \"\"Table\"\" 'name'\",SELECT,varchar,true,\\N",
                          "Mixed Case,\"Odd \"\"Table\"\" 'name'\",ünï,varchar,true,\\N"));
}

TEST(Ls, NamesWhatItDoesNotFind) {
  ExpectError({"ls", "colunms"}, 2, "ls cannot list 'colunms'; did you mean 'columns'?");
  ExpectError({"ls", "indexes"}, 2,
              "ls cannot list 'indexes'; it lists schemas, tables, views, macros, columns, files");
  ExpectError({"ls", "tables", "slaes"}, 4,
              "there is no schema 'slaes' at this snapshot; did you mean 'sales'?");
  ExpectError({"ls", "files", "sales.custmers"}, 4,
              "there is no table 'sales.custmers' at this snapshot; did you mean "
              "'sales.customers'?");
  ExpectError({"ls", "columns", "sales.purchases", "--at=28"}, 4,
              "there is no table 'sales.purchases' at this snapshot");
}

TEST(Scan, TakesAnyUnambiguousRelationName) {
  const std::string expected = Printed({"scan", "ducklake_data_file", "--format=csv"});
  EXPECT_THAT(Lines(expected), SizeIs(27));
  for (const char* name : {"data_file", "DATA_FILE", "data", "ducklake_dat"}) {
    EXPECT_EQ(Printed({"scan", name, "--format=csv"}), expected) << name;
  }
  ExpectError({"scan", "data_flie"}, 4, "unknown relation 'data_flie'; did you mean 'data_file'?");
  ExpectError({"scan", "tab"}, 2,
              "relation 'tab' could be table, table_stats, table_column_stats; write more of the "
              "name");
}

TEST(Scan, ChoosesColumnsInTheGivenOrder) {
  EXPECT_THAT(
      PrintedCsv({"scan", "schema", "--columns=schema_name,schema_id"}),
      ElementsAre("schema_name,schema_id", "main,0", "sales,1", "hr,2", "Mixed Case,3", "gone,30"));
  EXPECT_THAT(PrintedCsv({"scan", "inlined_data_8_8", "--columns=\"a b\",select"}),
              ElementsAre("a b,SELECT", "1,\\x78", "2,\\N"));
  ExpectError({"scan", "schema", "--columns=schema_nmae"}, 2,
              "unknown column 'schema_nmae' of ducklake_schema; did you mean 'schema_name'?");
  ExpectError({"scan", "schema", "--columns=path,PATH"}, 2, "--columns names 'PATH' twice");
  ExpectError({"scan", "schema", "--columns=\"path"}, 2,
              "--columns=\"path: a double quote is not closed");
}

TEST(Scan, FiltersLimitsAndCounts) {
  EXPECT_THAT(PrintedCsv({"scan", "column", "--columns=column_name", "--at=22",
                          "--where=table_id = 4 and column_id > 5"}),
              ElementsAre("column_name", "phone", "score"));
  EXPECT_THAT(PrintedCsv({"scan", "snapshot", "--columns=snapshot_id", "--limit=2"}),
              ElementsAre("snapshot_id", "0", "1"));
  EXPECT_THAT(PrintedCsv({"scan", "data_file", "--count"}), ElementsAre("count", "26"));
  EXPECT_THAT(PrintedCsv({"scan", "data_file", "--count", "--history"}),
              ElementsAre("count", "29"));
  EXPECT_THAT(PrintedCsv({"scan", "data_file", "--count", "--where", "path is null"}),
              ElementsAre("count", "0"));
}

TEST(Scan, PointsAtTheColumnOfAMalformedPredicate) {
  ExpectError({"scan", "column", "--where=tabel_id = 3"}, 2,
              "predicate column 1: unknown column 'tabel_id' of ducklake_column; did you mean "
              "'table_id'?");
  ExpectError({"scan", "column", "--where=table_id = 3 or column_id = 4"}, 2,
              "predicate column 14: 'or' is not supported; terms are joined by 'and'");
  ExpectError({"scan", "column", "--where=column_name = name"}, 2,
              "predicate column 15: expected a constant for column_name, found 'name'");
}

TEST(Scan, ReadsAtASnapshotOrATime) {
  EXPECT_THAT(PrintedCsv({"scan", "schema", "--count", "--at=0"}), ElementsAre("count", "1"));
  EXPECT_THAT(PrintedCsv({"scan", "schema", "--count", "--at=1"}), ElementsAre("count", "2"));
  // The time of snapshot 2, and a microsecond before it.
  EXPECT_THAT(PrintedCsv({"scan", "schema", "--count", "--at-time=2026-11-30T08:37:06.509899Z"}),
              ElementsAre("count", "3"));
  EXPECT_THAT(PrintedCsv({"scan", "schema", "--count", "--at-time=2026-11-30 09:37:06.509898+01"}),
              ElementsAre("count", "2"));
}

TEST(Scan, HistoryShowsEveryVersionWithItsInterval) {
  EXPECT_THAT(
      PrintedCsv({"scan", "table", "--history", "--where=table_id = 5",
                  "--columns=table_name,begin_snapshot,end_snapshot"}),
      ElementsAre("table_name,begin_snapshot,end_snapshot", "orders,5,29", "purchases,29,\\N"));
  // Also where no chosen column says it,
  EXPECT_THAT(
      PrintedCsv({"scan", "table", "--history", "--where=table_id = 5", "--columns=table_name"}),
      ElementsAre("table_name,begin_snapshot,end_snapshot", "orders,5,29", "purchases,29,\\N"));
  // and for rows that live as long as their parent.
  EXPECT_THAT(PrintedCsv({"scan", "macro_impl", "--history", "--columns=macro_id,sql"}),
              ElementsAre("macro_id,sql,begin_snapshot,end_snapshot", "12,(a + b),44,46",
                          "13,\"SELECT * FROM \"\"range\"\"(n) AS t(k)\",45,47",
                          "14,(a + b),46,\\N", "14,((a + b) + c),46,\\N"));
}

TEST(Scan, PrintsEveryTypeInJson) {
  const std::vector<nlohmann::json> rows = PrintedJson({"scan", "inlined_data_7_7"});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0]["b"], true);
  EXPECT_EQ(rows[0]["bi"], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(rows[0]["hi"], "-170141183460469231731687303715884105727");
  EXPECT_EQ(rows[0]["ubi"], "18446744073709551615");
  EXPECT_EQ(rows[0]["ui"], 4294967295U);
  EXPECT_EQ(rows[0]["f"], 1.5);
  EXPECT_EQ(rows[0]["d"], "NaN");
  EXPECT_EQ(rows[0]["de"], "1.0000000001");
  EXPECT_EQ(rows[0]["tstz"], "infinity");
  EXPECT_EQ(rows[0]["bl"], "\\x00ff6162");
  EXPECT_TRUE(rows[1]["bi"].is_null());
}

TEST(Get, PrintsOneRowByItsKey) {
  EXPECT_EQ(PrintedJson({"get", "table", "5"})[0]["table_name"], "purchases");
  EXPECT_EQ(PrintedJson({"get", "table", "5", "--at=28"})[0]["table_name"], "orders");
  EXPECT_EQ(PrintedJson({"get", "column", "4", "7", "--at=25"})[0]["column_type"], "int64");
  EXPECT_EQ(PrintedJson({"get", "metadata", "version", "NULL", "\\N"})[0]["value"], "1.0");
}

TEST(Get, FindsFilesByTheirIdAlone) {
  EXPECT_EQ(PrintedJson({"get", "data_file", "6"}), PrintedJson({"get", "data_file", "4", "6"}));
  EXPECT_EQ(PrintedJson({"get", "data_file", "4", "--at=20"})[0]["record_count"], 5000);
}

TEST(Get, SaysSoWhenThereIsNoSuchRow) {
  ExpectError({"get", "table", "99"}, 3, "no row of ducklake_table has the key 99 at snapshot 93");
  ExpectError({"get", "table", "5", "--at=4"}, 3,
              "no row of ducklake_table has the key 5 at snapshot 4");
  ExpectError({"get", "data_file", "4"}, 3,
              "no row of ducklake_data_file has the key 4 at snapshot 93");
  ExpectError({"get", "table", "-5"}, 3, "no row of ducklake_table has the key -5 at snapshot 93");
}

TEST(Get, RefusesKeysThatDoNotFit) {
  ExpectError({"get", "column", "4"}, 2,
              "the key of ducklake_column is table_id column_id: expected 2 values, got 1");
  ExpectError({"get", "table", "4", "5"}, 2,
              "the key of ducklake_table is table_id: expected 1 value, got 2");
  ExpectError({"get", "table", "four"}, 2, "key column table_id: 'four' is not a bigint");
}

TEST(Diff, ShowsWhatChangedForPeople) {
  EXPECT_EQ(Printed({"diff", "--from=28", "--to=29", "table"}),
            "ducklake_table\n"
            "  ~ table_id=5  table_name: 'orders' -> 'purchases'\n"
            "(0 added, 0 removed, 1 changed)\n");
  const std::string all = Printed({"diff", "--from=27", "--to=30"});
  EXPECT_THAT(all, StartsWith("ducklake_table\n"));
  EXPECT_THAT(all, HasSubstr("\nducklake_column\n  - table_id=4 column_id=5  column_order=5 "
                             "column_name='created' column_type='timestamp'"));
  EXPECT_THAT(all, HasSubstr("\n  + table_id=6 column_id=15  "));
  EXPECT_THAT(all, EndsWith("\n(4 added, 1 removed, 1 changed)\n"));
}

TEST(Diff, BackwardsShowsTheOpposite) {
  EXPECT_EQ(Printed({"diff", "--from=29", "--to=28", "table"}),
            "ducklake_table\n"
            "  ~ table_id=5  table_name: 'purchases' -> 'orders'\n"
            "(0 added, 0 removed, 1 changed)\n");
  EXPECT_EQ(Printed({"diff", "--from=29", "--to=29"}), "(0 added, 0 removed, 0 changed)\n");
}

TEST(Diff, GoesToTheLatestSnapshotByDefault) {
  EXPECT_EQ(Printed({"diff", "--from=92"}), Printed({"diff", "--from=92", "--to=93"}));
}

TEST(Diff, GivesProgramsKeysAndValuesAsJson) {
  const std::vector<nlohmann::json> json = PrintedJson({"diff", "--from=28", "--to=29", "table"});
  ASSERT_THAT(json, SizeIs(1));
  EXPECT_EQ(json[0].dump(),
            R"({"after":{"table_name":"purchases"},"before":{"table_name":"orders"},)"
            R"("change":"changed","key":{"table_id":5},"relation":"ducklake_table"})");
  EXPECT_THAT(PrintedCsv({"diff", "--from=28", "--to=29", "table"}),
              ElementsAre("relation,change,key,before,after",
                          "ducklake_table,changed,\"{\"\"table_id\"\":5}\",\"{\"\"table_name\"\":"
                          "\"\"orders\"\"}\",\"{\"\"table_name\"\":\"\"purchases\"\"}\""));
  const std::vector<nlohmann::json> added = PrintedJson({"diff", "--from=3", "--to=4", "table"});
  ASSERT_THAT(added, SizeIs(1));
  EXPECT_TRUE(added[0]["before"].is_null());
  EXPECT_EQ(added[0]["after"]["table_name"], "customers");
}

TEST(Stats, CountsRowsAndVersions) {
  const std::string table = Printed({"stats"});
  EXPECT_THAT(table, HasSubstr("\nat snapshot 93; 88 snapshots, the last is 93; "));
  EXPECT_THAT(table, HasSubstr("\nfamily"));
  bool seen = false;
  for (const nlohmann::json& relation : PrintedJson({"stats"})) {
    if (relation["relation"] == "ducklake_table") {
      seen = true;
      EXPECT_EQ(relation["rows"], 12);
      EXPECT_EQ(relation["versions"], 17);
      EXPECT_EQ(relation["live"], 12);
      EXPECT_EQ(relation["ended"], 5);
      EXPECT_DOUBLE_EQ(relation["history_amplification"], 17.0 / 12);
      EXPECT_EQ(relation["scan_amplification"], 1.0);
    }
  }
  EXPECT_TRUE(seen);
  const std::vector<nlohmann::json> families = PrintedJson({"stats", "families"});
  ASSERT_THAT(families, SizeIs(4));
  EXPECT_EQ(families[1]["family"], "live");
  ExpectError({"stats", "familes"}, 2,
              "stats are of relations, families, memory or tiers, not of 'familes'; did you mean "
              "'families'?");
}

TEST(Verify, ConcludesWithCounts) {
  const Outcome csv = RunVarve(SmallCatalog(), {"verify", "--format=csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.out;
  EXPECT_THAT(csv.out, StartsWith("severity,relation,key,rule,message\n"));
  EXPECT_THAT(csv.err, StartsWith("checked 650 rows: 0 errors, "));
  const Outcome table = RunVarve(SmallCatalog(), {"verify"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("checked 650 rows: 0 errors, "));
  EXPECT_THAT(table.err, IsEmpty());
}

TEST(Snapshots, ThatAreNotThereAreNamedWithTheirNeighbours) {
  ExpectError({"scan", "table", "--at=9"}, 4,
              "snapshot 9 does not exist (expired, or never made); the nearest are 8 and 11");
  ExpectError({"ls", "tables", "--at=36"}, 4,
              "snapshot 36 does not exist (expired, or never made); the nearest are 34 and 37");
  ExpectError({"get", "table", "5", "--at=94"}, 4,
              "snapshot 94 lies in the future: the last one is 93");
  ExpectError({"diff", "--from=10", "--to=11"}, 4,
              "snapshot 10 does not exist (expired, or never made); the nearest are 8 and 11");
  ExpectError({"scan", "table", "--at-time=2020-01-01"}, 4,
              "no snapshot is as old as 2020-01-01 00:00:00+00; the earliest retained one is 0 of "
              "2026-11-30 08:37:06.331149+00");
}

TEST(Readers, WorkBesideAWriter) {
  const absl::StatusOr<std::unique_ptr<Catalog>> writer = Catalog::Open(SmallCatalog());
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_THAT(PrintedCsv({"log"}), SizeIs(89));
  EXPECT_THAT(PrintedCsv({"scan", "data_file", "--count"}), ElementsAre("count", "26"));
}

}  // namespace
}  // namespace varve

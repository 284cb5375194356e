#include "tests/catalog/export_test_rows.h"

#include "base/strings.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

struct ExampleColumn {
  std::string_view name;
  std::string_view lake_type;    // in ducklake_column
  std::string_view duckdb_type;  // in schema.sql
  std::string_view csv;          // as DuckDB writes it
};

constexpr ExampleColumn kColumns[] = {
    {"b", "boolean", "BOOLEAN", "true"},
    {"ti", "int8", "TINYINT", "-128"},
    {"si", "int16", "SMALLINT", "-32768"},
    {"i", "int32", "INTEGER", "2147483647"},
    {"bi", "int64", "BIGINT", "-9223372036854775808"},
    {"hi", "int128", "HUGEINT", "-170141183460469231731687303715884105728"},
    {"uti", "uint8", "UTINYINT", "255"},
    {"usi", "uint16", "USMALLINT", "65535"},
    {"ui", "uint32", "UINTEGER", "4294967295"},
    {"ubi", "uint64", "UBIGINT", "18446744073709551615"},
    {"uhi", "uint128", "UHUGEINT", "340282366920938463463374607431768211455"},
    {"f", "float32", "FLOAT", "0.1"},
    {"d", "float64", "DOUBLE", "nan"},
    {"de", "decimal(38,10)", "DECIMAL(38,10)", "-1234567890123456789012345678.0123456789"},
    {"s", "varchar", "VARCHAR", "\"tab\t, \"\"quote\"\" \\N größe\nline\""},
    {"bl", "blob", "BLOB", "\\x00\\xFFab\\x5C"},
    {"dt", "date", "DATE", "0044-03-15 (BC)"},
    {"tm", "time", "TIME", "23:59:59.999999"},
    {"tz", "timetz", "TIME WITH TIME ZONE", "12:34:56+02"},
    {"ts", "timestamp", "TIMESTAMP", "290000-01-01 00:00:00"},
    {"tstz", "timestamptz", "TIMESTAMP WITH TIME ZONE", "infinity"},
    {"tss", "timestamp_s", "TIMESTAMP_S", "2024-02-29 12:34:56"},
    {"tsms", "timestamp_ms", "TIMESTAMP_MS", "1969-12-31 23:59:59.999"},
    {"tsns", "timestamp_ns", "TIMESTAMP_NS", "2262-04-11 23:47:16.854775806"},
    {"u", "uuid", "UUID", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
    {"iv", "interval", "INTERVAL", "1 year 2 months 3 days 04:00:05.5"},
    {"j", "json", "JSON", "\"{\"\"k\"\": [1,2]}\""},
    {"l", "list", "VARCHAR[]", "\"[x, 'a,b', NULL]\""},
    {"st", "struct", "STRUCT(a INTEGER, b VARCHAR)", "\"{'a': 1, 'b': x y}\""},
    {"empty", "varchar", "VARCHAR", "\"\""},
};

}  // namespace

void WriteEveryTypeExport(const std::string& directory) {
  WriteTinyCatalog(directory);
  std::string load;
  for (const RelationRef& relation : BuiltinRelations()) {
    const std::string path = StrCat(directory, "/", relation->name, ".csv");
    std::string text = ReadFile(path);
    for (size_t at = text.find("\\N"); at != std::string::npos; at = text.find("\\N", at)) {
      text.erase(at, 2);
    }
    WriteFile(path, text);
    StrAppend(&load, "COPY ", relation->name, " FROM '/x/", relation->name,
              ".csv' (FORMAT 'csv', header 1);\n");
  }
  const auto add_table = [&](std::string_view name, std::string_view csv) {
    WriteFile(StrCat(directory, "/", name, ".csv"), csv);
    StrAppend(&load, "COPY ", name, " FROM '/x/", name, ".csv' (FORMAT 'csv', header 1);\n");
  };
  std::string lake_columns;
  std::string header = "row_id,begin_snapshot,end_snapshot";
  std::string declarations = "row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT";
  std::string values = "0,1,";
  std::string nulls = "1,1,2";
  int id = 2;
  for (const ExampleColumn& column : kColumns) {
    StrAppend(&lake_columns, id, ",1,,1,", id, ",", column.name, ",\"", column.lake_type,
              "\",,NULL,t,,literal,duckdb\n");
    StrAppend(&header, ",", column.name);
    StrAppend(&declarations, ", ", column.name, " ", column.duckdb_type);
    StrAppend(&values, ",", column.csv);
    nulls.push_back(',');
    ++id;
  }
  const std::string columns_file = StrCat(directory, "/ducklake_column.csv");
  WriteFile(columns_file, ReadFile(columns_file) + lake_columns);
  add_table("ducklake_inlined_data_1_1", StrCat(header, "\n", values, "\n", nulls, "\n"));
  add_table("ducklake_inlined_delete_1", "file_id,row_id,begin_snapshot\n0,3,2\n");
  add_table("ducklake_log", "line\nlast\nfirst\nlast\n");
  add_table("ducklake_owner", "name,team\nzoe,2\nann,1\n");
  WriteFile(directory + "/load.sql", load);
  WriteFile(directory + "/schema.sql",
            StrCat("CREATE TABLE ducklake_inlined_data_1_1(", declarations,
                   ");;\nCREATE TABLE ducklake_log(line VARCHAR);;\n"
                   "CREATE TABLE ducklake_owner(\"name\" VARCHAR NOT NULL, team UINTEGER, "
                   "PRIMARY KEY (team, \"name\"));;\n"));
}

}  // namespace varve

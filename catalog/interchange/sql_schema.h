// The tables a schema.sql declares: their columns with the declared types, and primary keys.
//
// Reads CREATE TABLE and ALTER TABLE … ADD … PRIMARY KEY statements in the dialects of pg_dump,
// DuckDB's EXPORT DATABASE and SQLite; every other statement is passed over.
//
// Thread-safety: immutable once parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace varve {

struct DeclaredColumn {
  std::string name;
  std::string type;  // as written: "character varying", "STRUCT(a INTEGER, b VARCHAR[])[]"
  bool not_null = false;
};

struct DeclaredTable {
  std::string name;  // without its schema
  std::vector<DeclaredColumn> columns;
  std::vector<std::string> primary_key;

  // Case-insensitive; nullptr when there is none.
  const DeclaredColumn* Find(std::string_view column) const;
};

class SqlSchema {
 public:
  // `name` is what messages call the script. Errors: InvalidArgument for a quote never closed, a
  // CREATE TABLE whose columns cannot be read, a table declared twice.
  static absl::StatusOr<SqlSchema> Parse(std::string_view script, const std::string& name);

  const std::vector<DeclaredTable>& tables() const { return tables_; }
  // Case-insensitive; nullptr when the script declares no such table.
  const DeclaredTable* Find(std::string_view table) const;

 private:
  std::vector<DeclaredTable> tables_;
};

}  // namespace varve

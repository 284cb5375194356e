// What a person wants to see of a catalog at one snapshot: schemas, tables, views, macros, columns
// and files by their names, with ids resolved.
//
// Names are found as SQL finds them: case-insensitively, `table`, `schema.table`, or quoted as in
// `"Mixed Case"."a.b"`. A table name alone is enough where only one schema has it.
//
// Thread-safety: free functions over a view, which may be shared. Errors: NotFound for a name that
// is not there at the view's snapshot (the message names the nearest), InvalidArgument for a table
// name that several schemas have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

struct SchemaListing {
  std::string name;
  std::string path;  // where its files lie, data path included
  int64_t tables = 0;
  int64_t views = 0;
};

struct TableListing {
  std::string schema;
  std::string name;
  int64_t columns = 0;  // top-level ones
  int64_t files = 0;    // data files
  // Rows in data files and inlined rows, without deleted ones. A merged file that holds rows of
  // later snapshots (partial_max) counts whole.
  int64_t rows = 0;
  int64_t bytes = 0;  // of data and delete files
};

struct ViewListing {
  std::string schema;
  std::string name;
  std::optional<std::string> column_aliases;
  std::string dialect;
  std::string sql;
};

// One implementation of a macro.
struct MacroListing {
  std::string schema;
  std::string name;
  std::string kind;        // "scalar", "table"
  std::string parameters;  // "a, b := 5"
  std::string dialect;
  std::string sql;
};

struct ColumnListing {
  std::string schema;
  std::string table;
  std::string name;  // of a nested field the path: "addr.geo.lat"
  std::string type;  // children included: "struct(lat float64, lon float64)"
  std::optional<bool> nullable;
  std::optional<std::string> default_value;
};

struct FileListing {
  std::string schema;
  std::string table;
  std::string path;  // data path included
  int64_t rows = 0;
  int64_t bytes = 0;
  int64_t deletes = 0;  // rows deleted by delete files and inlined deletes
  SnapshotId begin = 0;
  std::string partition;  // "region=eu, year(ts)=2023"; empty: not partitioned
};

// Sorted by schema and name. `schema` narrows to one schema; empty: all.
absl::StatusOr<std::vector<SchemaListing>> ListSchemas(const ReadView& view,
                                                       std::string_view schema);
absl::StatusOr<std::vector<TableListing>> ListTables(const ReadView& view, std::string_view schema);
absl::StatusOr<std::vector<ViewListing>> ListViews(const ReadView& view, std::string_view schema);
absl::StatusOr<std::vector<MacroListing>> ListMacros(const ReadView& view, std::string_view schema);

// Of one table, of the tables of a schema, or (empty) of all; in column order.
absl::StatusOr<std::vector<ColumnListing>> ListColumns(const ReadView& view, std::string_view name);

// The same choice of tables; files in the order of their ids. Memory is bounded by the
// deletes and partition values of the largest table. The visitor's error ends the walk and is
// returned.
absl::Status ListFiles(const ReadView& view, std::string_view name,
                       const std::function<absl::Status(const FileListing&)>& visit);

}  // namespace varve

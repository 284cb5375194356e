// The schemas and tables visible at one snapshot, found by the names people write.
//
// Names are case-insensitive. `schema.table` is split at a dot outside double quotes; a part that
// begins with a quote is read as SQL reads it ("a ""b"""). A name that holds dots or quotes itself
// is found unquoted, too, if it is written as it is.
//
// Thread-safety: immutable once loaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

struct SchemaName {
  int64_t id = 0;
  std::string name;
  std::string path;  // data path included
};

struct TableName {
  int64_t id = 0;
  int64_t schema_id = 0;
  std::string schema;
  std::string name;
  std::string path;  // data path included
};

class ObjectNames {
 public:
  static absl::StatusOr<ObjectNames> Load(const ReadView& view);

  const std::vector<SchemaName>& schemas() const { return schemas_; }  // by name
  const std::vector<TableName>& tables() const { return tables_; }     // by schema and name

  // The name of a schema; "#7" when there is none of this id.
  std::string SchemaNameOf(int64_t schema_id) const;

  // NotFound, with the nearest name.
  absl::StatusOr<const SchemaName*> FindSchema(std::string_view name) const;

  // The tables `name` stands for: all if empty, one if it is a table, those of a schema otherwise.
  // Errors: NotFound with the nearest name; InvalidArgument when several schemas have the table.
  absl::StatusOr<std::vector<const TableName*>> SelectTables(std::string_view name) const;

 private:
  std::vector<SchemaName> schemas_;
  std::vector<TableName> tables_;
  absl::flat_hash_map<int64_t, size_t> schema_by_id_;
};

// "base/" and a path that continues it, or the path alone when it is not relative.
std::string ResolvePath(std::string_view base, std::string_view path, bool is_relative);

// "name", in double quotes unless it is a plain identifier.
std::string QuotedIfNeeded(std::string_view name);

}  // namespace varve

// Where a catalog is exported to: tables are begun one after the other and filled row by row.
//
// Nothing is to be seen at the place until Finish; destroying a target without it leaves nothing.
//
// Thread-safety: none.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "base/type.h"

namespace varve {

struct TargetColumn {
  std::string name;
  Type type;
  std::string declared_type;  // empty: TypeName(type)
  bool not_null = false;
  bool is_builtin = false;  // one of DuckLake's own columns, whose type every reader knows
  bool is_inlined = false;  // a user's column in a table of inlined rows
  // The lake knows the inlined column as varchar or json, whatever bytes or text hold it here.
  bool holds_text = false;

  std::string SqlType() const { return declared_type.empty() ? TypeName(type) : declared_type; }
};

struct TargetTable {
  std::string name;
  std::vector<TargetColumn> columns;
  std::vector<std::string> primary_key;
};

class CatalogTarget {
 public:
  virtual ~CatalogTarget() = default;
  virtual absl::Status BeginTable(const TargetTable& table) = 0;
  // A value for every column of the table begun last, in order.
  virtual absl::Status AddRow(std::span<const Datum> values) = 0;
  // Completes the last table and publishes everything.
  virtual absl::Status Finish() = 0;
};

// Opens "csv:DIR", "sqlite:FILE" or "postgres:CONNINFO[?schema=NAME]" for a catalog of a version of
// DuckLake, which says how inlined values are stored. Errors: AlreadyExists when something is there
// (a directory that is not empty, a file, a table of the catalog in the schema), InvalidArgument
// for a spec of no such form, and those of the system behind it.
absl::StatusOr<std::unique_ptr<CatalogTarget>> OpenTarget(std::string_view spec,
                                                          std::string_view catalog_version);

}  // namespace varve

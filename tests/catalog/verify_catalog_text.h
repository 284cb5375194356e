// Catalogs for tests, written as text: one row a line, columns by name, the others NULL.
//
//   table table_id=2 begin_snapshot=2 schema_id=1 table_name=t path='t/'
//
// The first word is the relation's short name. A value with spaces is quoted ('it''s one'). Edits
// change a catalog that is there already:
//
//   + view view_id=9 …                  adds a row
//   - data_file data_file_id=1          removes the rows with these values
//   = view view_id=3 : schema_id=8      sets columns of the rows with these values
//
// Thread-safety: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/row.h"
#include "catalog/relation.h"

namespace varve {

class TextCatalog {
 public:
  // Declares a dynamic relation; its columns are bigint unless written "name:type".
  void Declare(const std::string& name, const std::vector<std::string>& columns);

  // Adds rows, one a line; empty lines are skipped.
  void AddRows(std::string_view lines);

  // Applies one edit. Fails the process when it matches no row: the test would test nothing.
  void Edit(std::string_view edit);

  // Loads the rows as they are, anomalies included, into a new catalog.
  absl::Status Build(const std::string& path) const;

  // A row from "column=value column=value".
  static Row MakeRow(const RelationSchema& relation, std::string_view text);

 private:
  using Values = std::map<std::string, std::optional<std::string>>;
  struct Line {
    std::string relation;
    Values values;
  };
  static Line Parse(std::string_view text);
  static Row RowOf(const RelationSchema& relation, const Values& values);
  bool Matches(const Line& row, const Line& pattern) const;

  std::vector<RelationSchema> declared_;
  std::vector<Line> rows_;
};

}  // namespace varve

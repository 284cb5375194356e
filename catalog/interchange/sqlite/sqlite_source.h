// A DuckLake catalog kept in a SQLite file, read in one read-only transaction.
//
// SQLite's types are those of values, not of columns: whatever storage class stands under a
// declared type is handed on, and the import says if it does not fit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/interchange/source.h"
#include "catalog/interchange/sqlite/sqlite_database.h"

namespace varve {

class SqliteSource : public CatalogSource {
 public:
  // Errors: NotFound (no such file), InvalidArgument (no SQLite database, or one without DuckLake
  // tables), Unavailable (locked by a writer).
  static absl::StatusOr<std::unique_ptr<CatalogSource>> Open(const std::string& path);

  const std::string& name() const override { return name_; }
  const std::vector<SourceTable>& tables() const override { return tables_; }
  absl::Status Read(const SourceTable& table, RowVisitor visitor) override;
  std::string_view line_noun() const override { return "row"; }

 private:
  explicit SqliteSource(std::unique_ptr<SqliteDatabase> database, const std::string& path);
  absl::Status ListTables();

  std::unique_ptr<SqliteDatabase> database_;
  std::string name_;
  std::vector<SourceTable> tables_;
};

}  // namespace varve

// A DuckLake catalog kept in PostgreSQL, read in one REPEATABLE READ, READ ONLY transaction by
// COPY … TO STDOUT, row by row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/interchange/postgres/postgres_connection.h"
#include "catalog/interchange/source.h"

namespace varve {

class PostgresSource : public CatalogSource {
 public:
  // `schema` empty: the one schema of the database that holds a table ducklake_metadata.
  // Errors: Unavailable (no connection), NotFound (no such schema), InvalidArgument (no DuckLake
  // there, or several and no schema named).
  static absl::StatusOr<std::unique_ptr<CatalogSource>> Open(const std::string& conninfo,
                                                             const std::string& schema);

  const std::string& name() const override { return name_; }
  const std::vector<SourceTable>& tables() const override { return tables_; }
  absl::Status Read(const SourceTable& table, RowVisitor visitor) override;
  std::string_view line_noun() const override { return "row"; }
  uint64_t bytes_read() const override { return bytes_read_; }

 private:
  explicit PostgresSource(std::unique_ptr<PostgresConnection> connection)
      : connection_(std::move(connection)) {}
  absl::Status FindSchema(std::string schema);
  absl::Status ListTables();

  std::unique_ptr<PostgresConnection> connection_;
  std::string name_;
  std::string schema_;
  std::vector<SourceTable> tables_;
  std::vector<std::vector<bool>> is_bytea_;  // by table and column
  uint64_t bytes_read_ = 0;
};

// Takes a line of COPY's text format apart (PostgreSQL, "COPY", file formats, text format): tabs
// between fields, \N for NULL, backslash escapes, which are undone in `line`. The values point into
// it.
void ParseCopyLine(std::string* line, std::vector<SourceValue>* values);

// Decodes bytea's text (\x6162) in place; false when it is none.
bool DecodeHexBytes(std::string_view text, char* out, size_t* size);

}  // namespace varve

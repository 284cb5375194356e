// A DuckLake catalog in a schema of a PostgreSQL database, written in one transaction by COPY …
// FROM STDIN, as DuckLake itself keeps one there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/interchange/postgres/postgres_connection.h"
#include "catalog/interchange/storage_types.h"
#include "catalog/interchange/target.h"

namespace varve {

class PostgresTarget : public CatalogTarget {
 public:
  // `schema` is created if it is not there; empty: public. Error: AlreadyExists when it holds a
  // table named ducklake_… already.
  static absl::StatusOr<std::unique_ptr<CatalogTarget>> Open(const std::string& conninfo,
                                                             const std::string& schema,
                                                             std::string_view catalog_version);

  absl::Status BeginTable(const TargetTable& table) override;
  absl::Status AddRow(std::span<const Datum> values) override;
  absl::Status Finish() override;

 private:
  PostgresTarget(std::unique_ptr<PostgresConnection> connection, std::string schema,
                 bool plain_inlined_types)
      : connection_(std::move(connection)),
        schema_(std::move(schema)),
        plain_inlined_types_(plain_inlined_types) {}
  absl::Status FinishTable();
  absl::Status WriteRememberedTypes();
  absl::Status CreateTable(const std::string& name, const std::vector<std::string>& columns);

  std::unique_ptr<PostgresConnection> connection_;
  std::string schema_;
  bool plain_inlined_types_;
  bool in_table_ = false;
  std::string table_;
  std::vector<Type> types_;
  std::vector<StorageType> storages_;
  // Rows of the table of declared types: table, column, type.
  std::vector<std::vector<std::string>> remembered_;
  std::string text_;
  std::string buffer_;
};

// Appends a text as a field of COPY's text format.
void AppendCopyText(std::string_view text, std::string* out);

}  // namespace varve

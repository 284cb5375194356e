// A DuckLake catalog in a new SQLite file, as DuckLake itself keeps one there. The file is written
// under another name beside its place, synced, and renamed at the end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/interchange/sqlite/sqlite_database.h"
#include "catalog/interchange/storage_types.h"
#include "catalog/interchange/target.h"

namespace varve {

class SqliteTarget : public CatalogTarget {
 public:
  // Error: AlreadyExists when something is at `path`.
  static absl::StatusOr<std::unique_ptr<CatalogTarget>> Open(const std::string& path);
  ~SqliteTarget() override;

  absl::Status BeginTable(const TargetTable& table) override;
  absl::Status AddRow(std::span<const Datum> values) override;
  absl::Status Finish() override;

 private:
  SqliteTarget(std::string path, std::string working_path)
      : path_(std::move(path)), working_path_(std::move(working_path)) {}
  absl::Status RememberType(const TargetTable& table, const TargetColumn& column);

  std::string path_;
  std::string working_path_;  // empty once published
  std::unique_ptr<SqliteDatabase> database_;
  std::optional<SqliteStatement> insert_;
  std::vector<Type> types_;
  std::vector<StorageForm> forms_;
  std::vector<std::string> texts_;
  bool has_types_table_ = false;
};

}  // namespace varve

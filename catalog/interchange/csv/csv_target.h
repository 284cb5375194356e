// A catalog as a directory: one ducklake_<table>.csv a table as PostgreSQL's COPY … (FORMAT csv,
// HEADER, NULL '\N') writes it, and schema.sql with the declarations. The directory is filled under
// another name beside its place and renamed at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/interchange/csv/csv_writer.h"
#include "catalog/interchange/target.h"

namespace varve {

class CsvTarget : public CatalogTarget {
 public:
  // Error: AlreadyExists when `directory` is there and not empty.
  static absl::StatusOr<std::unique_ptr<CatalogTarget>> Open(const std::string& directory);
  ~CsvTarget() override;

  absl::Status BeginTable(const TargetTable& table) override;
  absl::Status AddRow(std::span<const Datum> values) override;
  absl::Status Finish() override;

 private:
  CsvTarget(std::string directory, std::string working_directory);
  absl::Status FinishTable();

  std::string directory_;
  std::string working_directory_;  // empty once published
  std::unique_ptr<FileWriter> file_;
  std::vector<Type> types_;
  std::string schema_sql_;
  std::string text_;
};

}  // namespace varve

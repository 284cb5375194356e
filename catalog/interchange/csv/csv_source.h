// A catalog as a directory of CSV files: one ducklake_<table>.csv a table with a header line and
// NULL as \N, as PostgreSQL's COPY writes it; or what DuckDB's EXPORT DATABASE … (FORMAT csv)
// makes, told by its load.sql, which says which file is which table and how NULL is written.
//
// schema.sql, where there is one, gives the types of columns that DuckLake does not define; without
// it they are found out by reading those files once more. Other files are ignored.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/interchange/csv/csv_reader.h"
#include "catalog/interchange/csv/load_script.h"
#include "catalog/interchange/source.h"
#include "catalog/interchange/sql_schema.h"

namespace varve {

class CsvSource : public CatalogSource {
 public:
  // Errors: NotFound when the directory is not there, InvalidArgument when it holds no catalog, a
  // header cannot be read, or a script in it cannot be parsed.
  static absl::StatusOr<std::unique_ptr<CatalogSource>> Open(const std::string& directory);

  const std::string& name() const override { return name_; }
  const std::vector<SourceTable>& tables() const override { return tables_; }
  absl::Status Read(const SourceTable& table, RowVisitor visitor) override;
  std::string_view line_noun() const override { return "line"; }
  BlobText blob_text() const override { return blob_text_; }
  uint64_t total_bytes() const override { return total_bytes_; }
  uint64_t bytes_read() const override;

 private:
  explicit CsvSource(std::string directory);
  absl::Status FindFiles();
  absl::Status AddTable(const LoadedFile& file);
  absl::StatusOr<std::unique_ptr<CsvReader>> OpenFile(const LoadedFile& file) const;
  // Fields as values: NULL where an unquoted field is the file's text for it.
  void ToValues(const LoadedFile& file, const SourceTable& table, std::span<const CsvField> fields,
                std::vector<SourceValue>* values) const;
  // Calls the visitor for the rows behind the header.
  absl::Status ReadRows(const LoadedFile& file, const SourceTable& table, RowVisitor visitor,
                        uint64_t* bytes_consumed);
  absl::Status GuessTypes(const LoadedFile& file, SourceTable* table);

  std::string directory_;
  std::string name_;
  BlobText blob_text_ = BlobText::kHex;
  SqlSchema schema_;
  std::vector<SourceTable> tables_;
  std::vector<LoadedFile> files_;     // parallel to tables_
  std::vector<uint64_t> bytes_read_;  // parallel to tables_: of the latest reading of each
  uint64_t total_bytes_ = 0;
};

}  // namespace varve

#include "catalog/interchange/csv/csv_target.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/interchange/sql_lexer.h"
#include "catalog/interchange/storage_types.h"
#include "catalog/store/durable_file.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

// DuckLake's own columns in PostgreSQL's spelling, others as they were declared.
std::string SqlTypeIn(const TargetColumn& column) {
  return column.is_builtin ? PostgresStorage(column, /*plain_inlined_types=*/true).sql_type
                           : column.SqlType();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CatalogTarget>> CsvTarget::Open(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::path(directory).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();  // "out/" is out
  }
  if (fs::exists(path, error) && (!fs::is_directory(path, error) || !fs::is_empty(path, error))) {
    return absl::AlreadyExistsError(
        StrCat(directory, " is there and not an empty directory; name a new one"));
  }
  std::string working = StrCat(path.string(), ".exporting-XXXXXX");
  if (::mkdtemp(working.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, StrCat("cannot create a directory beside ", directory));
  }
  fs::permissions(working, fs::perms(0755), error);
  return std::unique_ptr<CatalogTarget>(new CsvTarget(path.string(), std::move(working)));
}

CsvTarget::CsvTarget(std::string directory, std::string working_directory)
    : directory_(std::move(directory)), working_directory_(std::move(working_directory)) {
  schema_sql_ =
      "-- The tables of a DuckLake catalog. The rows are in the CSV files beside this file; load "
      "each with\n-- COPY <table> FROM '<table>.csv' (FORMAT csv, HEADER, NULL '\\N').\n";
}

CsvTarget::~CsvTarget() {
  if (!working_directory_.empty()) {
    std::error_code error;
    fs::remove_all(working_directory_, error);
  }
}

absl::Status CsvTarget::BeginTable(const TargetTable& table) {
  VARVE_RETURN_IF_ERROR(FinishTable());
  VARVE_ASSIGN_OR_RETURN(file_,
                         FileWriter::Create(StrCat(working_directory_, "/", table.name, ".csv")));
  types_.clear();
  StrAppend(&schema_sql_, "\nCREATE TABLE ", QuoteSqlName(table.name), " (");
  std::string_view separator = "\n";
  for (const TargetColumn& column : table.columns) {
    StrAppend(&schema_sql_, separator, "    ", QuoteSqlName(column.name), " ", SqlTypeIn(column),
              column.not_null ? " NOT NULL" : "");
    separator = ",\n";
    if (!types_.empty()) {
      file_->buffer().push_back(',');
    }
    AppendCsvField(column.name, &file_->buffer());
    types_.push_back(column.type);
  }
  file_->buffer().push_back('\n');
  if (!table.primary_key.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : table.primary_key) {
      names.push_back(QuoteSqlName(name));
    }
    StrAppend(&schema_sql_, separator, "    PRIMARY KEY (", StrJoin(names, ", "), ")");
  }
  schema_sql_.append("\n);\n");
  return absl::OkStatus();
}

absl::Status CsvTarget::AddRow(std::span<const Datum> values) {
  std::string& out = file_->buffer();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) {
      out.push_back(',');
    }
    if (values[i].is_null()) {
      out.append(kCsvNull);
      continue;
    }
    switch (types_[i].kind()) {
      case TypeKind::kBoolean: out.push_back(values[i].bool_value() ? 't' : 'f'); break;
      case TypeKind::kInt64: AppendText(types_[i], values[i], &out); break;
      case TypeKind::kVarchar: AppendCsvField(values[i].bytes(), &out); break;
      default:
        text_.clear();
        AppendText(types_[i], values[i], &text_);
        AppendCsvField(text_, &out);
        break;
    }
  }
  out.push_back('\n');
  return file_->FlushIfLarge();
}

absl::Status CsvTarget::FinishTable() {
  if (file_ != nullptr) {
    VARVE_RETURN_IF_ERROR(file_->Close());
    file_.reset();
  }
  return absl::OkStatus();
}

absl::Status CsvTarget::Finish() {
  VARVE_RETURN_IF_ERROR(FinishTable());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> schema,
                         FileWriter::Create(StrCat(working_directory_, "/schema.sql")));
  schema->buffer() = std::move(schema_sql_);
  VARVE_RETURN_IF_ERROR(schema->Close());
  VARVE_RETURN_IF_ERROR(SyncDirectory(working_directory_));
  VARVE_RETURN_IF_ERROR(PublishDirectory(working_directory_, directory_));
  working_directory_.clear();
  return absl::OkStatus();
}

}  // namespace varve

#include "catalog/interchange/csv/csv_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/csv/csv_writer.h"
#include "catalog/interchange/csv/type_guess.h"
#include "catalog/relation_directory.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".csv";

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& other) { return EqualsIgnoreCase(other, name); });
}

// The whole file, or nullopt when it is not there.
absl::StatusOr<std::optional<std::string>> ReadScript(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text) {
    return absl::UnavailableError(StrCat("cannot read ", path.string()));
  }
  return text.str();
}

bool IsBuiltin(std::string_view table) {
  const std::vector<RelationRef>& relations = BuiltinRelations();
  return std::any_of(relations.begin(), relations.end(), [&](const RelationRef& relation) {
    return EqualsIgnoreCase(relation->name, table);
  });
}

// Whether a column of inlined rows or deletes is one DuckLake itself adds, always a bigint.
bool IsInlinedKeyColumn(std::string_view table, std::string_view column) {
  return StartsWithIgnoreCase(table, "ducklake_inlined_") &&
         (EqualsIgnoreCase(column, "row_id") || EqualsIgnoreCase(column, "file_id") ||
          EqualsIgnoreCase(column, "begin_snapshot") || EqualsIgnoreCase(column, "end_snapshot"));
}

}  // namespace

CsvSource::CsvSource(std::string directory)
    : directory_(std::move(directory)), name_(StrCat("csv:", directory_)) {}

absl::StatusOr<std::unique_ptr<CatalogSource>> CsvSource::Open(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) {
    return absl::NotFoundError(
        StrCat(directory, ": no such directory; expected one with ducklake_<table>.csv files"));
  }
  if (!fs::is_directory(status)) {
    return absl::InvalidArgumentError(
        StrCat(directory, " is not a directory; expected one with ducklake_<table>.csv files"));
  }
  std::unique_ptr<CsvSource> source(new CsvSource(directory));
  VARVE_RETURN_IF_ERROR(source->FindFiles());
  return std::unique_ptr<CatalogSource>(std::move(source));
}

absl::Status CsvSource::FindFiles() {
  const fs::path directory(directory_);
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> schema,
                         ReadScript(directory / "schema.sql"));
  if (schema.has_value()) {
    VARVE_ASSIGN_OR_RETURN(schema_, SqlSchema::Parse(*schema, "schema.sql"));
    if (schema_.tables().empty()) {
      return absl::InvalidArgumentError(
          "schema.sql declares no table; expected CREATE TABLE statements (without the file, types "
          "are "
          "taken from the values)");
    }
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> load, ReadScript(directory / "load.sql"));
  std::vector<LoadedFile> files;
  if (load.has_value()) {
    blob_text_ = BlobText::kEscaped;
    VARVE_ASSIGN_OR_RETURN(files, ParseLoadScript(*load, "load.sql"));
    std::erase_if(files, [](const LoadedFile& file) { return !IsCatalogTableName(file.table); });
  } else {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      const std::string file = entry.path().filename().string();
      if (IsCatalogTableName(file) && file.ends_with(kExtension)) {
        files.push_back({.table = file.substr(0, file.size() - kExtension.size()),
                         .file = file,
                         .null_text = std::string(kCsvNull)});
      }
    }
    if (error) {
      return absl::UnavailableError(StrCat("cannot list ", directory_, ": ", error.message()));
    }
    std::sort(files.begin(), files.end(),
              [](const LoadedFile& a, const LoadedFile& b) { return a.table < b.table; });
  }
  for (const LoadedFile& file : files) {
    VARVE_RETURN_IF_ERROR(AddTable(file));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CsvReader>> CsvSource::OpenFile(const LoadedFile& file) const {
  return CsvReader::Open((fs::path(directory_) / file.file).string(), file.file,
                         {.delimiter = file.delimiter, .quote = file.quote});
}

absl::Status CsvSource::AddTable(const LoadedFile& file) {
  for (const SourceTable& other : tables_) {
    if (EqualsIgnoreCase(other.name, file.table)) {
      return absl::InvalidArgumentError(StrCat(directory_, ": both ", other.origin, " and ",
                                               file.file, " hold table ", file.table,
                                               "; remove one"));
    }
  }
  const DeclaredTable* declared = schema_.Find(file.table);
  SourceTable table;
  table.name = file.table;
  table.origin = file.file;
  if (declared != nullptr) {
    table.primary_key = declared->primary_key;
  }
  std::vector<std::string> names;
  if (file.header) {
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<CsvReader> reader, OpenFile(file));
    VARVE_ASSIGN_OR_RETURN(const bool has_header, reader->Next());
    if (!has_header) {
      return absl::InvalidArgumentError(
          StrCat(file.file, " is empty; expected a header line with the names of the columns"));
    }
    for (const CsvField& field : reader->fields()) {
      names.emplace_back(field.text);
    }
  } else if (declared != nullptr) {
    for (const DeclaredColumn& column : declared->columns) {
      names.push_back(column.name);
    }
  } else {
    return absl::InvalidArgumentError(
        StrCat(file.file, " has no header line and schema.sql does not declare table ", file.table,
               "; export again with a header"));
  }
  bool all_declared = true;
  for (std::string& name : names) {
    for (const SourceColumn& other : table.columns) {
      if (EqualsIgnoreCase(other.name, name)) {
        return absl::InvalidArgumentError(
            StrCat(file.file, " line 1: column ", name, " is there twice; remove one"));
      }
    }
    SourceColumn column{.name = std::move(name)};
    const DeclaredColumn* declaration = declared == nullptr ? nullptr : declared->Find(column.name);
    if (declaration != nullptr) {
      column.declared = true;
      column.declared_type = declaration->type;
      column.not_null = declaration->not_null;
    }
    all_declared = all_declared && column.declared;
    table.columns.push_back(std::move(column));
  }
  if (!all_declared && !IsBuiltin(table.name)) {
    VARVE_RETURN_IF_ERROR(GuessTypes(file, &table));
  }
  std::error_code error;
  total_bytes_ += fs::file_size(fs::path(directory_) / file.file, error);
  tables_.push_back(std::move(table));
  files_.push_back(file);
  bytes_read_.push_back(0);
  return absl::OkStatus();
}

void CsvSource::ToValues(const LoadedFile& file, const SourceTable& table,
                         std::span<const CsvField> fields, std::vector<SourceValue>* values) const {
  values->clear();
  for (size_t i = 0; i < fields.size(); ++i) {
    const CsvField& field = fields[i];
    const bool is_null =
        !field.quoted && field.text == file.null_text &&
        (file.never_null.empty() || !Contains(file.never_null, table.columns[i].name));
    values->push_back({.kind = is_null ? SourceValue::Kind::kNull : SourceValue::Kind::kText,
                       .text = field.text});
  }
}

absl::Status CsvSource::ReadRows(const LoadedFile& file, const SourceTable& table,
                                 RowVisitor visitor, uint64_t* bytes_consumed) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<CsvReader> reader, OpenFile(file));
  std::vector<SourceValue> values;
  bool is_header = file.header;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, reader->Next());
    *bytes_consumed = reader->bytes_consumed();
    if (!more) {
      return absl::OkStatus();
    }
    if (std::exchange(is_header, false)) {
      continue;
    }
    const std::span<const CsvField> fields = reader->fields();
    if (fields.size() != table.columns.size()) {
      return absl::InvalidArgumentError(StrCat(
          file.file, " line ", reader->line(), ": expected ", table.columns.size(),
          " fields as in the header, found ", fields.size(),
          fields.size() < table.columns.size()
              ? StrCat("; the value of column ", table.columns[fields.size()].name, " is missing")
              : StrCat("; too many, the first one is '", fields[table.columns.size()].text, "'")));
    }
    ToValues(file, table, fields, &values);
    VARVE_RETURN_IF_ERROR(visitor(values, reader->line()));
  }
}

absl::Status CsvSource::GuessTypes(const LoadedFile& file, SourceTable* table) {
  std::vector<TypeGuess> guesses(table->columns.size());
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(ReadRows(
      file, *table,
      [&](std::span<const SourceValue> values, uint64_t) {
        for (size_t i = 0; i < values.size(); ++i) {
          if (values[i].kind != SourceValue::Kind::kNull) {
            guesses[i].Add(values[i].text);
          }
        }
        return absl::OkStatus();
      },
      &bytes));
  for (size_t i = 0; i < guesses.size(); ++i) {
    SourceColumn& column = table->columns[i];
    if (!column.declared) {
      column.declared_type = IsInlinedKeyColumn(table->name, column.name)
                                 ? std::string_view("bigint")
                                 : guesses[i].SqlType();
    }
  }
  return absl::OkStatus();
}

absl::Status CsvSource::Read(const SourceTable& table, RowVisitor visitor) {
  const auto index = static_cast<size_t>(&table - tables_.data());
  return ReadRows(files_[index], table, visitor, &bytes_read_[index]);
}

uint64_t CsvSource::bytes_read() const {
  return std::accumulate(bytes_read_.begin(), bytes_read_.end(), uint64_t{0});
}

}  // namespace varve

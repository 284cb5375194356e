#include "catalog/interchange/sqlite/sqlite_source.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/status.h"
#include "base/strings.h"
#include "base/type.h"
#include "catalog/interchange/declared_types.h"
#include "catalog/interchange/sql_lexer.h"

namespace varve {
namespace {

// The type of a column's values. SQLite keeps integers and floats of any declared width in 64 bits,
// and a column declared without a type takes anything as it is.
std::string WidenedType(std::string_view declared) {
  if (declared.empty()) {
    return "BLOB";
  }
  switch (TypeFromDeclaration(declared).kind()) {
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16:
    case TypeKind::kUInt32: return "BIGINT";
    case TypeKind::kFloat32: return "DOUBLE";
    default: return std::string(declared);
  }
}

SourceValue ValueOf(const SqliteStatement& row, int column, bool is_blob) {
  switch (sqlite3_column_type(row.get(), column)) {
    case SQLITE_NULL: return {};
    case SQLITE_INTEGER:
      return {.kind = SourceValue::Kind::kInteger,
              .integer = sqlite3_column_int64(row.get(), column)};
    case SQLITE_FLOAT:
      return {.kind = SourceValue::Kind::kReal, .real = sqlite3_column_double(row.get(), column)};
    case SQLITE_BLOB: return {.kind = SourceValue::Kind::kBytes, .text = row.Bytes(column)};
    default:
      // Text where bytes are due is those bytes: SQLite itself has no text form of a blob.
      return {.kind = is_blob ? SourceValue::Kind::kBytes : SourceValue::Kind::kText,
              .text = row.Bytes(column)};
  }
}

}  // namespace

SqliteSource::SqliteSource(std::unique_ptr<SqliteDatabase> database, const std::string& path)
    : database_(std::move(database)), name_(StrCat("sqlite:", path)) {}

absl::StatusOr<std::unique_ptr<CatalogSource>> SqliteSource::Open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(
        StrCat(path, ": no such file; expected a DuckLake catalog kept in SQLite"));
  }
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        StrCat(path, " is a directory; expected a DuckLake catalog kept in a SQLite file"));
  }
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> database,
                         SqliteDatabase::Open(path, SQLITE_OPEN_READONLY));
  std::unique_ptr<SqliteSource> source(new SqliteSource(std::move(database), path));
  VARVE_RETURN_IF_ERROR(source->database_->Execute("BEGIN"));
  VARVE_RETURN_IF_ERROR(source->ListTables());
  if (source->tables_.empty()) {
    return absl::InvalidArgumentError(
        StrCat(path,
               " is a SQLite database but no DuckLake catalog: no table of it is named "
               "ducklake_…"));
  }
  return std::unique_ptr<CatalogSource>(std::move(source));
}

absl::Status SqliteSource::ListTables() {
  DeclaredTypes declared_types;
  std::vector<std::string> names;
  VARVE_ASSIGN_OR_RETURN(SqliteStatement list,
                         database_->Prepare("SELECT name FROM sqlite_master WHERE type IN "
                                            "('table', 'view') ORDER BY name"));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, list.Step());
    if (!more) {
      break;
    }
    const std::string name(list.Bytes(0));
    if (IsCatalogTableName(name)) {
      names.push_back(name);
    } else if (name == kDeclaredTypesTable) {
      VARVE_ASSIGN_OR_RETURN(
          SqliteStatement types,
          database_->Prepare(
              StrCat("SELECT table_name, column_name, declared_type FROM ", kDeclaredTypesTable)));
      for (;;) {
        VARVE_ASSIGN_OR_RETURN(const bool more_types, types.Step());
        if (!more_types) {
          break;
        }
        declared_types.Add(types.Bytes(0), types.Bytes(1), types.Bytes(2));
      }
    }
  }
  for (const std::string& name : names) {
    SourceTable table{.name = name, .origin = name};
    VARVE_ASSIGN_OR_RETURN(SqliteStatement columns,
                           database_->Prepare(StrCat("SELECT name, type, \"notnull\", pk FROM "
                                                     "pragma_table_info(",
                                                     QuoteSqlString(name), ") ORDER BY cid")));
    std::map<int, std::string> key;  // by place in the key, from 1
    for (;;) {
      VARVE_ASSIGN_OR_RETURN(const bool more, columns.Step());
      if (!more) {
        break;
      }
      SourceColumn column{.name = std::string(columns.Bytes(0)),
                          .declared_type = WidenedType(columns.Bytes(1)),
                          .declared = true,
                          .not_null = sqlite3_column_int(columns.get(), 2) != 0};
      if (const std::string_view type = declared_types.Find(name, column.name); !type.empty()) {
        column.declared_type = std::string(type);
      }
      if (const int place = sqlite3_column_int(columns.get(), 3); place > 0) {
        key[place] = column.name;
      }
      table.columns.push_back(std::move(column));
    }
    for (auto& [place, column] : key) {
      table.primary_key.push_back(std::move(column));
    }
    tables_.push_back(std::move(table));
  }
  return absl::OkStatus();
}

absl::Status SqliteSource::Read(const SourceTable& table, RowVisitor visitor) {
  std::vector<std::string> names;
  std::vector<bool> is_blob;
  for (const SourceColumn& column : table.columns) {
    names.push_back(QuoteSqlName(column.name));
    is_blob.push_back(TypeFromDeclaration(column.declared_type).kind() == TypeKind::kBlob);
  }
  VARVE_ASSIGN_OR_RETURN(SqliteStatement rows,
                         database_->Prepare(StrCat("SELECT ", StrJoin(names, ", "), " FROM ",
                                                   QuoteSqlName(table.name))));
  std::vector<SourceValue> values(names.size());
  for (uint64_t row = 1;; ++row) {
    VARVE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = ValueOf(rows, static_cast<int>(i), is_blob[i]);
    }
    VARVE_RETURN_IF_ERROR(visitor(values, row));
  }
}

}  // namespace varve

#include "catalog/interchange/sqlite/sqlite_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/interchange/declared_types.h"
#include "catalog/interchange/sql_lexer.h"
#include "catalog/store/durable_file.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

absl::Status SyncFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fsync(file) != 0) {
    absl::Status status = absl::ErrnoToStatus(errno, StrCat("cannot sync ", path));
    if (file >= 0) {
      ::close(file);
    }
    return status;
  }
  ::close(file);
  return absl::OkStatus();
}

int64_t IntegerOf(const Datum& value) {
  return value.physical() == PhysicalType::kBool ? (value.bool_value() ? 1 : 0)
                                                 : value.int64_value();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CatalogTarget>> SqliteTarget::Open(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    return absl::AlreadyExistsError(StrCat(path, " is there already; name a new file"));
  }
  std::string working = StrCat(path, ".exporting-XXXXXX");
  const int file = ::mkstemp(working.data());
  if (file < 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot create a file beside ", path));
  }
  ::fchmod(file, 0644);
  ::close(file);
  std::unique_ptr<SqliteTarget> target(new SqliteTarget(path, working));
  VARVE_ASSIGN_OR_RETURN(target->database_, SqliteDatabase::Open(working, SQLITE_OPEN_READWRITE));
  // The file is thrown away if anything fails, and synced as a whole at the end.
  VARVE_RETURN_IF_ERROR(target->database_->Execute("PRAGMA journal_mode = OFF"));
  VARVE_RETURN_IF_ERROR(target->database_->Execute("PRAGMA synchronous = OFF"));
  VARVE_RETURN_IF_ERROR(target->database_->Execute("BEGIN"));
  return std::unique_ptr<CatalogTarget>(std::move(target));
}

SqliteTarget::~SqliteTarget() {
  insert_.reset();
  database_.reset();
  if (!working_path_.empty()) {
    std::error_code error;
    fs::remove(working_path_, error);
  }
}

absl::Status SqliteTarget::RememberType(const TargetTable& table, const TargetColumn& column) {
  if (!std::exchange(has_types_table_, true)) {
    VARVE_RETURN_IF_ERROR(database_->Execute(
        StrCat("CREATE TABLE ", kDeclaredTypesTable,
               "(table_name VARCHAR, column_name VARCHAR, declared_type VARCHAR)")));
  }
  return database_->Execute(StrCat("INSERT INTO ", kDeclaredTypesTable, " VALUES (",
                                   QuoteSqlString(table.name), ", ", QuoteSqlString(column.name),
                                   ", ", QuoteSqlString(column.SqlType()), ")"));
}

absl::Status SqliteTarget::BeginTable(const TargetTable& table) {
  types_.clear();
  forms_.clear();
  std::vector<std::string> columns;
  std::vector<std::string> placeholders;
  for (const TargetColumn& column : table.columns) {
    const StorageType storage = SqliteStorage(column);
    types_.push_back(column.type);
    forms_.push_back(storage.form);
    // DuckLake declares its one-column keys beside the column.
    const bool is_key = table.primary_key.size() == 1 && table.primary_key[0] == column.name;
    columns.push_back(StrCat(QuoteSqlName(column.name), " ", storage.sql_type,
                             is_key            ? " PRIMARY KEY"
                             : column.not_null ? " NOT NULL"
                                               : ""));
    placeholders.emplace_back("?");
    if (MustRememberType(column, storage.sql_type)) {
      VARVE_RETURN_IF_ERROR(RememberType(table, column));
    }
  }
  if (table.primary_key.size() > 1) {
    std::vector<std::string> names;
    for (const std::string& name : table.primary_key) {
      names.push_back(QuoteSqlName(name));
    }
    columns.push_back(StrCat("PRIMARY KEY (", StrJoin(names, ", "), ")"));
  }
  texts_.resize(types_.size());
  insert_.reset();
  VARVE_RETURN_IF_ERROR(database_->Execute(
      StrCat("CREATE TABLE ", QuoteSqlName(table.name), "(", StrJoin(columns, ", "), ")")));
  VARVE_ASSIGN_OR_RETURN(SqliteStatement insert,
                         database_->Prepare(StrCat("INSERT INTO ", QuoteSqlName(table.name),
                                                   " VALUES (", StrJoin(placeholders, ", "), ")")));
  insert_.emplace(std::move(insert));
  return absl::OkStatus();
}

absl::Status SqliteTarget::AddRow(std::span<const Datum> values) {
  // SQLITE_STATIC: the bytes outlive the statement's run.
  for (size_t i = 0; i < values.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    if (values[i].is_null()) {
      sqlite3_bind_null(insert_->get(), place);
    } else if (forms_[i] == StorageForm::kInteger) {
      sqlite3_bind_int64(insert_->get(), place, IntegerOf(values[i]));
    } else if (types_[i].physical() == PhysicalType::kBytes) {
      const std::string_view bytes = values[i].bytes();
      // A null pointer would bind NULL.
      const char* const data = bytes.data() == nullptr ? "" : bytes.data();
      const bool is_text = forms_[i] == StorageForm::kText &&
                           (types_[i].kind() != TypeKind::kBlob || IsValidUtf8(bytes));
      if (is_text) {
        sqlite3_bind_text64(insert_->get(), place, data, bytes.size(), SQLITE_STATIC, SQLITE_UTF8);
      } else {
        sqlite3_bind_blob64(insert_->get(), place, data, bytes.size(), SQLITE_STATIC);
      }
    } else {
      texts_[i].clear();
      AppendText(types_[i], values[i], &texts_[i]);
      sqlite3_bind_text64(insert_->get(), place, texts_[i].data(), texts_[i].size(), SQLITE_STATIC,
                          SQLITE_UTF8);
    }
  }
  return insert_->Execute();
}

absl::Status SqliteTarget::Finish() {
  insert_.reset();
  VARVE_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_.reset();
  VARVE_RETURN_IF_ERROR(SyncFile(working_path_));
  // A link, unlike a rename, never replaces a file that came meanwhile.
  if (::link(working_path_.c_str(), path_.c_str()) != 0) {
    return errno == EEXIST
               ? absl::AlreadyExistsError(StrCat(path_, " is there already; name a new file"))
               : absl::ErrnoToStatus(errno, StrCat("cannot create ", path_));
  }
  ::unlink(working_path_.c_str());
  working_path_.clear();
  const fs::path parent = fs::absolute(path_).parent_path();
  return SyncDirectory(parent.string());
}

}  // namespace varve

#include "catalog/interchange/sqlite/sqlite_database.h"

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

absl::Status SqliteError(sqlite3* database, int code, const std::string& path) {
  const std::string_view what = sqlite3_errmsg(database);
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
      return absl::InvalidArgumentError(
          StrCat(path,
                 " is not a SQLite database; expected a DuckLake catalog kept in SQLite (one in a "
                 "DuckDB file comes in by EXPORT DATABASE 'DIR' (FORMAT csv) and csv:DIR)"));
    case SQLITE_CORRUPT: return absl::DataLossError(StrCat(path, " is damaged: ", what));
    case SQLITE_CANTOPEN: return absl::NotFoundError(StrCat("cannot open ", path, ": ", what));
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::PermissionDeniedError(StrCat("cannot use ", path, ": ", what));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          StrCat(path, " is in use: ", what, "; try again when its writer is done"));
    default: return absl::UnknownError(StrCat("SQLite, ", path, ": ", what));
  }
}

}  // namespace

absl::StatusOr<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    return false;
  }
  return SqliteError(database_, code, path_);
}

absl::Status SqliteStatement::Execute() {
  VARVE_RETURN_IF_ERROR(Step().status());
  sqlite3_reset(statement_.get());
  return absl::OkStatus();
}

std::string_view SqliteStatement::Bytes(int column) const {
  // As text where it is text, so that a UTF-16 database gives UTF-8 as any other. NULL: no bytes.
  const auto* bytes =
      sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB
          ? static_cast<const char*>(sqlite3_column_blob(statement_.get(), column))
          : reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, static_cast<size_t>(size));
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path,
                                                                     int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(handle, path));
  if (code != SQLITE_OK) {
    return SqliteError(handle, code, path);
  }
  return database;
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) {
    return SqliteError(database_, code, path_);
  }
  return SqliteStatement(database_, statement, path_);
}

absl::Status SqliteDatabase::Execute(std::string_view sql) {
  VARVE_ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  return statement.Execute();
}

}  // namespace varve

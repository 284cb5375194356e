// A SQLite database file and statements over it, with errors as Status.
//
// Thread-safety: none. Ownership: a statement must not outlive its database.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace varve {

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, sqlite3_stmt* statement, std::string path)
      : database_(database), statement_(statement), path_(std::move(path)) {}

  // The next row; false at the end.
  absl::StatusOr<bool> Step();
  // Runs a statement that gives no rows and makes it ready to run again.
  absl::Status Execute();

  sqlite3_stmt* get() const { return statement_.get(); }
  int column_count() const { return sqlite3_column_count(statement_.get()); }
  // Text or bytes of a column; valid until the next Step.
  std::string_view Bytes(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  std::string path_;
};

class SqliteDatabase {
 public:
  // `flags` as for sqlite3_open_v2. Errors name the file.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(const std::string& path, int flags);
  ~SqliteDatabase() { sqlite3_close_v2(database_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  absl::StatusOr<SqliteStatement> Prepare(std::string_view sql);
  absl::Status Execute(std::string_view sql);

 private:
  SqliteDatabase(sqlite3* database, std::string path)
      : database_(database), path_(std::move(path)) {}

  sqlite3* database_;
  std::string path_;
};

}  // namespace varve

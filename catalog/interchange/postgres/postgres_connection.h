// A connection to PostgreSQL (libpq), with errors as Status and COPY as a stream.
//
// Thread-safety: none. Ownership: the connection is closed, and an open transaction rolled back,
// when it is destroyed.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace varve {

// The answer to a query: rows of text, NULL as nullopt-like flag.
class PostgresResult {
 public:
  explicit PostgresResult(PGresult* result) : result_(result) {}
  int rows() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<size_t>(PQgetlength(result_.get(), row, column))};
  }
  PGresult* get() const { return result_.get(); }

 private:
  struct Clearer {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clearer> result_;
};

class PostgresConnection {
 public:
  // Connects, and sets what the text of values depends on: UTF-8, UTC, ISO dates, hex blobs.
  // Errors: Unavailable, with libpq's own words.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Connect(const std::string& conninfo);
  ~PostgresConnection() { PQfinish(connection_); }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Runs one command; parameters, where given, fill in $1, $2, … as text.
  absl::StatusOr<PostgresResult> Query(const std::string& sql,
                                       const std::vector<std::string>& parameters = {});

  // Streams COPY … TO STDOUT: each line with its line end.
  absl::Status CopyOut(const std::string& sql,
                       absl::FunctionRef<absl::Status(std::string_view line)> visitor);

  // Streams COPY … FROM STDIN: begin, send any number of bytes, end.
  absl::Status BeginCopyIn(const std::string& sql);
  absl::Status SendCopyData(std::string_view bytes);
  absl::Status EndCopyIn();

  // The database connected to, for messages.
  std::string Describe() const;

 private:
  explicit PostgresConnection(PGconn* connection) : connection_(connection) {}
  absl::Status Error(const PGresult* result) const;
  // Reads the results that end a COPY.
  absl::Status DrainResults();

  PGconn* connection_;
};

}  // namespace varve

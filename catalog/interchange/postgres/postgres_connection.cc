#include "catalog/interchange/postgres/postgres_connection.h"

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// libpq ends its messages with a line end and may add hints on further lines: one line here.
std::string OneLine(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
    if (!blank) {
      line.push_back(c);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Connect(
    const std::string& conninfo) {
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdb(conninfo.c_str())));
  PGconn* const handle = connection->connection_;
  if (PQstatus(handle) != CONNECTION_OK) {
    return absl::UnavailableError(
        StrCat("cannot connect to PostgreSQL: ", OneLine(PQerrorMessage(handle))));
  }
  PQsetNoticeProcessor(
      handle, [](void*, const char*) {}, nullptr);
  for (const char* setting : {"SET client_encoding = 'UTF8'", "SET timezone = 'UTC'",
                              "SET datestyle = 'ISO, YMD'", "SET intervalstyle = 'postgres'",
                              "SET bytea_output = 'hex'", "SET extra_float_digits = 1"}) {
    VARVE_RETURN_IF_ERROR(connection->Query(setting).status());
  }
  return connection;
}

std::string PostgresConnection::Describe() const {
  return StrCat("database ", PQdb(connection_));
}

absl::Status PostgresConnection::Error(const PGresult* result) const {
  const std::string message =
      OneLine(result == nullptr ? PQerrorMessage(connection_) : PQresultErrorMessage(result));
  if (PQstatus(connection_) != CONNECTION_OK) {
    return absl::UnavailableError(StrCat("the connection to PostgreSQL was lost: ", message));
  }
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view sqlstate = state == nullptr ? std::string_view() : state;
  if (sqlstate == "42501") {
    return absl::PermissionDeniedError(StrCat("PostgreSQL: ", message));
  }
  return absl::UnknownError(StrCat("PostgreSQL: ", message));
}

absl::StatusOr<PostgresResult> PostgresConnection::Query(
    const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) {
    values.push_back(parameter.c_str());
  }
  PostgresResult result(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    return Error(result.get());
  }
  return result;
}

absl::Status PostgresConnection::CopyOut(
    const std::string& sql, absl::FunctionRef<absl::Status(std::string_view line)> visitor) {
  {
    const PostgresResult result(PQexec(connection_, sql.c_str()));
    if (PQresultStatus(result.get()) != PGRES_COPY_OUT) {
      return Error(result.get());
    }
  }
  for (;;) {
    char* raw = nullptr;
    const int size = PQgetCopyData(connection_, &raw, /*async=*/0);
    const std::unique_ptr<char, decltype(&PQfreemem)> line(raw, &PQfreemem);
    if (size == -1) {
      return DrainResults();
    }
    if (size < 0) {
      return Error(nullptr);
    }
    VARVE_RETURN_IF_ERROR(visitor(std::string_view(raw, static_cast<size_t>(size))));
  }
}

absl::Status PostgresConnection::BeginCopyIn(const std::string& sql) {
  const PostgresResult result(PQexec(connection_, sql.c_str()));
  return PQresultStatus(result.get()) == PGRES_COPY_IN ? absl::OkStatus() : Error(result.get());
}

absl::Status PostgresConnection::SendCopyData(std::string_view bytes) {
  return PQputCopyData(connection_, bytes.data(), static_cast<int>(bytes.size())) == 1
             ? absl::OkStatus()
             : Error(nullptr);
}

absl::Status PostgresConnection::EndCopyIn() {
  return PQputCopyEnd(connection_, nullptr) == 1 ? DrainResults() : Error(nullptr);
}

absl::Status PostgresConnection::DrainResults() {
  absl::Status status;
  while (PGresult* raw = PQgetResult(connection_)) {
    const PostgresResult result(raw);
    if (status.ok() && PQresultStatus(raw) != PGRES_COMMAND_OK) {
      status = Error(raw);
    }
  }
  return status;
}

}  // namespace varve

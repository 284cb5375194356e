// A throw-away PostgreSQL server on a Unix socket in a temporary directory.
//
// Thread-safety: none. Ownership: the server's process and its directory end with the object; the
// server also ends when this process dies.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace varve {

class PostgresServer {
 public:
  // The server of this process, started on first use. Error: what is missing or went wrong.
  static absl::StatusOr<PostgresServer*> Shared();

  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // A new, empty database; returns the conninfo to reach it.
  absl::StatusOr<std::string> CreateDatabase();

 private:
  PostgresServer() = default;
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Start();
  absl::Status WaitUntilReady() const;
  std::string ConnInfo(const std::string& database) const;

  std::string directory_;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace varve

// A throw-away PostgreSQL server on a Unix socket in a temporary directory.
//
// Thread-safety: none. Ownership: the server's process and its directory end with the object; the
// server also ends when this process dies.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace varve {

class PostgresServer {
 public:
  // The server of this process, for tests: quick, and not durable. Started on first use. Error:
  // what is missing or went wrong.
  static absl::StatusOr<PostgresServer*> Shared();

  // Settings of a server: `-c name=value` each.
  using Settings = std::vector<std::string>;
  // A server of its own. Without settings it is what is installed by default, on a Unix socket.
  static absl::StatusOr<std::unique_ptr<PostgresServer>> Start(const Settings& settings);

  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // A new, empty database; returns the conninfo to reach it.
  absl::StatusOr<std::string> CreateDatabase();

 private:
  PostgresServer() = default;
  absl::Status WaitUntilReady() const;
  std::string ConnInfo(const std::string& database) const;

  std::string directory_;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace varve

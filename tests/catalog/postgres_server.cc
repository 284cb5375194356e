#include "tests/catalog/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/postgres/postgres_connection.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

// PostgreSQL refuses to run as root; root hands the server to this user instead.
constexpr const char* kServerUser = "postgres";

// The directory of the newest installed server's programs.
absl::StatusOr<std::string> FindPrograms() {
  std::string found;
  int newest = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version > newest && fs::exists(entry.path() / "bin/initdb")) {
      newest = version;
      found = (entry.path() / "bin").string();
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(
        "no PostgreSQL server below /usr/lib/postgresql: run scripts/install_packages.sh");
  }
  return found;
}

// Starts a program in a process of its own, as the server's user where this one is root, with its
// output in a file.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& command, const std::string& output) {
  passwd* user = nullptr;
  if (::geteuid() == 0) {
    user = ::getpwnam(kServerUser);
    if (user == nullptr) {
      return absl::NotFoundError(
          StrCat("PostgreSQL does not run as root and there is no user ", kServerUser));
    }
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    return absl::ErrnoToStatus(errno, "fork");
  }
  if (child > 0) {
    return child;
  }
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  // After setuid, which would undo it: an immediate shutdown of the server when this process dies.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

std::string Contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

absl::StatusOr<PostgresServer*> PostgresServer::Shared() {
  static const absl::StatusOr<std::unique_ptr<PostgresServer>> server =
      Start({"fsync=off", "shared_buffers=16MB"});
  if (!server.ok()) {
    return server.status();
  }
  return server->get();
}

absl::StatusOr<std::unique_ptr<PostgresServer>> PostgresServer::Start(const Settings& settings) {
  VARVE_ASSIGN_OR_RETURN(const std::string programs, FindPrograms());
  std::unique_ptr<PostgresServer> server(new PostgresServer);
  // Not TempDir: the path of a socket may have 107 bytes only.
  server->directory_ = "/tmp/varve_pg_XXXXXX";
  if (::mkdtemp(server->directory_.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, StrCat("cannot create ", server->directory_));
  }
  if (const passwd* user = ::geteuid() == 0 ? ::getpwnam(kServerUser) : nullptr; user != nullptr) {
    if (::chown(server->directory_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      return absl::ErrnoToStatus(errno, StrCat("cannot give away ", server->directory_));
    }
  }
  const std::string data = server->directory_ + "/data";
  const std::string log = server->directory_ + "/log";
  VARVE_ASSIGN_OR_RETURN(const pid_t initdb,
                         Spawn({programs + "/initdb", "-D", data, "-U", "varve", "-A", "trust",
                                "-E", "UTF8", "--locale=C", "--no-sync"},
                               log));
  int status = 0;
  if (::waitpid(initdb, &status, 0) != initdb || status != 0) {
    return absl::InternalError(StrCat("initdb failed: ", Contents(log)));
  }
  std::vector<std::string> command = {
      programs + "/postgres", "-D", data, "-k", server->directory_, "-c", "listen_addresses="};
  for (const std::string& setting : settings) {
    command.insert(command.end(), {"-c", setting});
  }
  VARVE_ASSIGN_OR_RETURN(server->process_, Spawn(command, log));
  VARVE_RETURN_IF_ERROR(server->WaitUntilReady());
  return server;
}

absl::Status PostgresServer::WaitUntilReady() const {
  constexpr auto kPause = std::chrono::milliseconds(50);
  constexpr int kAttempts = 1200;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (PQping(ConnInfo("postgres").c_str()) == PQPING_OK) {
      return absl::OkStatus();
    }
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      break;
    }
    std::this_thread::sleep_for(kPause);
  }
  return absl::InternalError(
      StrCat("the PostgreSQL server did not start: ", Contents(directory_ + "/log")));
}

PostgresServer::~PostgresServer() {
  if (process_ > 0) {
    ::kill(process_, SIGQUIT);
    ::waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string PostgresServer::ConnInfo(const std::string& database) const {
  return StrCat("host=", directory_, " user=varve dbname=", database);
}

absl::StatusOr<std::string> PostgresServer::CreateDatabase() {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<PostgresConnection> connection,
                         PostgresConnection::Connect(ConnInfo("postgres")));
  const std::string name = StrCat("lake", ++databases_);
  VARVE_RETURN_IF_ERROR(connection->Query(StrCat("CREATE DATABASE ", name)).status());
  return ConnInfo(name);
}

}  // namespace varve

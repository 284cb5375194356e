#include "tests/tools/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/strings.h"
#include "tests/catalog/temp_dir.h"

namespace varve {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int OpenStdout(const std::string& path) {
  if (path != "closed pipe") {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  int ends[2];
  if (::pipe(ends) != 0) {
    return -1;
  }
  ::close(ends[0]);
  return ends[1];
}

// A pseudo terminal: the side a program writes to, and the side we read.
struct Terminal {
  int program = -1;
  int ours = -1;
};

Terminal OpenTerminal() {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_TRUE(ours >= 0 && ::grantpt(ours) == 0 && ::unlockpt(ours) == 0);
  return {.program = ::open(::ptsname(ours), O_RDWR | O_NOCTTY), .ours = ours};
}

// What a program writes to a terminal until it closes it.
std::string ReadTerminal(int ours) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ours, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  ::close(ours);
  return text;
}

// The words as execve wants them. They are borrowed.
std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Outcome RunVarve(const std::string& catalog, std::vector<std::string> arguments,
                 const RunOptions& options) {
  const TempDir dir;
  const std::string out_path = options.stdout_path.empty() ? dir / "out" : options.stdout_path;
  if (!catalog.empty()) {
    arguments.insert(arguments.begin(), StrCat("--catalog=", catalog));
  }
  arguments.insert(arguments.begin(), VARVE_BINARY_PATH);
  std::vector<std::string> environment;
  for (const char* kept : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(kept); value != nullptr) {
      environment.push_back(StrCat(kept, "=", value));
    }
  }
  for (const auto& [name, value] : options.environment) {
    environment.push_back(StrCat(name, "=", value));
  }
  const std::vector<char*> argv = Pointers(&arguments);
  const std::vector<char*> envp = Pointers(&environment);
  const int out = OpenStdout(out_path);
  const Terminal terminal = options.stderr_is_terminal ? OpenTerminal() : Terminal();
  const int err = options.stderr_is_terminal
                      ? terminal.program
                      : ::open((dir / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  EXPECT_GE(out, 0) << out_path;

  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::execve(VARVE_BINARY_PATH, argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out);
  ::close(err);
  const std::string shown = terminal.ours >= 0 ? ReadTerminal(terminal.ours) : "";
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  Outcome outcome{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                  .err = terminal.ours >= 0 ? shown : ReadFile(dir / "err")};
  if (options.stdout_path.empty()) {
    outcome.out = ReadFile(out_path);
  }
  return outcome;
}

std::string SmallCatalogSource() {
  return VARVE_SOURCE_DIR "/golden/data/ducklake-small";
}

const std::string& SmallCatalog() {
  static const auto dir = std::make_unique<TempDir>();
  static const std::string path = [] {
    std::string catalog = *dir / "catalog";
    const Outcome outcome =
        RunVarve(catalog, {"import", StrCat("--from=csv:", SmallCatalogSource())});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return catalog;
  }();
  return path;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace varve

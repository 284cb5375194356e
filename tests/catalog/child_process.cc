#include "tests/catalog/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "base/strings.h"

namespace varve {
namespace {

constexpr const char* kBodyVariable = "VARVE_TEST_CHILD_BODY";
constexpr const char* kArgumentVariable = "VARVE_TEST_CHILD_ARGUMENT";
constexpr int kSayDescriptor = 3;

std::map<std::string, ChildBody::Function>& Bodies() {
  static std::map<std::string, ChildBody::Function> bodies;
  return bodies;
}

// In a child, runs the body before the first test would begin, and ends the process.
class ChildEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* name = std::getenv(kBodyVariable);  // NOLINT(concurrency-mt-unsafe): one thread
    if (name == nullptr) {
      return;
    }
    const char* argument = std::getenv(kArgumentVariable);  // NOLINT(concurrency-mt-unsafe)
    const ChildBody::Function body = Bodies().at(name);
    _exit(body(argument, [](char c) { (void)!write(kSayDescriptor, &c, 1); }));
  }
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new ChildEnvironment());

}  // namespace

ChildBody::ChildBody(const char* name, Function function) : name_(name) {
  Bodies()[name] = function;
}

ChildProcess::ChildProcess(const ChildBody& body, const std::string& argument) {
  EXPECT_EQ(pipe2(pipe_.data(), O_CLOEXEC), 0);
  std::string own_name(4096, '\0');
  const ssize_t size = readlink("/proc/self/exe", own_name.data(), own_name.size() - 1);
  own_name.resize(size < 0 ? 0 : static_cast<size_t>(size));

  std::vector<std::string> variables = {StrCat(kBodyVariable, "=", body.name()),
                                        StrCat(kArgumentVariable, "=", argument)};
  std::vector<char*> environment;
  for (std::string& variable : variables) {
    environment.push_back(variable.data());
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  std::array<char*, 2> arguments = {own_name.data(), nullptr};

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_[1], kSayDescriptor);
  // The child's own output is not part of the test's.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  EXPECT_EQ(
      posix_spawn(&pid_, own_name.c_str(), &actions, nullptr, arguments.data(), environment.data()),
      0);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_[1]);
}

ChildProcess::~ChildProcess() {
  Kill();
  close(pipe_[0]);
}

char ChildProcess::Hear() {
  char c = '\0';
  return read(pipe_[0], &c, 1) == 1 ? c : '\0';
}

void ChildProcess::Kill() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    Wait();
  }
}

int ChildProcess::Wait() {
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  reaped_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace varve

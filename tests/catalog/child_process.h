// A forked process that a test can talk with through a pipe and kill.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

namespace varve {

class ChildProcess {
 public:
  // Runs `body` in a child; its argument says a byte to the parent each time it is called. The
  // child ends when `body` returns, with what it returns as exit code. Call before the test has
  // threads.
  using Say = std::function<void(char)>;
  explicit ChildProcess(const std::function<int(const Say&)>& body) {
    std::fflush(nullptr);
    EXPECT_EQ(pipe(pipe_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(pipe_[0]);
      const int code = body([this](char c) { (void)!write(pipe_[1], &c, 1); });
      _exit(code);  // without the parent's at-exit work
    }
    close(pipe_[1]);
  }
  ~ChildProcess() {
    Kill();
    close(pipe_[0]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

  // The next byte the child says; '\0' when it has ended.
  char Hear() {
    char c = '\0';
    return read(pipe_[0], &c, 1) == 1 ? c : '\0';
  }

  void Kill() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      Wait();
    }
  }
  // The exit code, or minus the signal that ended it.
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  std::array<int, 2> pipe_{};
  pid_t pid_ = -1;
  bool reaped_ = false;
};

}  // namespace varve

// A second process, for tests of what happens between two, or to one that is killed.
//
// A child is this test program started anew (a mere fork would lack RocksDB's threads) to run one
// registered body instead of its tests.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>

namespace varve {

// What a child runs. Define one at namespace scope. `argument` is what the parent gave; `say` sends
// a byte to the parent; the result is the exit code.
class ChildBody {
 public:
  using Say = std::function<void(char)>;
  using Function = int (*)(const std::string& argument, const Say& say);
  ChildBody(const char* name, Function function);

  const char* name() const { return name_; }

 private:
  const char* name_;
};

// A running child; killed, at the latest, when this is destroyed.
class ChildProcess {
 public:
  ChildProcess(const ChildBody& body, const std::string& argument);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

  // The next byte the child says; '\0' when it has ended.
  char Hear();

  void Kill();
  // Waits for its end: the exit code, or minus the signal that ended it.
  int Wait();

 private:
  std::array<int, 2> pipe_{};
  pid_t pid_ = -1;
  bool reaped_ = false;
};

}  // namespace varve

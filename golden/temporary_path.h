// A path of its own for one test, removed with everything at it afterwards.
//
// Thread-safety: paths are unique in the process and among processes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

namespace varve::golden {

class TemporaryPath {
 public:
  TemporaryPath()
      : path_(testing::TempDir() + "varve_golden_" + std::to_string(getpid()) + "_" +
              std::to_string(NextNumber())) {}
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  const std::string& path() const { return path_; }

 private:
  static int NextNumber() {
    static std::atomic<int> next = 0;
    return next++;
  }

  std::string path_;
};

}  // namespace varve::golden

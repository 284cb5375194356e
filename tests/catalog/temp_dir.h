// A directory of its own for a test, removed with all that is in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace varve {

class TempDir {
 public:
  TempDir() {
    static std::atomic<int> number = 0;
    path_ = StrCat(::testing::TempDir(), "varve-test-", getpid(), "-", number.fetch_add(1));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return StrCat(path_, "/", name); }

 private:
  std::string path_;
};

}  // namespace varve

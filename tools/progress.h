// A line on the terminal that says how far a long command has come.
//
// Nothing is printed unless standard error is a terminal. Thread-safety: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve {

class Progress {
 public:
  Progress();
  // Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // "reading ducklake_column.csv  [#####.....]  50 %  120,000 rows". A total of 0 is unknown: no
  // bar. Redraws a few times a second, or at once when the label changes.
  void Update(std::string_view label, uint64_t done, uint64_t total, uint64_t rows);
  // Wipes the line, so that other text can be printed.
  void Clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::string label_;
  std::chrono::steady_clock::time_point last_{};
};

// "1,234,567"
std::string WithThousands(uint64_t number);

}  // namespace varve

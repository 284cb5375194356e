// The most memory that this process has held, by the kernel's account.
//
// Thread-safety: functions without state of their own; the account is that of the process.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

namespace varve::bench {

inline double MemoryOf(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) {
      return std::strtod(line.c_str() + field.size(), nullptr) / 1024;
    }
  }
  return 0;
}

// In MiB: what it holds, and the most it has held since ResetPeakMemory.
inline double MemoryNow() {
  return MemoryOf("VmRSS:");
}
inline double PeakMemory() {
  return MemoryOf("VmHWM:");
}
inline void ResetPeakMemory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace varve::bench

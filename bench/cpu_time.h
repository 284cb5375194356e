// Processor time of the calling thread: on a busy machine it says more than the time that passes.
//
// Thread-safety: functions without state.
#pragma once

#include <ctime>
#include <functional>

namespace varve::bench {

inline double CpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// How long the work took.
inline double MeasureCpu(const std::function<void()>& work) {
  const double begin = CpuSeconds();
  work();
  return CpuSeconds() - begin;
}

}  // namespace varve::bench

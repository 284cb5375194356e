// Flushes and compacts in the background: MemRowSets when they take more memory than their budget,
// and the files that have come of it.
//
// A commit never waits for it and never fails because of it: over the budget memory grows on until
// the flush is done. What fails is logged and tried again later. Files in which a reader met damage
// are made anew, whatever memory takes.
//
// Thread-safety: any thread. Ownership: owns its thread; the catalog outlives it. The destructor
// gives up what is under way.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace varve {

class Catalog;

class TierMaintenance {
 public:
  TierMaintenance(Catalog* catalog, uint64_t memory_budget_bytes);
  ~TierMaintenance();
  TierMaintenance(const TierMaintenance&) = delete;
  TierMaintenance& operator=(const TierMaintenance&) = delete;

 private:
  void Run();
  // Waits; false: it is to end.
  bool Sleep(double seconds);
  bool IsOverBudget() const;
  // What has no files, or files in which damage was seen: once for each time it was.
  absl::Status Rebuild();
  absl::Status Compact();

  Catalog* const catalog_;
  const uint64_t budget_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace varve

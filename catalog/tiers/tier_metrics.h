// Counts what the tiers do, over the whole process, as Prometheus metrics.
//
// Labels say which reason or which kind of work; none names a relation or a file, so the number of
// time series does not grow with the catalog. Counts begin with the process.
//
// Thread-safety: any thread. Ownership: the registry lives as long as the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "catalog/scan.h"

namespace prometheus {
class Registry;
}

namespace varve {

// A scan has ended; `elapsed` was spent in it. Scans without columnar files are not counted.
void NoteScan(const ScanStats& stats, absl::Duration elapsed);
// A read went on in the row store, because a file is damaged; it is logged, too.
void NoteDamage(std::string_view relation, const absl::Status& status);

enum class TierWork : uint8_t { kFlush, kCompaction, kRebuild };

// Counts a flush, compaction or rebuild when it ends: as a failure unless Finish was called.
class WorkTimer {
 public:
  explicit WorkTimer(TierWork work);
  ~WorkTimer();
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;

  // Written to columnar files.
  void Finish(uint64_t rows, uint64_t bytes);

 private:
  const TierWork work_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool finished_ = false;
};

// Where all of them are: read by Collect, or handed to a server.
prometheus::Registry& TierRegistry();

}  // namespace varve

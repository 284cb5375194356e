#include "catalog/tiers/maintenance.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "catalog/tiers/memory_set.h"

namespace varve {
namespace {

constexpr double kSecondsBetweenLooks = 1;
constexpr double kSecondsAfterFailure = 30;

}  // namespace

TierMaintenance::TierMaintenance(Catalog* catalog, uint64_t memory_budget_bytes)
    : catalog_(catalog), budget_(memory_budget_bytes), thread_([this] { Run(); }) {}

TierMaintenance::~TierMaintenance() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool TierMaintenance::Sleep(double seconds) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return stop_.load(); });
  return !stop_;
}

bool TierMaintenance::IsOverBudget() const {
  uint64_t bytes = 0;
  const std::shared_ptr<const StoreState> state = catalog_->LatestState();
  for (const MemorySet* set = state->memory.get(); set != nullptr; set = set->older.get()) {
    bytes += set->bytes();
  }
  return bytes > budget_;
}

void TierMaintenance::Run() {
  while (Sleep(kSecondsBetweenLooks)) {
    if (!IsOverBudget()) {
      continue;
    }
    absl::Status status = FlushMemory(*catalog_, {.stop = &stop_}).status();
    if (status.ok()) {  // what has no files, or damaged ones
      status = RebuildColumns(*catalog_, {.stop = &stop_}).status();
    }
    if (status.ok()) {
      status = CompactColumns(*catalog_, {.stop = &stop_}).status();
    }
    if (!status.ok() && !stop_) {
      spdlog::warn("{}", StrCat("flushing and compacting ", catalog_->path(),
                                " in the background: ", MessageOf(status)));
      Sleep(kSecondsAfterFailure);
    }
  }
}

}  // namespace varve

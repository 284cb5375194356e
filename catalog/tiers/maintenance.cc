#include "catalog/tiers/maintenance.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/damage_check.h"
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

absl::Status TierMaintenance::Rebuild() {
  VARVE_ASSIGN_OR_RETURN(const CompactionSummary summary,
                         RebuildColumns(*catalog_, {.stop = &stop_, .check = DamageCheck::kSeen}));
  for (const CompactionSummary::Damage& damage : summary.damaged) {
    spdlog::warn(
        "{}", StrCat("columnar file ", damage.file, " of ", catalog_->path(),
                     " is damaged: ", damage.what, "; made anew: ", StrJoin(damage.rebuilt, ", ")));
  }
  return absl::OkStatus();
}

absl::Status TierMaintenance::Compact() {
  VARVE_ASSIGN_OR_RETURN(const CompactionSummary summary,
                         CompactColumns(*catalog_, {.stop = &stop_}));
  for (const CompactionSummary::Skipped& skipped : summary.skipped) {
    spdlog::warn("{}", StrCat("compacting ", catalog_->path(), " left out ", skipped.relation, ": ",
                              skipped.why));
  }
  return absl::OkStatus();
}

void TierMaintenance::Run() {
  while (Sleep(kSecondsBetweenLooks)) {
    const bool is_over_budget = IsOverBudget();
    if (!is_over_budget && !IsDamageSeen(*catalog_->LatestState()->columnar)) {
      continue;
    }
    absl::Status status =
        is_over_budget ? FlushMemory(*catalog_, {.stop = &stop_}).status() : absl::OkStatus();
    if (status.ok()) {  // what has no files, or damaged ones
      status = Rebuild();
    }
    if (status.ok() && is_over_budget) {
      status = Compact();
    }
    if (!status.ok() && !stop_) {
      spdlog::warn("{}", StrCat("flushing and compacting ", catalog_->path(),
                                " in the background: ", MessageOf(status)));
      Sleep(kSecondsAfterFailure);
    }
  }
}

}  // namespace varve

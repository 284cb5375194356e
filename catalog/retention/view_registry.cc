#include "catalog/retention/view_registry.h"

#include <algorithm>
#include <utility>

namespace varve {

struct ViewRegistry::Entry {
  Entry(std::shared_ptr<List> in, const Held& what) : list(std::move(in)), held(what) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    const std::lock_guard<std::mutex> lock(list->mutex);
    (before == nullptr ? list->first : before->after) = after;
    if (after != nullptr) {
      after->before = before;
    }
  }

  const std::shared_ptr<List> list;
  const Held held;
  Entry* before = nullptr;
  Entry* after = nullptr;
};

ViewRegistry::Token ViewRegistry::Add(const Held& held) {
  auto entry = std::make_shared<Entry>(list_, held);
  entry->after = list_->first;
  if (entry->after != nullptr) {
    entry->after->before = entry.get();
  }
  list_->first = entry.get();
  return entry;
}

std::vector<SnapshotId> ViewRegistry::HeldSnapshots() const {
  std::vector<SnapshotId> snapshots;
  {
    const std::lock_guard<std::mutex> lock(list_->mutex);
    for (const Entry* entry = list_->first; entry != nullptr; entry = entry->after) {
      snapshots.push_back(entry->held.snapshot);
    }
  }
  std::sort(snapshots.begin(), snapshots.end());
  snapshots.erase(std::unique(snapshots.begin(), snapshots.end()), snapshots.end());
  return snapshots;
}

std::optional<Csn> ViewRegistry::OldestCsn() const {
  const std::lock_guard<std::mutex> lock(list_->mutex);
  std::optional<Csn> oldest;
  for (const Entry* entry = list_->first; entry != nullptr; entry = entry->after) {
    oldest = std::min(entry->held.csn, oldest.value_or(entry->held.csn));
  }
  return oldest;
}

}  // namespace varve

#include "catalog/transaction/recent_commits.h"

#include <algorithm>

namespace varve {

std::shared_ptr<const void> RecentCommits::Register(const std::function<Csn()>& take) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Csn csn = take();
  open_.insert(csn);
  return {static_cast<const void*>(this), [self = shared_from_this(), csn](const void*) {
            const std::lock_guard<std::mutex> release(self->mutex_);
            self->open_.erase(self->open_.find(csn));
            self->Trim();
          }};
}

void RecentCommits::Add(const std::vector<CommitFootprint>& commits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  commits_.insert(commits_.end(), commits.begin(), commits.end());
  Trim();
}

void RecentCommits::Trim() {
  if (open_.empty()) {
    commits_.clear();
  }
  while (!commits_.empty() && commits_.front().csn <= *open_.begin()) {
    commits_.pop_front();
  }
}

std::vector<CommitFootprint> RecentCommits::Since(Csn csn) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto first =
      std::partition_point(commits_.begin(), commits_.end(),
                           [&](const CommitFootprint& commit) { return commit.csn <= csn; });
  return {first, commits_.end()};
}

}  // namespace varve

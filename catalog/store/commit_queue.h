// Where committers wait for each other: the commit lock and group commit.
//
// The committer at the head of the queue leads: it puts the waiting commits together as one group,
// writes them with one sync, publishes the new state, wakes the others with their answers, and
// hands the lead to the next one. So one sync serves everyone who came while the last one ran, and
// a commit is acknowledged only after it is durable and visible.
//
// Thread-safety: any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "catalog/store/commit.h"
#include "catalog/store/sync_mode.h"

namespace varve {

struct CommitRequest {
  PrepareCommit prepare;
  // It reads more than handles (scans): it is put first in its group, so that the base is the whole
  // truth.
  bool reads_widely = false;
};

class CommitQueue {
 public:
  // `current` gives the published state, `publish` takes the next one with the commits that led to
  // it, and completes it with what is kept in memory.
  using Current = std::function<std::shared_ptr<const StoreState>()>;
  using Publish =
      std::function<void(std::shared_ptr<StoreState> state, const CommitGroup& commits)>;
  CommitQueue(SyncMode sync, Current current, Publish publish)
      : sync_(sync), current_(std::move(current)), publish_(std::move(publish)) {}

  // Commits; blocks until the commit is durable (as SyncMode says) and published, or refused.
  absl::Status Commit(const CommitRequest& request);

  // Runs `work` while nobody commits.
  absl::Status RunExclusively(const std::function<absl::Status()>& work);

 private:
  struct Waiter {
    const CommitRequest* request = nullptr;               // null: exclusive work
    const std::function<absl::Status()>* work = nullptr;  // exclusive work
    absl::Status status;
    bool done = false;
    std::condition_variable wake;
  };
  absl::Status Enqueue(Waiter* self);
  // Leads: serves waiters from the head of the queue; returns how many.
  size_t Serve(const std::vector<Waiter*>& waiters);

  const SyncMode sync_;
  const Current current_;
  const Publish publish_;
  std::mutex mutex_;
  std::deque<Waiter*> queue_;  // the head leads
};

}  // namespace varve

#include "catalog/store/commit_queue.h"

#include <algorithm>

#include "base/failpoint.h"

namespace varve {
namespace {

// A group's batch is bounded, so that one sync does not wait for an unbounded amount of work.
constexpr size_t kMaxGroupBytes = size_t{4} << 20;
constexpr size_t kMaxGroupCommits = 256;

}  // namespace

size_t CommitQueue::Serve(const std::vector<Waiter*>& waiters) {
  if (waiters.front()->request == nullptr) {
    waiters.front()->status = (*waiters.front()->work)();
    return 1;
  }
  CommitGroup group(current_());
  std::vector<Waiter*> added;
  size_t served = 0;
  for (Waiter* const waiter : waiters) {
    const bool joins = waiter->request != nullptr &&
                       (group.empty() || (!waiter->request->reads_widely && !group.closed() &&
                                          group.bytes() < kMaxGroupBytes));
    if (!joins) {
      break;
    }
    ++served;
    waiter->status = group.Add(waiter->request->prepare);
    if (waiter->status.ok()) {
      added.push_back(waiter);
    }
  }
  if (group.empty()) {
    return served;
  }
  VARVE_FAILPOINT("commit/before_write");
  absl::StatusOr<std::shared_ptr<StoreState>> next = group.Write(sync_ == SyncMode::kAlways);
  VARVE_FAILPOINT("commit/after_write");
  if (next.ok()) {
    publish_(*std::move(next), group);
    return served;
  }
  for (Waiter* const waiter : added) {
    waiter->status = next.status();
  }
  return served;
}

absl::Status CommitQueue::Enqueue(Waiter* self) {
  std::unique_lock<std::mutex> lock(mutex_);
  queue_.push_back(self);
  self->wake.wait(lock, [&] { return self->done || queue_.front() == self; });
  if (self->done) {
    return self->status;
  }
  const std::vector<Waiter*> waiters(
      queue_.begin(),
      queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMaxGroupCommits)));
  lock.unlock();
  const size_t served = Serve(waiters);
  lock.lock();
  for (size_t i = 0; i < served; ++i) {
    Waiter* const waiter = queue_.front();
    queue_.pop_front();
    waiter->done = true;
    if (waiter != self) {
      waiter->wake.notify_one();
    }
  }
  if (!queue_.empty()) {
    queue_.front()->wake.notify_one();
  }
  return self->status;
}

absl::Status CommitQueue::Commit(const CommitRequest& request) {
  Waiter self;
  self.request = &request;
  return Enqueue(&self);
}

absl::Status CommitQueue::RunExclusively(const std::function<absl::Status()>& work) {
  Waiter self;
  self.work = &work;
  return Enqueue(&self);
}

}  // namespace varve

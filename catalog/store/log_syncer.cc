#include "catalog/store/log_syncer.h"

namespace varve {

LogSyncer::LogSyncer(std::shared_ptr<RowStore> store, absl::Duration interval)
    : store_(std::move(store)), interval_(interval), thread_([this] { Run(); }) {}

LogSyncer::~LogSyncer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogSyncer::Note() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!unsynced_) {
    unsynced_ = true;
    wake_.notify_one();
  }
}

void LogSyncer::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return unsynced_ || stopping_; });
    if (!stopping_) {
      wake_.wait_for(lock, absl::ToChronoNanoseconds(interval_), [&] { return stopping_; });
    }
    if (unsynced_) {
      unsynced_ = false;
      lock.unlock();
      // A log that cannot be synced makes the store refuse the next write, which is where a
      // committer hears of it.
      store_->SyncLog().IgnoreError();
      lock.lock();
    }
    if (stopping_) {
      return;
    }
  }
}

}  // namespace varve

// Syncs the log of a row store at intervals (SyncMode::kInterval).
//
// Thread-safety: Note may be called from any thread. Ownership: borrows the database, which must
// outlive it; owns its thread, which ends with a last sync.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/time/time.h"
#include "catalog/store/row_store.h"

namespace varve {

class LogSyncer {
 public:
  LogSyncer(std::shared_ptr<RowStore> store, absl::Duration interval);
  ~LogSyncer();
  LogSyncer(const LogSyncer&) = delete;
  LogSyncer& operator=(const LogSyncer&) = delete;

  // Something was written that is not synced yet.
  void Note();

 private:
  void Run();

  const std::shared_ptr<RowStore> store_;
  const absl::Duration interval_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool unsynced_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace varve

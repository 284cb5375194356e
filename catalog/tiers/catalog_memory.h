// Keeps the MemRowSets of an open catalog: rebuilt from the change log after opening, then fed by
// every commit before its state is published.
//
// The rebuild runs beside readers and committers. It reads the change log up to the latest state,
// and again what was committed meanwhile, and takes the commit lock for the last piece only; until
// it is done, states have no memory and everything is answered by the row store.
//
// Thread-safety: any thread, except for Apply, which needs the commit lock. Ownership: owns the
// rebuilding thread, which the destructor stops.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/memory_set.h"

namespace varve {

// Reads what the change log of `state` says beyond writer->applied(). When `stop` becomes true, it
// returns Cancelled. OutOfRange: the log begins later.
absl::Status ApplyChangeLog(const StoreState& state, const std::atomic<bool>& stop,
                            MemoryWriter* writer);

class CatalogMemory {
 public:
  using StateRef = std::shared_ptr<const StoreState>;
  struct Hooks {
    std::function<StateRef()> latest;
    // Runs work while nobody commits.
    std::function<absl::Status(const std::function<absl::Status()>&)> exclusively;
    std::function<void(StateRef)> publish;
  };
  explicit CatalogMemory(Hooks hooks) : hooks_(std::move(hooks)) {}
  ~CatalogMemory();
  CatalogMemory(const CatalogMemory&) = delete;
  CatalogMemory& operator=(const CatalogMemory&) = delete;

  // Begins the rebuild, if nobody did yet.
  void Start();
  // Waits until the rebuild is done; begins it if need be. Returns how it ended. From then on the
  // latest state has memory, unless a commit could not be applied.
  absl::Status Wait();
  // Stops for good: what is under way is given up.
  void Stop();

  // Applies what a group of commits did, and gives `next` its memory; nothing, while there is none.
  // A failure loses no commit: memory is given up, and Wait says why.
  void Apply(const std::vector<CommittedChanges>& changes, StoreState* next);

  // Freezes what there is behind a new, empty set; the set for the next state. Requires: the commit
  // lock. FailedPrecondition: there is no memory (yet); the error that it was given up with.
  absl::StatusOr<std::shared_ptr<const MemorySet>> Freeze();

  // For a catalog that is open read-only: `next` with memory, if there is any for earlier states.
  absl::StatusOr<StateRef> CatchUp(StateRef next);

 private:
  enum class Phase : uint8_t { kIdle, kRebuilding, kReady, kFailed };

  void Rebuild();
  absl::Status TryRebuild();
  void SetPhase(Phase phase, absl::Status status);

  const Hooks hooks_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  Phase phase_ = Phase::kIdle;
  absl::Status status_;
  std::thread thread_;
  // Touched by the rebuild until kReady, then under the commit lock.
  std::optional<MemoryWriter> writer_;
};

}  // namespace varve

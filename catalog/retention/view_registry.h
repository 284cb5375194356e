// What the readers of this process hold: the snapshot and the csn of every read view alive.
//
// A view does not need its rows kept, RocksDB's snapshot does that. It needs the files those rows
// name: while a view at S is alive, S is retained (retained.h), whatever became of its row, so no
// file that S shows is scheduled for deletion; and files that were scheduled after the view was
// taken are not removed (scheduled_files.h).
//
// The order that makes this safe. Who takes a view chooses its state and registers it as one step
// under the registry's mutex (HoldWith); who decides what is reclaimable first takes the published
// state, then the list of what is held. A view that the list misses was then chosen after that
// state was published, and so was checked against it.
//
// Thread-safety: any thread. Ownership: tokens share what the registry is made of and may outlive
// it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "mvcc/visibility.h"

namespace varve {

class ViewRegistry {
 public:
  struct Held {
    SnapshotId snapshot = 0;
    Csn csn = 0;
  };
  // Holds until its last copy dies.
  using Token = std::shared_ptr<const void>;

  ViewRegistry() = default;
  ViewRegistry(const ViewRegistry&) = delete;
  ViewRegistry& operator=(const ViewRegistry&) = delete;

  // Registers what `choose()`, an absl::StatusOr<Held>, chooses under the mutex. It should be
  // quick, and must not drop a token.
  template <typename Choose>
  absl::StatusOr<Token> HoldWith(const Choose& choose) {
    const std::lock_guard<std::mutex> lock(list_->mutex);
    const absl::StatusOr<Held> held = choose();
    if (!held.ok()) {
      return held.status();
    }
    return Add(*held);
  }

  // Ascending, each once.
  std::vector<SnapshotId> HeldSnapshots() const;
  // The smallest csn held; nullopt while nothing is.
  std::optional<Csn> OldestCsn() const;

 private:
  struct Entry;
  // Entries are linked where they lie: adding and removing one takes no search and no second piece
  // of memory.
  struct List {
    mutable std::mutex mutex;
    Entry* first = nullptr;
  };
  // Requires: the mutex is held.
  Token Add(const Held& held);

  std::shared_ptr<List> list_ = std::make_shared<List>();
};

}  // namespace varve

// A versioned catalog: opening it, reading it at a snapshot, changing it.
//
// Thread-safety: every method may be called from any thread. Ownership: the Catalog owns the row
// store and the lock on the catalog's directory; read views keep the store open on their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/change_set.h"
#include "catalog/read_view.h"
#include "catalog/store/sync_mode.h"

namespace rocksdb {
class FileSystem;
}

namespace varve {

class ColumnarTier;
class NameIndex;
class PathIndex;
class RecentCommits;
class TableShapes;
class Transaction;
class ViewRegistry;
struct CommitRequest;
struct TransactionOptions;

// When MemRowSets are rebuilt from the change log (tiers/catalog_memory.h). Until they are, and
// without them, the row store answers everything.
enum class MemoryMode : uint8_t {
  kAfterOpening,  // by a thread of their own
  kOnDemand,      // by WaitForMemory
};

struct CatalogOptions {
  // Opens beside a running writer, takes no lock, writes nothing.
  bool read_only = false;
  // When a commit is on disk (commit_queue.h), and how long kInterval lets it wait.
  SyncMode sync = SyncMode::kAlways;
  absl::Duration sync_interval = absl::Milliseconds(100);
  // Memory for cached blocks of the row store, in bytes.
  uint64_t block_cache_bytes = uint64_t{256} << 20;
  MemoryMode memory = MemoryMode::kAfterOpening;
  // When MemRowSets take more memory, in bytes, they are flushed and the files compacted by a
  // thread of their own (tiers/maintenance.h); with MemoryMode::kAfterOpening only. 0: never.
  uint64_t memrowset_budget_bytes = uint64_t{256} << 20;
  // What the row store reads and writes through, for tests that make it fail; null: the default
  // one (see RowStoreOptions).
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

class Catalog {
 public:
  // Opens an existing catalog. Errors: NotFound (no catalog there), FailedPrecondition (a newer
  // format), Unavailable (open in another process: the message says which and how to read beside
  // it), DataLoss (damaged).
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(const std::string& path,
                                                       const CatalogOptions& options = {});

  // Makes a new catalog with the bootstrap rows of DuckLake 1.0: snapshot 0, its changes row, the
  // settings version, created_by, data_path and encrypted, and the schema main.
  // Errors: AlreadyExists when something is at `path`.
  struct InitOptions {
    std::string data_path;  // "…/": where the lake keeps its files; a missing slash is added
    bool encrypted = false;
    absl::Time now = absl::Now();
    std::string schema_uuid;  // empty: a random one
  };
  static absl::Status Init(const std::string& path, const InitOptions& options);

  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // Of a catalog that is open read-only: goes on to the state the writer has acknowledged by now;
  // later calls of Current, At and AtTime show it. Views taken before stay as they are, each on the
  // instance of the database it was taken from; an instance closes with its last view. May keep a
  // second instance open, to catch up with next time (store_follower.h). A catalog that is open for
  // writing is its own latest state: nothing happens. On error the catalog shows what it showed
  // before. Errors: those of Open, FailedPrecondition (another catalog stands at the path now).
  absl::Status Refresh();

  // Waits until the MemRowSets are there: views taken afterwards have them. The error says why they
  // are not: then everything is answered by the row store.
  absl::Status WaitForMemory();

  // Puts empty MemRowSets in front of those there are, which take no more changes from then on, and
  // returns the state in which they are so. Requires: the MemRowSets are there.
  absl::StatusOr<std::shared_ptr<const StoreState>> FreezeMemory();

  // The state at the latest snapshot.
  ReadView Current() const;
  // The state at a snapshot that exists and is retained. The error names the nearest ones that are.
  absl::StatusOr<ReadView> At(SnapshotId snapshot) const;
  // The state at the latest retained snapshot whose time is at or before `time`.
  absl::StatusOr<ReadView> AtTime(absl::Time time) const;

  // Commits a set of changes as one. When this returns OK they are durable and visible to new
  // views. On error no view of this process ever shows them; after an I/O error of the log, which
  // also stops further commits until the catalog is opened again, they may then turn out to be
  // there as a whole. Checks what the store's invariants need: no begin or end above the resulting
  // last snapshot, no overlapping intervals of one handle, no second live version, only known
  // relations and rows of the right shape.
  absl::Status Apply(const ChangeSet& changes);

  // Begins a transaction at the latest state (transaction/transaction.h). FailedPrecondition when
  // the catalog is open read-only.
  absl::StatusOr<Transaction> Begin();
  absl::StatusOr<Transaction> Begin(const TransactionOptions& options);

  const std::string& path() const;
  const std::string& uuid() const;
  // The row store underneath, for tests and measurements. Writing to it goes past the commit lock.
  RowStore& store();

  // --- For the parts of the catalog that commit or need what is shared ---

  // Puts a commit together under the commit lock and commits it, with others if some wait.
  absl::Status Commit(const CommitRequest& request);
  // Runs `work` while nobody commits.
  absl::Status WithoutCommits(const std::function<absl::Status()>& work) const;
  // The latest state. Unlike a view it holds no snapshot back.
  std::shared_ptr<const StoreState> LatestState() const;
  // The names live at the state's latest snapshot; kept until they change.
  absl::StatusOr<std::shared_ptr<const NameIndex>> Names(
      const std::shared_ptr<const StoreState>& state);
  // The snapshots that views of this process hold.
  ViewRegistry& views() const;
  // What was committed while transactions are open.
  RecentCommits& recent_commits() const;
  // Which files have which paths.
  PathIndex& paths() const;
  // What tables are like.
  TableShapes& shapes() const;
  // Where columnar files are made (tiers/flush.h, tiers/compaction.h).
  ColumnarTier& columnar_tier() const;

 private:
  friend class Transaction;
  absl::Status CheckWritable() const;
  struct State;
  explicit Catalog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace varve

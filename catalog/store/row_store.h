// The row store: RocksDB with the four column families, opened the way Varve needs it.
//
// Layout of a catalog directory:
//   VARVE        one line: "varve catalog, format 1"; what makes a directory a catalog
//   varve.lock   see catalog_lock.h
//   rows/        the RocksDB database
//
// A store that is open read-only shows the database as it was when it was opened. Beside a writer a
// *follower* (a RocksDB secondary instance) can be opened, too, which catches up with what the
// writer has logged since; store_follower.h says when which of the two is used, and why.
//
// Thread-safety: as RocksDB's DB: any thread; CatchUp needs the store to itself. Ownership: a
// RowStore owns the database and, when it was opened for writing, the lock; StoreStates keep it
// alive.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/relation_directory.h"
#include "catalog/retention/pin_set.h"
#include "catalog/store/catalog_lock.h"
#include "catalog/store/database_mark.h"

namespace varve {

struct MemorySet;
class ColumnarSet;

enum class Family : uint8_t { kDefault = 0, kLive = 1, kEnded = 2, kChanges = 3 };
inline constexpr std::array kFamilyNames = {"default", "live", "ended", "changes"};
inline constexpr size_t kNumFamilies = kFamilyNames.size();

// Names in a catalog's directory.
inline constexpr std::string_view kIdentityFile = "VARVE";
inline constexpr std::string_view kRowsDirectory = "rows";
// Beside them in a checkpoint (catalog/backup), which is never opened for writing.
inline constexpr std::string_view kCheckpointFile = "CHECKPOINT";

struct RowStoreOptions {
  bool read_only = false;
  uint64_t block_cache_bytes = uint64_t{256} << 20;
  // What RocksDB reads and writes through; null: the default one. A wrapper over that one, since
  // some files are read past it (checked_file_system.h).
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

class RowStore {
 public:
  // Opens the catalog at `path`. Errors: NotFound, FailedPrecondition (a newer format, or a
  // checkpoint to be written to), Unavailable (locked), DataLoss (damaged).
  static absl::StatusOr<std::shared_ptr<RowStore>> Open(const std::string& path,
                                                        const RowStoreOptions& options);

  // Makes the directory and an empty database in it, and opens it. Requires: no database at `path`;
  // the caller holds the lock on the directory, and keeps it: it may have more to do there than to
  // fill the store.
  static absl::StatusOr<std::shared_ptr<RowStore>> Create(const std::string& path);

  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  const std::string& path() const { return path_; }
  bool read_only() const { return read_only_; }
  const RowStoreOptions& options() const { return options_; }

  // Opens a follower of the same catalog. Requires: read_only(). Unavailable when the writer has
  // changed its files since this store was opened (or does while the follower is): then only
  // opening the catalog anew tells what there is.
  absl::StatusOr<std::shared_ptr<RowStore>> OpenFollower() const;
  bool is_follower() const { return is_follower_; }

  // Reads what the writer has logged since. Requires: is_follower(), not in_use(). Errors:
  // Unavailable as for OpenFollower, those of reading the log. After an error the store must not be
  // read any more.
  absl::Status CatchUp();

  // What the files looked like, at the latest, before this store read them. Read-only stores only.
  const DatabaseMark& mark() const { return mark_; }

  // The cache of blocks, shared with whoever keeps what it has decoded within the same budget.
  const std::shared_ptr<rocksdb::Cache>& cache() const { return cache_; }

  // Whether a StoreState is on it. Read-only stores only.
  bool in_use() const { return states_.load(std::memory_order_acquire) != 0; }
  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<size_t>(family)];
  }

  // A text value of the `default` family; nullopt when absent. `snapshot` may be null.
  absl::StatusOr<std::optional<std::string>> GetDefault(std::string_view key,
                                                        const rocksdb::Snapshot* snapshot) const;

  // Writes a batch to the log, with a sync of it if `sync`, and to the memtables. A write or sync
  // that fails is the last one: what it wrote may be in the log or not, which is known only when
  // that is read again, so nothing may be built upon either. This, SyncLog and Flush then return
  // its error until the catalog is opened again.
  absl::Status Write(rocksdb::WriteBatch* batch, bool sync);

  // Syncs what was written without.
  absl::Status SyncLog();

  // Writes memtables to files, so that nothing has to be replayed at the next opening.
  absl::Status Flush();

  // OK, or that a write or sync has failed.
  absl::Status CheckWritable() const;

 private:
  // Keeps the error of a write or sync; returns it.
  absl::Status KeepError(absl::Status status);

  friend struct StoreState;
  friend absl::StatusOr<std::shared_ptr<const StoreState>> TakeState(
      std::shared_ptr<RowStore> store);
  friend std::shared_ptr<StoreState> NewState(std::shared_ptr<RowStore> store);
  RowStore() = default;

  std::string path_;
  bool read_only_ = false;
  bool is_follower_ = false;
  RowStoreOptions options_;
  DatabaseMark mark_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::atomic<int> states_ = 0;  // on a read-only store
  std::unique_ptr<CatalogLock> lock_;
  std::unique_ptr<rocksdb::Env> env_;  // null: CheckedEnvironment()
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kNumFamilies> families_{};
  mutable std::mutex write_error_mutex_;
  absl::Status write_error_;  // of the write or sync that failed
};

// Whether the relation says what tables are like: where they are, their columns and partitionings,
// and the settings of the lake.
constexpr bool HoldsDefinitions(RelationId relation) {
  switch (relation) {
    case kMetadata:
    case kSchema:
    case kTable:
    case kColumn:
    case kPartitionInfo:
    case kPartitionColumn: return true;
    default: return false;
  }
}

// A state of the row store: what all read views taken at one csn share.
struct StoreState {
  std::shared_ptr<RowStore> store;
  const rocksdb::Snapshot* snapshot =
      nullptr;  // owned; null on read-only stores, which stand still
  Csn csn = 0;
  SnapshotId last_snapshot = 0;
  SnapshotId retain_from = 0;
  std::shared_ptr<const PinSet> pins;  // never null
  std::shared_ptr<const RelationDirectory> directory;
  // The last commit known to have changed a schema, table, view or macro.
  Csn names_csn = 0;
  // … a row of a relation that HoldsDefinitions.
  Csn definitions_csn = 0;
  // What was changed since the last flush; null: not in memory (yet), the row store answers.
  std::shared_ptr<const MemorySet> memory;
  // The columnar files; null only while a catalog is being opened.
  std::shared_ptr<const ColumnarSet> columnar;

  StoreState() : pins(std::make_shared<const PinSet>()) {}
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;
  ~StoreState();

  rocksdb::ReadOptions read_options() const;
};

// Takes the state the store has now: RocksDB snapshot, csn, last snapshot, directory.
absl::StatusOr<std::shared_ptr<const StoreState>> TakeState(std::shared_ptr<RowStore> store);

// The same state with other memory. Requires: it is the latest one, and nobody commits.
std::shared_ptr<const StoreState> WithMemory(const StoreState& state,
                                             std::shared_ptr<const MemorySet> memory);
// … with other columnar files.
std::shared_ptr<const StoreState> WithColumnar(const StoreState& state,
                                               std::shared_ptr<const ColumnarSet> columnar);

// Options of one family, shared by the store and by files written for ingestion.
rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache);

// RocksDB's status as ours; `what` says what was being done. Corruption becomes DataLoss.
absl::Status FromRocksDb(const rocksdb::Status& status, std::string_view what);

// A text that changes whenever files are added to the RocksDB database in the directory `rows` or
// no longer belong to it.
std::string ManifestMark(const std::string& rows);

// Whether the directory is a catalog: OK, NotFound, or FailedPrecondition for a newer format.
absl::Status CheckIsCatalog(const std::string& path);

inline rocksdb::Slice ToSlice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}
inline std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

}  // namespace varve

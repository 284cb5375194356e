// The row store: RocksDB with the four column families, opened the way Varve needs it.
//
// Layout of a catalog directory:
//   VARVE        one line: "varve catalog, format 1"; what makes a directory a catalog
//   varve.lock   see catalog_lock.h
//   rows/        the RocksDB database
//
// Thread-safety: as RocksDB's DB: any thread. Ownership: a RowStore owns the database and, when it
// was opened for writing, the lock; StoreStates keep it alive.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/relation_directory.h"
#include "catalog/store/catalog_lock.h"

namespace varve {

enum class Family : uint8_t { kDefault = 0, kLive = 1, kEnded = 2, kChanges = 3 };
inline constexpr std::array kFamilyNames = {"default", "live", "ended", "changes"};
inline constexpr size_t kNumFamilies = kFamilyNames.size();

struct RowStoreOptions {
  bool read_only = false;
  uint64_t block_cache_bytes = uint64_t{256} << 20;
};

class RowStore {
 public:
  // Opens the catalog at `path`. Errors: NotFound, FailedPrecondition (newer format), Unavailable
  // (locked), DataLoss (damaged).
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
  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<size_t>(family)];
  }

  // A text value of the `default` family; nullopt when absent. `snapshot` may be null.
  absl::StatusOr<std::optional<std::string>> GetDefault(std::string_view key,
                                                        const rocksdb::Snapshot* snapshot) const;

  // Writes memtables to files, so that nothing has to be replayed at the next opening.
  absl::Status Flush();

 private:
  RowStore() = default;

  std::string path_;
  bool read_only_ = false;
  std::unique_ptr<CatalogLock> lock_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kNumFamilies> families_{};
};

// A state of the row store: what all read views taken at one csn share.
struct StoreState {
  std::shared_ptr<RowStore> store;
  const rocksdb::Snapshot* snapshot = nullptr;  // owned
  Csn csn = 0;
  SnapshotId last_snapshot = 0;
  SnapshotId retain_from = 0;
  std::shared_ptr<const RelationDirectory> directory;

  StoreState() = default;
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;
  ~StoreState();

  rocksdb::ReadOptions read_options() const;
};

// Takes the state the store has now: RocksDB snapshot, csn, last snapshot, directory.
absl::StatusOr<std::shared_ptr<const StoreState>> TakeState(std::shared_ptr<RowStore> store);

// Options of one family, shared by the store and by files written for ingestion.
rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache);

// RocksDB's status as ours; `what` says what was being done. Corruption becomes DataLoss.
absl::Status FromRocksDb(const rocksdb::Status& status, std::string_view what);

// Whether the directory is a catalog: OK, NotFound, or FailedPrecondition for a newer format.
absl::Status CheckIsCatalog(const std::string& path);

inline rocksdb::Slice ToSlice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}
inline std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

}  // namespace varve

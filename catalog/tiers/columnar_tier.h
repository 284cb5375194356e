// The columnar tier of an open catalog: where its files are made, and how a new set of them becomes
// that of the catalog.
//
// Thread-safety: any thread. Ownership: owned by the catalog.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/store/commit.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/columnar_writer.h"

namespace varve {

class Catalog;

// The manifest a state's store has. Without one: nothing was flushed yet, and relations are
// incomplete that had rows when the change log began.
absl::StatusOr<proto::ColumnarManifest> ReadManifest(const StoreState& state);

class ColumnarTier {
 public:
  ColumnarTier(std::shared_ptr<rocksdb::FileSystem> file_system, std::string catalog_path);
  ColumnarTier(const ColumnarTier&) = delete;
  ColumnarTier& operator=(const ColumnarTier&) = delete;

  // Held while files are made and installed: flushes and compactions go one after the other.
  std::mutex& maintenance_mutex() { return maintenance_; }
  // Runs `work` while no manifest is installed: the latest state's is that of the row store. Work
  // on files goes on meanwhile, up to where it installs them.
  absl::Status WithoutInstalls(const std::function<absl::Status()>& work);
  const ColumnarPlace& place() const { return place_; }
  rocksdb::FileSystem* file_system() const { return file_system_.get(); }

  // The state with the files its manifest says; what `earlier` (may be null) has open is shared.
  // Requires: as for WithMemory.
  absl::StatusOr<std::shared_ptr<const StoreState>> WithFiles(
      const std::shared_ptr<const StoreState>& state, const ColumnarSet* earlier);

  // Makes the directory, if it is not there.
  absl::Status PrepareDirectory();
  // Removes files of the directory that the set has not got. Requires: the catalog is open for
  // writing, and no reader can have them.
  void RemoveOrphans(const ColumnarSet& set);

  // Commits a manifest, with what `prepare` adds to the commit (may be null). The catalog then has
  // its files; those of the old set that it has not got are removed when the last reader lets go.
  // On error the files of `written` are removed. Requires: the maintenance mutex.
  absl::Status Install(Catalog& catalog, proto::ColumnarManifest manifest,
                       const std::vector<proto::ColumnarFileEntry>& written,
                       const std::function<absl::Status(Commit&)>& prepare);

 private:
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::string catalog_path_;
  std::mutex maintenance_;
  std::mutex install_;  // taken after `maintenance_`, before the commit lock
  std::atomic<uint64_t> next_file_ = 1;
  ColumnarPlace place_;
  std::once_flag cache_made_;
  std::shared_ptr<const PackCache> cache_;
};

}  // namespace varve

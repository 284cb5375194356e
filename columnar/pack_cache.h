// A bounded cache of decoded packs.
//
// It lives in a rocksdb::Cache that others may use too, so that blocks and packs share one budget:
// its keys are longer than those of RocksDB's blocks and meet none of them. The cache must be one
// for keys of any length (NewLRUCache). A pack in use stays alive after it was evicted.
//
// Thread-safety: all functions may be called from any thread. Ownership: shares the cache; packs
// are shared and immutable.
#pragma once

#include <cstdint>
#include <memory>

#include "base/column_batch.h"
#include "rocksdb/cache.h"

namespace varve {

// In what form the rows of a pack are kept.
enum class PackForm : uint8_t {
  kStored,    // as the file has them
  kNarrowed,  // 128-bit integers in 64 bits
  kMade,      // what someone made of them and of other columns
};

struct PackKey {
  uint64_t file_id = 0;
  uint32_t relation = 0;
  uint32_t column_id = 0;
  uint32_t pack = 0;
  PackForm form = PackForm::kStored;
};

class PackCache {
 public:
  explicit PackCache(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}

  // Null if the pack is not there.
  std::shared_ptr<const ColumnVector> Lookup(const PackKey& key) const;
  bool Contains(const PackKey& key) const { return Lookup(key) != nullptr; }

  // Adds a pack, or replaces the one that is there. A cache that is full may not keep it.
  void Insert(const PackKey& key, std::shared_ptr<const ColumnVector> pack) const;

 private:
  std::shared_ptr<rocksdb::Cache> cache_;
};

// The memory a vector's values take, in bytes.
size_t MemoryOf(const ColumnVector& column);

}  // namespace varve

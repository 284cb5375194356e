#include "columnar/pack_cache.h"

#include <string>
#include <utility>

#include "base/coding.h"

namespace varve {
namespace {

using SharedPack = std::shared_ptr<const ColumnVector>;

// Longer than the 16 bytes of a RocksDB block's key.
std::string CacheKey(const PackKey& key) {
  std::string bytes("pack");
  PutLittleEndian(&bytes, key.file_id);
  PutLittleEndian(&bytes, key.relation);
  PutLittleEndian(&bytes, key.column_id);
  PutLittleEndian(&bytes, key.pack);
  PutLittleEndian(&bytes, static_cast<uint8_t>(key.form));
  return bytes;
}

void DeletePack(const rocksdb::Slice& /*key*/, void* value) {
  delete static_cast<SharedPack*>(value);
}

}  // namespace

std::shared_ptr<const ColumnVector> PackCache::Lookup(const PackKey& key) const {
  rocksdb::Cache::Handle* handle = cache_->Lookup(CacheKey(key));
  if (handle == nullptr) {
    return nullptr;
  }
  SharedPack pack = *static_cast<const SharedPack*>(cache_->Value(handle));
  cache_->Release(handle);
  return pack;
}

void PackCache::Insert(const PackKey& key, std::shared_ptr<const ColumnVector> pack) const {
  const size_t charge = MemoryOf(*pack);
  auto owned = std::make_unique<SharedPack>(std::move(pack));
  // With a strict limit and no room the cache takes no ownership, and says so.
  if (cache_->Insert(CacheKey(key), owned.get(), charge, &DeletePack).ok()) {
    owned.release();
  }
}

size_t MemoryOf(const ColumnVector& column) {
  const size_t rows = column.size();
  const size_t values = column.type() == PhysicalType::kBytes
                            ? column.heap_size() + rows * sizeof(size_t)
                            : rows * static_cast<size_t>(FixedWidth(column.type()));
  return sizeof(ColumnVector) + rows + values;
}

}  // namespace varve

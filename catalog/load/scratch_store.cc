#include "catalog/load/scratch_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"

namespace varve {
namespace {

constexpr uint64_t kMinBufferBytes = uint64_t{1} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{8} << 20;
constexpr int kBuffers = 3;  // one filled, one sorted and written, one waiting
constexpr size_t kReadaheadBytes = size_t{256} << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<ScratchStore>> ScratchStore::Create(std::string directory,
                                                                   uint64_t memory_bytes) {
  std::unique_ptr<ScratchStore> scratch(new ScratchStore(std::move(directory)));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.info_log_level = rocksdb::InfoLogLevel::FATAL_LEVEL;
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;
  options.write_buffer_size = std::max(memory_bytes / kBuffers, kMinBufferBytes);
  options.max_write_buffer_number = kBuffers;
  options.compression = rocksdb::kLZ4Compression;
  // Files are merged by the reading cursor alone.
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  table.block_size = 64 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  VARVE_RETURN_IF_ERROR(FromRocksDb(rocksdb::DB::Open(options, scratch->directory_, &db),
                                    StrCat("making a scratch store in ", scratch->directory_)));
  scratch->db_.reset(db);
  return scratch;
}

ScratchStore::~ScratchStore() {
  db_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

absl::Status ScratchStore::Put(std::string_view key, std::string_view value) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return FromRocksDb(db_->Put(options, ToSlice(key), ToSlice(value)), "sorting rows");
}

absl::StatusOr<std::unique_ptr<rocksdb::Iterator>> ScratchStore::Sort() {
  VARVE_RETURN_IF_ERROR(FromRocksDb(db_->Flush(rocksdb::FlushOptions()), "sorting rows"));
  rocksdb::ReadOptions options;
  options.readahead_size = kReadaheadBytes;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
  it->SeekToFirst();
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "sorting rows"));
  return it;
}

}  // namespace varve

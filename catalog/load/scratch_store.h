// A throw-away store that sorts rows: in any order in, in key order out, memory bounded.
//
// It is a RocksDB database without a log, whose files are only ever written, merged once by the
// reading cursor, and removed: an external sort by a well-kept library.
//
// Thread-safety: one thread. Ownership: removes its directory when destroyed.
#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace varve {

class ScratchStore {
 public:
  // `memory_bytes` bounds what is held before it is written to files.
  static absl::StatusOr<std::unique_ptr<ScratchStore>> Create(std::string directory,
                                                              uint64_t memory_bytes);
  ~ScratchStore();
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  // Keys must be unique.
  absl::Status Put(std::string_view key, std::string_view value);

  // Call once, after the last Put: a cursor over all pairs in key order.
  absl::StatusOr<std::unique_ptr<rocksdb::Iterator>> Sort();

 private:
  explicit ScratchStore(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace varve

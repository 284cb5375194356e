// Walks the stored versions of a relation in (handle, begin) order.
//
// The row store keeps live versions apart from ended ones; the cursor merges the two families where
// both are asked for. Within one handle the ended versions come first, oldest first, then the live
// one: intervals of one handle do not overlap, so that is begin order.
//
// Thread-safety: one thread. Ownership: borrows the state, which must outlive it. The version a
// cursor stands on points into RocksDB's blocks until the cursor moves.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {

enum class VersionSet : uint8_t { kLive, kEnded, kBoth };

class VersionCursor {
 public:
  // Walks the handles of `relation` that start with `handle_prefix`.
  VersionCursor(const StoreState& state, RelationRef relation, VersionSet versions,
                std::string_view handle_prefix);

  // Positions on the first version. Call once.
  absl::Status Start();
  bool valid() const { return source_ != nullptr; }
  const StoredVersion& version() const { return source_->version; }
  absl::Status Next();

  // Goes on to the newest ended version of the current handle that begins at or before `at`, if it
  // lies ahead; else behind the handle's ended versions. Where a handle has a long history this
  // skips it with one seek. Requires: valid, and standing on an ended version.
  absl::Status SeekWithinHandle(SnapshotId at);

  uint64_t versions_read() const { return versions_read_; }

 private:
  struct Source {
    std::unique_ptr<rocksdb::Iterator> it;  // null: this family is not asked for
    StoredVersion version;
    bool valid = false;
  };
  // Reads what the source's iterator stands on.
  absl::Status Load(Source* source, bool is_live);
  void Choose();

  RelationRef relation_;
  std::string lower_;
  std::string upper_;
  rocksdb::Slice lower_slice_;
  rocksdb::Slice upper_slice_;
  Source live_;
  Source ended_;
  Source* source_ = nullptr;
  uint64_t versions_read_ = 0;
};

}  // namespace varve

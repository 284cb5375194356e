// The files that make up a row store at one moment, taken while it is written to.
//
// Which files those are, and how many bytes of the logs count, is RocksDB's answer
// (GetLiveFilesStorageInfo, what its own Checkpoint copies by). Table files never change, so they
// are linked into the target directory; everything else is appended to or replaced by whoever
// writes to the row store, and is held open, to be copied.
//
// From then on nothing can be lost: RocksDB's removing a file takes away its name only. So files
// need to be kept from removal just while they are claimed, however long the copying takes.
//
// Thread-safety: free functions; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/backup/file_copy.h"
#include "catalog/store/row_store.h"

namespace varve {

struct SourceFile {
  std::string name;      // in the row store's directory: "000012.sst"
  uint64_t size = 0;     // bytes that belong to the state; the file may have grown since
  bool linked = false;   // it is in the target directory already
  FileDescriptor file;   // to copy from, unless linked or `contents` is set
  std::string contents;  // the whole file, instead of one to copy from
};

// Claims the files of a row store for a copy in the directory `target`, which must be empty and
// gets the links. `share` false: no links, tables are copied, too.
//
// Of a store open for writing: its state when this is called or a little later; its memtables are
// written to files first, so an earlier write that failed is an error. Of one open read-only: the
// state the writer beside it, if there is one, has by then, which may be later than the store's
// own. Errors: Unavailable (the writer beside changes its files too fast), DataLoss (a file is
// missing), others of the system.
absl::StatusOr<std::vector<SourceFile>> ClaimFiles(const RowStore& store, const std::string& target,
                                                   bool share);

}  // namespace varve

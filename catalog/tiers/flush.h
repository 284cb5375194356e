// Flushing: what MemRowSets hold goes to one L1 file.
//
//   1. freeze   all MemRowSets at one csn, under the commit lock; commits go on in new ones
//   2. write    their rows, rolled forward to that csn, to a file; erased versions as markers
//   3. install  manifest and the truncation of the change log in one commit, which lets go of the
//               frozen MemRowSets; files of relations that were dropped are not in it any more
//
// Killed or failed anywhere, nothing is lost: until 3 everything is in memory and in the change
// log, and a file without a manifest is removed at the next opening. Committers wait for 1 and 3
// only.
//
// Thread-safety: free functions; flushes and compactions of one catalog go one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "columnar/columnar_table_builder.h"

namespace varve {

struct FlushOptions {
  // So many commits before the flushed ones stay in the change feed.
  uint64_t changes_retention = 10'000;
  // Called now and then: rows written, rows in all.
  std::function<void(uint64_t done, uint64_t total)> on_progress;
  // When it becomes true, the flush is given up with Cancelled; null: never. Borrowed.
  const std::atomic<bool>* stop = nullptr;
  // How tables are built, for tests of small packs.
  ColumnarTableBuilderOptions table;
};

struct FlushSummary {
  Csn flushed_csn = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of the file; 0: there was nothing to write
};

// FailedPrecondition: the catalog is open read-only.
absl::StatusOr<FlushSummary> FlushMemory(Catalog& catalog, const FlushOptions& options = {});

}  // namespace varve

// Scanning a relation: what is asked for, and the stream of batches that answers it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/predicate.h"
#include "catalog/relation.h"
#include "mvcc/visibility.h"

namespace varve {

enum class ScanRows : uint8_t {
  // The rows visible at the view's snapshot. Relations without begin and end of their own inherit
  // their parent's; unversioned ones show their rows at every snapshot.
  kVisible,
  // Every version the view holds, ended ones included; child relations show every row.
  kAllVersions,
};

struct ScanOptions {
  // Column indexes to return, in this order. nullopt: all. Empty: no column, only row counts.
  std::optional<std::vector<size_t>> columns;
  ScanRows rows = ScanRows::kVisible;
  // Conjunction of comparisons on the relation's columns.
  Predicate predicate;
  // Values of the leading handle columns: a key prefix. Empty: the whole relation.
  std::vector<Datum> key_prefix;
  // At most this many rows.
  std::optional<uint64_t> limit;
  // Also return each row's encoded handle (ScanBatch::handles).
  bool with_handles = false;
  // Rows a batch holds at most. Range: 1 … 65,536.
  uint32_t batch_rows = 1024;
};

// A batch of rows in (handle, begin) order, with the interval of each. Rows of unversioned
// relations are [0, kNoEnd). Rows of child relations carry their parent's interval in scans of all
// versions (empty, [kNoEnd, kNoEnd), for a row without a parent), and [0, kNoEnd) otherwise.
struct ScanBatch {
  ColumnBatch columns;
  std::vector<SnapshotId> begins;
  std::vector<SnapshotId> ends;
  std::vector<std::string> handles;  // with_handles only
  size_t num_rows() const { return begins.size(); }
};

// What a scan did so far.
struct ScanStats {
  uint64_t versions_read = 0;  // key/value pairs looked at
  uint64_t rows_returned = 0;
};

// Thread-safety: one thread at a time. Holds the read view it came from.
class RowScan {
 public:
  virtual ~RowScan() = default;
  // Fills the next batch; false at the end (the batch is then empty). A damaged value is an error,
  // never a row.
  virtual absl::StatusOr<bool> Next(ScanBatch* batch) = 0;
  virtual const ScanStats& stats() const = 0;
};

}  // namespace varve

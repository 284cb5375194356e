// Scanning a relation: what is asked for, and the stream of batches that answers it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/predicate.h"
#include "catalog/relation.h"
#include "catalog/tiers/clean_read.h"
#include "mvcc/visibility.h"

namespace varve {

enum class ScanRows : uint8_t {
  // The rows visible at the view's snapshot. Relations without begin and end of their own inherit
  // their parent's; unversioned ones show their rows at every snapshot.
  kVisible,
  // Every version the view holds, ended ones included; child relations show every row.
  kAllVersions,
};

// What answers a scan. Every path gives the same rows.
enum class ScanPath : uint8_t {
  kAuto,      // the tiers where they have all of the relation and much of it is asked for, else the
              // row store
  kRow,       // the row store
  kMemory,    // MemRowSets alone; FailedPrecondition where they have not got all of the relation
  kColumnar,  // MemRowSets and columnar files; FailedPrecondition likewise
};

// In which order rows come.
enum class ScanOrder : uint8_t {
  kKey,  // by handle and begin
  kAny,  // whatever is cheapest: live and ended rows of columnar files are not merged
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
  ScanPath path = ScanPath::kAuto;
  ScanOrder order = ScanOrder::kKey;
  // Packs that statistics prove visible are read without handle, version and end.
  bool clean_read = true;
  // Give each row's begin and end (ScanBatch::begins, ends). Without, they need not be read.
  bool with_intervals = true;
  // Also return each row's encoded handle (ScanBatch::handles).
  bool with_handles = false;
  // Rows of a batch that is put together. Range: 1 … 65,536. A pack of a columnar file that is
  // handed on as it is makes a batch of its own, which may be longer; none is longer than a pack.
  uint32_t batch_rows = 1024;
};

// A batch of rows in (handle, begin) order (unless any order will do), with the interval of each,
// unless they were not asked for: then begins and ends may be empty, or there all the same. Columns
// may be shared with others (base/column_batch.h). Rows of unversioned
// relations are [0, kNoEnd). Rows of child relations carry their parent's interval in scans of all
// versions (empty, [kNoEnd, kNoEnd), for a row without a parent), and [0, kNoEnd) otherwise.
struct ScanBatch {
  ColumnBatch columns;
  std::vector<SnapshotId> begins;
  std::vector<SnapshotId> ends;
  std::vector<std::string> handles;  // with_handles only
  size_t num_rows() const { return columns.num_rows(); }
  void Clear();
  // Keeps the rows named by `selection` (ascending row numbers).
  void Select(std::span<const uint32_t> selection);
  // Drops rows from the end until `rows` remain. Requires: rows <= num_rows().
  void Truncate(size_t rows);
  // Drops the first `rows` rows. Requires: rows <= num_rows().
  void DropFirst(size_t rows);
};

// What a scan did with columnar files.
struct ColumnarScanCounters {
  uint64_t packs_clean = 0;    // read without handle, version and end
  uint64_t packs_normal = 0;   // read with them
  uint64_t packs_skipped = 0;  // passed over by statistics
  uint64_t clean_rows = 0;     // rows of packs_clean
  uint64_t bytes_read = 0;
  uint64_t mvcc_bytes_read = 0;     // of them: handles, versions and ends
  uint64_t mvcc_bytes_avoided = 0;  // of packs_clean
  std::array<uint64_t, kNumCleanReadRejections> rejected = {};  // packs_normal by reason
};

// What a scan did so far.
struct ScanStats {
  uint64_t versions_read = 0;  // versions looked at
  uint64_t rows_returned = 0;
  ScanPath path = ScanPath::kRow;  // kRow, kMemory or kColumnar: what answers
  ColumnarScanCounters columnar;
  // Why the row store answers what columnar files should have: what is damaged. Empty: it does not.
  std::string fell_back;
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

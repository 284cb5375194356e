// Compaction: L1 rows and the L2 files they fall into become new L2 files, live rows apart from
// ended rows; and rebuilding: L2 files from the row store.
//
//   range of handles of a relation = an L2 segment, or a gap between two
//
//   compaction  all L1 rows of the range + both files of the segment, newest image first ──►
//               without markers, without reclaimable versions ──► new segments of the range
//   merge       the newest L1 files of similar size ──► one L1 file, markers kept
//   rebuild     the row store at a state, without reclaimable versions ──► all segments of the
//               relation
//
// Taking all L1 rows of a range together with both L2 files is what allows markers to be dropped:
// below them is nothing. A segment is rewritten when the L1 rows that fall into it are about a
// quarter of it, so that the rows rewritten stay bounded by those that arrived.
//
// Killed or failed anywhere, nothing is lost: the manifest changes in one commit at the end, and
// files without a manifest are removed at the next opening.
//
// Thread-safety: free functions; flushes and compactions of one catalog go one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/relation.h"
#include "catalog/tiers/damage_check.h"
#include "columnar/columnar_table_builder.h"

namespace varve {

struct CompactionOptions {
  // These relations only. Empty: all.
  std::vector<RelationId> relations;
  // Every range that has L1 rows, however few, and every segment with reclaimable versions.
  bool full = false;
  // A range is compacted when its L1 rows are at least this share of its L2 rows …
  double min_changed_share = 0.25;
  // … and at least so many, for a relation altogether.
  uint64_t min_rows = 8'192;
  // L1 files that remain are merged when there are more.
  size_t max_l1_files = 8;
  uint64_t segment_bytes = uint64_t{32} << 20;
  // Called now and then: rows read, rows in all (an estimate).
  std::function<void(uint64_t done, uint64_t total)> on_progress;
  // When it becomes true, the work is given up with Cancelled; null: never. Borrowed.
  const std::atomic<bool>* stop = nullptr;
  // RebuildColumns: which files are read, for damage that their opening does not notice …
  DamageCheck check = DamageCheck::kNone;
  // … called meanwhile: bytes read, bytes in all.
  std::function<void(uint64_t done, uint64_t total)> on_check;
  // How tables are built, for tests of small packs.
  ColumnarTableBuilderOptions table;
};

struct CompactionSummary {
  uint64_t relations = 0;
  uint64_t segments = 0;  // written
  uint64_t rows_read = 0;
  uint64_t rows_written = 0;
  uint64_t markers_dropped = 0;
  uint64_t reclaimed = 0;  // reclaimable versions left out
  uint64_t bytes_written = 0;
  uint64_t l1_files_merged = 0;

  // CompactColumns: relations that were left as they are, since something of them is damaged.
  struct Skipped {
    std::string relation;  // its name
    std::string why;       // names the file
  };
  std::vector<Skipped> skipped;
  // RebuildColumns: files found to be damaged, and the relations made anew for it.
  struct Damage {
    std::string file;  // "00000007.vcol"
    std::string what;
    std::vector<std::string> rebuilt;  // names
  };
  std::vector<Damage> damaged;
};

// A relation of which a file turns out to be damaged is skipped, the others are compacted; it goes
// on the list of incomplete ones, so that the row store answers for it until it is rebuilt.
// FailedPrecondition: the catalog is open read-only.
absl::StatusOr<CompactionSummary> CompactColumns(Catalog& catalog,
                                                 const CompactionOptions& options = {});

// Makes relations complete: those that are not, and those with damaged files, which are found as
// `check` of the options says. `relations`: these, whether or not they need it. Where MemRowSets
// could not be rebuilt from the change log, all files are made anew, and at the next opening
// MemRowSets begin with this state.
absl::StatusOr<CompactionSummary> RebuildColumns(Catalog& catalog,
                                                 const CompactionOptions& options = {});

}  // namespace varve

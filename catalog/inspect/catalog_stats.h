// Sizes of a catalog: rows, versions and bytes per relation and column family, scan amplification,
// and what is in memory.
//
// Thread-safety: free functions over a view. CollectStats reads every key of the row store once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

struct RelationStats {
  RelationRef relation;
  uint64_t rows = 0;   // rows visible at the view's snapshot (child relations: without inheritance)
  uint64_t live = 0;   // versions without an end
  uint64_t ended = 0;  // versions with an end
  uint64_t live_bytes = 0;  // keys and values as stored, before block compression
  uint64_t ended_bytes = 0;
  // Versions a filter over all versions would read for each row that is visible at the view's
  // snapshot: (live + ended) / rows. 1 when nothing is visible. Varve's current scans read `live`
  // only, whatever this says.
  double history_amplification = 1;
  // Versions Varve reads for each visible row: at the current snapshot live / rows.
  double scan_amplification = 1;
};

struct FamilyStats {
  std::string name;
  uint64_t keys = 0;          // RocksDB's estimate
  uint64_t file_bytes = 0;    // on disk, compressed
  uint64_t memory_bytes = 0;  // in memtables
  uint64_t files = 0;
};

// What a MemRowSet holds.
struct MemoryStats {
  RelationRef relation;
  uint64_t live_rows = 0;
  uint64_t deleted_rows = 0;  // ghosts
  uint64_t pre_images = 0;    // rows that began before the row set
  uint64_t mutations = 0;     // updates, deletes and revivals
  uint64_t bytes = 0;         // of its arena
};

struct CatalogStats {
  std::string uuid;
  SnapshotId snapshot = 0;  // the view's
  SnapshotId last_snapshot = 0;
  Csn csn = 0;
  uint64_t snapshots = 0;                // rows of ducklake_snapshot
  std::vector<RelationStats> relations;  // relations with at least one version, by id
  std::vector<FamilyStats> families;
};

absl::StatusOr<CatalogStats> CollectStats(const ReadView& view);

// The MemRowSets of the view's state, relations by id, of one relation the newest first; none when
// the state has no memory. Reads counters only. They say what is there by now: later commits than
// the view's count, too.
std::vector<MemoryStats> CollectMemoryStats(const ReadView& view);
// The sum of all; it names no relation.
MemoryStats SumOf(const std::vector<MemoryStats>& parts);

}  // namespace varve

// Which rows and tables belong to the state of a catalog at one snapshot, beyond what their own
// begin, end or parent says.
//
// Thread-safety: immutable once built.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "base/datum.h"
#include "catalog/read_view.h"
#include "catalog/relation.h"

namespace varve {

class ExportFilter {
 public:
  // Reads what is visible at the view's snapshot.
  static absl::StatusOr<ExportFilter> AtSnapshotOf(const ReadView& view);

  bool KeepsRelation(const RelationSchema& relation) const;
  // Which rows of a kept relation to look at. Partitionings that have ended are kept like the
  // others: files written by them still name them.
  static ScanRows RowsToScan(const RelationSchema& relation);
  // Whether a row belongs to the state; if so, makes it what it was there. `row` has every column
  // of the relation, `interval` is the one its scan gave.
  bool Adapt(const RelationSchema& relation, const SnapshotInterval& interval,
             std::span<Datum> row) const;

 private:
  bool KeepsRow(const RelationSchema& relation, const SnapshotInterval& interval,
                std::span<const Datum> values) const;
  bool KeepsSetting(const Datum& scope, const Datum& scope_id) const;

  SnapshotId snapshot_ = 0;
  bool is_last_ = true;
  // The counters of the last snapshot: ids given out after S belong to files that exist.
  int64_t next_catalog_id_ = 0;
  int64_t next_file_id_ = 0;
  int64_t schema_version_ = 0;
  absl::flat_hash_set<int64_t> tables_;
  absl::flat_hash_set<int64_t> schemas_;
  absl::flat_hash_set<int64_t> mappings_;  // column mappings of visible tables
};

// The table id, and for inlined rows the schema version, in the name of an inlined table:
// ducklake_inlined_data_<table>_<version>, ducklake_inlined_delete_<table>.
struct InlinedTableName {
  int64_t table_id = 0;
  std::optional<int64_t> schema_version;
};
std::optional<InlinedTableName> ParseInlinedTableName(std::string_view name);

}  // namespace varve

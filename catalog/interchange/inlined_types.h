// Which columns of tables of inlined rows hold text, as the lake knows it.
//
// A catalog in PostgreSQL keeps inlined varchar and json as bytea, one in DuckDB or SQLite as text;
// only ducklake_column tells a blob from a text kept as bytes.
//
// Thread-safety: immutable once built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "mvcc/visibility.h"

namespace varve {

class InlinedTypes {
 public:
  // Reads all versions of all columns of tables.
  static absl::StatusOr<InlinedTypes> Load(const ReadView& view);

  // Whether the column of a table, at the snapshot that began a schema version, is a varchar or
  // json. When no version of the column is known from then, the latest counts.
  bool HoldsText(int64_t table_id, int64_t schema_version, std::string_view column) const;

 private:
  struct ColumnVersion {
    SnapshotId begin = 0;
    SnapshotId end = kNoEnd;
    bool is_text = false;
    SnapshotId begin_snapshot() const { return begin; }
    SnapshotId end_snapshot() const { return end; }
  };
  static std::string Key(int64_t table_id, std::string_view column);

  absl::flat_hash_map<std::string, std::vector<ColumnVersion>> columns_;
  absl::flat_hash_map<int64_t, SnapshotId> version_begins_;
};

}  // namespace varve

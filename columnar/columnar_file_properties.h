// What a columnar file says of itself in its footer.
//
// Thread-safety: value types and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/datum.h"
#include "columnar/columnar_schema.h"
#include "columnar/table_meta.h"
#include "mvcc/visibility.h"

namespace varve {

// What versions a file holds. L1 files are mixed.
enum class ColumnarFileKind : uint8_t { kLive = 0, kEnded = 1, kMixed = 2 };

// A handle that owns its bytes. Which member counts, the table's handle type says.
struct OwnedHandle {
  int64_t int_handle = 0;
  std::string common_handle;

  static OwnedHandle Of(const Datum& handle);  // requires: not NULL
  // Borrows from this.
  Datum datum(HandleType type) const;

  friend bool operator==(const OwnedHandle&, const OwnedHandle&) = default;
};

// One table. The property `tables` of the file is num_tables(4), then for each table length(4) and:
//
//   relation(4) | handle type(1) | row_count(8) | smallest handle | largest handle
//   | num_columns(4) | (col_info_len(4) | col_info) × num_columns | meta offset(8) | meta length(4)
//
// A handle is length(4) | bytes: eight bytes, little-endian, if it is an integer. The meta's length
// counts its checksum. A later writer may add to the end.
struct ColumnarTableProperties {
  ColumnarTableSchema schema;
  uint64_t row_count = 0;
  // Of all rows, ended and erased ones included. Meaningless without rows.
  OwnedHandle smallest_handle;
  OwnedHandle largest_handle;
  uint64_t meta_offset = 0;
  uint32_t meta_length = 0;

  friend bool operator==(const ColumnarTableProperties&, const ColumnarTableProperties&) = default;
};

struct ColumnarFileProperties {
  int level = 0;  // 1 or 2
  ColumnarFileKind kind = ColumnarFileKind::kMixed;
  // The largest begin of all rows, ended and erased ones included. Absent: not known, or no rows.
  std::optional<SnapshotId> max_version;
  std::optional<uint64_t> flushed_csn;
  std::vector<ColumnarTableProperties> tables;  // in the order they were written
  std::vector<Property> others;                 // keys this reader does not know

  friend bool operator==(const ColumnarFileProperties&, const ColumnarFileProperties&) = default;
};

void AppendFileProperties(const ColumnarFileProperties& properties, std::string* out);
// DataLoss with what is malformed or missing, in one line without the file's name.
absl::Status ParseFileProperties(std::string_view in, ColumnarFileProperties* properties);

}  // namespace varve

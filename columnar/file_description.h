// What people want to know of a columnar file that readers need not: how its packs are encoded, and
// which statistics readers do without.
//
// Thread-safety: free functions. Errors: those of ColumnarFile::Read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "columnar/columnar_file.h"
#include "columnar/columnar_table.h"
#include "columnar/pack_codec.h"

namespace varve {

struct ColumnDescription {
  uint64_t bytes = 0;               // of all packs in the file, checksums included
  uint64_t uncompressed_bytes = 0;  // the same, had zstd not been applied
  uint64_t nulls = 0;
  std::map<PackEncoding, uint64_t> encodings;  // packs
  uint64_t compressed_packs = 0;               // by zstd
  uint64_t damaged_packs = 0;                  // not counted among the others but in `bytes`
};

// Reads all packs of a column of the table, one at a time; bodies are not decoded.
absl::StatusOr<ColumnDescription> DescribeColumn(const ColumnarFile& file,
                                                 const ColumnarTable& table,
                                                 const ColumnarTable::Column& column);

// A line for each property of the table that a reader has no use of: "max_ver is missing",
// "pack_mvcc_stats_v1 is malformed or of a later version", "statistics of pack 3 contradict each
// other", "the min-max index of column path is missing or malformed".
absl::StatusOr<std::vector<std::string>> PropertyDefects(const ColumnarFile& file,
                                                         const ColumnarTable& table);

}  // namespace varve

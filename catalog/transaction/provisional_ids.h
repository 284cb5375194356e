// Ids of what an open transaction has made.
//
// An id that is counted (catalog ids, file ids, row ids) is allocated when the transaction commits:
// so two transactions that append to one table need not wait for each other. Until then it is a
// provisional one from a range no real id reaches. Rows and operations of the transaction use it
// like any other; CommitResult::Resolve gives the real one afterwards. Column ids are counted
// within one table, whose alterations conflict: they are real from the start.
//
// Thread-safety: free functions and a value type.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace varve {

// Each kind has a range of 2^60 from its first.
inline constexpr int64_t kFirstProvisionalCatalogId = int64_t{1} << 62;
inline constexpr int64_t kFirstProvisionalFileId = kFirstProvisionalCatalogId + (int64_t{1} << 60);
inline constexpr int64_t kFirstProvisionalRowId = kFirstProvisionalFileId + (int64_t{1} << 60);

constexpr bool IsProvisional(int64_t id) {
  return id >= kFirstProvisionalCatalogId;
}
constexpr bool IsProvisionalRowId(int64_t id) {
  return id >= kFirstProvisionalRowId;
}

// What the provisional ids of one transaction became. Row ids count up by table.
struct IdResolution {
  int64_t next_catalog_id = 0;  // what provisional catalog id 0 becomes
  int64_t next_file_id = 0;
  absl::flat_hash_map<int64_t, int64_t> next_row_id;  // by (possibly provisional) table id

  // `table_id`: the table a row id belongs to, as the transaction knows it; else ignored.
  int64_t Resolve(int64_t id, int64_t table_id = 0) const;
};

}  // namespace varve

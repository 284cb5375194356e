// Rows that tests of commands put into change sets.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/row.h"
#include "catalog/change_set.h"
#include "catalog/relation.h"

namespace varve {

inline Datum Number(int64_t number) {
  return Datum::Int64(number);
}

// Snapshot `id`, at a time of its own.
inline void AddSnapshot(int64_t id, ChangeSet* changes) {
  Row row(5);
  row.Set(0, Number(id));
  row.Set(1, Number(1'800'000'000'000'000 + id));
  changes->Insert(BuiltinRelationById(kSnapshot), std::move(row));
}

// A table of schema 0, from snapshot 1.
inline void AddTable(int64_t id, std::string_view name, ChangeSet* changes) {
  Row row(8);
  row.Set(0, Number(id));
  row.Set(2, Number(1));
  row.Set(4, Number(0));
  row.SetBytes(5, name);
  changes->Insert(BuiltinRelationById(kTable), std::move(row));
}

}  // namespace varve

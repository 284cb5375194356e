// Checks a catalog against the invariants of the DuckLake 1.0 catalog and of the row store itself.
//
// The rules and what to do about each: docs/verify-rules.md. Columnar files are compared with the
// row store as far as the view has MemRowSets (Catalog::WaitForMemory): without, they lack what was
// committed since the last flush.
//
// Thread-safety: a free function over a view. Reads everything; memory is bounded by the largest
// table's file list and the catalog's objects (not its files).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

enum class Severity : uint8_t {
  kNote,   // odd, but what real catalogs hold (an equal key where keys may repeat)
  kError,  // an invariant is broken
};

struct Finding {
  Severity severity = Severity::kError;
  std::string relation;  // "ducklake_column"
  std::string key;       // handle columns as text: "table_id=4 column_id=7"; empty: the relation
  std::string rule;      // short stable name: "overlapping-intervals"
  std::string message;   // what was found, in one line
};

struct VerifySummary {
  uint64_t rows_checked = 0;  // of the row store, and of columnar files
  uint64_t errors = 0;
  uint64_t notes = 0;
};

struct VerifyOptions {
  std::function<void(uint64_t rows)> on_progress;
};

// Calls `report` for every finding, in key order within each check; checks of a table's columns,
// files and statistics go table by table. A damaged block or value is a finding of rule
// "corruption"; the check goes on with the next relation, without the rules that need the damaged
// one.
absl::StatusOr<VerifySummary> Verify(const ReadView& view, const VerifyOptions& options,
                                     const std::function<void(const Finding&)>& report);

}  // namespace varve

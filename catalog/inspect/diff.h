// What changed between two snapshots, as they look from one state of the catalog.
//
// Thread-safety: free functions; the views may be shared.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "catalog/read_view.h"

namespace varve {

enum class DiffKind : uint8_t { kAdded, kRemoved, kChanged };

// One difference, matched by handle. `before` and `after` hold every column.
struct RowDiff {
  DiffKind kind = DiffKind::kAdded;
  std::optional<Row> before;            // kRemoved, kChanged
  std::optional<Row> after;             // kAdded, kChanged
  std::vector<size_t> changed_columns;  // kChanged; begin and end columns are not counted
};

// Calls `visit` for each difference of `relation` between the two views, in key order. A row whose
// version changed but whose values are the same (begin and end aside) is no difference. The views
// must come from one state; memory does not grow with the relation.
// The visitor's error ends the walk and is returned.
absl::Status DiffRelation(const ReadView& from, const ReadView& to, const RelationRef& relation,
                          const std::function<absl::Status(const RowDiff&)>& visit);

}  // namespace varve

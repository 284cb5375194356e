// The two ways of diff.h, as functions of one relation.
//
// Thread-safety: free functions.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "catalog/inspect/diff.h"

namespace varve {

using RowDiffVisitor = std::function<absl::Status(const RowDiff&)>;

// The columns in which two rows differ; `before` and `after` give the value of a column. Begin and
// end say when, not what.
template <typename Before, typename After>
std::vector<size_t> ChangedColumns(const RelationSchema& relation, const Before& before,
                                   const After& after) {
  std::vector<size_t> changed;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (relation.begin_column != i && relation.end_column != i && !(before(i) == after(i))) {
      changed.push_back(i);
    }
  }
  return changed;
}

// Scans both views. Requires: one state.
absl::Status DiffByScan(const ReadView& from, const ReadView& to, const RelationRef& relation,
                        const RowDiffVisitor& visit);

// Looks up `handles`, ascending, at both views: every handle of the relation that looks different
// must be among them. Requires: one state; a relation with a begin of its own.
absl::Status DiffOfHandles(const ReadView& from, const ReadView& to, const RelationRef& relation,
                           std::span<const std::string> handles, const RowDiffVisitor& visit);

// Finds the rows of a child relation whose parents are visible at one of the views only; `parents`
// are the handles, ascending, of all that may be. When that takes more than `max_seeks` it gives up
// before anything is visited, and `*done` is false. Requires: one state; a child relation.
absl::Status DiffOfChildren(const ReadView& from, const ReadView& to, const RelationRef& relation,
                            std::span<const std::string> parents, uint64_t max_seeks,
                            const RowDiffVisitor& visit, bool* done);

}  // namespace varve

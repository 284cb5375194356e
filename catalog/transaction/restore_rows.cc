#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/transaction/restore.h"

namespace varve {
namespace {

// Whether two rows say the same, whatever their intervals.
bool SameValues(const RelationSchema& relation, const Row& a, const Row& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (i != relation.begin_column && i != relation.end_column && !(a[i] == b[i])) {
      return false;
    }
  }
  return true;
}

// Rows by handle.
using RowsByHandle = absl::btree_map<std::string, Row>;

absl::StatusOr<RowsByHandle> ByHandle(const RelationSchema& relation,
                                      std::vector<VersionedRow> rows) {
  RowsByHandle by_handle;
  for (VersionedRow& row : rows) {
    std::string handle;
    VARVE_RETURN_IF_ERROR(AppendHandleOfRow(relation, row.values.values(), &handle));
    by_handle.emplace(std::move(handle), std::move(row.values));
  }
  return by_handle;
}

// A row of the past as one that begins with the transaction.
Row AsNew(const RelationSchema& relation, Row row) {
  row.Set(*relation.begin_column, Datum());
  row.Set(*relation.end_column, Datum());
  return row;
}

}  // namespace

absl::StatusOr<RestorePoint> OpenRestorePoint(Transaction::State* state, SnapshotId snapshot) {
  VARVE_ASSIGN_OR_RETURN(ReadView held, state->catalog->At(snapshot));
  const ReadView& base = state->rows.base();
  if (snapshot > base.last_snapshot()) {
    return absl::FailedPreconditionError(
        StrCat("snapshot ", snapshot, " was committed after the transaction began at snapshot ",
               base.last_snapshot(), "; begin a new one"));
  }
  state->restored_from.push_back(std::move(held));
  return RestorePoint{.snapshot = snapshot,
                      .rows = TransactionRows(ReadView(base.state(), snapshot))};
}

absl::StatusOr<std::vector<VersionedRow>> RowsWhere(const TransactionRows& rows,
                                                    const RelationRef& relation,
                                                    std::span<const Datum> prefix,
                                                    const std::optional<NamedValue>& where) {
  std::vector<VersionedRow> found = {};
  VARVE_RETURN_IF_ERROR(
      rows.ForEach(relation, prefix, [&](const VersionedRow& row) -> absl::Status {
        if (!where.has_value() || ColumnOf(*relation, row.values, where->column) == where->value) {
          found.push_back(row);
        }
        return absl::OkStatus();
      }));
  return found;
}

absl::StatusOr<Restored> RestoreRows(Transaction::State* state, const RestorePoint& past,
                                     const RelationRef& relation, std::span<const Datum> prefix,
                                     const std::optional<NamedValue>& where,
                                     const std::function<void(Row*)>& change) {
  VARVE_ASSIGN_OR_RETURN(std::vector<VersionedRow> now_rows,
                         RowsWhere(state->rows, relation, prefix, where));
  VARVE_ASSIGN_OR_RETURN(const RowsByHandle now, ByHandle(*relation, std::move(now_rows)));
  std::vector<VersionedRow> then_rows;
  if (past.rows.relation(relation->id) != nullptr) {
    VARVE_ASSIGN_OR_RETURN(then_rows, RowsWhere(past.rows, relation, prefix, where));
  }
  VARVE_ASSIGN_OR_RETURN(RowsByHandle then, ByHandle(*relation, std::move(then_rows)));
  Restored restored;
  for (const auto& [handle, row] : now) {
    if (!then.contains(handle)) {
      VARVE_RETURN_IF_ERROR(state->rows.End(relation, HandleValues(*relation, row)));
      restored.went = true;
    }
  }
  for (auto& [handle, row] : then) {
    if (change != nullptr) {
      change(&row);
    }
    const auto current = now.find(handle);
    if (current != now.end()) {
      if (SameValues(*relation, row, current->second)) {
        continue;
      }
      VARVE_RETURN_IF_ERROR(state->rows.End(relation, HandleValues(*relation, row)));
    }
    VARVE_RETURN_IF_ERROR(state->rows.Insert(relation, AsNew(*relation, std::move(row))));
    restored.came = true;
  }
  return restored;
}

}  // namespace varve

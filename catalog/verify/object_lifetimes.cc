#include "catalog/verify/object_lifetimes.h"

#include "base/status.h"
#include "base/strings.h"

namespace varve {

void ObjectLifetimes::Normalize() {
  for (auto& [id, lifetimes] : lifetimes_) {
    NormalizeLifetimes(&lifetimes);
  }
}

const std::vector<Lifetime>& ObjectLifetimes::Of(int64_t id) const {
  static const auto& none = *new std::vector<Lifetime>();
  const auto it = lifetimes_.find(id);
  return it == lifetimes_.end() ? none : it->second;
}

absl::Status ReadLifetimes(const VerifyRun& run, RelationId relation, std::string_view id_column,
                           ObjectLifetimes* lifetimes) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(run, relation, {id_column}));
  while (rows.valid()) {
    if (const std::optional<int64_t> id = rows.Int(0); id.has_value()) {
      lifetimes->Add(*id, rows.lifetime());
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

void CheckInsideParent(VerifyRun* run, const RowCursor& row, std::string_view parent_kind,
                       std::optional<int64_t> parent_id, const ObjectLifetimes& parents) {
  if (!parent_id.has_value()) {
    return;  // a missing value, reported as such
  }
  const std::optional<SnapshotId> snapshot =
      run->axis().FirstUncovered(row.lifetime(), parents.Of(*parent_id));
  if (snapshot.has_value()) {
    run->Report(Rule::kOutsideParent, row.relation_name(), row.Key(),
                StrCat("the row is visible at snapshot ", *snapshot, ", ", parent_kind, " ",
                       *parent_id, parents.Contains(*parent_id) ? " is not" : " never was"));
  }
}

}  // namespace varve

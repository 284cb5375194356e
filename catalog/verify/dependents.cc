// Rows that hang on an object: tags, partitionings, sort orders, mappings, implementations of
// macros.
#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"
#include "catalog/verify/object_lifetimes.h"

namespace varve {
namespace {

// A row without begin and end whose parent is gone is shown at no snapshot. Older clients left some
// behind when they expired snapshots: a note.
template <typename Exists>
absl::Status CheckOrphans(VerifyRun* run, RelationId relation, std::string_view parent_column,
                          std::string_view parent_kind, const Exists& exists) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, relation, {parent_column}));
  while (rows.valid()) {
    if (const std::optional<int64_t> id = rows.Int(0); id.has_value() && !exists(*id)) {
      run->Report(Rule::kOrphan, rows.relation_name(), rows.Key(),
                  StrCat(parent_kind, " ", *id, " does not exist"));
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

absl::Status CheckTags(VerifyRun* run, const ObjectLifetimes& tables) {
  ObjectLifetimes tagged = tables;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kView, "view_id", &tagged));
  tagged.Normalize();
  // Dropping a table or view ends its tags; dropping a schema or macro does not.
  ObjectLifetimes others;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kSchema, "schema_id", &others));
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kMacro, "macro_id", &others));
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, kTag, {"object_id"}));
  while (rows.valid()) {
    const std::optional<int64_t> id = rows.Int(0);
    if (id.has_value() && (tagged.Contains(*id) || !others.Contains(*id))) {
      CheckInsideParent(run, rows, "object", id, tagged);
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

bool IsKnownTransform(std::string_view transform) {
  for (const std::string_view name : {"identity", "year", "month", "day", "hour"}) {
    if (EqualsIgnoreCase(transform, name)) {
      return true;
    }
  }
  // From catalog version 1.1 on.
  if (StartsWithIgnoreCase(transform, "epoch_")) {
    return true;
  }
  constexpr std::string_view kBucket = "bucket(";
  return StartsWithIgnoreCase(transform, kBucket) && transform.ends_with(')') &&
         ParseNumber<int64_t>(
             transform.substr(kBucket.size(), transform.size() - kBucket.size() - 1))
                 .value_or(0) > 0;
}

absl::Status CheckTransforms(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, kPartitionColumn, {"transform"}));
  while (rows.valid()) {
    if (const auto transform = rows.Text(0);
        transform.has_value() && !IsKnownTransform(*transform)) {
      run->Report(Rule::kUnknownTransform, rows.relation_name(), rows.Key(),
                  StrCat("transform '", *transform,
                         "' is none of identity, bucket(N), year, month, day, hour"));
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

absl::Status CheckOwnedByTables(VerifyRun* run, RelationId relation,
                                const ObjectLifetimes& tables) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, relation, {"table_id"}));
  while (rows.valid()) {
    CheckInsideParent(run, rows, "table", rows.Int(0), tables);
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

absl::Status CheckMacroParts(VerifyRun* run) {
  ObjectLifetimes macros;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kMacro, "macro_id", &macros));
  VARVE_RETURN_IF_ERROR(CheckOrphans(run, kMacroImpl, "macro_id", "macro",
                                     [&](int64_t id) { return macros.Contains(id); }));
  absl::flat_hash_set<std::pair<int64_t, int64_t>> implementations;
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, kMacroImpl, {"macro_id", "impl_id"}));
  while (rows.valid()) {
    implementations.emplace(rows.Int(0).value_or(-1), rows.Int(1).value_or(-1));
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  VARVE_ASSIGN_OR_RETURN(RowCursor parameters,
                         OpenBuiltin(*run, kMacroParameters, {"macro_id", "impl_id"}));
  while (parameters.valid()) {
    const std::optional<int64_t> macro = parameters.Int(0);
    const std::optional<int64_t> implementation = parameters.Int(1);
    if (macro.has_value() && implementation.has_value() &&
        !implementations.contains({*macro, *implementation})) {
      run->Report(
          Rule::kOrphan, parameters.relation_name(), parameters.Key(),
          StrCat("implementation ", *implementation, " of macro ", *macro, " does not exist"));
    }
    VARVE_RETURN_IF_ERROR(parameters.Next());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDependents(VerifyRun* run) {
  ObjectLifetimes tables;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kTable, "table_id", &tables));
  tables.Normalize();
  VARVE_RETURN_IF_ERROR(CheckTags(run, tables));
  VARVE_RETURN_IF_ERROR(CheckOwnedByTables(run, kPartitionInfo, tables));
  VARVE_RETURN_IF_ERROR(CheckOwnedByTables(run, kSortInfo, tables));
  VARVE_RETURN_IF_ERROR(CheckTransforms(run));
  VARVE_RETURN_IF_ERROR(CheckMacroParts(run));

  ObjectLifetimes partitionings;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kPartitionInfo, "partition_id", &partitionings));
  VARVE_RETURN_IF_ERROR(CheckOrphans(run, kPartitionColumn, "partition_id", "partitioning",
                                     [&](int64_t id) { return partitionings.Contains(id); }));
  ObjectLifetimes sort_orders;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kSortInfo, "sort_id", &sort_orders));
  VARVE_RETURN_IF_ERROR(CheckOrphans(run, kSortExpression, "sort_id", "sort order",
                                     [&](int64_t id) { return sort_orders.Contains(id); }));
  ObjectLifetimes mappings;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kColumnMapping, "mapping_id", &mappings));
  VARVE_RETURN_IF_ERROR(CheckOrphans(run, kColumnMapping, "table_id", "table",
                                     [&](int64_t id) { return tables.Contains(id); }));
  return CheckOrphans(run, kNameMapping, "mapping_id", "mapping",
                      [&](int64_t id) { return mappings.Contains(id); });
}

}  // namespace varve

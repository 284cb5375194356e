// What an import will do, worked out from the source's tables before the first row is kept.
//
// Thread-safety: none.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/interchange/catalog_versions.h"
#include "catalog/interchange/source.h"
#include "catalog/relation.h"

namespace varve {

struct TablePlan {
  const SourceTable* table = nullptr;  // of the source
  RelationSchema relation;             // dynamic: without id
  bool is_as_built_in = false;         // a built-in relation with exactly its own columns
  // For each column of the relation, which of the table's columns it is; nullopt: absent.
  std::vector<std::optional<size_t>> source_columns;
};

struct ImportPlan {
  CatalogVersion version;
  // In reading order: metadata, snapshots, then the other built-in relations, then dynamic ones.
  std::vector<TablePlan> tables;
  // Built-in relations that the source's version has not got.
  std::vector<RelationSchema> absent;
};

// Reads ducklake_metadata for the version and checks tables and columns against it. The source must
// outlive the plan. Errors: InvalidArgument naming the table or column that is missing or unknown,
// FailedPrecondition for the version.
absl::StatusOr<ImportPlan> PlanImport(CatalogSource& source);

}  // namespace varve

// The versions of DuckLake's catalog that can be imported, and how their tables differ from 1.0's.
//
// A catalog says its version in ducklake_metadata. What a development stage (0.4-dev1) holds lies
// anywhere between the release before it and its own, so a stage may lack what the release before
// it lacks (DuckLake: ducklake_metadata_manager.cpp, the migrations from one version to the next).
//
// Thread-safety: free functions over constants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/relation.h"

namespace varve {

// Position of a version on the line 0.3-dev < 0.3 < 0.4-dev < 0.4 < 1.0.
struct CatalogVersion {
  std::string text;       // as the catalog says it
  int release = 0;        // 3, 4, 10
  bool is_stage = false;  // …-devN

  // Whether a catalog of this version must have what `since` (a release, or empty) brought.
  bool Has(std::string_view since) const;
};

// Error: FailedPrecondition for a version outside 0.3 … 1.0, saying what is accepted.
absl::StatusOr<CatalogVersion> ParseCatalogVersion(std::string_view text,
                                                   std::string_view source_name);

// The first version that has a relation or one of its columns; empty: every version accepted here.
std::string_view RelationSince(const RelationSchema& relation);
std::string_view ColumnSince(const RelationSchema& relation, std::string_view column);

// A column that older versions had and 1.0 has not: kept as an extra column.
struct RetiredColumn {
  RelationId relation;
  std::string_view name;
  std::string_view type;
  // The column it stood before. DuckLake inserts rows by position, so an export puts it there
  // again.
  std::string_view before;
  std::string_view until;  // the first release without it
};
const RetiredColumn* FindRetiredColumn(const RelationSchema& relation, std::string_view column);

}  // namespace varve

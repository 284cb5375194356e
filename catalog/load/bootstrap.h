// The catalog a lake begins with.
//
// Thread-safety: free functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "catalog/catalog.h"

namespace varve {

// Makes a catalog that holds what DuckLake 1.0 puts into a new one (specification,
// "ducklake_snapshot" and its neighbours): snapshot 0 with next_catalog_id 1 and next_file_id 0,
// its changes row, the settings version, created_by, data_path and encrypted, and the schema main
// with id 0. The catalog appears at `path` whole or not at all.
absl::Status MakeBootstrapCatalog(const std::string& path, const Catalog::InitOptions& options);

// A random (version 4) UUID in lower case.
std::string RandomUuid();

}  // namespace varve

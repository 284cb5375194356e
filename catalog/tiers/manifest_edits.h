// Changes of a manifest that is being put together. What no longer answers for anything is taken
// out by RemoveEmptyFiles at the end.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>

#include "catalog/columnar.pb.h"
#include "catalog/relation_directory.h"
#include "catalog/tiers/handle_range.h"

namespace varve {

// Takes a range of a relation away from the L1 files.
void TakeFromL1(RelationId relation, const HandleRange& range, proto::ColumnarManifest* manifest);

// Takes a relation away from all files.
void RemoveRelation(RelationId relation, proto::ColumnarManifest* manifest);

// … from one file: small relations share files.
void RemoveTable(uint64_t number, RelationId relation, proto::ColumnarManifest* manifest);

// Takes all relations away from a file.
void RemoveFile(uint64_t number, proto::ColumnarManifest* manifest);

// Takes relations that were dropped away from all files.
void RemoveVanished(const RelationDirectory& directory, proto::ColumnarManifest* manifest);

// Takes out tables that answer for nothing, and files without tables.
void RemoveEmptyFiles(proto::ColumnarManifest* manifest);

// Puts the relation on the list of incomplete ones: the row store answers until it is rebuilt.
void AddIncomplete(RelationId relation, proto::ColumnarManifest* manifest);
void RemoveIncomplete(RelationId relation, proto::ColumnarManifest* manifest);

}  // namespace varve

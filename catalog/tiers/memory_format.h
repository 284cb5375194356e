// How the versions of a relation lie in a MemRowSet.
//
//   key    handle (with its ordinal), then begin as 8 big-endian bytes: what the keys of the row
//          store sort by, so all tiers have one order
//   cells  the columns of the payload, then the end for relations that have one
//
// Columns of the handle and the begin are no cells: they are read from the key.
//
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/datum.h"
#include "base/schema.h"
#include "catalog/payload_codec.h"
#include "catalog/relation.h"
#include "mvcc/visibility.h"

namespace varve {

// --- Keys of versions ---

void AppendVersionKey(std::string_view handle, SnapshotId begin, std::string* out);
// Require: a version's key.
std::string_view HandleOfVersionKey(std::string_view key);
SnapshotId BeginOfVersionKey(std::string_view key);

// --- Cells ---

class MemoryFormat {
 public:
  explicit MemoryFormat(RelationRef relation);

  const RelationRef& relation() const { return relation_; }
  const std::shared_ptr<const Schema>& schema() const { return schema_; }
  size_t num_cells() const { return schema_->num_columns(); }

  // The cell of a column of the relation; nullopt: the column is in the key.
  std::optional<size_t> CellOf(size_t column) const;
  // The cell of the end; nullopt: rows of the relation have none.
  std::optional<size_t> end_cell() const { return end_cell_; }

  // Reads a stored version into cells (num_cells() of them). They borrow from payload and scratch.
  // DataLoss when the payload is malformed.
  absl::Status Decode(std::string_view handle, SnapshotId begin, SnapshotId end,
                      std::string_view payload, DecodedHandle* scratch,
                      std::span<Datum> cells) const;

 private:
  RelationRef relation_;
  std::vector<std::optional<size_t>> cell_of_column_;
  std::optional<size_t> end_cell_;
  RowDecoder decoder_;  // the columns that are cells, in order
  std::shared_ptr<const Schema> schema_;
};

}  // namespace varve

// Loads a whole catalog at once: rows in any order in, sorted files of the row store out.
//
// Rows go into a scratch store that sorts and spills them (so memory stays bounded whatever the
// size); Finish walks them once in (relation, handle, begin) order, checks what can only be seen
// there (duplicate keys, overlapping intervals, rows beyond the last snapshot), writes sorted files
// and builds the catalog from them. The catalog appears at its path by one rename at the very end:
// a failed or killed load leaves nothing there.
//
// Thread-safety: one thread. Ownership: the loader owns its working directory next to the path and
// removes it when it is destroyed before a successful Finish.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "catalog/relation.h"

namespace varve {

struct BulkLoadOptions {
  // Takes duplicate keys and overlapping intervals where the relation has no declared key.
  bool keep_anomalies = false;
  // Memory for sorting, in bytes.
  uint64_t memory_bytes = uint64_t{128} << 20;
  // Called now and then while Finish works: rows done so far.
  std::function<void(uint64_t rows)> on_progress;
};

struct BulkLoadSummary {
  uint64_t rows = 0;
  uint64_t live = 0;
  uint64_t ended = 0;
  uint64_t anomalies = 0;  // rows kept although they clash with another
  uint64_t last_snapshot = 0;
};

class BulkLoader {
 public:
  // Errors: AlreadyExists when something is at `path`; Unavailable when another process loads
  // there.
  static absl::StatusOr<std::unique_ptr<BulkLoader>> Create(const std::string& path,
                                                            const BulkLoadOptions& options);
  ~BulkLoader();
  BulkLoader(const BulkLoader&) = delete;
  BulkLoader& operator=(const BulkLoader&) = delete;

  // Declares a relation of the catalog before its first row: a dynamic one (id 0: one is chosen),
  // or a built-in one with extra or absent columns. Returns the relation to add rows with.
  absl::StatusOr<RelationRef> AddRelation(RelationSchema relation);

  // Where rows come from, for messages: "ducklake_table.csv". Returns a number for AddRow.
  uint32_t AddOrigin(std::string name);

  // Adds a row: a value for every column, in order; nothing is kept of `values`. `line` is its
  // place in the origin, for messages (0: unknown). Errors: a NULL key of an int handle, a NULL or
  // negative begin, a NULL in a column that must not be, begin >= end.
  absl::Status AddRow(const RelationSchema& relation, std::span<const Datum> values,
                      uint32_t origin, uint64_t line);

  uint64_t rows_added() const;

  // Sorts, checks and publishes the catalog. On error nothing is at the path.
  absl::StatusOr<BulkLoadSummary> Finish();

 private:
  struct State;
  explicit BulkLoader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace varve

// Writes a catalog out in one of the forms it can be imported from: CSV files, SQLite, PostgreSQL.
//
// With the whole history, every version of every row is written, and importing the export gives the
// same catalog, row for row. What the catalog had not got when it came in (tables and columns newer
// than its version) is left out, so that an export is what came in; rows without a key keep their
// order.
//
// Without it, the state at the view's snapshot S is written, as a catalog that DuckLake can open:
// as if every snapshot but S had been expired.
//   - Snapshots and their changes: S alone, with the id counters of the last snapshot, so that no
//   id
//     of a file that exists is given out again. (Older snapshots could not be answered for any
//     more: versions that ended before S are not written. DuckLake's ids may have gaps.)
//   - Rows with begin and end: those visible at S, an end above S left out. Begins stay.
//   - Partitionings of visible tables: all that began by S, ended ones too: files name them.
//   - Other child rows: those whose parents are visible at S. schema_versions and inlined deletes:
//   begins
//     up to S.
//   - Tables of inlined rows and deletes, and their entries in inlined_data_tables: those of tables
//     visible at S and schema versions up to that of S.
//   - Statistics of tables and columns, column mappings and names: those of tables visible at S, as
//     they are now. DuckLake overwrites statistics in place; at an older S those of tables are
//     estimates (next_row_id is at least what it has to be), and the bounds of columns, which may
//     not cover what was there, are left out as unknown.
//   - Settings: the global ones, and those of schemas and tables visible at S.
//   - Files scheduled for deletion: as they are now; no file that S needs is among them.
//
// Nothing is to be seen at the target until everything is written.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/interchange/target.h"
#include "catalog/read_view.h"

namespace varve {

struct ExportProgress {
  std::string_view relation;
  uint64_t rows = 0;  // written so far, of all relations
};

struct ExportOptions {
  // Every version of every row, instead of the state at the view's snapshot.
  bool history = false;
  // Called every few thousand rows.
  std::function<void(const ExportProgress&)> on_progress;
};

struct ExportSummary {
  uint64_t relations = 0;
  uint64_t rows = 0;
};

// Exports to "csv:DIR", "sqlite:FILE" or "postgres:CONNINFO[?schema=NAME]". Errors: those of
// OpenTarget, of reading (DataLoss), and of writing.
absl::StatusOr<ExportSummary> ExportCatalog(const ReadView& view, std::string_view to,
                                            const ExportOptions& options = {});

}  // namespace varve

// File pruning: which data files of a table can hold rows with a column's value in a range, by the
// statistics of their columns.
//
// The statistics of one column lie together and in the order of the files, so their packs and the
// table's files are walked side by side. Of a pack of L2 whose keys (statistics_keys.h) all lie
// outside the range nothing is read but the ids of its files; of other packs the keys are; texts
// are read for strings, whose keys are prefixes, and for statistics that came after the files were
// written. What is answered is the same whichever tier has the statistics.
//
// No file is left out that can have a matching row: a file without statistics of the column, or
// whose bounds are unknown or make no sense, stays.
//
// Thread-safety: a free function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"
#include "catalog/tiers/column_filter.h"

namespace varve {

struct PruneOptions {
  // What answers, as for a scan.
  ScanPath path = ScanPath::kAuto;
};

struct PrunedFiles {
  std::vector<int64_t> files;  // data_file_ids of those that remain, ascending
  uint64_t live_files = 0;     // of the table at the view's snapshot
  uint64_t packs_read = 0;     // packs of statistics whose bounds were read
  uint64_t packs_skipped = 0;  // … that were decided as a whole
  uint64_t rows_by_text = 0;   // rows of statistics whose texts were read
  // Why the row store answers what columnar files should have. Empty: it does not.
  std::string fell_back;
};

// Of the table's files live at the view's snapshot, those that can have a row that the filter lets
// through, in the column as it is at that snapshot. NotFound: no such column there.
// InvalidArgument: a bound is no value of the column's type. FailedPrecondition: the path asked for
// cannot answer.
absl::StatusOr<PrunedFiles> PruneFiles(const ReadView& view, int64_t table_id, int64_t column_id,
                                       const ColumnFilter& filter,
                                       const PruneOptions& options = {});

}  // namespace varve

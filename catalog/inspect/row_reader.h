// Reads chosen columns of a relation, row by row, where the work per row is not worth writing loops
// over vectors for.
//
// Thread-safety: one thread. Ownership: texts point into the reader and live until the next Next.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "catalog/read_view.h"

namespace varve {

struct RowReaderOptions {
  ScanRows rows = ScanRows::kVisible;
  std::vector<Datum> key_prefix;
};

class RowReader {
 public:
  // Columns are named; asking for one the relation has not got is a NULL in every row.
  static absl::StatusOr<RowReader> Open(const ReadView& view, const RelationRef& relation,
                                        std::initializer_list<std::string_view> columns,
                                        RowReaderOptions options = {});

  // false at the end.
  absl::StatusOr<bool> Next();

  // Column i of those asked for.
  bool IsNull(size_t i) const;
  int64_t Int(size_t i, int64_t if_null = 0) const;  // requires an integer column
  bool Bool(size_t i, bool if_null = false) const;   // requires a boolean column
  std::string_view Text(size_t i) const;             // requires a text column; empty for NULL
  SnapshotId begin() const { return batch_.begins[row_]; }

 private:
  RowReader() = default;

  std::unique_ptr<RowScan> scan_;
  std::vector<std::optional<size_t>> slots_;  // position in the batch of each column asked for
  ScanBatch batch_;
  size_t row_ = 0;
  bool started_ = false;
};

// Calls `visit(row)` for every row.
template <typename Visit>
absl::Status ForEachRow(const ReadView& view, const RelationRef& relation,
                        std::initializer_list<std::string_view> columns, RowReaderOptions options,
                        const Visit& visit) {
  VARVE_ASSIGN_OR_RETURN(RowReader rows,
                         RowReader::Open(view, relation, columns, std::move(options)));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return absl::OkStatus();
    }
    visit(std::as_const(rows));
  }
}

// The same of a built-in relation.
template <typename Visit>
absl::Status ForEachRow(const ReadView& view, RelationId relation,
                        std::initializer_list<std::string_view> columns, RowReaderOptions options,
                        const Visit& visit) {
  return ForEachRow(view, view.relations().FindById(relation), columns, std::move(options), visit);
}

}  // namespace varve

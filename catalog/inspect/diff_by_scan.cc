#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "catalog/inspect/diff_paths.h"

namespace varve {
namespace {

// The rows of one scan, one at a time.
class RowStream {
 public:
  explicit RowStream(std::unique_ptr<RowScan> scan) : scan_(std::move(scan)) {}

  bool done() const { return done_; }
  const std::string& handle() const { return batch_.handles[row_]; }
  Datum value(size_t column) const { return batch_.columns.column(column).at(row_); }

  absl::Status Advance() {
    ++row_;
    while (!done_ && row_ >= batch_.num_rows()) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan_->Next(&batch_));
      done_ = !more;
      row_ = 0;
    }
    return absl::OkStatus();
  }

  Row Copy() const {
    Row row(batch_.columns.num_columns());
    for (size_t i = 0; i < row.size(); ++i) {
      row.Set(i, value(i));
    }
    return row;
  }

 private:
  std::unique_ptr<RowScan> scan_;
  ScanBatch batch_;
  size_t row_ = 0;
  bool done_ = false;
};

absl::StatusOr<RowStream> OpenStream(const ReadView& view, const RelationRef& relation) {
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<RowScan> scan,
                         view.Scan(relation, ScanOptions{.with_handles = true}));
  RowStream stream(std::move(scan));
  VARVE_RETURN_IF_ERROR(stream.Advance());
  return stream;
}

}  // namespace

absl::Status DiffByScan(const ReadView& from, const ReadView& to, const RelationRef& relation,
                        const RowDiffVisitor& visit) {
  VARVE_ASSIGN_OR_RETURN(RowStream before, OpenStream(from, relation));
  VARVE_ASSIGN_OR_RETURN(RowStream after, OpenStream(to, relation));
  while (!before.done() || !after.done()) {
    const int order = before.done()  ? 1
                      : after.done() ? -1
                                     : before.handle().compare(after.handle());
    RowDiff diff;
    if (order < 0) {
      diff.kind = DiffKind::kRemoved;
      diff.before = before.Copy();
    } else if (order > 0) {
      diff.kind = DiffKind::kAdded;
      diff.after = after.Copy();
    } else {
      diff.kind = DiffKind::kChanged;
      diff.changed_columns = ChangedColumns(
          *relation, [&](size_t i) { return before.value(i); },
          [&](size_t i) { return after.value(i); });
      if (!diff.changed_columns.empty()) {
        diff.before = before.Copy();
        diff.after = after.Copy();
      }
    }
    if (diff.before.has_value() || diff.after.has_value()) {
      VARVE_RETURN_IF_ERROR(visit(diff));
    }
    if (order <= 0) {
      VARVE_RETURN_IF_ERROR(before.Advance());
    }
    if (order >= 0) {
      VARVE_RETURN_IF_ERROR(after.Advance());
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

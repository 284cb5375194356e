#include "catalog/verify/run.h"

#include <algorithm>
#include <cassert>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

constexpr uint64_t kRowsPerProgress = 8192;

}  // namespace

void VerifyRun::ReportAs(Severity severity, Rule rule, std::string_view relation,
                         std::string_view key, std::string message) {
  (severity == Severity::kError ? summary_.errors : summary_.notes) += 1;
  report_({.severity = severity,
           .relation = std::string(relation),
           .key = std::string(key),
           .rule = std::string(InfoOf(rule).name),
           .message = std::move(message)});
}

void VerifyRun::CountRow() {
  ++summary_.rows_checked;
  if (options_.on_progress != nullptr && summary_.rows_checked % kRowsPerProgress == 0) {
    options_.on_progress(summary_.rows_checked);
  }
}

bool VerifyRun::AnyDamaged(std::initializer_list<RelationId> relations) const {
  return std::any_of(relations.begin(), relations.end(),
                     [this](RelationId relation) { return IsDamaged(relation); });
}

absl::StatusOr<RowCursor> RowCursor::Open(const ReadView& view, RelationRef relation,
                                          std::initializer_list<std::string_view> columns) {
  RowCursor cursor(relation);
  ScanOptions options{.rows = ScanRows::kAllVersions, .with_handles = true};
  options.columns.emplace();
  for (const std::string_view name : columns) {
    const std::optional<size_t> column = relation->columns.Find(name);
    assert(column.has_value());
    options.columns->push_back(*column);
  }
  VARVE_ASSIGN_OR_RETURN(cursor.scan_, view.Scan(std::move(relation), std::move(options)));
  VARVE_RETURN_IF_ERROR(cursor.Next());
  return cursor;
}

absl::Status RowCursor::Next() {
  ++row_;
  valid_ = row_ < batch_.num_rows();
  while (!valid_) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan_->Next(&batch_));
    if (!more) {
      return absl::OkStatus();
    }
    row_ = 0;
    valid_ = batch_.num_rows() > 0;
  }
  return absl::OkStatus();
}

std::optional<int64_t> RowCursor::Int(size_t i) const {
  const ColumnVector& column = batch_.columns.column(i);
  return column.is_null(row_) ? std::nullopt : std::optional(column.int64s()[row_]);
}

std::optional<std::string_view> RowCursor::Text(size_t i) const {
  const ColumnVector& column = batch_.columns.column(i);
  return column.is_null(row_) ? std::nullopt : std::optional(column.bytes(row_));
}

std::optional<bool> RowCursor::Bool(size_t i) const {
  const ColumnVector& column = batch_.columns.column(i);
  return column.is_null(row_) ? std::nullopt : std::optional(column.bools()[row_] != 0);
}

std::string RowCursor::Key() const {
  return HandleToText(*relation_, batch_.handles[row_]);
}

absl::StatusOr<bool> UniqueIdExists(const VerifyRun& run, const RelationSchema& relation,
                                    int64_t id) {
  const StoreState& state = *run.view().state();
  std::string handle;
  const rocksdb::Status status = state.store->db().Get(
      state.read_options(), state.store->family(Family::kLive), IndexKey(relation.id, id), &handle);
  if (status.IsNotFound()) {
    return false;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading the index of ", relation.name)));
  return true;
}

absl::StatusOr<RowCursor> OpenBuiltin(const VerifyRun& run, RelationId relation,
                                      std::initializer_list<std::string_view> columns) {
  return RowCursor::Open(run.view(), run.view().relations().FindById(relation), columns);
}

}  // namespace varve

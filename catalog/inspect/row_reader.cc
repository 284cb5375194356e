#include "catalog/inspect/row_reader.h"

#include "base/status.h"

namespace varve {

absl::StatusOr<RowReader> RowReader::Open(const ReadView& view, const RelationRef& relation,
                                          std::initializer_list<std::string_view> columns,
                                          RowReaderOptions options) {
  RowReader reader;
  std::vector<size_t> asked;
  for (const std::string_view name : columns) {
    const std::optional<size_t> column = relation->columns.Find(name);
    reader.slots_.push_back(column.has_value() ? std::optional(asked.size()) : std::nullopt);
    if (column.has_value()) {
      asked.push_back(*column);
    }
  }
  ScanOptions scan;
  scan.columns = std::move(asked);
  scan.rows = options.rows;
  scan.key_prefix = std::move(options.key_prefix);
  VARVE_ASSIGN_OR_RETURN(reader.scan_, view.Scan(relation, std::move(scan)));
  return reader;
}

absl::StatusOr<bool> RowReader::Next() {
  if (started_ && ++row_ < batch_.num_rows()) {
    return true;
  }
  started_ = true;
  row_ = 0;
  do {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan_->Next(&batch_));
    if (!more) {
      return false;
    }
  } while (batch_.num_rows() == 0);
  return true;
}

bool RowReader::IsNull(size_t i) const {
  return !slots_[i].has_value() || batch_.columns.column(*slots_[i]).is_null(row_);
}

int64_t RowReader::Int(size_t i, int64_t if_null) const {
  return IsNull(i) ? if_null : batch_.columns.column(*slots_[i]).int64s()[row_];
}

bool RowReader::Bool(size_t i, bool if_null) const {
  return IsNull(i) ? if_null : batch_.columns.column(*slots_[i]).bools()[row_] != 0;
}

std::string_view RowReader::Text(size_t i) const {
  return IsNull(i) ? std::string_view() : batch_.columns.column(*slots_[i]).bytes(row_);
}

}  // namespace varve

#include "catalog/interchange/inlined_types.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace varve {

std::string InlinedTypes::Key(int64_t table_id, std::string_view column) {
  return StrCat(table_id, "/", AsciiStrToLower(column));
}

absl::StatusOr<InlinedTypes> InlinedTypes::Load(const ReadView& view) {
  InlinedTypes types;
  ScanBatch batch;

  const RelationRef columns = view.relations().FindById(kColumn);
  ScanOptions options{.rows = ScanRows::kAllVersions};
  options.columns = {{*columns->columns.Find("table_id"), *columns->columns.Find("column_name"),
                      *columns->columns.Find("column_type"),
                      *columns->columns.Find("parent_column")}};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, view.Scan(columns, options));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      const ColumnVector& names = batch.columns.column(1);
      const ColumnVector& kinds = batch.columns.column(2);
      const bool is_nested = !batch.columns.column(3).is_null(row);
      if (is_nested || batch.columns.column(0).is_null(row) || names.is_null(row) ||
          kinds.is_null(row)) {
        continue;
      }
      const bool is_text = EqualsIgnoreCase(kinds.bytes(row), "varchar") ||
                           EqualsIgnoreCase(kinds.bytes(row), "json");
      types.columns_[Key(batch.columns.column(0).int64s()[row], names.bytes(row))].push_back(
          {batch.begins[row], batch.ends[row], is_text});
    }
  }

  const RelationRef versions = view.relations().FindById(kSchemaVersions);
  options.columns = {{*versions->columns.Find("schema_version")}};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> version_scan, view.Scan(versions, options));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, version_scan->Next(&batch));
    if (!more) {
      return types;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      if (batch.columns.column(0).is_null(row)) {
        continue;
      }
      const int64_t version = batch.columns.column(0).int64s()[row];
      const auto [it, is_new] = types.version_begins_.try_emplace(version, batch.begins[row]);
      it->second = std::min(it->second, batch.begins[row]);
    }
  }
}

bool InlinedTypes::HoldsText(int64_t table_id, int64_t schema_version,
                             std::string_view column) const {
  const auto found = columns_.find(Key(table_id, column));
  if (found == columns_.end()) {
    return false;
  }
  const std::vector<ColumnVersion>& versions = found->second;
  if (const auto begin = version_begins_.find(schema_version); begin != version_begins_.end()) {
    for (const ColumnVersion& version : versions) {
      if (IsVisible(version, begin->second)) {
        return version.is_text;
      }
    }
  }
  return std::max_element(
             versions.begin(), versions.end(),
             [](const ColumnVersion& a, const ColumnVersion& b) { return a.begin < b.begin; })
      ->is_text;
}

}  // namespace varve

#include "catalog/interchange/export.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/catalog_versions.h"
#include "catalog/interchange/export_filter.h"
#include "catalog/interchange/inlined_types.h"

namespace varve {
namespace {

constexpr uint64_t kRowsPerProgress = 4096;

// The lake's version, by its settings; empty when they do not say.
absl::StatusOr<std::string> VersionOf(const ReadView& view) {
  const RelationRef metadata = view.relations().FindById(kMetadata);
  const std::vector<Datum> key = {Datum::Bytes("version"), Datum::Null(), Datum::Null()};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, view.Get(*metadata, key));
  const std::optional<size_t> value = metadata->columns.Find("value");
  return row.has_value() && !row->values[*value].is_null()
             ? std::string(row->values[*value].bytes())
             : std::string();
}

// The columns to write, in order: those the catalog has, extra ones behind, except that a column of
// an older version stands where it stood there.
std::vector<size_t> ColumnsToWrite(const RelationSchema& relation) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (relation.IsAbsentColumn(i)) {
      continue;
    }
    const std::string& name = relation.columns.column(i).name;
    const RetiredColumn* retired = relation.dynamic ? nullptr : FindRetiredColumn(relation, name);
    const std::optional<size_t> before =
        retired == nullptr ? std::nullopt : relation.columns.Find(retired->before);
    columns.insert(
        before.has_value() ? std::find(columns.begin(), columns.end(), *before) : columns.end(), i);
  }
  return columns;
}

std::vector<std::string> PrimaryKeyOf(const RelationSchema& relation) {
  if (!relation.declared_key) {
    return {};
  }
  if (relation.unique_column.has_value()) {
    return {relation.columns.column(*relation.unique_column).name};
  }
  std::vector<std::string> key;
  for (const size_t column : relation.handle) {
    key.push_back(relation.columns.column(column).name);
  }
  return key;
}

TargetTable DescribeTable(const RelationSchema& relation, const std::vector<size_t>& columns,
                          const InlinedTypes& inlined_types) {
  TargetTable table{.name = relation.name, .primary_key = PrimaryKeyOf(relation)};
  const std::optional<InlinedTableName> inlined =
      relation.dynamic ? ParseInlinedTableName(relation.name) : std::nullopt;
  const bool has_inlined_rows = inlined.has_value() && inlined->schema_version.has_value();
  for (const size_t i : columns) {
    const ColumnSchema& column = relation.columns.column(i);
    TargetColumn target{.name = column.name,
                        .type = column.type,
                        .declared_type = column.declared_type,
                        .not_null = !column.nullable,
                        .is_builtin = !relation.dynamic && column.field < kFirstExtraField};
    target.is_inlined = has_inlined_rows && !relation.IsHandleColumn(i) &&
                        relation.begin_column != i && relation.end_column != i;
    target.holds_text =
        target.is_inlined &&
        inlined_types.HoldsText(inlined->table_id, *inlined->schema_version, column.name);
    table.columns.push_back(std::move(target));
  }
  return table;
}

class Exporter {
 public:
  Exporter(const ReadView& view, const ExportOptions& options, CatalogTarget& target,
           const ExportFilter* filter)
      : view_(view), options_(options), target_(target), filter_(filter) {}

  absl::Status Write(const RelationRef& relation, const InlinedTypes& inlined_types) {
    const std::vector<size_t> columns = ColumnsToWrite(*relation);
    VARVE_RETURN_IF_ERROR(target_.BeginTable(DescribeTable(*relation, columns, inlined_types)));
    ScanOptions scan_options;
    scan_options.rows =
        filter_ == nullptr ? ScanRows::kAllVersions : ExportFilter::RowsToScan(*relation);
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, view_.Scan(relation, scan_options));
    ScanBatch batch;
    std::vector<Datum> row(relation->columns.num_columns());
    std::vector<Datum> written(columns.size());
    for (;;) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
      if (!more) {
        break;
      }
      for (size_t r = 0; r < batch.num_rows(); ++r) {
        for (size_t i = 0; i < row.size(); ++i) {
          row[i] = batch.columns.column(i).at(r);
        }
        const SnapshotInterval interval{.begin = batch.begins[r], .end = batch.ends[r]};
        if (filter_ != nullptr && !filter_->Adapt(*relation, interval, row)) {
          continue;
        }
        for (size_t i = 0; i < columns.size(); ++i) {
          written[i] = row[columns[i]];
        }
        VARVE_RETURN_IF_ERROR(target_.AddRow(written));
        if (++summary_.rows % kRowsPerProgress == 0 && options_.on_progress) {
          options_.on_progress({.relation = relation->name, .rows = summary_.rows});
        }
      }
    }
    ++summary_.relations;
    return absl::OkStatus();
  }

  const ExportSummary& summary() const { return summary_; }

 private:
  const ReadView& view_;
  const ExportOptions& options_;
  CatalogTarget& target_;
  const ExportFilter* filter_;  // nullptr: the whole history
  ExportSummary summary_;
};

}  // namespace

absl::StatusOr<ExportSummary> ExportCatalog(const ReadView& view, std::string_view to,
                                            const ExportOptions& options) {
  VARVE_ASSIGN_OR_RETURN(const std::string version, VersionOf(view));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogTarget> target, OpenTarget(to, version));
  VARVE_ASSIGN_OR_RETURN(const InlinedTypes inlined_types, InlinedTypes::Load(view));
  std::optional<ExportFilter> filter;
  if (!options.history) {
    VARVE_ASSIGN_OR_RETURN(filter, ExportFilter::AtSnapshotOf(view));
  }
  Exporter exporter(view, options, *target, filter.has_value() ? &*filter : nullptr);
  for (const RelationRef& relation : view.relations().relations()) {
    if (!relation->absent && (!filter.has_value() || filter->KeepsRelation(*relation))) {
      VARVE_RETURN_IF_ERROR(exporter.Write(relation, inlined_types));
    }
  }
  VARVE_RETURN_IF_ERROR(target->Finish());
  return exporter.summary();
}

}  // namespace varve

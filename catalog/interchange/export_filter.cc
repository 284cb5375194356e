#include "catalog/interchange/export_filter.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr std::string_view kInlinedData = "ducklake_inlined_data_";
constexpr std::string_view kInlinedDelete = "ducklake_inlined_delete_";

std::optional<int64_t> ToId(std::string_view text) {
  int64_t id = 0;
  return absl::SimpleAtoi(ToAbsl(text), &id) ? std::optional(id) : std::nullopt;
}

// Calls `visit` with the values of the named columns in every row visible at the view's snapshot.
template <typename Visit>
absl::Status ForEachVisible(const ReadView& view, RelationId id,
                            std::initializer_list<std::string_view> names, const Visit& visit) {
  const RelationRef relation = view.relations().FindById(id);
  ScanOptions options;
  options.columns.emplace();
  for (const std::string_view name : names) {
    options.columns->push_back(*relation->columns.Find(name));
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(relation, std::move(options)));
  ScanBatch batch;
  std::vector<Datum> values(names.size());
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = batch.columns.column(i).at(row);
      }
      visit(values);
    }
  }
}

bool Holds(const absl::flat_hash_set<int64_t>& ids, const Datum& id) {
  return !id.is_null() && ids.contains(id.int64_value());
}

}  // namespace

std::optional<InlinedTableName> ParseInlinedTableName(std::string_view name) {
  if (StartsWithIgnoreCase(name, kInlinedDelete)) {
    const std::optional<int64_t> table = ToId(name.substr(kInlinedDelete.size()));
    return table.has_value() ? std::optional(InlinedTableName{*table, std::nullopt}) : std::nullopt;
  }
  if (!StartsWithIgnoreCase(name, kInlinedData)) {
    return std::nullopt;
  }
  const std::string_view numbers = name.substr(kInlinedData.size());
  const size_t separator = numbers.find('_');
  if (separator == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<int64_t> table = ToId(numbers.substr(0, separator));
  const std::optional<int64_t> version = ToId(numbers.substr(separator + 1));
  return table.has_value() && version.has_value() ? std::optional(InlinedTableName{*table, version})
                                                  : std::nullopt;
}

absl::StatusOr<ExportFilter> ExportFilter::AtSnapshotOf(const ReadView& view) {
  ExportFilter filter;
  filter.snapshot_ = view.snapshot();
  filter.is_last_ = view.is_current();
  const ReadView last(view.state(), view.last_snapshot());
  VARVE_RETURN_IF_ERROR(ForEachVisible(
      last, kSnapshot, {"snapshot_id", "schema_version", "next_catalog_id", "next_file_id"},
      [&](std::span<const Datum> row) {
        if (static_cast<SnapshotId>(row[0].int64_value()) == filter.snapshot_ &&
            !row[1].is_null()) {
          filter.schema_version_ = row[1].int64_value();
        }
        if (!row[2].is_null()) {
          filter.next_catalog_id_ = std::max(filter.next_catalog_id_, row[2].int64_value());
        }
        if (!row[3].is_null()) {
          filter.next_file_id_ = std::max(filter.next_file_id_, row[3].int64_value());
        }
      }));
  VARVE_RETURN_IF_ERROR(ForEachVisible(view, kTable, {"table_id"}, [&](std::span<const Datum> row) {
    filter.tables_.insert(row[0].int64_value());
  }));
  VARVE_RETURN_IF_ERROR(ForEachVisible(
      view, kSchema, {"schema_id"},
      [&](std::span<const Datum> row) { filter.schemas_.insert(row[0].int64_value()); }));
  VARVE_RETURN_IF_ERROR(ForEachVisible(view, kColumnMapping, {"mapping_id", "table_id"},
                                       [&](std::span<const Datum> row) {
                                         if (Holds(filter.tables_, row[1])) {
                                           filter.mappings_.insert(row[0].int64_value());
                                         }
                                       }));
  return filter;
}

bool ExportFilter::KeepsRelation(const RelationSchema& relation) const {
  const std::optional<InlinedTableName> inlined =
      relation.dynamic ? ParseInlinedTableName(relation.name) : std::nullopt;
  return !inlined.has_value() || (tables_.contains(inlined->table_id) &&
                                  inlined->schema_version.value_or(0) <= schema_version_);
}

bool ExportFilter::KeepsSetting(const Datum& scope, const Datum& scope_id) const {
  if (scope.is_null()) {
    return true;
  }
  return EqualsIgnoreCase(scope.bytes(), "table")    ? Holds(tables_, scope_id)
         : EqualsIgnoreCase(scope.bytes(), "schema") ? Holds(schemas_, scope_id)
                                                     : true;
}

ScanRows ExportFilter::RowsToScan(const RelationSchema& relation) {
  return relation.id == kPartitionInfo || relation.id == kPartitionColumn ? ScanRows::kAllVersions
                                                                          : ScanRows::kVisible;
}

bool ExportFilter::Adapt(const RelationSchema& relation, const SnapshotInterval& interval,
                         std::span<Datum> row) const {
  if (!KeepsRow(relation, interval, row)) {
    return false;
  }
  if (relation.end_column.has_value() && interval.end > snapshot_) {
    row[*relation.end_column] = Datum::Null();
  }
  const auto at = [&](std::string_view column) -> Datum& {
    return row[*relation.columns.Find(column)];
  };
  if (relation.id == kSnapshot) {
    at("next_catalog_id") = Datum::Int64(next_catalog_id_);
    at("next_file_id") = Datum::Int64(next_file_id_);
  }
  if (relation.id == kTableColumnStats && !is_last_) {
    // They describe the last snapshot, and need not cover what was there at S: unknown.
    for (const std::string_view column :
         {"contains_null", "contains_nan", "min_value", "max_value", "extra_stats"}) {
      at(column) = Datum::Null();
    }
  }
  return true;
}

bool ExportFilter::KeepsRow(const RelationSchema& relation, const SnapshotInterval& interval,
                            std::span<const Datum> values) const {
  const auto value = [&](std::string_view column) -> const Datum& {
    return values[*relation.columns.Find(column)];
  };
  switch (relation.id) {
    case kPartitionInfo:
    case kPartitionColumn: return interval.begin <= snapshot_ && Holds(tables_, value("table_id"));
    case kMetadata: return KeepsSetting(value("scope"), value("scope_id"));
    case kSnapshot:
    case kSnapshotChanges:
      return static_cast<SnapshotId>(value("snapshot_id").int64_value()) == snapshot_;
    case kTableStats:
    case kTableColumnStats:
    case kColumnMapping: return Holds(tables_, value("table_id"));
    case kInlinedDataTables:
      return Holds(tables_, value("table_id")) && !value("schema_version").is_null() &&
             value("schema_version").int64_value() <= schema_version_;
    case kNameMapping: return Holds(mappings_, value("mapping_id"));
    default: return true;
  }
}

}  // namespace varve

#include "catalog/transaction/file_children.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/bounds_collector.h"
#include "catalog/transaction/definitions.h"

namespace varve {
namespace {

NullableText TextOrUnset(const RelationSchema& relation, const Row& row, std::string_view column) {
  const Datum& value = ColumnOf(relation, row, column);
  return value.is_null() ? NullableText() : NullableText(value.bytes());
}

std::optional<bool> BoolOrUnset(const RelationSchema& relation, const Row& row,
                                std::string_view column) {
  const Datum& value = ColumnOf(relation, row, column);
  return value.is_null() ? std::nullopt : std::optional(value.bool_value());
}

// The sum of a count over all parts; unset if one is.
std::optional<int64_t> SumOf(const RelationSchema& relation, std::string_view column,
                             std::span<const StatisticsOfFile> parts) {
  int64_t sum = 0;
  for (const StatisticsOfFile& part : parts) {
    const std::optional<int64_t> count = IdOf(relation, part.row->values, column);
    if (!count.has_value()) {
      return std::nullopt;
    }
    sum = SaturatingSum(sum, *count);
  }
  return sum;
}

// Reads a stored bound; nullopt when it is none, or no value of the type.
std::optional<BoundsCollector::Bound> StoredBound(const Type& type, const Datum& stored,
                                                  std::string* scratch) {
  if (stored.is_null()) {
    return std::nullopt;
  }
  BoundsCollector::Bound bound = {.text = stored.bytes(), .value = Datum()};
  return ParseBound(type, bound.text, scratch, &bound.value).ok() ? std::optional(bound)
                                                                  : std::nullopt;
}

absl::Status EraseRow(Transaction::State* state, RelationId id, const VersionedRow& row) {
  const RelationRef& relation = state->relation(id);
  return state->rows.Erase(relation, HandleValues(*relation, row.values), 0);
}

}  // namespace

absl::StatusOr<std::vector<TableColumnVersion>> AllColumnVersions(const Transaction::State& state,
                                                                  int64_t table_id) {
  const RelationRef& relation = state.relation(kColumn);
  ScanOptions options{.rows = ScanRows::kAllVersions};
  options.columns = {*relation->columns.Find("column_id"), *relation->columns.Find("column_name"),
                     *relation->columns.Find("column_type"),
                     *relation->columns.Find("parent_column")};
  options.key_prefix = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         state.rows.base().Scan(relation, options));
  std::vector<TableColumnVersion> versions;
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return versions;
    }
    const ColumnVector& parents = batch.columns.column(3);
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      TableColumnVersion version = {.begin = batch.begins[i], .end = batch.ends[i]};
      version.column = {.id = batch.columns.column(0).int64s()[i],
                        .name = std::string(batch.columns.column(1).bytes(i)),
                        .type = std::string(batch.columns.column(2).bytes(i))};
      if (!parents.is_null(i)) {
        version.column.parent = parents.int64s()[i];
      }
      versions.push_back(std::move(version));
    }
  }
}

absl::StatusOr<ChildrenReader> ChildrenReader::Open(const Transaction::State& state,
                                                    int64_t table_id) {
  ChildrenReader reader(state, table_id);
  VARVE_ASSIGN_OR_RETURN(const std::vector<TableColumnVersion> versions,
                         AllColumnVersions(state, table_id));
  for (const TableColumnVersion& version : versions) {
    if (reader.columns_.empty() || reader.columns_.back() != version.column.id) {
      reader.columns_.push_back(version.column.id);
    }
    const bool is_variant = EqualsIgnoreCase(version.column.type, "variant");
    if (is_variant && (reader.variants_.empty() || reader.variants_.back() != version.column.id)) {
      reader.variants_.push_back(version.column.id);
    }
  }
  return reader;
}

absl::StatusOr<FileChildren> ChildrenReader::Read(int64_t file_id) const {
  FileChildren children;
  for (const int64_t column : columns_) {
    const Datum key[] = {Datum::Int64(table_id_), Datum::Int64(column), Datum::Int64(file_id)};
    VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row,
                           state_->rows.Get(state_->relation(kFileColumnStats), key));
    if (row.has_value()) {
      children.columns.emplace(column, *std::move(row));
    }
  }
  for (const int64_t column : variants_) {
    const Datum prefix[] = {Datum::Int64(table_id_), Datum::Int64(column), Datum::Int64(file_id)};
    VARVE_ASSIGN_OR_RETURN(std::vector<VersionedRow> rows,
                           state_->rows.Rows(state_->relation(kFileVariantStats), prefix));
    std::move(rows.begin(), rows.end(), std::back_inserter(children.variants));
  }
  for (int64_t key = 0;; ++key) {
    const Datum prefix[] = {Datum::Int64(table_id_), Datum::Int64(key), Datum::Int64(file_id)};
    VARVE_ASSIGN_OR_RETURN(std::vector<VersionedRow> rows,
                           state_->rows.Rows(state_->relation(kFilePartitionValue), prefix));
    if (rows.empty()) {
      return children;
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(children.partition_values));
  }
}

absl::Status EraseChildren(Transaction::State* state, const FileChildren& children) {
  for (const auto& [column, row] : children.columns) {
    VARVE_RETURN_IF_ERROR(EraseRow(state, kFileColumnStats, row));
  }
  for (const VersionedRow& row : children.variants) {
    VARVE_RETURN_IF_ERROR(EraseRow(state, kFileVariantStats, row));
  }
  for (const VersionedRow& row : children.partition_values) {
    VARVE_RETURN_IF_ERROR(EraseRow(state, kFilePartitionValue, row));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NullableText>> PartitionValuesOf(const Transaction::State& state,
                                                            int64_t table_id, int64_t file_id) {
  const RelationRef& relation = state.relation(kFilePartitionValue);
  std::vector<NullableText> values;
  for (int64_t key = 0;; ++key) {
    const Datum handle[] = {Datum::Int64(table_id), Datum::Int64(key), Datum::Int64(file_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(relation, handle));
    if (!row.has_value()) {
      return values;
    }
    values.push_back(TextOrUnset(*relation, row->values, "partition_value"));
  }
}

ColumnStatistics CombineStatistics(const TableColumn& column,
                                   std::span<const StatisticsOfFile> parts) {
  const RelationSchema& relation = *BuiltinRelationById(kFileColumnStats);
  ColumnStatistics combined = {.column_id = column.id,
                               .column_size_bytes = SumOf(relation, "column_size_bytes", parts),
                               .value_count = SumOf(relation, "value_count", parts),
                               .null_count = SumOf(relation, "null_count", parts)};
  BoundsCollector bounds(TypeOfColumn(column.type));
  std::string min_scratch;
  std::string max_scratch;
  for (const StatisticsOfFile& part : parts) {
    const Row& row = part.row->values;
    const Datum& min = ColumnOf(relation, row, "min_value");
    const Datum& max = ColumnOf(relation, row, "max_value");
    BoundsCollector::Added added = {.contains_null = false,
                                    .contains_nan = BoolOrUnset(relation, row, "contains_nan")};
    if (HasBounds(column.type)) {
      added.min_value = StoredBound(bounds.type(), min, &min_scratch);
      added.max_value = StoredBound(bounds.type(), max, &max_scratch);
    }
    added.has_values = !min.is_null() || !max.is_null() ||
                       !(IdOf(relation, row, "null_count") == part.record_count ||
                         IdOf(relation, row, "value_count") == 0);
    if (const Datum& extra = ColumnOf(relation, row, "extra_stats"); !extra.is_null()) {
      added.extra_stats = extra.bytes();
    }
    bounds.Add(added);
  }
  ColumnBounds whole = bounds.Take();
  combined.contains_nan = whole.contains_nan;
  combined.min_value = std::move(whole.min_value);
  combined.max_value = std::move(whole.max_value);
  combined.extra_stats = std::move(whole.extra_stats);
  return combined;
}

}  // namespace varve

// Setting the partitioning and the sort order of tables.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/column_rules.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/layouts.h"
#include "catalog/transaction/sort_expression.h"
#include "catalog/transaction/table_statistics.h"

namespace varve {
namespace {

RelationId KeysOf(RelationId layout) {
  return layout == kPartitionInfo ? kPartitionColumn : kSortExpression;
}

// --- Transforms ---
//
// DuckLake 1.0 specification, ducklake_partition_column.

constexpr std::string_view kBucket = "bucket(";

bool IsDate(TypeKind kind) {
  return kind == TypeKind::kDate;
}

bool IsTimestamp(TypeKind kind) {
  return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampTz ||
         kind == TypeKind::kTimestampS || kind == TypeKind::kTimestampMs ||
         kind == TypeKind::kTimestampNs;
}

// The number of buckets of "bucket(N)"; nullopt when it is no positive 32-bit number.
std::optional<int32_t> BucketsOf(std::string_view transform) {
  if (!transform.ends_with(')')) {
    return std::nullopt;
  }
  transform.remove_prefix(kBucket.size());
  transform.remove_suffix(1);
  const std::optional<int32_t> buckets = ParseNumber<int32_t>(transform);
  return buckets.has_value() && *buckets > 0 ? buckets : std::nullopt;
}

// `column_text`: "column "a" of table "s"."t"".
absl::Status CheckTransform(std::string_view column_text, const TableColumn& column,
                            std::string_view transform) {
  if (IsNestedType(column.type)) {
    return absl::InvalidArgumentError(
        StrCat(column_text, " is a ", column.type, ": a table cannot be partitioned by it"));
  }
  if (transform == "identity") {
    return absl::OkStatus();
  }
  if (transform.starts_with(kBucket)) {
    return BucketsOf(transform).has_value()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(StrCat("partition transform ", ShownName(transform),
                                                   ": expected bucket(N) with N from 1 to ",
                                                   std::numeric_limits<int32_t>::max()));
  }
  const bool of_days = transform == "year" || transform == "month" || transform == "day";
  if (!of_days && transform != "hour") {
    return absl::InvalidArgumentError(
        StrCat("unknown partition transform ", ShownName(transform),
               "; there are identity, year, month, day, hour and bucket(N)"));
  }
  const TypeKind kind = TypeOfColumn(column.type).kind();
  return IsTimestamp(kind) || (of_days && IsDate(kind))
             ? absl::OkStatus()
             : absl::InvalidArgumentError(StrCat("partition transform ", transform, " needs a ",
                                                 of_days ? "date or timestamp" : "timestamp", "; ",
                                                 column_text, " is a ", column.type));
}

// --- Partitioning ---

// The keys as they are stored, checked.
absl::StatusOr<std::vector<PartitionKey>> CheckedPartitionKeys(const Transaction::State& state,
                                                               const LiveObject& table,
                                                               std::span<const PartitionKey> keys) {
  VARVE_ASSIGN_OR_RETURN(const TableColumns columns, TableColumns::Load(state, table.id));
  std::vector<PartitionKey> checked;
  for (const PartitionKey& key : keys) {
    const TableColumn* const column = columns.Find(key.column_id);
    if (column == nullptr) {
      return absl::NotFoundError(
          StrCat(ObjectText(table), " has no column with id ", key.column_id));
    }
    const std::string text =
        StrCat("column ", columns.PathText(column->id), " of ", ObjectText(table));
    if (column->parent.has_value()) {
      return absl::InvalidArgumentError(
          StrCat(text, " is a field: tables are partitioned by whole columns"));
    }
    std::string transform = AsciiStrToLower(key.transform);
    VARVE_RETURN_IF_ERROR(CheckTransform(text, *column, transform));
    checked.push_back({.column_id = key.column_id, .transform = std::move(transform)});
  }
  return checked;
}

// A partitioning that files of this very transaction refer to would be gone without a trace.
absl::Status ExpectNoFilesOf(const Transaction::State& state, const LiveObject& table,
                             int64_t partition_id) {
  if (!IsProvisional(partition_id)) {
    return absl::OkStatus();
  }
  const RelationRef& files = state.relation(kDataFile);
  std::vector<Term> terms;
  terms.push_back({.column = *files->columns.Find("partition_id"),
                   .op = Comparison::kEqual,
                   .constants = Row(std::array{Datum::Int64(partition_id)})});
  ScanOptions options;
  options.columns.emplace();
  options.key_prefix = {Datum::Int64(table.id)};
  options.predicate = Predicate(std::move(terms));
  options.limit = 1;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state.rows.Scan(files, options));
  ScanBatch batch;
  VARVE_ASSIGN_OR_RETURN(const bool found, scan->Next(&batch));
  return found ? absl::FailedPreconditionError(
                     StrCat("the partitioning of ", ObjectText(table),
                            " was set in this transaction, and files have been registered by it "
                            "since; commit before changing it again"))
               : absl::OkStatus();
}

bool SameKeys(std::span<const PartitionKey> a, std::span<const PartitionKey> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PartitionKey& x, const PartitionKey& y) {
                      return x.column_id == y.column_id && x.transform == y.transform;
                    });
}

absl::Status SetPartitioning(Transaction::State* state, int64_t table_id,
                             std::span<const PartitionKey> given) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(const std::vector<PartitionKey> keys,
                         CheckedPartitionKeys(*state, table, given));
  VARVE_ASSIGN_OR_RETURN(const std::vector<PartitionKey> old, PartitionKeysOf(*state, table_id));
  if (SameKeys(keys, old)) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> old_id,
                         LayoutOf(*state, kPartitionInfo, table_id));
  if (old_id.has_value()) {
    VARVE_RETURN_IF_ERROR(ExpectNoFilesOf(*state, table, *old_id));
  }
  VARVE_RETURN_IF_ERROR(EndLayout(state, kPartitionInfo, table_id));
  // DuckLake writes no partitioning as one without keys.
  const int64_t id = state->NewCatalogId();
  const RelationRef& info = state->relation(kPartitionInfo);
  const RelationRef& columns = state->relation(kPartitionColumn);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      info,
      RowWith(*info, {{"partition_id", Datum::Int64(id)}, {"table_id", Datum::Int64(table_id)}})));
  for (size_t i = 0; i < keys.size(); ++i) {
    VARVE_RETURN_IF_ERROR(state->rows.Insert(
        columns, RowWith(*columns, {{"partition_id", Datum::Int64(id)},
                                    {"table_id", Datum::Int64(table_id)},
                                    {"partition_key_index", Datum::Int64(static_cast<int64_t>(i))},
                                    {"column_id", Datum::Int64(keys[i].column_id)},
                                    {"transform", Datum::Bytes(keys[i].transform)}})));
  }
  NoteAltered(state, table);
  return absl::OkStatus();
}

// --- Sort order ---

absl::Status CheckSortKey(const LiveObject& table, const TableColumns& columns,
                          const SortKey& key) {
  VARVE_RETURN_IF_ERROR(CheckText("a sort expression", key.expression));
  VARVE_RETURN_IF_ERROR(CheckName("the dialect of a sort expression", key.dialect));
  if (key.expression.find_first_not_of(" \t\r\n") == std::string::npos) {
    return absl::InvalidArgumentError("a sort expression is empty");
  }
  // What larger expressions refer to only their dialect knows.
  const std::optional<std::string> column = SingleColumn(key.expression);
  return !column.has_value() || columns.FindChild(std::nullopt, *column) != nullptr
             ? absl::OkStatus()
             : absl::NotFoundError(StrCat(ObjectText(table), " has no column ", ShownName(*column),
                                          " to be sorted by",
                                          columns.DidYouMean(std::nullopt, *column)));
}

bool SameKeys(std::span<const SortKey> a, std::span<const SortKey> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SortKey& x, const SortKey& y) {
    return x.expression == y.expression && x.dialect == y.dialect && x.ascending == y.ascending &&
           x.nulls_first == y.nulls_first;
  });
}

absl::Status SetSortOrder(Transaction::State* state, int64_t table_id,
                          std::span<const SortKey> keys) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  if (state->rows.relation(kSortInfo)->absent) {
    return absl::FailedPreconditionError("a catalog of this version knows no sort orders");
  }
  VARVE_ASSIGN_OR_RETURN(const TableColumns columns, TableColumns::Load(*state, table_id));
  for (const SortKey& key : keys) {
    VARVE_RETURN_IF_ERROR(CheckSortKey(table, columns, key));
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<SortKey> old, SortKeysOf(*state, table_id));
  if (SameKeys(keys, old)) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(WriteSortOrder(state, table_id, keys));
  // The sort order is no part of the table's schema version: files of two orders can be merged.
  state->footprint.Add(ActionOn(table, Operation::kAlterTable));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> LayoutOf(const Transaction::State& state,
                                                RelationId relation, int64_t table_id) {
  const RelationRef& schema = state.relation(relation);
  std::vector<Term> terms;
  terms.push_back({.column = *schema->columns.Find("table_id"),
                   .op = Comparison::kEqual,
                   .constants = Row(std::array{Datum::Int64(table_id)})});
  ScanOptions options;
  options.columns = schema->handle;
  options.predicate = Predicate(std::move(terms));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state.rows.Scan(schema, options));
  ScanBatch batch;
  VARVE_ASSIGN_OR_RETURN(const bool found, scan->Next(&batch));
  return found ? std::optional(batch.columns.column(0).at(0).int64_value()) : std::nullopt;
}

absl::StatusOr<std::vector<PartitionKey>> PartitionKeysOf(const Transaction::State& state,
                                                          int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id,
                         LayoutOf(state, kPartitionInfo, table_id));
  std::vector<PartitionKey> keys;
  if (!id.has_value()) {
    return keys;
  }
  const RelationRef& relation = state.relation(kPartitionColumn);
  const Datum prefix[] = {Datum::Int64(*id)};
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(relation, prefix, [&](const VersionedRow& row) -> absl::Status {
        keys.push_back({.column_id = IdOf(*relation, row.values, "column_id").value_or(0),
                        .transform = TextOf(*relation, row.values, "transform")});
        return absl::OkStatus();
      }));
  return keys;
}

absl::StatusOr<std::vector<SortKey>> SortKeysOf(const Transaction::State& state, int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, LayoutOf(state, kSortInfo, table_id));
  std::vector<SortKey> keys;
  if (!id.has_value()) {
    return keys;
  }
  const RelationRef& relation = state.relation(kSortExpression);
  const Datum prefix[] = {Datum::Int64(*id)};
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(relation, prefix, [&](const VersionedRow& row) -> absl::Status {
        keys.push_back(
            {.expression = TextOf(*relation, row.values, "expression"),
             .dialect = TextOf(*relation, row.values, "dialect"),
             .ascending = TextOf(*relation, row.values, "sort_direction") != "DESC",
             .nulls_first = TextOf(*relation, row.values, "null_order") == "NULLS_FIRST"});
        return absl::OkStatus();
      }));
  return keys;
}

absl::Status EndLayout(Transaction::State* state, RelationId relation, int64_t table_id) {
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, LayoutOf(*state, relation, table_id));
    if (!id.has_value()) {
      return absl::OkStatus();
    }
    const Datum key[] = {Datum::Int64(*id)};
    VARVE_RETURN_IF_ERROR(EraseOwn(state, KeysOf(relation), key));
    VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(relation), key));
  }
}

absl::Status WriteSortOrder(Transaction::State* state, int64_t table_id,
                            std::span<const SortKey> keys) {
  VARVE_RETURN_IF_ERROR(EndLayout(state, kSortInfo, table_id));
  if (keys.empty()) {
    return absl::OkStatus();
  }
  const int64_t id = state->NewCatalogId();
  const RelationRef& info = state->relation(kSortInfo);
  const RelationRef& expressions = state->relation(kSortExpression);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      info, RowWith(*info, {{"sort_id", Datum::Int64(id)}, {"table_id", Datum::Int64(table_id)}})));
  for (size_t i = 0; i < keys.size(); ++i) {
    VARVE_RETURN_IF_ERROR(state->rows.Insert(
        expressions,
        RowWith(*expressions, {{"sort_id", Datum::Int64(id)},
                               {"table_id", Datum::Int64(table_id)},
                               {"sort_key_index", Datum::Int64(static_cast<int64_t>(i))},
                               {"expression", Datum::Bytes(keys[i].expression)},
                               {"dialect", Datum::Bytes(keys[i].dialect)},
                               {"sort_direction", Datum::Bytes(keys[i].ascending ? "ASC" : "DESC")},
                               {"null_order", Datum::Bytes(keys[i].nulls_first ? "NULLS_FIRST"
                                                                               : "NULLS_LAST")}})));
  }
  return absl::OkStatus();
}

absl::Status Transaction::SetPartitioning(int64_t table_id, std::span<const PartitionKey> keys) {
  return RunOperation(state_.get(),
                      [&] { return varve::SetPartitioning(state_.get(), table_id, keys); });
}

absl::Status Transaction::SetSortOrder(int64_t table_id, std::span<const SortKey> keys) {
  return RunOperation(state_.get(),
                      [&] { return varve::SetSortOrder(state_.get(), table_id, keys); });
}

}  // namespace varve

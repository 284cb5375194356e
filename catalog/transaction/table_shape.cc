#include "catalog/transaction/table_shape.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "catalog/store/row_store.h"
#include "catalog/transaction/column_rules.h"

namespace varve {
namespace {

// When there are more, all are forgotten.
constexpr size_t kMaxShapes = 10'000;

absl::Status ReadPartitioning(const Transaction::State& state, TableShape* shape) {
  // Partitionings are not found by table, but they are few.
  const RelationRef& infos = state.relation(kPartitionInfo);
  ScanOptions options;
  options.columns = {*infos->columns.Find("partition_id")};
  std::vector<Term> terms;
  terms.push_back({.column = *infos->columns.Find("table_id"),
                   .op = Comparison::kEqual,
                   .constants = Row(std::array{Datum::Int64(shape->table.id)})});
  options.predicate = Predicate(std::move(terms));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state.rows.Scan(infos, options));
  ScanBatch batch;
  VARVE_ASSIGN_OR_RETURN(const bool found, scan->Next(&batch));
  if (!found || batch.columns.column(0).is_null(0)) {
    return absl::OkStatus();
  }
  const int64_t id = batch.columns.column(0).int64s()[0];
  const Datum of_partitioning[] = {Datum::Int64(id)};
  VARVE_RETURN_IF_ERROR(state.rows.ForEach(state.relation(kPartitionColumn), of_partitioning,
                                           [&](const VersionedRow&) -> absl::Status {
                                             ++shape->partition_keys;
                                             return absl::OkStatus();
                                           }));
  if (shape->partition_keys > 0) {  // a partitioning without keys is none
    shape->partition_id = id;
  }
  return absl::OkStatus();
}

TableShape::ColumnFacts FactsOf(const TableColumns& columns, const TableColumn& column) {
  TableShape::ColumnFacts facts = {.type = TypeOfColumn(column.type),
                                   .ordered = HasBounds(column.type),
                                   .nested = IsNestedType(column.type)};
  size_t steps = 0;  // a damaged catalog may hold a circle of parents
  for (const TableColumn* above = &column;
       above != nullptr && above->parent.has_value() && steps++ <= columns.all().size();) {
    above = columns.Find(*above->parent);
    facts.repeated |= above != nullptr && IsNestedType(above->type) && !IsStruct(above->type);
  }
  return facts;
}

// Whether the transaction itself changed what a shape is read from.
bool ChangedDefinitions(const Transaction::State& state) {
  return std::any_of(
      state.rows.changes().begin(), state.rows.changes().end(),
      [](const auto& entry) { return HoldsDefinitions(entry.first) && !entry.second.empty(); });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TableShape>> TableShape::Load(const Transaction::State& state,
                                                                   int64_t table_id) {
  auto shape = std::make_shared<TableShape>();
  VARVE_ASSIGN_OR_RETURN(shape->table, FindLive(state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(shape->columns, TableColumns::Load(state, table_id));
  for (const TableColumn& column : shape->columns.all()) {
    shape->position_of_column[column.id] = shape->facts.size();
    shape->facts.push_back(FactsOf(shape->columns, column));
  }
  VARVE_RETURN_IF_ERROR(ReadPartitioning(state, shape.get()));
  const RelationRef& metadata = state.relation(kMetadata);
  const Datum key[] = {Datum::Bytes("encrypted"), Datum(), Datum()};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> encrypted,
                         state.rows.Get(metadata, key));
  shape->encrypted =
      encrypted.has_value() && TextOf(*metadata, encrypted->values, "value") == "true";
  return shape;
}

absl::StatusOr<std::shared_ptr<const TableShape>> TableShapes::Get(const Transaction::State& state,
                                                                   int64_t table_id) {
  if (IsProvisional(table_id) || ChangedDefinitions(state)) {
    return TableShape::Load(state, table_id);
  }
  const StoreState& base = *state.rows.base().state();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(table_id); found != entries_.end()) {
      const Entry& entry = found->second;
      const bool unchanged = entry.csn <= base.csn ? base.definitions_csn <= entry.csn
                                                   : entry.definitions_csn <= base.csn;
      if (unchanged) {
        return entry.shape;
      }
    }
  }
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const TableShape> shape,
                         TableShape::Load(state, table_id));
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kMaxShapes) {
    entries_.clear();
  }
  Entry& entry = entries_[table_id];
  if (entry.csn <= base.csn) {
    entry = {.shape = shape, .csn = base.csn, .definitions_csn = base.definitions_csn};
  }
  return shape;
}

}  // namespace varve

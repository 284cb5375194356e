#include "catalog/transaction/columns.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/relation_directory.h"
#include "catalog/transaction/column_rules.h"
#include "catalog/transaction/definitions.h"

namespace varve {

absl::StatusOr<TableColumns> TableColumns::Load(const Transaction::State& state, int64_t table_id) {
  const RelationRef& relation = state.relation(kColumn);
  const Datum prefix[] = {Datum::Int64(table_id)};
  TableColumns columns;
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(relation, prefix, [&](const VersionedRow& row) -> absl::Status {
        const Datum& nullable = ColumnOf(*relation, row.values, "nulls_allowed");
        const Datum& initial = ColumnOf(*relation, row.values, "initial_default");
        const int64_t id = IdOf(*relation, row.values, "column_id").value_or(0);
        columns.columns_.push_back(
            {.id = id,
             .order = IdOf(*relation, row.values, "column_order").value_or(id),
             .parent = IdOf(*relation, row.values, "parent_column"),
             .name = TextOf(*relation, row.values, "column_name"),
             .type = TextOf(*relation, row.values, "column_type"),
             .nullable = nullable.is_null() || nullable.bool_value(),
             .initial_default =
                 initial.is_null() ? NullableText() : NullableText(initial.bytes())});
        return absl::OkStatus();
      }));
  return columns;
}

const TableColumn* TableColumns::Find(int64_t id) const {
  const auto it = std::lower_bound(
      columns_.begin(), columns_.end(), id,
      [](const TableColumn& column, int64_t wanted) { return column.id < wanted; });
  return it == columns_.end() || it->id != id ? nullptr : &*it;
}

const TableColumn* TableColumns::FindChild(std::optional<int64_t> parent,
                                           std::string_view name) const {
  const auto it = std::find_if(columns_.begin(), columns_.end(), [&](const TableColumn& column) {
    return column.parent == parent && EqualsIgnoreCase(column.name, name);
  });
  return it == columns_.end() ? nullptr : &*it;
}

std::vector<const TableColumn*> TableColumns::ChildrenOf(std::optional<int64_t> parent) const {
  std::vector<const TableColumn*> children;
  for (const TableColumn& column : columns_) {
    if (column.parent == parent) {
      children.push_back(&column);
    }
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const TableColumn* a, const TableColumn* b) { return a->order < b->order; });
  return children;
}

std::vector<int64_t> TableColumns::WithFields(int64_t id) const {
  std::vector<int64_t> ids = {id};
  for (size_t i = 0; i < ids.size(); ++i) {
    for (const TableColumn* const field : ChildrenOf(ids[i])) {
      ids.push_back(field->id);
    }
  }
  return ids;
}

std::string TableColumns::PathText(int64_t id) const {
  std::string path;
  // A damaged catalog may hold a circle of parents.
  size_t steps = 0;
  for (const TableColumn* column = Find(id); column != nullptr && steps <= columns_.size();
       column = column->parent.has_value() ? Find(*column->parent) : nullptr) {
    path = StrCat(ShownName(column->name), path.empty() ? "" : ".", path);
    ++steps;
  }
  return path;
}

std::string TableColumns::DidYouMean(std::optional<int64_t> parent, std::string_view name) const {
  std::vector<std::string_view> names;
  for (const TableColumn* const column : ChildrenOf(parent)) {
    names.push_back(column->name);
  }
  const std::string_view nearest = NearestName(name, names);
  return nearest.empty() ? "" : StrCat("; did you mean ", ShownName(nearest), "?");
}

absl::StatusOr<ColumnCounter> NextColumn(const Transaction::State& state, int64_t table_id,
                                         const TableColumns& columns) {
  ColumnCounter next;
  for (const TableColumn& column : columns.all()) {
    next.next_id = std::max(next.next_id, column.id + 1);
    next.next_order = std::max(next.next_order, column.order + 1);
  }
  const RelationRef& relation = state.relation(kColumn);
  ScanOptions options;
  options.columns = {*relation->columns.Find("column_id")};
  options.rows = ScanRows::kAllVersions;
  options.key_prefix = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         state.rows.base().Scan(relation, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      next.next_id = std::max(next.next_id, batch.columns.column(0).at(i).int64_value() + 1);
    }
  }
  // Columns that the transaction itself made and dropped again had ids, too.
  const auto own = state.rows.changes().find(kColumn);
  if (own != state.rows.changes().end()) {
    const Datum of_table[] = {Datum::Int64(table_id)};
    std::string prefix;
    VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*relation, of_table, &prefix));
    DecodedHandle decoded;
    for (auto it = own->second.lower_bound(prefix);
         it != own->second.end() && it->first.starts_with(prefix); ++it) {
      VARVE_RETURN_IF_ERROR(DecodeHandle(*relation, it->first, &decoded));
      next.next_id = std::max(next.next_id, decoded.key[1].int64_value() + 1);
    }
  }
  next.next_order = std::max(next.next_order, next.next_id);
  return next;
}

absl::StatusOr<int64_t> InsertColumn(Transaction::State* state, int64_t table_id,
                                     const ColumnDefinition& column, std::optional<int64_t> parent,
                                     ColumnCounter* next) {
  const RelationRef& relation = state->relation(kColumn);
  const int64_t id = next->next_id++;
  const bool nested = !column.fields.empty();
  const std::string type = TypeToStore(column.type);
  // DuckLake writes the text NULL where there is no default.
  const std::string default_value = column.default_value.value_or("NULL");
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      relation,
      RowWith(*relation,
              {{"column_id", Datum::Int64(id)},
               {"table_id", Datum::Int64(table_id)},
               {"column_order", Datum::Int64(next->next_order++)},
               {"column_name", Datum::Bytes(column.name)},
               {"column_type", Datum::Bytes(type)},
               {"initial_default", TextOrNull(column.initial_default)},
               {"default_value", nested ? Datum() : Datum::Bytes(default_value)},
               {"nulls_allowed", Datum::Bool(column.nullable)},
               {"parent_column", parent.has_value() ? Datum::Int64(*parent) : Datum()},
               {"default_value_type", Datum::Bytes(nested ? "" : column.default_value_type)},
               {"default_value_dialect", Datum::Bytes(column.default_value_dialect)}})));
  for (size_t i = 0; i < column.fields.size(); ++i) {
    ColumnDefinition field = column.fields[i];
    if (field.name.empty()) {
      field.name = FieldName(type, i);
    }
    VARVE_RETURN_IF_ERROR(InsertColumn(state, table_id, field, id, next).status());
  }
  return id;
}

void NoteAltered(Transaction::State* state, const LiveObject& table) {
  state->footprint.Add(ActionOn(table, Operation::kAlterTable));
  state->altered_tables.insert(table.id);
}

}  // namespace varve

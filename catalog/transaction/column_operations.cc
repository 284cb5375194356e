// Adding, dropping and changing columns.

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/column_rules.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/layouts.h"
#include "catalog/transaction/sort_expression.h"

namespace varve {
namespace {

// A table whose columns an operation changes.
struct AlteredTable {
  LiveObject table;
  TableColumns columns;
};

absl::StatusOr<AlteredTable> FindTableWithColumns(const Transaction::State& state,
                                                  int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(LiveObject table, FindLive(state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(TableColumns columns, TableColumns::Load(state, table_id));
  return AlteredTable{.table = std::move(table), .columns = std::move(columns)};
}

absl::StatusOr<const TableColumn*> TableColumnOf(const AlteredTable& altered, int64_t column_id) {
  const TableColumn* const column = altered.columns.Find(column_id);
  if (column == nullptr) {
    return absl::NotFoundError(
        StrCat(ObjectText(altered.table), " has no column with id ", column_id));
  }
  return column;
}

std::string ColumnText(const AlteredTable& altered, int64_t column_id) {
  return StrCat("column ", altered.columns.PathText(column_id), " of ", ObjectText(altered.table));
}

// Fields come, go and get other names in structs only.
absl::Status ExpectStruct(const AlteredTable& altered, const TableColumn& parent,
                          std::string_view what) {
  return IsStruct(parent.type) ? absl::OkStatus()
                               : absl::InvalidArgumentError(
                                     StrCat(ColumnText(altered, parent.id), " is a ", parent.type,
                                            ": only fields of a struct can be ", what));
}

absl::Status ExpectFreeName(const AlteredTable& altered, std::optional<int64_t> parent,
                            std::string_view name, std::optional<int64_t> but_for) {
  const TableColumn* const other = altered.columns.FindChild(parent, name);
  return other == nullptr || other->id == but_for
             ? absl::OkStatus()
             : absl::AlreadyExistsError(StrCat(ColumnText(altered, other->id), " exists already"));
}

absl::Status ReplaceColumn(Transaction::State* state, const LiveObject& table, int64_t column_id,
                           std::initializer_list<NamedValue> changes) {
  const RelationRef& relation = state->relation(kColumn);
  const Datum key[] = {Datum::Int64(table.id), Datum::Int64(column_id)};
  VARVE_RETURN_IF_ERROR(state->rows.Replace(relation, key, [&](Row* row) {
    for (const NamedValue& change : changes) {
      SetColumn(*relation, change, row);
    }
  }));
  NoteAltered(state, table);
  return absl::OkStatus();
}

// --- Adding ---

absl::StatusOr<int64_t> AddColumn(Transaction::State* state, int64_t table_id,
                                  const ColumnDefinition& column, std::optional<int64_t> parent) {
  VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state, table_id));
  std::string path = ShownName(column.name);
  if (parent.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const into, TableColumnOf(altered, *parent));
    VARVE_RETURN_IF_ERROR(ExpectStruct(altered, *into, "added"));
    path = StrCat(altered.columns.PathText(*parent), ".", path);
  }
  VARVE_RETURN_IF_ERROR(CheckColumn(column, path));
  if (!parent.has_value()) {
    VARVE_RETURN_IF_ERROR(CheckNotReserved(*state, altered.table.schema_id, table_id, column.name));
  }
  VARVE_RETURN_IF_ERROR(ExpectFreeName(altered, parent, column.name, std::nullopt));
  if (!column.nullable && !column.initial_default.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const bool has_rows, HasRows(*state, table_id));
    if (has_rows) {
      return absl::FailedPreconditionError(
          StrCat("column ", path, " cannot be NOT NULL without an initial default: ",
                 ObjectText(altered.table), " has rows, and they would read as NULL"));
    }
  }
  VARVE_ASSIGN_OR_RETURN(ColumnCounter next, NextColumn(*state, table_id, altered.columns));
  VARVE_ASSIGN_OR_RETURN(const int64_t id, InsertColumn(state, table_id, column, parent, &next));
  NoteAltered(state, altered.table);
  return id;
}

// --- Dropping ---

absl::Status ExpectNotPartitionedBy(const Transaction::State& state, const AlteredTable& altered,
                                    const std::vector<int64_t>& column_ids) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> partitioning,
                         LayoutOf(state, kPartitionInfo, altered.table.id));
  if (!partitioning.has_value()) {
    return absl::OkStatus();
  }
  const RelationRef& keys = state.relation(kPartitionColumn);
  const Datum prefix[] = {Datum::Int64(*partitioning)};
  return state.rows.ForEach(keys, prefix, [&](const VersionedRow& row) -> absl::Status {
    const std::optional<int64_t> used = IdOf(*keys, row.values, "column_id");
    const bool drops_it = used.has_value() && std::find(column_ids.begin(), column_ids.end(),
                                                        *used) != column_ids.end();
    return drops_it ? absl::FailedPreconditionError(
                          StrCat(ColumnText(altered, *used),
                                 " cannot be dropped: the table is partitioned by it; change the "
                                 "partitioning first"))
                    : absl::OkStatus();
  });
}

absl::Status ExpectNotSortedBy(const Transaction::State& state, const AlteredTable& altered,
                               const TableColumn& column) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> order,
                         LayoutOf(state, kSortInfo, altered.table.id));
  if (!order.has_value()) {
    return absl::OkStatus();
  }
  const RelationRef& keys = state.relation(kSortExpression);
  const Datum prefix[] = {Datum::Int64(*order)};
  return state.rows.ForEach(keys, prefix, [&](const VersionedRow& row) -> absl::Status {
    return MentionsColumn(TextOf(*keys, row.values, "expression"), column.name)
               ? absl::FailedPreconditionError(StrCat(
                     ColumnText(altered, column.id),
                     " cannot be dropped: the table is sorted by it; change the sort order first"))
               : absl::OkStatus();
  });
}

// Whether the transaction itself added the column.
absl::StatusOr<bool> IsOwnColumn(const Transaction::State& state, int64_t table_id,
                                 int64_t column_id) {
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(column_id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> versions,
                         state.rows.Versions(state.relation(kColumn), key));
  return std::all_of(versions.begin(), versions.end(), [&](const VersionedRow& version) {
    return version.begin >= state.rows.pending_snapshot();
  });
}

// Files that the transaction registered may hold a column that it added. Without a trace of the
// column its id would be given to another one, which then read what is in the files.
absl::Status ExpectNoOwnFiles(const Transaction::State& state, const AlteredTable& altered,
                              int64_t column_id) {
  const Datum of_table[] = {Datum::Int64(altered.table.id)};
  const RelationRef& files = state.relation(kDataFile);
  bool has_own_files = false;
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(files, of_table, [&](const VersionedRow& file) -> absl::Status {
        const std::optional<int64_t> id = IdOf(*files, file.values, "data_file_id");
        has_own_files = has_own_files || (id.has_value() && IsProvisional(*id));
        return absl::OkStatus();
      }));
  return has_own_files ? absl::FailedPreconditionError(
                             StrCat(ColumnText(altered, column_id),
                                    " cannot be dropped: it was added in this transaction, and so "
                                    "were data files; commit before dropping it"))
                       : absl::OkStatus();
}

// A column that came and went was never there; there are no statistics of it.
void ForgetNewBounds(Transaction::State* state, int64_t table_id, int64_t column_id) {
  if (state->statistics.contains(table_id)) {
    state->statistics[table_id].columns.erase(column_id);
  }
}

absl::Status DropColumn(Transaction::State* state, int64_t table_id, int64_t column_id) {
  VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state, table_id));
  VARVE_ASSIGN_OR_RETURN(const TableColumn* const column, TableColumnOf(altered, column_id));
  if (column->parent.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const parent,
                           TableColumnOf(altered, *column->parent));
    VARVE_RETURN_IF_ERROR(ExpectStruct(altered, *parent, "dropped"));
  }
  if (altered.columns.ChildrenOf(column->parent).size() == 1) {
    return absl::FailedPreconditionError(
        StrCat(ColumnText(altered, column_id), " cannot be dropped: it is the last one",
               column->parent.has_value() ? "; drop the whole struct" : "; drop the table"));
  }
  const std::vector<int64_t> dropped = altered.columns.WithFields(column_id);
  VARVE_RETURN_IF_ERROR(ExpectNotPartitionedBy(*state, altered, dropped));
  if (!column->parent.has_value()) {
    VARVE_RETURN_IF_ERROR(ExpectNotSortedBy(*state, altered, *column));
  }
  for (const int64_t id : dropped) {
    VARVE_ASSIGN_OR_RETURN(const bool is_own, IsOwnColumn(*state, table_id, id));
    if (is_own) {
      VARVE_RETURN_IF_ERROR(ExpectNoOwnFiles(*state, altered, id));
      ForgetNewBounds(state, table_id, id);
    }
    const Datum key[] = {Datum::Int64(table_id), Datum::Int64(id)};
    VARVE_RETURN_IF_ERROR(EndAll(state, kColumnTag, key));
    VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(kColumn), key));
  }
  NoteAltered(state, altered.table);
  return absl::OkStatus();
}

// --- Renaming ---

// The keys of the sort order, with a column under its new name; empty when none mentions it.
absl::StatusOr<std::vector<SortKey>> RenamedSortKeys(const Transaction::State& state,
                                                     int64_t table_id, std::string_view from,
                                                     std::string_view to) {
  VARVE_ASSIGN_OR_RETURN(std::vector<SortKey> keys, SortKeysOf(state, table_id));
  bool mentioned = false;
  for (SortKey& key : keys) {
    if (MentionsColumn(key.expression, from)) {
      mentioned = true;
      key.expression = WithColumnRenamed(key.expression, from, to);
    }
  }
  if (!mentioned) {
    keys.clear();
  }
  return keys;
}

absl::Status RenameColumn(Transaction::State* state, int64_t table_id, int64_t column_id,
                          std::string_view name) {
  VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state, table_id));
  VARVE_ASSIGN_OR_RETURN(const TableColumn* const column, TableColumnOf(altered, column_id));
  VARVE_RETURN_IF_ERROR(CheckName("a column", name));
  if (name == column->name) {
    return absl::InvalidArgumentError(
        StrCat(ColumnText(altered, column_id), " has this name already"));
  }
  if (column->parent.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const parent,
                           TableColumnOf(altered, *column->parent));
    VARVE_RETURN_IF_ERROR(ExpectStruct(altered, *parent, "renamed"));
  } else {
    VARVE_RETURN_IF_ERROR(CheckNotReserved(*state, altered.table.schema_id, table_id, name));
  }
  VARVE_RETURN_IF_ERROR(ExpectFreeName(altered, column->parent, name, column_id));
  VARVE_RETURN_IF_ERROR(
      ReplaceColumn(state, altered.table, column_id, {{"column_name", Datum::Bytes(name)}}));
  if (column->parent.has_value()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<SortKey> keys,
                         RenamedSortKeys(*state, table_id, column->name, name));
  return keys.empty() ? absl::OkStatus() : WriteSortOrder(state, table_id, keys);
}

// --- Order ---

absl::Status ReorderColumns(Transaction::State* state, int64_t table_id,
                            std::span<const int64_t> column_ids) {
  VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state, table_id));
  const std::vector<const TableColumn*> columns = altered.columns.ChildrenOf(std::nullopt);
  std::vector<int64_t> expected;
  for (const TableColumn* const column : columns) {
    expected.push_back(column->id);
  }
  std::vector<int64_t> given(column_ids.begin(), column_ids.end());
  std::sort(expected.begin(), expected.end());
  std::sort(given.begin(), given.end());
  if (given != expected) {
    return absl::InvalidArgumentError(StrCat(
        "the order of columns must name each top-level column of ", ObjectText(altered.table),
        " once: ids ", StrJoin(expected, ", "), "; found ", StrJoin(column_ids, ", ")));
  }
  // The columns take each other's places: those of nested fields stay free.
  for (size_t i = 0; i < columns.size(); ++i) {
    if (altered.columns.Find(column_ids[i])->order != columns[i]->order) {
      VARVE_RETURN_IF_ERROR(ReplaceColumn(state, altered.table, column_ids[i],
                                          {{"column_order", Datum::Int64(columns[i]->order)}}));
    }
  }
  return absl::OkStatus();
}

// --- NOT NULL ---

// The first snapshot the column was there.
absl::StatusOr<SnapshotId> FirstBegin(const Transaction::State& state, int64_t table_id,
                                      int64_t column_id) {
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(column_id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> versions,
                         state.rows.Versions(state.relation(kColumn), key));
  return versions.empty() ? state.rows.pending_snapshot() : versions.front().begin;
}

// Whether the statistics of the table say that no NULL was ever written to the column.
absl::StatusOr<bool> StatisticsRuleOutNulls(const Transaction::State& state, int64_t table_id,
                                            int64_t column_id) {
  const RelationRef& relation = state.relation(kTableColumnStats);
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(column_id)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(relation, key));
  bool known = false;
  bool ruled_out = true;
  if (row.has_value()) {
    const Datum& contains_null = ColumnOf(*relation, row->values, "contains_null");
    known = true;
    ruled_out = !contains_null.is_null() && !contains_null.bool_value();
  }
  const auto table = state.statistics.find(table_id);
  if (table != state.statistics.end()) {
    const auto column = table->second.columns.find(column_id);
    if (column != table->second.columns.end()) {
      known = true;
      ruled_out = ruled_out && !column->second.bounds.contains_null.value_or(true);
    }
  }
  return known && ruled_out;
}

// DuckLake reads the rows when the statistics leave it open; here there are only statistics.
absl::Status ExpectNoNulls(const Transaction::State& state, const AlteredTable& altered,
                           const TableColumn& column) {
  VARVE_ASSIGN_OR_RETURN(const bool has_rows, HasRows(state, altered.table.id));
  if (!has_rows) {
    return absl::OkStatus();
  }
  const auto refuse = [&](std::string_view why) {
    return absl::FailedPreconditionError(
        StrCat(ColumnText(altered, column.id), " cannot be made NOT NULL: ", why));
  };
  VARVE_ASSIGN_OR_RETURN(const bool ruled_out,
                         StatisticsRuleOutNulls(state, altered.table.id, column.id));
  if (!ruled_out) {
    return refuse("the statistics of the table do not rule out that it holds NULLs");
  }
  if (column.initial_default.has_value()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const SnapshotId begin, FirstBegin(state, altered.table.id, column.id));
  VARVE_ASSIGN_OR_RETURN(const bool has_older, HasRows(state, altered.table.id, begin));
  return has_older ? refuse("rows written before it was added read as NULL") : absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> Transaction::AddColumn(int64_t table_id, const ColumnDefinition& column,
                                               std::optional<int64_t> parent) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = varve::AddColumn(state_.get(), table_id, column, parent);
    return id.status();
  }));
  return id;
}

absl::Status Transaction::DropColumn(int64_t table_id, int64_t column_id) {
  return RunOperation(state_.get(),
                      [&] { return varve::DropColumn(state_.get(), table_id, column_id); });
}

absl::Status Transaction::RenameColumn(int64_t table_id, int64_t column_id, std::string_view name) {
  return RunOperation(state_.get(),
                      [&] { return varve::RenameColumn(state_.get(), table_id, column_id, name); });
}

absl::Status Transaction::ReorderColumns(int64_t table_id, std::span<const int64_t> column_ids) {
  return RunOperation(state_.get(),
                      [&] { return varve::ReorderColumns(state_.get(), table_id, column_ids); });
}

absl::Status Transaction::SetColumnType(int64_t table_id, int64_t column_id,
                                        std::string_view type) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state_, table_id));
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const column, TableColumnOf(altered, column_id));
    const std::string to = TypeToStore(type);
    VARVE_RETURN_IF_ERROR(
        CheckPromotion(altered.columns.PathText(column_id), TypeToStore(column->type), to));
    return ReplaceColumn(state_.get(), altered.table, column_id,
                         {{"column_type", Datum::Bytes(to)}});
  });
}

absl::Status Transaction::SetColumnDefault(int64_t table_id, int64_t column_id,
                                           const NullableText& value, std::string_view value_type) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state_, table_id));
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const column, TableColumnOf(altered, column_id));
    if (IsNestedType(column->type)) {
      return absl::InvalidArgumentError(StrCat(ColumnText(altered, column_id), " is a ",
                                               column->type, ": it cannot have a default value"));
    }
    VARVE_RETURN_IF_ERROR(CheckDefault(altered.columns.PathText(column_id),
                                       TypeToStore(column->type), value, value_type));
    const std::string stored = value.value_or("NULL");
    return ReplaceColumn(state_.get(), altered.table, column_id,
                         {{"default_value", Datum::Bytes(stored)},
                          {"default_value_type", Datum::Bytes(value_type)}});
  });
}

absl::Status Transaction::SetColumnNullable(int64_t table_id, int64_t column_id, bool nullable) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const AlteredTable altered, FindTableWithColumns(*state_, table_id));
    VARVE_ASSIGN_OR_RETURN(const TableColumn* const column, TableColumnOf(altered, column_id));
    if (column->nullable == nullable) {
      return absl::InvalidArgumentError(StrCat(
          ColumnText(altered, column_id), nullable ? " allows NULL" : " is NOT NULL", " already"));
    }
    if (!nullable) {
      VARVE_RETURN_IF_ERROR(ExpectNoNulls(*state_, altered, *column));
    }
    return ReplaceColumn(state_.get(), altered.table, column_id,
                         {{"nulls_allowed", Datum::Bool(nullable)}});
  });
}

}  // namespace varve

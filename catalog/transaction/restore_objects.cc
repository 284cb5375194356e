// Restoring tables, views and macros.

#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/layouts.h"
#include "catalog/transaction/restore.h"

namespace varve {
namespace {

// The object's own row, with its schema's present id.
absl::StatusOr<Restored> RestorePlace(Transaction::State* state, const RestorePoint& past,
                                      const LiveObject& then, int64_t schema_id) {
  const RelationRef& relation = state->relation(then.relation);
  const Datum key[] = {Datum::Int64(then.id)};
  return RestoreRows(state, past, relation, key, std::nullopt, [&](Row* row) {
    SetColumn(*relation, {"schema_id", Datum::Int64(schema_id)}, row);
  });
}

// What the footprint says of an object that was, and now is, somewhere.
struct PlaceOperations {
  Operation create;
  Operation rename;
};

// Notes that the object got a name or a schema. `now`: before it was restored.
absl::Status NotePlace(Transaction::State* state, const LiveObject& then,
                       const std::optional<LiveObject>& now, int64_t schema_id,
                       const PlaceOperations& operations) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(*state, kSchema, schema_id));
  Action action = ActionOn(then, now.has_value() ? operations.rename : operations.create);
  action.schema_id = schema_id;
  action.schema_name = schema.name;
  state->footprint.Add(std::move(action));
  return absl::OkStatus();
}

// A layout that the transaction itself made goes with its keys.
absl::Status EndOwnLayout(Transaction::State* state, RelationId relation, int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, LayoutOf(*state, relation, table_id));
  return id.has_value() && IsProvisional(*id) ? EndLayout(state, relation, table_id)
                                              : absl::OkStatus();
}

// Bounds of a column that was of another type say nothing to readers that know it by the type it
// has again.
absl::Status ForgetBounds(Transaction::State* state, int64_t table_id, int64_t column_id) {
  const RelationRef& relation = state->relation(kTableColumnStats);
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(column_id)};
  VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row, state->rows.Get(relation, key));
  if (!row.has_value()) {
    return absl::OkStatus();
  }
  for (const std::string_view column :
       {"contains_null", "contains_nan", "min_value", "max_value", "extra_stats"}) {
    SetColumn(*relation, {column, Datum()}, &row->values);
  }
  return state->rows.Put(relation, std::move(row->values));
}

absl::StatusOr<Restored> RestoreColumns(Transaction::State* state, const RestorePoint& past,
                                        int64_t table_id) {
  const Datum of_table[] = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const TableColumns before, TableColumns::Load(*state, table_id));
  VARVE_ASSIGN_OR_RETURN(const Restored restored,
                         RestoreRows(state, past, state->relation(kColumn), of_table));
  if (restored.any()) {
    VARVE_ASSIGN_OR_RETURN(const TableColumns after, TableColumns::Load(*state, table_id));
    for (const TableColumn& column : after.all()) {
      const TableColumn* const old = before.Find(column.id);
      if (old != nullptr && old->type != column.type) {
        VARVE_RETURN_IF_ERROR(ForgetBounds(state, table_id, column.id));
      }
    }
  }
  return restored;
}

absl::StatusOr<Restored> RestoreInlinedRows(Transaction::State* state, const RestorePoint& past,
                                            int64_t table_id,
                                            const std::vector<RelationRef>& relations) {
  Restored restored;
  for (const RelationRef& relation : relations) {
    VARVE_ASSIGN_OR_RETURN(const Restored rows, RestoreRows(state, past, relation, {}));
    restored.Add(rows);
    state->inlined_relations.try_emplace(relation->id, InlinedRelation{.table_id = table_id});
  }
  return restored;
}

// Counts rows and bytes by what is there now.
absl::Status RecountTable(Transaction::State* state, int64_t table_id,
                          const std::vector<RelationRef>& inlined) {
  int64_t rows = 0;
  int64_t bytes = 0;
  const Datum of_table[] = {Datum::Int64(table_id)};
  const RelationRef& files = state->relation(kDataFile);
  VARVE_RETURN_IF_ERROR(
      state->rows.ForEach(files, of_table, [&](const VersionedRow& row) -> absl::Status {
        rows += IdOf(*files, row.values, "record_count").value_or(0);
        bytes += IdOf(*files, row.values, "file_size_bytes").value_or(0);
        return absl::OkStatus();
      }));
  for (const RelationRef& relation : inlined) {
    VARVE_RETURN_IF_ERROR(
        state->rows.ForEach(relation, {}, [&](const VersionedRow&) -> absl::Status {
          ++rows;
          return absl::OkStatus();
        }));
  }
  const RelationRef& statistics = state->relation(kTableStats);
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row,
                         state->rows.Get(statistics, of_table));
  if (row.has_value()) {
    rows -= IdOf(*statistics, row->values, "record_count").value_or(0);
    bytes -= IdOf(*statistics, row->values, "file_size_bytes").value_or(0);
  }
  const TableStatisticsDelta& delta = state->statistics[table_id];
  CountRows(state, table_id, rows - delta.record_count, bytes - delta.file_size_bytes);
  return absl::OkStatus();
}

// Restoring cannot follow anything that happened to the rows or files of the table meanwhile.
void NoteData(Transaction::State* state, const LiveObject& table, const Restored& files,
              const Restored& inlined, bool has_inlined) {
  const auto note = [&](Operation operation) {
    Action action = ActionOn(table, operation);
    action.all_files = true;
    state->footprint.Add(std::move(action));
  };
  note(Operation::kDelete);
  if (files.came) {
    note(Operation::kInsert);
  }
  if (has_inlined) {
    note(Operation::kInlinedDelete);
  }
  if (inlined.came) {
    note(Operation::kInlinedInsert);
  }
}

absl::Status RestoreTable(Transaction::State* state, const RestorePoint& past,
                          const LiveObject& then, int64_t schema_id) {
  if (state->dropped_tables.contains(then.id)) {
    return absl::FailedPreconditionError(
        StrCat(ObjectText(then),
               " has been dropped in this transaction; commit before restoring "
               "it, or begin a new one"));
  }
  const Datum id[] = {Datum::Int64(then.id)};
  const NamedValue of_table = {"table_id", id[0]};
  VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> now,
                         TryFindLive(state->rows, kTable, then.id));
  VARVE_ASSIGN_OR_RETURN(const Restored place, RestorePlace(state, past, then, schema_id));
  // What decides how rows lie in files, and what does not.
  VARVE_ASSIGN_OR_RETURN(Restored schema, RestoreColumns(state, past, then.id));
  Restored remarks;
  for (const RelationId relation : {kPartitionInfo, kSortInfo}) {
    VARVE_RETURN_IF_ERROR(EndOwnLayout(state, relation, then.id));
    VARVE_ASSIGN_OR_RETURN(const Restored layout,
                           RestoreRows(state, past, state->relation(relation), {}, of_table));
    (relation == kPartitionInfo ? schema : remarks).Add(layout);
  }
  for (const RelationId relation : {kTag, kColumnTag}) {
    VARVE_ASSIGN_OR_RETURN(const Restored tags,
                           RestoreRows(state, past, state->relation(relation), id));
    remarks.Add(tags);
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations,
                         InlinedRelationsOf(*state, then.id));
  VARVE_ASSIGN_OR_RETURN(const Restored files, RestoreFiles(state, past, then));
  VARVE_ASSIGN_OR_RETURN(const Restored inlined,
                         RestoreInlinedRows(state, past, then.id, relations));
  if (files.any() || inlined.any() || !now.has_value()) {
    VARVE_RETURN_IF_ERROR(RecountTable(state, then.id, relations));
  }
  if (place.any()) {
    VARVE_RETURN_IF_ERROR(
        NotePlace(state, then, now, schema_id,
                  {.create = Operation::kCreateTable, .rename = Operation::kRenameTable}));
  }
  if (place.any() || schema.any()) {
    state->altered_tables.insert(then.id);
  }
  if (now.has_value() && (schema.any() || remarks.any())) {
    state->footprint.Add(ActionOn(then, Operation::kAlterTable));
  }
  if (now.has_value() &&
      (place.any() || schema.any() || remarks.any() || files.any() || inlined.any())) {
    NoteData(state, then, files, inlined, !relations.empty());
  }
  return absl::OkStatus();
}

absl::Status RestoreView(Transaction::State* state, const RestorePoint& past,
                         const LiveObject& then, int64_t schema_id) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> now,
                         TryFindLive(state->rows, kView, then.id));
  VARVE_ASSIGN_OR_RETURN(const Restored place, RestorePlace(state, past, then, schema_id));
  const Datum id[] = {Datum::Int64(then.id)};
  VARVE_ASSIGN_OR_RETURN(const Restored tags, RestoreRows(state, past, state->relation(kTag), id));
  if (place.any()) {
    VARVE_RETURN_IF_ERROR(
        NotePlace(state, then, now, schema_id,
                  {.create = Operation::kCreateView, .rename = Operation::kRenameView}));
  }
  if (now.has_value() && tags.any()) {
    state->footprint.Add(ActionOn(then, Operation::kAlterView));
  }
  return absl::OkStatus();
}

// Implementations and parameters are there while the macro is.
absl::Status RestoreMacro(Transaction::State* state, const RestorePoint& past,
                          const LiveObject& then, int64_t schema_id) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> now,
                         TryFindLive(state->rows, kMacro, then.id));
  VARVE_ASSIGN_OR_RETURN(const Restored place, RestorePlace(state, past, then, schema_id));
  if (!place.any()) {
    return absl::OkStatus();
  }
  const RelationRef& implementations = state->relation(kMacroImpl);
  const Datum id[] = {Datum::Int64(then.id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> rows, past.rows.Rows(implementations, id));
  const bool is_table_macro =
      !rows.empty() && TextOf(*implementations, rows.front().values, "type") == "table";
  const Operation create =
      is_table_macro ? Operation::kCreateTableMacro : Operation::kCreateScalarMacro;
  return NotePlace(state, then, now, schema_id, {.create = create, .rename = create});
}

}  // namespace

absl::Status RestoreObject(Transaction::State* state, const RestorePoint& past,
                           const LiveObject& then, int64_t schema_id) {
  switch (then.relation) {
    case kTable: return RestoreTable(state, past, then, schema_id);
    case kView: return RestoreView(state, past, then, schema_id);
    default: return RestoreMacro(state, past, then, schema_id);
  }
}

absl::Status CheckRestoredName(const Transaction::State& state, RelationId relation, int64_t id) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject object, FindLive(state, relation, id));
  const NameSpace space = relation == kSchema  ? NameSpace::kSchema
                          : relation == kMacro ? NameSpace::kMacro
                                               : NameSpace::kTableOrView;
  const absl::Status free = ExpectFree(state, space, ActionOn(object, Operation::kCreateTable),
                                       NameIndex::Object{.relation = relation, .id = id});
  return free.ok()
             ? free
             : absl::Status(free.code(), ToAbsl(StrCat(ObjectText(object),
                                                       " cannot be restored: ", MessageOf(free),
                                                       "; rename or drop that first")));
}

}  // namespace varve

#include "catalog/transaction/inlined_relations.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/handle.h"
#include "catalog/transaction/definitions.h"

namespace varve {
namespace {

constexpr std::array<std::string_view, kInlinedSystemColumns> kSystemColumns = {
    "row_id", "begin_snapshot", "end_snapshot"};

ColumnSchema SystemColumn(std::string_view name) {
  return {.name = std::string(name), .type = TypeKind::kInt64};
}

// A row of ducklake_inlined_data_tables.
struct Registered {
  int64_t schema_version = 0;
  std::string name;
};

absl::StatusOr<std::vector<Registered>> RegisteredRelations(const Transaction::State& state,
                                                            int64_t table_id) {
  const RelationRef& relation = state.relation(kInlinedDataTables);
  const Datum of_table[] = {Datum::Int64(table_id)};
  std::vector<Registered> registered;
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(relation, of_table, [&](const VersionedRow& row) -> absl::Status {
        registered.push_back(
            {.schema_version = IdOf(*relation, row.values, "schema_version").value_or(0),
             .name = TextOf(*relation, row.values, "table_name")});
        return absl::OkStatus();
      }));
  return registered;
}

absl::Status Register(Transaction::State* state, int64_t table_id, const Registered& entry) {
  const RelationRef& relation = state->relation(kInlinedDataTables);
  return state->rows.Put(
      relation, RowWith(*relation, {{"table_id", Datum::Int64(table_id)},
                                    {"table_name", Datum::Bytes(entry.name)},
                                    {"schema_version", Datum::Int64(entry.schema_version)}}));
}

absl::StatusOr<RelationRef> FindRegistered(const Transaction::State& state,
                                           const Registered& entry) {
  RelationRef relation = state.rows.FindRelation(entry.name);
  if (relation == nullptr) {
    return absl::DataLossError(StrCat("ducklake_inlined_data_tables lists ", entry.name,
                                      ", which is not there; run `varve verify`"));
  }
  return relation;
}

absl::StatusOr<int64_t> LastSchemaVersion(const Transaction::State& state) {
  const RelationRef& relation = state.relation(kSnapshot);
  const Datum key[] = {Datum::Int64(static_cast<int64_t>(state.rows.base().last_snapshot()))};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(relation, key));
  return row.has_value() ? IdOf(*relation, row->values, "schema_version").value_or(0) : 0;
}

// The newest one of the table in ducklake_schema_versions. Catalogs from before 1.0 do not say
// whose a schema version is: then it is the last one of all.
absl::StatusOr<int64_t> SchemaVersionOf(const Transaction::State& state, int64_t table_id) {
  const RelationRef& relation = state.relation(kSchemaVersions);
  std::optional<int64_t> newest;
  const Datum of_table[] = {Datum::Int64(table_id)};
  VARVE_RETURN_IF_ERROR(
      state.rows.ForEach(relation, of_table, [&](const VersionedRow& row) -> absl::Status {
        newest = std::max(newest, IdOf(*relation, row.values, "schema_version"));
        return absl::OkStatus();
      }));
  if (newest.has_value()) {
    return *newest;
  }
  return LastSchemaVersion(state);
}

// Under this name and schema version an open transaction sees a relation whose real ones the commit
// gives.
absl::StatusOr<Registered> Placeholder(const Transaction::State& state, int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(const int64_t last, LastSchemaVersion(state));
  return Registered{.schema_version = last + 1,
                    .name = StrCat("ducklake_inlined_data_", table_id, "_pending")};
}

std::vector<int64_t> IdsOf(const std::vector<const TableColumn*>& columns) {
  std::vector<int64_t> ids;
  ids.reserve(columns.size());
  for (const TableColumn* const column : columns) {
    ids.push_back(column->id);
  }
  return ids;
}

// Whether the relation has these columns behind its own.
bool HasColumns(const RelationSchema& relation, const std::vector<const TableColumn*>& columns) {
  if (relation.columns.num_columns() != columns.size() + kInlinedSystemColumns) {
    return false;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = relation.columns.column(i + kInlinedSystemColumns).name;
    if (!EqualsIgnoreCase(name, columns[i]->name)) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<RelationRef> MakeInlined(Transaction::State* state, int64_t table_id,
                                        const Registered& entry,
                                        std::optional<int64_t> schema_version,
                                        const std::vector<const TableColumn*>& columns) {
  std::vector<ColumnSchema> schema;
  schema.reserve(kSystemColumns.size() + columns.size());
  for (const std::string_view name : kSystemColumns) {
    schema.push_back(SystemColumn(name));
  }
  for (const TableColumn* const column : columns) {
    if (std::any_of(kSystemColumns.begin(), kSystemColumns.end(),
                    [&](std::string_view name) { return EqualsIgnoreCase(name, column->name); })) {
      return absl::FailedPreconditionError(
          StrCat("rows of table ", table_id, " cannot be inlined: it has a column ",
                 ShownName(column->name), ", a name that tables of inlined rows use themselves"));
    }
    schema.push_back({.name = column->name, .type = TypeOfColumn(column->type)});
  }
  VARVE_ASSIGN_OR_RETURN(RelationSchema relation,
                         MakeDynamicRelation(entry.name, std::move(schema), {}));
  VARVE_ASSIGN_OR_RETURN(RelationRef made, state->rows.CreateRelation(std::move(relation)));
  state->inlined_relations[made->id] = {.table_id = table_id,
                                        .is_new = true,
                                        .schema_version = schema_version,
                                        .columns = IdsOf(columns)};
  VARVE_RETURN_IF_ERROR(Register(state, table_id, entry));
  return made;
}

// Sets a column to what the text reads as. Blobs: as DuckLake writes defaults.
absl::Status SetFromText(const Type& type, std::string_view text, size_t column, Row* row) {
  std::string scratch;
  Datum value;
  VARVE_RETURN_IF_ERROR(ParseBound(type, text, &scratch, &value));
  row->Set(column, value);
  return absl::OkStatus();
}

// The same from a value of what may be another type: the columns of an own table were changed
// meanwhile. Types only change to wider ones, so the text of a value is one of the other type too.
absl::Status SetConverted(const Type& from, const Datum& value, const Type& to, size_t column,
                          Row* row) {
  if (value.is_null() || from == to) {
    row->Set(column, value);
    return absl::OkStatus();
  }
  return SetFromText(to, ToText(from, value), column, row);
}

// The rows of an own relation in one that has the columns of the table now.
absl::StatusOr<RelationRef> Rebuild(Transaction::State* state, const RelationRef& old,
                                    const std::vector<const TableColumn*>& columns) {
  const InlinedRelation made = state->inlined_relations.at(old->id);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> rows, state->rows.Rows(old, {}));
  VARVE_ASSIGN_OR_RETURN(const Registered entry, Placeholder(*state, made.table_id));
  VARVE_RETURN_IF_ERROR(state->rows.DropRelation(old));
  state->inlined_relations.erase(old->id);
  VARVE_ASSIGN_OR_RETURN(RelationRef relation,
                         MakeInlined(state, made.table_id, entry, made.schema_version, columns));
  for (const VersionedRow& before : rows) {
    Row row(relation->columns.num_columns());
    for (size_t i = 0; i < kInlinedSystemColumns; ++i) {
      row.Set(i, before.values[i]);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t to = i + kInlinedSystemColumns;
      const auto found = std::find(made.columns.begin(), made.columns.end(), columns[i]->id);
      if (found != made.columns.end()) {
        const size_t from =
            static_cast<size_t>(found - made.columns.begin()) + kInlinedSystemColumns;
        VARVE_RETURN_IF_ERROR(SetConverted(old->columns.column(from).type, before.values[from],
                                           relation->columns.column(to).type, to, &row));
      } else if (columns[i]->initial_default.has_value()) {
        VARVE_RETURN_IF_ERROR(
            SetFromText(relation->columns.column(to).type, *columns[i]->initial_default, to, &row));
      }
    }
    VARVE_RETURN_IF_ERROR(state->rows.Insert(relation, std::move(row)));
  }
  return relation;
}

// Brings an own relation up to the columns of its table.
absl::StatusOr<RelationRef> WithColumnsOfTable(Transaction::State* state,
                                               const RelationRef& relation,
                                               const std::vector<const TableColumn*>& columns) {
  const InlinedRelation& made = state->inlined_relations.at(relation->id);
  bool same = made.columns == IdsOf(columns) && HasColumns(*relation, columns);
  for (size_t i = 0; same && i < columns.size(); ++i) {
    const ColumnSchema& column = relation->columns.column(i + kInlinedSystemColumns);
    same = column.name == columns[i]->name && column.type == TypeOfColumn(columns[i]->type);
  }
  return same ? absl::StatusOr<RelationRef>(relation) : Rebuild(state, relation, columns);
}

}  // namespace

std::string InlinedDataName(int64_t table_id, int64_t schema_version) {
  return StrCat("ducklake_inlined_data_", table_id, "_", schema_version);
}

std::string InlinedDeleteName(int64_t table_id) {
  return StrCat("ducklake_inlined_delete_", table_id);
}

absl::StatusOr<std::vector<RelationRef>> InlinedRelationsOf(const Transaction::State& state,
                                                            int64_t table_id) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<Registered> registered,
                         RegisteredRelations(state, table_id));
  std::vector<RelationRef> relations;
  for (const Registered& entry : registered) {
    VARVE_ASSIGN_OR_RETURN(relations.emplace_back(), FindRegistered(state, entry));
  }
  return relations;
}

absl::StatusOr<RelationRef> RelationForInlinedRows(Transaction::State* state, int64_t table_id,
                                                   const TableColumns& columns) {
  const std::vector<const TableColumn*> top = columns.ChildrenOf(std::nullopt);
  VARVE_ASSIGN_OR_RETURN(const std::vector<Registered> registered,
                         RegisteredRelations(*state, table_id));
  const Registered* const newest = registered.empty() ? nullptr : &registered.back();
  if (IsProvisional(table_id) || state->altered_tables.contains(table_id)) {
    VARVE_ASSIGN_OR_RETURN(const Registered entry, Placeholder(*state, table_id));
    if (newest == nullptr || newest->name != entry.name) {
      return MakeInlined(state, table_id, entry, std::nullopt, top);
    }
    VARVE_ASSIGN_OR_RETURN(const RelationRef own, FindRegistered(*state, *newest));
    return WithColumnsOfTable(state, own, top);
  }
  VARVE_ASSIGN_OR_RETURN(const int64_t schema_version, SchemaVersionOf(*state, table_id));
  if (newest == nullptr || newest->schema_version < schema_version) {
    return MakeInlined(
        state, table_id,
        {.schema_version = schema_version, .name = InlinedDataName(table_id, schema_version)},
        schema_version, top);
  }
  VARVE_ASSIGN_OR_RETURN(RelationRef relation, FindRegistered(*state, *newest));
  if (!HasColumns(*relation, top)) {
    return absl::FailedPreconditionError(StrCat("the columns of ", relation->name,
                                                " are not those of table ", table_id,
                                                "; run `varve verify`"));
  }
  state->inlined_relations.try_emplace(relation->id, InlinedRelation{.table_id = table_id});
  return relation;
}

absl::StatusOr<RelationRef> RelationForInlinedDeletes(Transaction::State* state, int64_t table_id) {
  const std::string name = InlinedDeleteName(table_id);
  if (RelationRef relation = state->rows.FindRelation(name); relation != nullptr) {
    return relation;
  }
  VARVE_ASSIGN_OR_RETURN(
      RelationSchema relation,
      MakeDynamicRelation(
          name, {SystemColumn("file_id"), SystemColumn("row_id"), SystemColumn("begin_snapshot")},
          {}));
  return state->rows.CreateRelation(std::move(relation));
}

absl::Status SettleInlinedRelations(Transaction::State* state) {
  std::vector<RelationId> made;
  for (const auto& [id, inlined] : state->inlined_relations) {
    if (inlined.is_new) {
      made.push_back(id);
    }
  }
  for (const RelationId id : made) {
    const InlinedRelation inlined = state->inlined_relations.at(id);
    int64_t registered_as = inlined.schema_version.value_or(0);
    if (!inlined.schema_version.has_value()) {
      VARVE_ASSIGN_OR_RETURN(const TableColumns columns,
                             TableColumns::Load(*state, inlined.table_id));
      VARVE_RETURN_IF_ERROR(
          WithColumnsOfTable(state, state->rows.relation(id), columns.ChildrenOf(std::nullopt))
              .status());
      VARVE_ASSIGN_OR_RETURN(const Registered entry, Placeholder(*state, inlined.table_id));
      registered_as = entry.schema_version;
    }
    const Datum key[] = {Datum::Int64(inlined.table_id), Datum::Int64(registered_as)};
    VARVE_RETURN_IF_ERROR(state->rows.Erase(state->relation(kInlinedDataTables), key, 0));
  }
  return absl::OkStatus();
}

absl::Status ForgetInlinedRelations(Transaction::State* state, int64_t table_id) {
  for (auto it = state->inlined_relations.begin(); it != state->inlined_relations.end();) {
    if (it->second.table_id != table_id) {
      ++it;
      continue;
    }
    const RelationRef relation = state->rows.relation(it->first);
    if (it->second.is_new) {
      VARVE_RETURN_IF_ERROR(state->rows.DropRelation(relation));
    } else {
      // Rows that came with the transaction: their row ids would never be given.
      std::vector<std::pair<int64_t, SnapshotId>> own;
      const auto changes = state->rows.changes().find(relation->id);
      static const auto& none = *new TransactionRows::Changes();
      for (const auto& [handle, change] :
           changes == state->rows.changes().end() ? none : changes->second) {
        DecodedHandle decoded;
        VARVE_RETURN_IF_ERROR(DecodeHandle(*relation, handle, &decoded));
        for (const GroupVersion& version : change.group.versions()) {
          if (!version.stored && !version.erased) {
            own.emplace_back(decoded.key[0].int64_value(), version.begin);
          }
        }
      }
      for (const auto& [row_id, begin] : own) {
        const Datum key[] = {Datum::Int64(row_id)};
        VARVE_RETURN_IF_ERROR(state->rows.Erase(relation, key, begin));
      }
    }
    it = state->inlined_relations.erase(it);
  }
  return absl::OkStatus();
}

}  // namespace varve

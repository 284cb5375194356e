// Creating, renaming, moving and dropping tables.

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/handle.h"
#include "catalog/transaction/column_rules.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/layouts.h"

namespace varve {
namespace {

absl::Status CheckColumns(const Transaction::State& state, const Action& table,
                          std::span<const ColumnDefinition> columns) {
  if (columns.empty()) {
    return absl::InvalidArgumentError(StrCat(ObjectText(table), " needs a column"));
  }
  absl::flat_hash_set<std::string> names;
  for (const ColumnDefinition& column : columns) {
    VARVE_RETURN_IF_ERROR(CheckColumn(column, ShownName(column.name)));
    VARVE_RETURN_IF_ERROR(CheckNotReserved(state, table.schema_id, std::nullopt, column.name));
    if (!names.insert(AsciiStrToLower(column.name)).second) {
      return absl::InvalidArgumentError(
          StrCat(ObjectText(table), " would have two columns ", ShownName(column.name)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MakeTable(Transaction::State* state, int64_t schema_id,
                                  std::string_view name, std::span<const ColumnDefinition> columns,
                                  const ObjectOptions& options) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(*state, kSchema, schema_id));
  VARVE_RETURN_IF_ERROR(CheckName("a table", name));
  Action action{.operation = Operation::kCreateTable,
                .schema_id = schema_id,
                .schema_name = schema.name,
                .name = std::string(name)};
  VARVE_RETURN_IF_ERROR(ExpectFree(*state, NameSpace::kTableOrView, action));
  VARVE_RETURN_IF_ERROR(CheckColumns(*state, action, columns));
  VARVE_ASSIGN_OR_RETURN(const Datum uuid, UuidToStore(options.uuid));
  VARVE_ASSIGN_OR_RETURN(const std::string path, PathToStore(options, name, uuid));
  const int64_t id = state->NewCatalogId();
  const RelationRef& relation = state->relation(kTable);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      relation, RowWith(*relation, {{"table_id", Datum::Int64(id)},
                                    {"table_uuid", uuid},
                                    {"schema_id", Datum::Int64(schema_id)},
                                    {"table_name", Datum::Bytes(name)},
                                    {"path", Datum::Bytes(path)},
                                    {"path_is_relative", Datum::Bool(options.path_is_relative)}})));
  ColumnCounter next;
  for (const ColumnDefinition& column : columns) {
    VARVE_RETURN_IF_ERROR(InsertColumn(state, id, column, std::nullopt, &next).status());
  }
  action.id = id;
  state->footprint.Add(std::move(action));
  state->altered_tables.insert(id);
  return id;
}

// Gives the table a name, a schema, or both.
absl::Status GivePlace(Transaction::State* state, const LiveObject& table, Action action,
                       const NullableText& full_path) {
  VARVE_RETURN_IF_ERROR(ExpectFree(*state, NameSpace::kTableOrView, action,
                                   NameIndex::Object{.relation = kTable, .id = table.id}));
  const RelationRef& relation = state->relation(kTable);
  const Datum key[] = {Datum::Int64(table.id)};
  VARVE_RETURN_IF_ERROR(state->rows.Replace(relation, key, [&](Row* row) {
    SetColumn(*relation, {"schema_id", Datum::Int64(action.schema_id)}, row);
    SetColumn(*relation, {"table_name", Datum::Bytes(action.name)}, row);
    if (full_path.has_value()) {
      SetColumn(*relation, {"path", Datum::Bytes(*full_path)}, row);
      SetColumn(*relation, {"path_is_relative", Datum::Bool(false)}, row);
    }
  }));
  state->footprint.Add(std::move(action));
  state->altered_tables.insert(table.id);
  return absl::OkStatus();
}

bool IsRelative(const RelationSchema& relation, const Row& row) {
  const Datum& relative = ColumnOf(relation, row, "path_is_relative");
  return relative.is_null() || relative.bool_value();
}

// The path that keeps a table's files where they are in another schema: nullopt when its path means
// the same there. Also of a table without files: while this transaction is open, others may add
// some that lie where the table is now.
absl::StatusOr<NullableText> PathAfterMove(const Transaction::State& state, const LiveObject& table,
                                           const LiveObject& from, const LiveObject& to) {
  const RelationSchema& tables = *state.relation(kTable);
  const RelationSchema& schemas = *state.relation(kSchema);
  const std::string schema_path = TextOf(schemas, from.row, "path");
  const bool same_directory = schema_path == TextOf(schemas, to.row, "path") &&
                              IsRelative(schemas, from.row) == IsRelative(schemas, to.row);
  if (same_directory || !IsRelative(tables, table.row)) {
    return std::nullopt;
  }
  std::string path = schema_path + TextOf(tables, table.row, "path");
  if (IsRelative(schemas, from.row)) {
    const RelationRef& metadata = state.relation(kMetadata);
    const Datum key[] = {Datum::Bytes("data_path"), Datum(), Datum()};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> data_path,
                           state.rows.Get(metadata, key));
    if (data_path.has_value()) {
      path = TextOf(*metadata, data_path->values, "value") + path;
    }
  }
  return path;
}

// Mappings of foreign files that the transaction made for the table.
absl::Status EraseOwnMappings(Transaction::State* state, int64_t table_id) {
  const RelationRef& mappings = state->relation(kColumnMapping);
  const auto changes = state->rows.changes().find(kColumnMapping);
  if (changes == state->rows.changes().end()) {
    return absl::OkStatus();
  }
  std::vector<int64_t> ids;
  VARVE_RETURN_IF_ERROR(
      state->rows.ForEach(mappings, {}, [&](const VersionedRow& row) -> absl::Status {
        const std::optional<int64_t> id = IdOf(*mappings, row.values, "mapping_id");
        if (id.has_value() && IsProvisional(*id) &&
            IdOf(*mappings, row.values, "table_id") == table_id) {
          ids.push_back(*id);
        }
        return absl::OkStatus();
      }));
  for (const int64_t id : ids) {
    const Datum key[] = {Datum::Int64(id)};
    VARVE_RETURN_IF_ERROR(EraseOwn(state, kNameMapping, key));
    VARVE_RETURN_IF_ERROR(EraseOwn(state, kColumnMapping, key));
  }
  return absl::OkStatus();
}

// What the transaction itself added to a table that it drops, and that has no end of its own.
absl::Status EraseOwnRowsOfTable(Transaction::State* state, int64_t table_id) {
  const Datum of_table[] = {Datum::Int64(table_id)};
  for (const RelationId relation :
       {kFileColumnStats, kFileVariantStats, kFilePartitionValue, kInlinedDataTables}) {
    VARVE_RETURN_IF_ERROR(EraseOwn(state, relation, of_table));
  }
  VARVE_RETURN_IF_ERROR(ForgetInlinedRelations(state, table_id));
  if (IsProvisional(table_id)) {
    VARVE_RETURN_IF_ERROR(EraseOwnMappings(state, table_id));
    VARVE_RETURN_IF_ERROR(
        EraseOwn(state, kMetadata, {}, NamedValue{"scope_id", Datum::Int64(table_id)}));
  }
  state->statistics.erase(table_id);
  state->altered_tables.erase(table_id);
  return absl::OkStatus();
}

// A drop takes the place of all that was done to the table before, but what merges, flushes and
// back-dated delete files did to past snapshots it cannot take back.
absl::Status ExpectPastUnchanged(const Transaction::State& state, const LiveObject& table) {
  const Datum of_table[] = {Datum::Int64(table.id)};
  for (const RelationId id : {kDataFile, kDeleteFile}) {
    const auto changes = state.rows.changes().find(id);
    if (changes == state.rows.changes().end()) {
      continue;
    }
    std::string prefix;
    VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*state.relation(id), of_table, &prefix));
    for (auto it = changes->second.lower_bound(prefix);
         it != changes->second.end() && it->first.starts_with(prefix); ++it) {
      for (const GroupVersion& version : it->second.group.versions()) {
        const bool back_dated =
            !version.stored && !version.erased && version.begin < state.rows.pending_snapshot();
        if (back_dated || (version.stored && version.erased)) {
          return absl::FailedPreconditionError(
              StrCat("the transaction has merged or flushed files of ", ObjectText(table),
                     "; commit it, and drop the table in another one"));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

// Statistics of files and inlined rows stay as they are: without the table nothing leads to them.
absl::Status DropTable(Transaction::State* state, const LiveObject& table) {
  VARVE_RETURN_IF_ERROR(ExpectPastUnchanged(*state, table));
  const Datum id[] = {Datum::Int64(table.id)};
  for (const RelationId relation : {kColumn, kColumnTag, kDataFile, kDeleteFile, kTag, kTable}) {
    VARVE_RETURN_IF_ERROR(EndAll(state, relation, id));
  }
  VARVE_RETURN_IF_ERROR(EndLayout(state, kPartitionInfo, table.id));
  VARVE_RETURN_IF_ERROR(EndLayout(state, kSortInfo, table.id));
  VARVE_RETURN_IF_ERROR(EraseOwnRowsOfTable(state, table.id));
  if (!IsProvisional(table.id)) {
    state->dropped_tables.insert(table.id);
  }
  state->footprint.Add(ActionOn(table, Operation::kDropTable));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Transaction::CreateTable(int64_t schema_id, std::string_view name,
                                                 std::span<const ColumnDefinition> columns,
                                                 const ObjectOptions& options) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = MakeTable(state_.get(), schema_id, name, columns, options);
    return id.status();
  }));
  return id;
}

absl::Status Transaction::RenameTable(int64_t table_id, std::string_view name) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state_, kTable, table_id));
    VARVE_RETURN_IF_ERROR(CheckName("a table", name));
    if (name == table.name) {
      return absl::InvalidArgumentError(StrCat(ObjectText(table), " has this name already"));
    }
    Action action = ActionOn(table, Operation::kRenameTable);
    action.name = std::string(name);
    return GivePlace(state_.get(), table, std::move(action), std::nullopt);
  });
}

absl::Status Transaction::MoveTable(int64_t table_id, int64_t schema_id) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state_, kTable, table_id));
    VARVE_ASSIGN_OR_RETURN(const LiveObject to, FindLive(*state_, kSchema, schema_id));
    if (table.schema_id == schema_id) {
      return absl::InvalidArgumentError(
          StrCat(ObjectText(table), " is in ", ObjectText(to), " already"));
    }
    VARVE_ASSIGN_OR_RETURN(const LiveObject from, FindLive(*state_, kSchema, table.schema_id));
    VARVE_ASSIGN_OR_RETURN(const NullableText path, PathAfterMove(*state_, table, from, to));
    Action action = ActionOn(table, Operation::kRenameTable);
    action.schema_id = schema_id;
    action.schema_name = to.name;
    return GivePlace(state_.get(), table, std::move(action), path);
  });
}

absl::Status Transaction::DropTable(int64_t table_id) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state_, kTable, table_id));
    return varve::DropTable(state_.get(), table);
  });
}

}  // namespace varve

// Restoring one table, one schema, or all.

#include "catalog/transaction/restore.h"

#include <map>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// The object as it was. NotFound when it was not there.
absl::StatusOr<LiveObject> FindThen(const Transaction::State& state, const RestorePoint& past,
                                    RelationId relation, int64_t id) {
  VARVE_ASSIGN_OR_RETURN(std::optional<LiveObject> then, TryFindLive(past.rows, relation, id));
  if (then.has_value()) {
    return *std::move(then);
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> now,
                         TryFindLive(state.rows, relation, id));
  return absl::NotFoundError(StrCat(
      now.has_value() ? ObjectText(*now)
                      : StrCat(relation == kSchema ? "a schema" : "a table", " with id ", id),
      " was not there at snapshot ", past.snapshot));
}

// Restores schemas with all that was in them.
class SchemaRestore {
 public:
  SchemaRestore(Transaction::State* state, const RestorePoint& past)
      : state_(*state), past_(past) {}

  // A schema to restore, as it was. One that was dropped since is made again, under a new id.
  absl::Status Add(const LiveObject& then);
  // Drops, of what is in a schema now, what was not there at all.
  absl::Status DropNewcomers(int64_t schema_id);
  // Brings back what was in the schemas.
  absl::Status RestoreObjects();
  absl::Status CheckNames() const;

 private:
  absl::StatusOr<int64_t> MakeAgain(const LiveObject& then);
  absl::Status CopyOptions(int64_t from, int64_t to);

  Transaction::State& state_;
  const RestorePoint& past_;
  std::map<int64_t, int64_t> schemas_;  // ids then, and now
  std::vector<NameIndex::Object> restored_;
};

absl::Status SchemaRestore::Add(const LiveObject& then) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> now,
                         TryFindLive(state_.rows, kSchema, then.id));
  if (now.has_value()) {
    schemas_[then.id] = then.id;
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(schemas_[then.id], MakeAgain(then));
  return absl::OkStatus();
}

// The directory stays, so that files are found where they are.
absl::StatusOr<int64_t> SchemaRestore::MakeAgain(const LiveObject& then) {
  const RelationRef& relation = state_.relation(kSchema);
  const int64_t id = state_.NewCatalogId();
  Row row = then.row;
  SetColumn(*relation, {"schema_id", Datum::Int64(id)}, &row);
  SetColumn(*relation, {"begin_snapshot", Datum()}, &row);
  SetColumn(*relation, {"end_snapshot", Datum()}, &row);
  VARVE_RETURN_IF_ERROR(state_.rows.Insert(relation, std::move(row)));
  VARVE_RETURN_IF_ERROR(CopyOptions(then.id, id));
  state_.footprint.Add({.operation = Operation::kCreateSchema, .id = id, .name = then.name});
  restored_.push_back({.relation = kSchema, .id = id});
  return id;
}

absl::Status SchemaRestore::CopyOptions(int64_t from, int64_t to) {
  const RelationRef& metadata = state_.relation(kMetadata);
  VARVE_ASSIGN_OR_RETURN(
      const std::vector<VersionedRow> rows,
      RowsWhere(state_.rows, metadata, {}, NamedValue{"scope_id", Datum::Int64(from)}));
  for (const VersionedRow& row : rows) {
    if (TextOf(*metadata, row.values, "scope") == "schema") {
      Row copy = row.values;
      SetColumn(*metadata, {"scope_id", Datum::Int64(to)}, &copy);
      VARVE_RETURN_IF_ERROR(state_.rows.Put(metadata, std::move(copy)));
    }
  }
  return absl::OkStatus();
}

absl::Status SchemaRestore::DropNewcomers(int64_t schema_id) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<NameIndex::Object> objects,
                         ObjectsIn(state_, schema_id));
  for (const NameIndex::Object& object : objects) {
    VARVE_ASSIGN_OR_RETURN(const LiveObject now, FindLive(state_, object.relation, object.id));
    VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> then,
                           TryFindLive(past_.rows, object.relation, object.id));
    if (!then.has_value()) {
      VARVE_RETURN_IF_ERROR(DropObject(&state_, now));
    } else if (!schemas_.contains(then->schema_id)) {
      return absl::FailedPreconditionError(StrCat(ObjectText(now), " was ", ObjectText(*then),
                                                  " at snapshot ", past_.snapshot,
                                                  "; restore or move it first"));
    }
  }
  return absl::OkStatus();
}

absl::Status SchemaRestore::RestoreObjects() {
  std::vector<NameIndex::Object> objects;
  for (const RelationId id : {kTable, kView, kMacro}) {
    const RelationRef& relation = state_.relation(id);
    VARVE_RETURN_IF_ERROR(
        past_.rows.ForEach(relation, {}, [&](const VersionedRow& row) -> absl::Status {
          if (schemas_.contains(IdOf(*relation, row.values, "schema_id").value_or(-1))) {
            objects.push_back(
                {.relation = id, .id = row.values[relation->handle.front()].int64_value()});
          }
          return absl::OkStatus();
        }));
  }
  for (const NameIndex::Object& object : objects) {
    VARVE_ASSIGN_OR_RETURN(const LiveObject then,
                           FindThen(state_, past_, object.relation, object.id));
    VARVE_RETURN_IF_ERROR(RestoreObject(&state_, past_, then, schemas_.at(then.schema_id)));
    restored_.push_back(object);
  }
  return absl::OkStatus();
}

absl::Status SchemaRestore::CheckNames() const {
  for (const NameIndex::Object& object : restored_) {
    VARVE_RETURN_IF_ERROR(CheckRestoredName(state_, object.relation, object.id));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LiveObject>> SchemasIn(const TransactionRows& rows) {
  const RelationRef relation = rows.relation(kSchema);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> found, rows.Rows(relation, {}));
  std::vector<LiveObject> schemas;
  for (const VersionedRow& row : found) {
    VARVE_ASSIGN_OR_RETURN(
        std::optional<LiveObject> schema,
        TryFindLive(rows, kSchema, row.values[relation->handle.front()].int64_value()));
    schemas.push_back(*std::move(schema));
  }
  return schemas;
}

absl::Status RestoreAll(Transaction::State* state, const RestorePoint& past) {
  SchemaRestore restore(state, past);
  VARVE_ASSIGN_OR_RETURN(const std::vector<LiveObject> now, SchemasIn(state->rows));
  VARVE_ASSIGN_OR_RETURN(const std::vector<LiveObject> then, SchemasIn(past.rows));
  for (const LiveObject& schema : then) {
    VARVE_RETURN_IF_ERROR(restore.Add(schema));
  }
  for (const LiveObject& schema : now) {
    VARVE_RETURN_IF_ERROR(restore.DropNewcomers(schema.id));
  }
  VARVE_RETURN_IF_ERROR(restore.RestoreObjects());
  for (const LiveObject& schema : now) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> was,
                           TryFindLive(past.rows, kSchema, schema.id));
    if (!was.has_value()) {
      VARVE_RETURN_IF_ERROR(DropObject(state, schema));
    }
  }
  return restore.CheckNames();
}

}  // namespace

absl::Status Transaction::RestoreTable(int64_t table_id, SnapshotId snapshot) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const RestorePoint past, OpenRestorePoint(state_.get(), snapshot));
    VARVE_ASSIGN_OR_RETURN(const LiveObject then, FindThen(*state_, past, kTable, table_id));
    VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> schema,
                           TryFindLive(state_->rows, kSchema, then.schema_id));
    if (!schema.has_value()) {
      return absl::FailedPreconditionError(
          StrCat(ObjectText(then), " cannot be restored: schema ", ShownName(then.schema_name),
                 " (id ", then.schema_id, ") has been dropped; restore the schema"));
    }
    VARVE_RETURN_IF_ERROR(RestoreObject(state_.get(), past, then, then.schema_id));
    return CheckRestoredName(*state_, kTable, table_id);
  });
}

absl::Status Transaction::RestoreSchema(int64_t schema_id, SnapshotId snapshot) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const RestorePoint past, OpenRestorePoint(state_.get(), snapshot));
    VARVE_ASSIGN_OR_RETURN(const LiveObject then, FindThen(*state_, past, kSchema, schema_id));
    SchemaRestore restore(state_.get(), past);
    VARVE_RETURN_IF_ERROR(restore.Add(then));
    VARVE_RETURN_IF_ERROR(restore.DropNewcomers(schema_id));
    VARVE_RETURN_IF_ERROR(restore.RestoreObjects());
    return restore.CheckNames();
  });
}

absl::Status Transaction::RestoreAll(SnapshotId snapshot) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const RestorePoint past, OpenRestorePoint(state_.get(), snapshot));
    return varve::RestoreAll(state_.get(), past);
  });
}

}  // namespace varve

// Creating and dropping schemas, and dropping whatever lies in one.

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/definitions.h"

namespace varve {

absl::StatusOr<int64_t> MakeSchema(Transaction::State* state, std::string_view name,
                                   const ObjectOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckName("a schema", name));
  Action action{.operation = Operation::kCreateSchema, .name = std::string(name)};
  VARVE_RETURN_IF_ERROR(ExpectFree(*state, NameSpace::kSchema, action));
  VARVE_ASSIGN_OR_RETURN(const Datum uuid, UuidToStore(options.uuid));
  VARVE_ASSIGN_OR_RETURN(const std::string path, PathToStore(options, name, uuid));
  const int64_t id = state->NewCatalogId();
  const RelationRef& relation = state->relation(kSchema);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      relation, RowWith(*relation, {{"schema_id", Datum::Int64(id)},
                                    {"schema_uuid", uuid},
                                    {"schema_name", Datum::Bytes(name)},
                                    {"path", Datum::Bytes(path)},
                                    {"path_is_relative", Datum::Bool(options.path_is_relative)}})));
  action.id = id;
  state->footprint.Add(std::move(action));
  return id;
}

namespace {

absl::Status DropSchema(Transaction::State* state, const LiveObject& schema) {
  const Datum key[] = {Datum::Int64(schema.id)};
  VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(kSchema), key));
  if (IsProvisional(schema.id)) {
    VARVE_RETURN_IF_ERROR(
        EraseOwn(state, kMetadata, {}, NamedValue{"scope_id", Datum::Int64(schema.id)}));
  }
  state->footprint.Add(ActionOn(schema, Operation::kDropSchema));
  return absl::OkStatus();
}

absl::Status DropView(Transaction::State* state, const LiveObject& view) {
  const Datum key[] = {Datum::Int64(view.id)};
  VARVE_RETURN_IF_ERROR(EndAll(state, kTag, key));
  VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(kView), key));
  state->footprint.Add(ActionOn(view, Operation::kDropView));
  state->dropped_views.insert(view.id);
  return absl::OkStatus();
}

absl::Status DropMacro(Transaction::State* state, const LiveObject& macro) {
  const Datum key[] = {Datum::Int64(macro.id)};
  const RelationRef& implementations = state->relation(kMacroImpl);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> rows,
                         state->rows.Rows(implementations, key));
  const bool is_table_macro =
      !rows.empty() && TextOf(*implementations, rows.front().values, "type") == "table";
  VARVE_RETURN_IF_ERROR(EraseOwn(state, kMacroParameters, key));
  VARVE_RETURN_IF_ERROR(EraseOwn(state, kMacroImpl, key));
  VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(kMacro), key));
  state->footprint.Add(
      ActionOn(macro, is_table_macro ? Operation::kDropTableMacro : Operation::kDropScalarMacro));
  return absl::OkStatus();
}

}  // namespace

absl::Status DropObject(Transaction::State* state, const LiveObject& object) {
  switch (object.relation) {
    case kSchema: return DropSchema(state, object);
    case kTable: return DropTable(state, object);
    case kView: return DropView(state, object);
    default: return DropMacro(state, object);
  }
}

absl::StatusOr<int64_t> Transaction::CreateSchema(std::string_view name,
                                                  const ObjectOptions& options) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = MakeSchema(state_.get(), name, options);
    return id.status();
  }));
  return id;
}

absl::Status Transaction::DropSchema(int64_t schema_id) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(*state_, kSchema, schema_id));
    VARVE_ASSIGN_OR_RETURN(const std::vector<NameIndex::Object> objects,
                           ObjectsIn(*state_, schema_id));
    if (!objects.empty()) {
      VARVE_ASSIGN_OR_RETURN(const LiveObject first,
                             FindLive(*state_, objects.front().relation, objects.front().id));
      return absl::FailedPreconditionError(
          StrCat(ObjectText(schema), " is not empty: it holds ", ObjectText(first),
                 objects.size() == 1 ? "" : StrCat(" and ", objects.size() - 1, " more"),
                 "; drop or move what is in it first"));
    }
    return DropObject(state_.get(), schema);
  });
}

absl::Status Transaction::DropView(int64_t view_id) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject view, FindLive(*state_, kView, view_id));
    return DropObject(state_.get(), view);
  });
}

absl::Status Transaction::DropMacro(int64_t macro_id) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject macro, FindLive(*state_, kMacro, macro_id));
    return DropObject(state_.get(), macro);
  });
}

}  // namespace varve

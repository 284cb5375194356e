// Creating and renaming views, creating macros. They are dropped in schema_operations.cc.

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/definitions.h"

namespace varve {
namespace {

// A query or expression with the name of what reads it.
absl::Status CheckSql(std::string_view of, std::string_view sql, std::string_view dialect) {
  VARVE_RETURN_IF_ERROR(CheckText(StrCat("the SQL of ", of), sql));
  if (sql.empty()) {
    return absl::InvalidArgumentError(StrCat("the SQL of ", of, " is empty"));
  }
  return CheckName(StrCat("the dialect of ", of), dialect);
}

// --- Views ---

// "a","b": as DuckLake writes them.
absl::StatusOr<std::string> AliasesToStore(const Action& view,
                                           const std::vector<std::string>& aliases) {
  absl::flat_hash_set<std::string> names;
  std::vector<std::string> quoted;
  for (const std::string& alias : aliases) {
    VARVE_RETURN_IF_ERROR(CheckName(StrCat("a column of ", ObjectText(view)), alias));
    if (!names.insert(AsciiStrToLower(alias)).second) {
      return absl::InvalidArgumentError(
          StrCat(ObjectText(view), " would have two columns ", ShownName(alias)));
    }
    quoted.push_back(QuoteName(alias));
  }
  return StrJoin(quoted, ",");
}

absl::StatusOr<int64_t> MakeView(Transaction::State* state, int64_t schema_id,
                                 std::string_view name, const ViewDefinition& definition) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(*state, kSchema, schema_id));
  VARVE_RETURN_IF_ERROR(CheckName("a view", name));
  Action action{.operation = Operation::kCreateView,
                .schema_id = schema_id,
                .schema_name = schema.name,
                .name = std::string(name)};
  VARVE_RETURN_IF_ERROR(ExpectFree(*state, NameSpace::kTableOrView, action));
  VARVE_RETURN_IF_ERROR(CheckSql(ObjectText(action), definition.sql, definition.dialect));
  VARVE_ASSIGN_OR_RETURN(const std::string aliases,
                         AliasesToStore(action, definition.column_aliases));
  VARVE_ASSIGN_OR_RETURN(const Datum uuid, UuidToStore(definition.uuid));
  action.id = state->NewCatalogId();
  const RelationRef& relation = state->relation(kView);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      relation, RowWith(*relation, {{"view_id", Datum::Int64(action.id)},
                                    {"view_uuid", uuid},
                                    {"schema_id", Datum::Int64(schema_id)},
                                    {"view_name", Datum::Bytes(name)},
                                    {"dialect", Datum::Bytes(definition.dialect)},
                                    {"sql", Datum::Bytes(definition.sql)},
                                    {"column_aliases", Datum::Bytes(aliases)}})));
  const int64_t id = action.id;
  state->footprint.Add(std::move(action));
  return id;
}

// --- Macros ---

absl::Status CheckMacro(const Action& macro, std::span<const MacroImplementation> implementations) {
  const std::string text = ObjectText(macro);
  if (implementations.empty()) {
    return absl::InvalidArgumentError(StrCat(text, " needs an implementation"));
  }
  for (const MacroImplementation& implementation : implementations) {
    VARVE_RETURN_IF_ERROR(CheckSql(text, implementation.sql, implementation.dialect));
    absl::flat_hash_set<std::string> names;
    bool had_default = false;
    for (const MacroParameter& parameter : implementation.parameters) {
      const std::string of = StrCat("parameter ", ShownName(parameter.name), " of ", text);
      VARVE_RETURN_IF_ERROR(CheckName(StrCat("a parameter of ", text), parameter.name));
      VARVE_RETURN_IF_ERROR(CheckName(StrCat("the type of ", of), parameter.type));
      VARVE_RETURN_IF_ERROR(
          CheckName(StrCat("the type of the default of ", of), parameter.default_value_type));
      if (parameter.default_value.has_value()) {
        VARVE_RETURN_IF_ERROR(CheckText(StrCat("the default of ", of), *parameter.default_value));
      } else if (had_default) {
        return absl::InvalidArgumentError(StrCat(of, " has no default but follows one that has"));
      }
      had_default = had_default || parameter.default_value.has_value();
      if (!names.insert(AsciiStrToLower(parameter.name)).second) {
        return absl::InvalidArgumentError(
            StrCat(text, " would have two parameters ", ShownName(parameter.name)));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status InsertImplementation(Transaction::State* state, int64_t macro_id, int64_t index,
                                  MacroKind kind, const MacroImplementation& implementation) {
  const RelationRef& implementations = state->relation(kMacroImpl);
  const RelationRef& parameters = state->relation(kMacroParameters);
  VARVE_RETURN_IF_ERROR(state->rows.Insert(
      implementations,
      RowWith(*implementations,
              {{"macro_id", Datum::Int64(macro_id)},
               {"impl_id", Datum::Int64(index)},
               {"dialect", Datum::Bytes(implementation.dialect)},
               {"sql", Datum::Bytes(implementation.sql)},
               {"type", Datum::Bytes(kind == MacroKind::kTable ? "table" : "scalar")}})));
  for (size_t i = 0; i < implementation.parameters.size(); ++i) {
    const MacroParameter& parameter = implementation.parameters[i];
    const std::string default_value = parameter.default_value.value_or("NULL");
    VARVE_RETURN_IF_ERROR(state->rows.Insert(
        parameters, RowWith(*parameters,
                            {{"macro_id", Datum::Int64(macro_id)},
                             {"impl_id", Datum::Int64(index)},
                             {"column_id", Datum::Int64(static_cast<int64_t>(i))},
                             {"parameter_name", Datum::Bytes(parameter.name)},
                             {"parameter_type", Datum::Bytes(parameter.type)},
                             {"default_value", Datum::Bytes(default_value)},
                             {"default_value_type", Datum::Bytes(parameter.default_value_type)}})));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MakeMacro(Transaction::State* state, int64_t schema_id,
                                  std::string_view name, MacroKind kind,
                                  std::span<const MacroImplementation> implementations) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(*state, kSchema, schema_id));
  if (state->rows.relation(kMacro)->absent) {
    return absl::FailedPreconditionError("a catalog of this version knows no macros");
  }
  VARVE_RETURN_IF_ERROR(CheckName("a macro", name));
  Action action{.operation = kind == MacroKind::kTable ? Operation::kCreateTableMacro
                                                       : Operation::kCreateScalarMacro,
                .schema_id = schema_id,
                .schema_name = schema.name,
                .name = std::string(name)};
  VARVE_RETURN_IF_ERROR(ExpectFree(*state, NameSpace::kMacro, action));
  VARVE_RETURN_IF_ERROR(CheckMacro(action, implementations));
  action.id = state->NewCatalogId();
  const RelationRef& relation = state->relation(kMacro);
  VARVE_RETURN_IF_ERROR(
      state->rows.Insert(relation, RowWith(*relation, {{"schema_id", Datum::Int64(schema_id)},
                                                       {"macro_id", Datum::Int64(action.id)},
                                                       {"macro_name", Datum::Bytes(name)}})));
  for (size_t i = 0; i < implementations.size(); ++i) {
    VARVE_RETURN_IF_ERROR(
        InsertImplementation(state, action.id, static_cast<int64_t>(i), kind, implementations[i]));
  }
  const int64_t id = action.id;
  state->footprint.Add(std::move(action));
  return id;
}

}  // namespace

absl::StatusOr<int64_t> Transaction::CreateView(int64_t schema_id, std::string_view name,
                                                const ViewDefinition& definition) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = MakeView(state_.get(), schema_id, name, definition);
    return id.status();
  }));
  return id;
}

absl::Status Transaction::RenameView(int64_t view_id, std::string_view name) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject view, FindLive(*state_, kView, view_id));
    VARVE_RETURN_IF_ERROR(CheckName("a view", name));
    if (name == view.name) {
      return absl::InvalidArgumentError(StrCat(ObjectText(view), " has this name already"));
    }
    Action action = ActionOn(view, Operation::kRenameView);
    action.name = std::string(name);
    VARVE_RETURN_IF_ERROR(ExpectFree(*state_, NameSpace::kTableOrView, action,
                                     NameIndex::Object{.relation = kView, .id = view_id}));
    const RelationRef& relation = state_->relation(kView);
    const Datum key[] = {Datum::Int64(view_id)};
    VARVE_RETURN_IF_ERROR(state_->rows.Replace(relation, key, [&](Row* row) {
      SetColumn(*relation, {"view_name", Datum::Bytes(name)}, row);
    }));
    state_->footprint.Add(std::move(action));
    return absl::OkStatus();
  });
}

absl::StatusOr<int64_t> Transaction::CreateMacro(
    int64_t schema_id, std::string_view name, MacroKind kind,
    std::span<const MacroImplementation> implementations) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = MakeMacro(state_.get(), schema_id, name, kind, implementations);
    return id.status();
  }));
  return id;
}

}  // namespace varve

// Tags of tables, views and columns.

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"

namespace varve {
namespace {

// `object_text`: what carries the tag, for messages.
absl::Status WriteTag(Transaction::State* state, const RelationRef& relation,
                      std::vector<Datum> handle, std::string_view key, const NullableText& value,
                      std::string_view object_text) {
  VARVE_RETURN_IF_ERROR(CheckText("the key of a tag", key));
  if (key.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(StrCat("the key of a tag is ", key.size(),
                                             " bytes long; at most ", kMaxNameBytes,
                                             " are allowed"));
  }
  handle.push_back(Datum::Bytes(key));
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> old, state->rows.Get(relation, handle));
  if (!value.has_value()) {
    return old.has_value()
               ? state->rows.End(relation, handle)
               : absl::NotFoundError(StrCat(object_text, " has no tag ", ShownName(key)));
  }
  VARVE_RETURN_IF_ERROR(CheckText(StrCat("tag ", ShownName(key)), *value));
  const Datum text = Datum::Bytes(*value);
  if (old.has_value()) {
    return state->rows.Replace(relation, handle, [&](Row* row) {
      SetColumn(*relation, {"value", text}, row);
    });
  }
  Row row(relation->columns.num_columns());
  for (size_t i = 0; i < handle.size(); ++i) {
    row.Set(relation->handle[i], handle[i]);
  }
  SetColumn(*relation, {"value", text}, &row);
  return state->rows.Insert(relation, std::move(row));
}

// Only tables and views have tags.
absl::StatusOr<LiveObject> FindTagged(const Transaction::State& state, int64_t object_id) {
  for (const RelationId relation : {kTable, kView}) {
    VARVE_ASSIGN_OR_RETURN(std::optional<LiveObject> object,
                           TryFindLive(state.rows, relation, object_id));
    if (object.has_value()) {
      return *std::move(object);
    }
  }
  for (const RelationId relation : {kSchema, kMacro}) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> object,
                           TryFindLive(state.rows, relation, object_id));
    if (object.has_value()) {
      return absl::InvalidArgumentError(
          StrCat(ObjectText(*object), " cannot have tags: only tables, views and columns can"));
    }
  }
  return absl::NotFoundError(StrCat("there is no table or view with id ", object_id));
}

}  // namespace

absl::Status Transaction::SetTag(int64_t object_id, std::string_view key,
                                 const NullableText& value) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject object, FindTagged(*state_, object_id));
    VARVE_RETURN_IF_ERROR(WriteTag(state_.get(), state_->relation(kTag), {Datum::Int64(object_id)},
                                   key, value, ObjectText(object)));
    state_->footprint.Add(ActionOn(
        object, object.relation == kTable ? Operation::kAlterTable : Operation::kAlterView));
    return absl::OkStatus();
  });
}

absl::Status Transaction::SetColumnTag(int64_t table_id, int64_t column_id, std::string_view key,
                                       const NullableText& value) {
  return RunOperation(state_.get(), [&]() -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state_, kTable, table_id));
    VARVE_ASSIGN_OR_RETURN(const TableColumns columns, TableColumns::Load(*state_, table_id));
    if (columns.Find(column_id) == nullptr) {
      return absl::NotFoundError(StrCat(ObjectText(table), " has no column with id ", column_id));
    }
    VARVE_RETURN_IF_ERROR(
        WriteTag(state_.get(), state_->relation(kColumnTag),
                 {Datum::Int64(table_id), Datum::Int64(column_id)}, key, value,
                 StrCat("column ", columns.PathText(column_id), " of ", ObjectText(table))));
    state_->footprint.Add(ActionOn(table, Operation::kAlterTable));
    return absl::OkStatus();
  });
}

}  // namespace varve

// Settings of the lake, of a schema, of a table.

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/option_values.h"

namespace varve {
namespace {

// Key, scope and scope_id; checks that what the option is for is there.
absl::StatusOr<std::vector<Datum>> OptionHandle(const Transaction::State& state, OptionScope scope,
                                                int64_t scope_id, std::string_view key) {
  if (scope == OptionScope::kGlobal) {
    return std::vector<Datum>{Datum::Bytes(key), Datum(), Datum()};
  }
  if (!HasScopes(key)) {
    return absl::InvalidArgumentError(StrCat("option ", key,
                                             " is one of the whole lake; it cannot be set for a ",
                                             scope == OptionScope::kSchema ? "schema" : "table"));
  }
  const bool of_schema = scope == OptionScope::kSchema;
  VARVE_RETURN_IF_ERROR(FindLive(state, of_schema ? kSchema : kTable, scope_id).status());
  return std::vector<Datum>{Datum::Bytes(key), Datum::Bytes(of_schema ? "schema" : "table"),
                            Datum::Int64(scope_id)};
}

absl::Status SetOption(Transaction::State* state, OptionScope scope, int64_t scope_id,
                       std::string_view given_key, const NullableText& value) {
  const std::string key = AsciiStrToLower(given_key);
  VARVE_RETURN_IF_ERROR(CheckOption(key));
  VARVE_ASSIGN_OR_RETURN(const std::vector<Datum> handle,
                         OptionHandle(*state, scope, scope_id, key));
  const RelationRef& metadata = state->relation(kMetadata);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> old, state->rows.Rows(metadata, handle));
  if (!value.has_value() && old.empty()) {
    return absl::NotFoundError(
        StrCat("option ", key, " is not set", scope == OptionScope::kGlobal ? "" : " there"));
  }
  std::string stored;
  if (value.has_value()) {
    VARVE_ASSIGN_OR_RETURN(stored, OptionToStore(key, *value));
  }
  // Clients that set an option at the same time may have left it there several times.
  for (size_t i = value.has_value() ? 1 : 0; i < old.size(); ++i) {
    VARVE_RETURN_IF_ERROR(state->rows.Erase(metadata, handle, old[i].begin));
  }
  if (!value.has_value()) {
    return absl::OkStatus();
  }
  return state->rows.Put(metadata, RowWith(*metadata, {{"key", handle[0]},
                                                       {"value", Datum::Bytes(stored)},
                                                       {"scope", handle[1]},
                                                       {"scope_id", handle[2]}}));
}

}  // namespace

absl::Status Transaction::SetOption(OptionScope scope, int64_t scope_id, std::string_view key,
                                    const NullableText& value) {
  return RunOperation(state_.get(),
                      [&] { return varve::SetOption(state_.get(), scope, scope_id, key, value); });
}

}  // namespace varve

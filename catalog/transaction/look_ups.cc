// Finding objects by name: the names of the base state, overlaid with what the transaction changed
// itself. A look-up reads no relation, except the columns of one table.

#include <algorithm>
#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"

namespace varve {
namespace {

struct NamedRelation {
  RelationId relation;
  NameSpace space;
  std::string_view id_column;
  std::string_view name_column;
};
constexpr auto kNamedRelations = std::to_array<NamedRelation>({
    {kSchema, NameSpace::kSchema, "schema_id", "schema_name"},
    {kTable, NameSpace::kTableOrView, "table_id", "table_name"},
    {kView, NameSpace::kTableOrView, "view_id", "view_name"},
    {kMacro, NameSpace::kMacro, "macro_id", "macro_name"},
});

struct OwnObject {
  NameIndex::Object object;
  int64_t schema_id = 0;  // 0 for schemas
  std::string_view name;
};

const TransactionRows::Changes* ChangesOf(const Transaction::State& state, RelationId relation) {
  const auto found = state.rows.changes().find(relation);
  return found == state.rows.changes().end() ? nullptr : &found->second;
}

// Visits the objects of a relation that the transaction made or changed and that are there.
template <typename Visit>
absl::Status ForEachOwn(const Transaction::State& state, const NamedRelation& named,
                        const Visit& visit) {
  const TransactionRows::Changes* const changes = ChangesOf(state, named.relation);
  if (changes == nullptr) {
    return absl::OkStatus();
  }
  const RelationRef& relation = state.relation(named.relation);
  std::vector<size_t> columns = {*relation->columns.Find(named.id_column),
                                 *relation->columns.Find(named.name_column)};
  if (named.relation != kSchema) {
    columns.push_back(*relation->columns.Find("schema_id"));
  }
  const RowDecoder decoder(relation, columns);
  DecodedHandle scratch;
  std::vector<Datum> values(columns.size());
  for (const auto& [handle, change] : *changes) {
    for (const GroupVersion& version : change.group.versions()) {
      if (version.erased || !IsCurrent(version.end)) {
        continue;
      }
      VARVE_RETURN_IF_ERROR(
          decoder.Decode(handle, version.begin, version.end, version.payload, &scratch, values));
      const auto id = [&](size_t i) { return values[i].is_null() ? 0 : values[i].int64_value(); };
      visit(OwnObject{.object = {.relation = named.relation, .id = id(0)},
                      .schema_id = columns.size() > 2 ? id(2) : 0,
                      .name = values[1].is_null() ? "" : values[1].bytes()});
    }
  }
  return absl::OkStatus();
}

// Whether the transaction changed the object: what the base says of it no longer holds.
absl::StatusOr<bool> IsChanged(const Transaction::State& state, const NameIndex::Object& object) {
  const TransactionRows::Changes* const changes = ChangesOf(state, object.relation);
  if (changes == nullptr) {
    return false;
  }
  const Datum key[] = {Datum::Int64(object.id)};
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*state.relation(object.relation), key, &handle));
  return changes->contains(handle);
}

// "there is no table "ordres" in schema "sales"; did you mean "orders"?"
absl::StatusOr<std::string> NotThere(const Transaction::State& state, NameSpace space,
                                     int64_t schema_id, std::string_view word,
                                     std::string_view name) {
  std::string text = StrCat("there is no ", word, " ", ShownName(name));
  if (space != NameSpace::kSchema) {
    VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(state, kSchema, schema_id));
    StrAppend(&text, " in ", ObjectText(schema));
  }
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const NameIndex> names,
                         state.catalog->Names(state.rows.base().state()));
  const std::string nearest = names->Nearest(space, schema_id, name);
  if (nearest.empty()) {
    return text;
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<NameIndex::Object> near,
                         FindName(state, space, schema_id, nearest));
  return near.has_value() ? StrCat(text, "; did you mean ", ShownName(nearest), "?") : text;
}

absl::Status ExpectOpen(const Transaction::State* state) {
  return state != nullptr && state->open
             ? absl::OkStatus()
             : absl::FailedPreconditionError("the transaction has ended; begin a new one");
}

absl::StatusOr<int64_t> Find(const Transaction::State* open_state, RelationId relation,
                             int64_t schema_id, std::string_view name) {
  VARVE_RETURN_IF_ERROR(ExpectOpen(open_state));
  const Transaction::State& state = *open_state;
  const NamedRelation& named =
      *std::find_if(kNamedRelations.begin(), kNamedRelations.end(),
                    [&](const NamedRelation& entry) { return entry.relation == relation; });
  VARVE_ASSIGN_OR_RETURN(const std::optional<NameIndex::Object> found,
                         FindName(state, named.space, schema_id, name));
  if (found.has_value() && found->relation == relation) {
    return found->id;
  }
  if (found.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const LiveObject other, FindLive(state, found->relation, found->id));
    return absl::NotFoundError(
        StrCat(ObjectText(other), " is no ", relation == kTable ? "table" : "view"));
  }
  const std::string_view word = relation == kSchema  ? "schema"
                                : relation == kTable ? "table"
                                : relation == kView  ? "view"
                                                     : "macro";
  VARVE_ASSIGN_OR_RETURN(const std::string text,
                         NotThere(state, named.space, schema_id, word, name));
  return absl::NotFoundError(text);
}

}  // namespace

absl::StatusOr<std::vector<NameIndex::Object>> FindNamed(const Transaction::State& state,
                                                         NameSpace space, int64_t schema_id,
                                                         std::string_view name) {
  std::vector<NameIndex::Object> found;
  for (const NamedRelation& named : kNamedRelations) {
    if (named.space == space) {
      VARVE_RETURN_IF_ERROR(ForEachOwn(state, named, [&](const OwnObject& entry) {
        if (entry.schema_id == schema_id && EqualsIgnoreCase(entry.name, name)) {
          found.push_back(entry.object);
        }
      }));
    }
  }
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const NameIndex> names,
                         state.catalog->Names(state.rows.base().state()));
  const std::optional<NameIndex::Object> in_base = names->Find(space, schema_id, name);
  if (in_base.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const bool changed, IsChanged(state, *in_base));
    if (!changed) {
      found.push_back(*in_base);
    }
  }
  return found;
}

absl::StatusOr<std::optional<NameIndex::Object>> FindName(const Transaction::State& state,
                                                          NameSpace space, int64_t schema_id,
                                                          std::string_view name) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<NameIndex::Object> found,
                         FindNamed(state, space, schema_id, name));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

absl::StatusOr<std::vector<NameIndex::Object>> ObjectsIn(const Transaction::State& state,
                                                         int64_t schema_id) {
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const NameIndex> names,
                         state.catalog->Names(state.rows.base().state()));
  std::vector<NameIndex::Object> objects;
  for (const NameIndex::Object& object : names->ObjectsIn(schema_id)) {
    VARVE_ASSIGN_OR_RETURN(const bool changed, IsChanged(state, object));
    if (!changed) {
      objects.push_back(object);
    }
  }
  for (const NamedRelation& named : kNamedRelations) {
    if (named.space != NameSpace::kSchema) {
      VARVE_RETURN_IF_ERROR(ForEachOwn(state, named, [&](const OwnObject& entry) {
        if (entry.schema_id == schema_id) {
          objects.push_back(entry.object);
        }
      }));
    }
  }
  return objects;
}

absl::StatusOr<int64_t> Transaction::FindSchema(std::string_view name) const {
  return Find(state_.get(), kSchema, 0, name);
}

absl::StatusOr<int64_t> Transaction::FindTable(int64_t schema_id, std::string_view name) const {
  return Find(state_.get(), kTable, schema_id, name);
}

absl::StatusOr<int64_t> Transaction::FindView(int64_t schema_id, std::string_view name) const {
  return Find(state_.get(), kView, schema_id, name);
}

absl::StatusOr<int64_t> Transaction::FindMacro(int64_t schema_id, std::string_view name) const {
  return Find(state_.get(), kMacro, schema_id, name);
}

absl::StatusOr<int64_t> Transaction::FindColumn(int64_t table_id,
                                                std::span<const std::string> path) const {
  VARVE_RETURN_IF_ERROR(ExpectOpen(state_.get()));
  if (path.empty()) {
    return absl::InvalidArgumentError("the path of a column names at least the column");
  }
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state_, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(const TableColumns columns, TableColumns::Load(*state_, table_id));
  std::optional<int64_t> id;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    const TableColumn* const column = columns.FindChild(id, path[depth]);
    if (column == nullptr) {
      return absl::NotFoundError(
          StrCat(depth == 0 ? ObjectText(table)
                            : StrCat("column ", columns.PathText(*id), " of ", ObjectText(table)),
                 " has no ", depth == 0 ? "column" : "field", " ", ShownName(path[depth]),
                 columns.DidYouMean(id, path[depth])));
    }
    id = column->id;
  }
  return *id;
}

}  // namespace varve

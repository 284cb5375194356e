#include "catalog/transaction/definitions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/handle.h"
#include "catalog/load/bootstrap.h"
#include "catalog/payload_codec.h"
#include "catalog/transaction/inlined_relations.h"

namespace varve {
namespace {

// A longer name would not do as that of a directory.
constexpr size_t kMaxDirectoryBytes = 200;

struct ObjectTerms {
  std::string_view word;
  std::string_view id_column;
  std::string_view name_column;
  Operation drop;  // names the kind of object in messages
};

ObjectTerms TermsOf(RelationId relation) {
  switch (relation) {
    case kSchema: return {"schema", "schema_id", "schema_name", Operation::kDropSchema};
    case kTable: return {"table", "table_id", "table_name", Operation::kDropTable};
    case kView: return {"view", "view_id", "view_name", Operation::kDropView};
    default: return {"macro", "macro_id", "macro_name", Operation::kDropScalarMacro};
  }
}

// A name of letters, digits, - and _ is its own directory; any other object lives under its UUID.
bool IsPlain(std::string_view name) {
  return name.size() <= kMaxDirectoryBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_');
         });
}

LiveObject ObjectOf(RelationId relation, const RelationSchema& schema, int64_t id, Row row) {
  LiveObject object{.relation = relation, .id = id};
  object.name = TextOf(schema, row, TermsOf(relation).name_column);
  if (relation != kSchema) {
    object.schema_id = IdOf(schema, row, "schema_id").value_or(-1);
  }
  object.row = std::move(row);
  return object;
}

}  // namespace

// --- Rows by column name ---

void SetColumn(const RelationSchema& relation, const NamedValue& value, Row* row) {
  row->Set(*relation.columns.Find(value.column), value.value);
}

Row RowWith(const RelationSchema& relation, std::initializer_list<NamedValue> values) {
  Row row(relation.columns.num_columns());
  for (const NamedValue& value : values) {
    SetColumn(relation, value, &row);
  }
  return row;
}

const Datum& ColumnOf(const RelationSchema& relation, const Row& row, std::string_view column) {
  return row[*relation.columns.Find(column)];
}

std::string TextOf(const RelationSchema& relation, const Row& row, std::string_view column) {
  const Datum& value = ColumnOf(relation, row, column);
  return value.is_null() ? std::string() : std::string(value.bytes());
}

std::optional<int64_t> IdOf(const RelationSchema& relation, const Row& row,
                            std::string_view column) {
  const Datum& value = ColumnOf(relation, row, column);
  return value.is_null() ? std::nullopt : std::optional<int64_t>(value.int64_value());
}

std::vector<Datum> HandleValues(const RelationSchema& relation, const Row& row) {
  std::vector<Datum> key;
  key.reserve(relation.handle.size());
  for (const size_t column : relation.handle) {
    key.push_back(row[column]);
  }
  return key;
}

// --- Texts and names ---

absl::Status CheckText(std::string_view what, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(StrCat(what, " holds a NUL byte"));
  }
  if (!IsValidUtf8(text)) {
    return absl::InvalidArgumentError(StrCat(what, " is not valid UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view what, std::string_view name) {
  const std::string of = StrCat("the name of ", what);
  if (name.empty()) {
    return absl::InvalidArgumentError(StrCat(of, " is empty"));
  }
  if (name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(StrCat(of, ", ", ShownName(name), ", is ", name.size(),
                                             " bytes long; at most ", kMaxNameBytes,
                                             " are allowed"));
  }
  return CheckText(StrCat(of, ", ", ShownName(name), ","), name);
}

absl::StatusOr<Datum> UuidToStore(std::string_view uuid) {
  const std::string text = uuid.empty() ? RandomUuid() : std::string(uuid);
  Datum value;
  std::string scratch;
  VARVE_RETURN_IF_ERROR(ParseDatum(TypeKind::kUuid, text, BlobText::kHex, &scratch, &value));
  return value;
}

absl::StatusOr<std::string> PathToStore(const ObjectOptions& options, std::string_view name,
                                        const Datum& uuid) {
  if (!options.path.has_value()) {
    return StrCat(IsPlain(name) ? std::string(name) : ToText(TypeKind::kUuid, uuid), "/");
  }
  VARVE_RETURN_IF_ERROR(CheckText("the path", *options.path));
  if (options.path->empty()) {
    return absl::InvalidArgumentError(
        "the path is empty; leave it unset to have one made from the name");
  }
  return options.path->ends_with('/') || options.path->ends_with('\\') ? *options.path
                                                                       : *options.path + "/";
}

// --- Objects ---

absl::StatusOr<std::optional<LiveObject>> TryFindLive(const TransactionRows& rows,
                                                      RelationId relation, int64_t id) {
  const RelationRef schema = rows.relation(relation);
  const Datum key[] = {Datum::Int64(id)};
  VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row, rows.Get(schema, key));
  if (!row.has_value()) {
    return std::nullopt;
  }
  LiveObject object = ObjectOf(relation, *schema, id, std::move(row->values));
  if (relation != kSchema) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<LiveObject> parent,
                           TryFindLive(rows, kSchema, object.schema_id));
    object.schema_name = parent.has_value() ? parent->name : std::string();
  }
  return object;
}

absl::StatusOr<LiveObject> FindLive(const Transaction::State& state, RelationId relation,
                                    int64_t id) {
  VARVE_ASSIGN_OR_RETURN(std::optional<LiveObject> object, TryFindLive(state.rows, relation, id));
  if (object.has_value()) {
    return *std::move(object);
  }
  const std::string_view word = TermsOf(relation).word;
  const RelationRef& schema = state.relation(relation);
  const Datum key[] = {Datum::Int64(id)};
  VARVE_ASSIGN_OR_RETURN(std::vector<VersionedRow> versions, state.rows.Versions(schema, key));
  if (versions.empty()) {
    return absl::NotFoundError(StrCat("there is no ", word, " with id ", id));
  }
  const LiveObject last = ObjectOf(relation, *schema, id, std::move(versions.back().values));
  return absl::NotFoundError(
      StrCat(word, " ", ShownName(last.name), " (id ", id, ") has been dropped"));
}

Action ActionOn(const LiveObject& object, Operation operation) {
  Action action{.operation = operation,
                .id = object.id,
                .schema_id = object.schema_id,
                .schema_name = object.schema_name,
                .name = object.name};
  if (IsRename(operation)) {
    action.old_schema_name = object.schema_name;
    action.old_name = object.name;
  }
  return action;
}

std::string ObjectText(const LiveObject& object) {
  return ObjectText(ActionOn(object, TermsOf(object.relation).drop));
}

absl::Status ExpectFree(const Transaction::State& state, NameSpace space, const Action& action,
                        std::optional<NameIndex::Object> but_for) {
  VARVE_ASSIGN_OR_RETURN(
      const std::vector<NameIndex::Object> found,
      FindNamed(state, space, space == NameSpace::kSchema ? 0 : action.schema_id, action.name));
  for (const NameIndex::Object& other : found) {
    if (!but_for.has_value() || other.relation != but_for->relation || other.id != but_for->id) {
      VARVE_ASSIGN_OR_RETURN(const LiveObject object, FindLive(state, other.relation, other.id));
      return absl::AlreadyExistsError(StrCat(ObjectText(object), " exists already"));
    }
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<bool> HasRow(const Transaction::State& state, const RelationRef& relation,
                            std::vector<Datum> prefix, SnapshotId before) {
  ScanOptions options;
  options.columns.emplace();
  options.key_prefix = std::move(prefix);
  options.limit = 1;
  if (before != kNoEnd) {
    std::vector<Term> terms;
    terms.push_back({.column = *relation->begin_column,
                     .op = Comparison::kLess,
                     .constants = Row(std::array{Datum::Int64(static_cast<int64_t>(before))})});
    options.predicate = Predicate(std::move(terms));
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state.rows.Scan(relation, options));
  ScanBatch batch;
  return scan->Next(&batch);
}

}  // namespace

absl::StatusOr<bool> HasRows(const Transaction::State& state, int64_t table_id, SnapshotId before) {
  const std::vector<Datum> of_table = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(bool found, HasRow(state, state.relation(kDataFile), of_table, before));
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations,
                         InlinedRelationsOf(state, table_id));
  for (const RelationRef& relation : relations) {
    if (!found) {
      VARVE_ASSIGN_OR_RETURN(found, HasRow(state, relation, {}, before));
    }
  }
  return found;
}

// --- Parts of operations ---

absl::Status EndAll(Transaction::State* state, RelationId relation, std::span<const Datum> prefix) {
  const RelationRef& schema = state->relation(relation);
  std::vector<Row> keys;
  VARVE_RETURN_IF_ERROR(
      state->rows.ForEach(schema, prefix, [&](const VersionedRow& row) -> absl::Status {
        keys.emplace_back(HandleValues(*schema, row.values));
        return absl::OkStatus();
      }));
  for (const Row& key : keys) {
    VARVE_RETURN_IF_ERROR(state->rows.End(schema, key.values()));
  }
  return absl::OkStatus();
}

absl::Status EraseOwn(Transaction::State* state, RelationId relation, std::span<const Datum> prefix,
                      const std::optional<NamedValue>& where) {
  const auto changes = state->rows.changes().find(relation);
  if (changes == state->rows.changes().end()) {
    return absl::OkStatus();
  }
  const RelationRef& schema = state->relation(relation);
  std::string handle_prefix;
  VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*schema, prefix, &handle_prefix));
  std::vector<size_t> columns = schema->handle;
  if (where.has_value()) {
    const size_t column = *schema->columns.Find(where->column);
    const auto in_key = std::find(columns.begin(), columns.end(), column);
    if (in_key == columns.end()) {
      columns.push_back(column);
    }
  }
  const RowDecoder decoder(schema, columns);
  const size_t num_keys = schema->handle.size();
  struct Own {
    Row key;
    SnapshotId begin;
  };
  std::vector<Own> own;
  DecodedHandle scratch;
  std::vector<Datum> values(columns.size());
  for (auto it = changes->second.lower_bound(handle_prefix);
       it != changes->second.end() && it->first.starts_with(handle_prefix); ++it) {
    for (const GroupVersion& version : it->second.group.versions()) {
      if (version.stored || version.erased) {
        continue;
      }
      VARVE_RETURN_IF_ERROR(
          decoder.Decode(it->first, version.begin, version.end, version.payload, &scratch, values));
      const bool wanted =
          !where.has_value() ||
          values[static_cast<size_t>(
              std::find(columns.begin(), columns.end(), *schema->columns.Find(where->column)) -
              columns.begin())] == where->value;
      if (wanted) {
        own.push_back({.key = Row(std::span(values).first(num_keys)), .begin = version.begin});
      }
    }
  }
  for (const Own& row : own) {
    VARVE_RETURN_IF_ERROR(state->rows.Erase(schema, row.key.values(), row.begin));
  }
  return absl::OkStatus();
}

}  // namespace varve

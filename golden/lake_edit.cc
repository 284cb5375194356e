#include "golden/lake_edit.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve::golden {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

bool HasTexts(const LakeRow& row, const std::vector<NamedText>& where) {
  return std::all_of(where.begin(), where.end(),
                     [&](const NamedText& term) { return row.Text(term.column) == term.text; });
}

std::vector<Datum> HandleOf(const RelationSchema& relation, const Row& row) {
  std::vector<Datum> key;
  for (const size_t column : relation.handle) {
    key.push_back(row[column]);
  }
  return key;
}

bool IsOnlyOneOfItsHandle(const ModelRelation& relation, const Row& row) {
  const std::vector<Datum> key = HandleOf(*relation.schema, row);
  return std::count_if(relation.rows.begin(), relation.rows.end(), [&](const auto& entry) {
           return HasHandle(*relation.schema, entry.second.values, key);
         }) == 1;
}

// What happened to rows that were there before.
absl::Status AddChangesOfOldRows(const ModelRelation& before, const ModelRelation& after,
                                 ChangeSet* changes) {
  for (const auto& [number, row] : before.rows) {
    const auto found = after.rows.find(number);
    const std::vector<Datum> key = HandleOf(*before.schema, row.values);
    if (found == after.rows.end()) {
      changes->Erase(before.schema, key, row.begin);
    } else if (found->second.end != row.end) {
      changes->End(before.schema, key, found->second.end);
    } else if (!(found->second.values == row.values)) {
      if (before.schema->versioning != Versioning::kUnversioned) {
        return absl::InvalidArgumentError(
            StrCat("a row of ", before.schema->name, " would change without a new version"));
      }
      changes->Put(before.schema, found->second.values);
    }
  }
  return absl::OkStatus();
}

void AddNewRows(const ModelRelation* before, const ModelRelation& after, ChangeSet* changes) {
  for (const auto& [number, row] : after.rows) {
    if (before != nullptr && before->rows.contains(number)) {
      continue;
    }
    const bool put = after.schema->versioning == Versioning::kUnversioned &&
                     IsOnlyOneOfItsHandle(after, row.values);
    put ? changes->Put(after.schema, row.values) : changes->Insert(after.schema, row.values);
  }
}

// The order in which changes_made lists what a snapshot did.
size_t RankOfToken(std::string_view token) {
  static constexpr auto kOrder = std::to_array<std::string_view>(
      {"dropped_schema", "dropped_table", "dropped_view", "created_schema", "created_table",
       "created_view", "created_scalar_macro", "created_table_macro", "dropped_scalar_macro",
       "dropped_table_macro", "inserted_into_table", "deleted_from_table", "altered_table",
       "altered_view", "inlined_insert", "inlined_delete", "merge_adjacent"});
  const auto* found = std::find(kOrder.begin(), kOrder.end(), token.substr(0, token.find(':')));
  return static_cast<size_t>(found - kOrder.begin());
}

// Of the same kind: objects named by id in order of their ids; others keep the order they came in.
int64_t IdOfToken(std::string_view token) {
  return ParseNumber<int64_t>(token.substr(token.find(':') + 1)).value_or(0);
}

}  // namespace

Literal LakeRow::Text(std::string_view column) const {
  const size_t index = *relation->schema->columns.Find(column);
  const Datum& value = row().values[index];
  return value.is_null() ? Literal() : ToText(relation->schema->columns.column(index).type, value);
}

int64_t LakeRow::Id(std::string_view column) const {
  return row().values[*relation->schema->columns.Find(column)].int64_value();
}

absl::StatusOr<LakeEdit> LakeEdit::Begin(const Model& model, const Block& block) {
  LakeEdit edit(model);
  const SnapshotId last = model.Snapshots().back();
  VARVE_ASSIGN_OR_RETURN(
      LakeRow row,
      edit.One("ducklake_snapshot", {{"snapshot_id", std::to_string(last)}}, "last snapshot"));
  if (block.id.has_value() && *block.id <= last) {
    return absl::InvalidArgumentError(
        StrCat("snapshot ", *block.id, " is not above the last one, ", last));
  }
  edit.schema_version_ = row.Id("schema_version");
  edit.next_catalog_id_ = row.Id("next_catalog_id");
  edit.next_file_id_ = row.Id("next_file_id");
  edit.snapshot_ = block.makes_snapshot ? block.id.value_or(last + 1) : last;
  const int64_t micros = row.Id("snapshot_time") + (block.makes_snapshot ? kMicrosPerSecond : 0);
  edit.snapshot_time_ = ToText(TypeKind::kTimestampTz, Datum::Int64(micros));
  return edit;
}

std::vector<LakeRow> LakeEdit::All(std::string_view relation,
                                   const std::vector<NamedText>& where) const {
  const ModelRelation* rows = after_.Find(relation);
  std::vector<LakeRow> found;
  if (rows == nullptr) {
    return found;
  }
  for (const auto& [number, row] : rows->rows) {
    const LakeRow candidate = {.relation = rows, .number = number};
    if (HasTexts(candidate, where)) {
      found.push_back(candidate);
    }
  }
  return found;
}

std::vector<LakeRow> LakeEdit::Live(std::string_view relation,
                                    const std::vector<NamedText>& where) const {
  std::vector<LakeRow> found = All(relation, where);
  std::erase_if(found, [](const LakeRow& row) { return row.row().end != kNoEnd; });
  return found;
}

absl::StatusOr<LakeRow> LakeEdit::One(std::string_view relation,
                                      const std::vector<NamedText>& where,
                                      std::string_view what) const {
  const std::vector<LakeRow> found = Live(relation, where);
  if (found.size() != 1) {
    return absl::NotFoundError(
        StrCat(found.empty() ? "there is no " : "there is more than one ", what));
  }
  return found.front();
}

absl::Status LakeEdit::Insert(std::string_view relation, std::vector<NamedText> columns) {
  const ModelRelation* target = after_.Find(relation);
  if (target == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", relation));
  }
  const RelationSchema& schema = *target->schema;
  if (schema.begin_column.has_value()) {
    const std::string& begin = schema.columns.column(*schema.begin_column).name;
    columns.insert(columns.begin(), {.column = begin, .text = std::to_string(snapshot_)});
  }
  VARVE_ASSIGN_OR_RETURN(Row row, MakeRow(schema, columns));
  after_.Add(relation, std::move(row));
  return absl::OkStatus();
}

absl::Status LakeEdit::Put(std::string_view relation, const std::vector<NamedText>& columns) {
  ModelRelation* target = after_.FindMutable(relation);
  if (target == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", relation));
  }
  VARVE_ASSIGN_OR_RETURN(Row row, MakeRow(*target->schema, columns));
  const std::vector<Datum> key = HandleOf(*target->schema, row);
  for (auto& [number, old] : target->rows) {
    if (HasHandle(*target->schema, old.values, key)) {
      for (const NamedText& column : columns) {
        VARVE_RETURN_IF_ERROR(SetColumn(*target->schema, column, &old.values));
      }
      return absl::OkStatus();
    }
  }
  after_.Add(relation, std::move(row));
  return absl::OkStatus();
}

void LakeEdit::EndAt(const LakeRow& row, SnapshotId end) {
  if (row.row().begin == end) {
    Erase(row);
    return;
  }
  ModelRelation* relation = after_.FindMutable(row.relation->schema->name);
  ModelRow& ended = relation->rows.at(row.number);
  ended.end = end;
  ended.values.Set(*relation->schema->end_column, Datum::Int64(static_cast<int64_t>(end)));
}

void LakeEdit::EndAll(std::string_view relation, const std::vector<NamedText>& where) {
  for (const LakeRow& row : Live(relation, where)) {
    End(row);
  }
}

absl::Status LakeEdit::Replace(const LakeRow& row, const std::vector<NamedText>& changes) {
  const RelationSchema& schema = *row.relation->schema;
  Row successor = row.row().values;
  for (const NamedText& change : changes) {
    VARVE_RETURN_IF_ERROR(SetColumn(schema, change, &successor));
  }
  successor.Set(*schema.begin_column, Datum::Int64(static_cast<int64_t>(snapshot_)));
  End(row);
  after_.Add(schema.name, std::move(successor));
  return absl::OkStatus();
}

void LakeEdit::Erase(const LakeRow& row) {
  after_.FindMutable(row.relation->schema->name)->rows.erase(row.number);
}

void LakeEdit::EraseAll(std::string_view relation, const std::vector<NamedText>& where) {
  for (const LakeRow& row : All(relation, where)) {
    Erase(row);
  }
}

absl::Status LakeEdit::ChangesSchemaOf(int64_t table_id) {
  ChangesSchema();
  const std::vector<NamedText> version = {{"table_id", Num(table_id)},
                                          {"schema_version", Num(schema_version())}};
  return All("ducklake_schema_versions", version).empty()
             ? Insert("ducklake_schema_versions", version)
             : absl::OkStatus();
}

void LakeEdit::Note(std::string_view token) {
  if (std::find(tokens_.begin(), tokens_.end(), token) == tokens_.end()) {
    tokens_.emplace_back(token);
  }
}

std::string LakeEdit::ChangesMade() const {
  std::vector<std::string> tokens = tokens_;
  std::stable_sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) {
    return std::pair(RankOfToken(a), IdOfToken(a)) < std::pair(RankOfToken(b), IdOfToken(b));
  });
  return StrJoin(tokens, ",");
}

absl::StatusOr<ChangeSet> LakeEdit::Finish(const Model& model, const Block& block) {
  const std::string id = std::to_string(snapshot_);
  if (block.makes_snapshot) {
    VARVE_RETURN_IF_ERROR(Insert("ducklake_snapshot", {{"snapshot_id", id},
                                                       {"snapshot_time", snapshot_time_},
                                                       {"schema_version", Num(schema_version())},
                                                       {"next_catalog_id", Num(next_catalog_id_)},
                                                       {"next_file_id", Num(next_file_id_)}}));
    VARVE_RETURN_IF_ERROR(
        Insert("ducklake_snapshot_changes", {{"snapshot_id", id},
                                             {"changes_made", ChangesMade()},
                                             {"author", block.author},
                                             {"commit_message", block.message},
                                             {"commit_extra_info", block.extra}}));
  } else if (!tokens_.empty()) {
    return absl::InvalidArgumentError(
        StrCat("upkeep makes no snapshot and cannot do ", ChangesMade()));
  }
  ChangeSet changes;
  for (const ModelRelation& relation : model.relations()) {
    if (after_.Find(relation.schema->name) == nullptr) {
      changes.DropRelation(relation.schema->name);
    }
  }
  for (const ModelRelation& relation : after_.relations()) {
    const ModelRelation* before = model.Find(relation.schema->name);
    if (before == nullptr) {
      changes.CreateRelation(*relation.schema);
    } else {
      VARVE_RETURN_IF_ERROR(AddChangesOfOldRows(*before, relation, &changes));
    }
    AddNewRows(before, relation, &changes);
  }
  return changes;
}

}  // namespace varve::golden

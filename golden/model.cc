#include "golden/model.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve::golden {
namespace {

// Ascending by the handle's values, then by begin. Equal ones keep their order.
void SortByHandle(const RelationSchema& relation, std::vector<ModelRow>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [&](const ModelRow& a, const ModelRow& b) {
    for (const size_t column : relation.handle) {
      const auto order = CompareDatums(a.values[column], b.values[column]);
      if (order != std::strong_ordering::equal) {
        return order == std::strong_ordering::less;
      }
    }
    return a.begin < b.begin;
  });
}

// All versions of the parent of a child row.
std::vector<ModelRow> ParentsOf(const ModelRelation& child, const ModelRelation& parent,
                                const ModelRow& row) {
  std::vector<Datum> key;
  for (const size_t column : child.schema->parent_handle) {
    key.push_back(row.values[column]);
  }
  std::vector<ModelRow> parents;
  for (const auto& [number, candidate] : parent.rows) {
    if (HasHandle(*parent.schema, candidate.values, key)) {
      parents.push_back(candidate);
    }
  }
  return parents;
}

bool IsThereAt(const ModelRow& row, SnapshotId snapshot) {
  return row.begin <= snapshot && snapshot < row.end;
}

}  // namespace

absl::StatusOr<Model> Model::Bootstrap(std::string_view snapshot_time, std::string_view data_path,
                                       std::string_view schema_uuid) {
  Model model;
  for (const RelationRef& relation : BuiltinRelations()) {
    model.relations_.push_back({.schema = relation});
  }
  const auto add = [&](std::string_view relation,
                       const std::vector<NamedText>& columns) -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(Row row, MakeRow(*model.Find(relation)->schema, columns));
    model.Add(relation, std::move(row));
    return absl::OkStatus();
  };
  VARVE_RETURN_IF_ERROR(add("ducklake_metadata", {{"key", "version"}, {"value", "1.0"}}));
  VARVE_RETURN_IF_ERROR(
      add("ducklake_metadata", {{"key", "data_path"}, {"value", std::string(data_path)}}));
  VARVE_RETURN_IF_ERROR(add("ducklake_metadata", {{"key", "encrypted"}, {"value", "false"}}));
  VARVE_RETURN_IF_ERROR(add("ducklake_snapshot", {{"snapshot_id", "0"},
                                                  {"snapshot_time", std::string(snapshot_time)},
                                                  {"schema_version", "0"},
                                                  {"next_catalog_id", "1"},
                                                  {"next_file_id", "0"}}));
  VARVE_RETURN_IF_ERROR(add("ducklake_snapshot_changes",
                            {{"snapshot_id", "0"}, {"changes_made", "created_schema:\"main\""}}));
  VARVE_RETURN_IF_ERROR(add("ducklake_schema", {{"schema_id", "0"},
                                                {"schema_uuid", std::string(schema_uuid)},
                                                {"begin_snapshot", "0"},
                                                {"schema_name", "main"},
                                                {"path", "main/"},
                                                {"path_is_relative", "true"}}));
  return model;
}

const ModelRelation* Model::Find(std::string_view name) const {
  const auto found = std::find_if(relations_.begin(), relations_.end(), [&](const auto& relation) {
    return relation.schema->name == name;
  });
  return found == relations_.end() ? nullptr : &*found;
}

ModelRelation* Model::FindMutable(std::string_view name) {
  return const_cast<ModelRelation*>(Find(name));
}

ModelRow& Model::Add(std::string_view relation, Row values) {
  ModelRelation& target = *FindMutable(relation);
  ModelRow row = {.values = std::move(values)};
  TakeInterval(*target.schema, &row);
  return target.rows.emplace(next_row_++, std::move(row)).first->second;
}

absl::Status Model::CreateRelation(RelationSchema schema) {
  if (Find(schema.name) != nullptr) {
    return absl::AlreadyExistsError(StrCat("model: relation ", schema.name, " exists"));
  }
  relations_.push_back({.schema = std::make_shared<const RelationSchema>(std::move(schema))});
  return absl::OkStatus();
}

absl::Status Model::DropRelation(std::string_view name) {
  const size_t dropped = std::erase_if(
      relations_, [&](const ModelRelation& relation) { return relation.schema->name == name; });
  return dropped == 1 ? absl::OkStatus()
                      : absl::NotFoundError(StrCat("model: no relation ", name, " to drop"));
}

absl::Status Model::Apply(const ChangeSet& changes) {
  for (const RelationSchema& relation : changes.created()) {
    VARVE_RETURN_IF_ERROR(CreateRelation(relation));
  }
  for (const RowChange& change : changes.changes()) {
    VARVE_RETURN_IF_ERROR(ApplyChange(change));
  }
  for (const std::string& name : changes.dropped()) {
    VARVE_RETURN_IF_ERROR(DropRelation(name));
  }
  return absl::OkStatus();
}

absl::Status Model::Rebind(const RelationDirectory& directory) {
  for (ModelRelation& relation : relations_) {
    RelationRef found = directory.FindByName(relation.schema->name);
    if (found == nullptr) {
      return absl::NotFoundError(
          StrCat("the catalog's directory has no relation ", relation.schema->name));
    }
    relation.schema = std::move(found);
  }
  return absl::OkStatus();
}

absl::Status Model::ApplyChange(const RowChange& change) {
  ModelRelation* relation = FindMutable(change.relation->name);
  if (relation == nullptr) {
    return absl::NotFoundError(StrCat("model: no relation ", change.relation->name));
  }
  const RelationSchema& schema = *relation->schema;
  if (change.kind == RowChange::Kind::kInsert) {
    Add(schema.name, change.row);
    return absl::OkStatus();
  }
  // A put gives a whole row, the others its handle only.
  std::vector<Datum> key(change.row.values().begin(), change.row.values().end());
  if (change.kind == RowChange::Kind::kPut) {
    key.clear();
    for (const size_t column : schema.handle) {
      key.push_back(change.row[column]);
    }
  }
  const auto found = std::find_if(relation->rows.begin(), relation->rows.end(), [&](auto& entry) {
    const ModelRow& row = entry.second;
    return HasHandle(schema, row.values, key) &&
           (change.kind != RowChange::Kind::kEnd || row.end == kNoEnd) &&
           (change.kind != RowChange::Kind::kErase || row.begin == change.begin);
  });
  if (change.kind == RowChange::Kind::kPut && found == relation->rows.end()) {
    Add(schema.name, change.row);
    return absl::OkStatus();
  }
  if (found == relation->rows.end()) {
    return absl::NotFoundError(StrCat("model: no such row of ", schema.name));
  }
  switch (change.kind) {
    case RowChange::Kind::kPut: found->second.values = change.row; break;
    case RowChange::Kind::kErase: relation->rows.erase(found); break;
    case RowChange::Kind::kEnd:
      found->second.values.Set(*schema.end_column, Datum::Int64(static_cast<int64_t>(change.end)));
      found->second.end = change.end;
      break;
    case RowChange::Kind::kInsert: break;
  }
  return absl::OkStatus();
}

const ModelRelation* Model::ParentOf(const ModelRelation& relation) const {
  return relation.schema->versioning == Versioning::kViaParent
             ? Find(BuiltinRelationById(relation.schema->parent)->name)
             : nullptr;
}

std::vector<ModelRow> Model::Visible(const ModelRelation& relation, SnapshotId snapshot) const {
  const ModelRelation* parent = ParentOf(relation);
  std::vector<ModelRow> rows;
  for (const auto& [number, row] : relation.rows) {
    const std::vector<ModelRow> versions =
        parent != nullptr ? ParentsOf(relation, *parent, row) : std::vector<ModelRow>{row};
    if (std::any_of(versions.begin(), versions.end(),
                    [&](const ModelRow& version) { return IsThereAt(version, snapshot); })) {
      rows.push_back(row);
    }
  }
  SortByHandle(*relation.schema, &rows);
  return rows;
}

std::vector<ModelRow> Model::All(const ModelRelation& relation) const {
  const ModelRelation* parent = ParentOf(relation);
  std::vector<ModelRow> rows;
  for (const auto& [number, row] : relation.rows) {
    rows.push_back(row);
    if (parent == nullptr) {
      continue;
    }
    rows.back().begin = kNoEnd;
    rows.back().end = kNoEnd;
    for (const ModelRow& version : ParentsOf(relation, *parent, row)) {
      const bool first = rows.back().begin == kNoEnd;
      rows.back().begin = std::min(rows.back().begin, version.begin);
      rows.back().end = first ? version.end : std::max(rows.back().end, version.end);
    }
  }
  SortByHandle(*relation.schema, &rows);
  return rows;
}

std::vector<SnapshotId> Model::Snapshots() const {
  std::vector<SnapshotId> ids;
  for (const ModelRow& row : All(*Find("ducklake_snapshot"))) {
    ids.push_back(row.begin);
  }
  return ids;
}

bool HasHandle(const RelationSchema& relation, const Row& row, std::span<const Datum> key) {
  for (size_t i = 0; i < relation.handle.size(); ++i) {
    if (row[relation.handle[i]] != key[i]) {
      return false;
    }
  }
  return !relation.handle.empty();
}

void TakeInterval(const RelationSchema& relation, ModelRow* row) {
  if (relation.begin_column.has_value()) {
    row->begin = static_cast<SnapshotId>(row->values[*relation.begin_column].int64_value());
  }
  if (relation.end_column.has_value()) {
    const Datum& end = row->values[*relation.end_column];
    row->end = end.is_null() ? kNoEnd : static_cast<SnapshotId>(end.int64_value());
  }
}

absl::Status SetColumn(const RelationSchema& relation, const NamedText& column, Row* row) {
  const std::optional<size_t> index = relation.columns.Find(column.column);
  if (!index.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("relation ", relation.name, " has no column ", column.column));
  }
  if (!column.text.has_value()) {
    row->Set(*index, Datum::Null());
    return absl::OkStatus();
  }
  Datum value;
  std::string scratch;
  const Type& type = relation.columns.column(*index).type;
  if (absl::Status status = ParseDatum(type, *column.text, BlobText::kHex, &scratch, &value);
      !status.ok()) {
    return absl::InvalidArgumentError(
        StrCat(relation.name, ".", column.column, ": ", MessageOf(status)));
  }
  row->Set(*index, value);
  return absl::OkStatus();
}

absl::StatusOr<Row> MakeRow(const RelationSchema& relation, const std::vector<NamedText>& columns) {
  Row row(relation.columns.num_columns());
  for (const NamedText& column : columns) {
    VARVE_RETURN_IF_ERROR(SetColumn(relation, column, &row));
  }
  return row;
}

}  // namespace varve::golden

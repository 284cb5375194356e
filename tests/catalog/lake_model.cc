// The model's rows and its time; the rest is in
// lake_model_objects.cc, _columns.cc, _files.cc, _inlined.cc and _statistics.cc.
#include "tests/catalog/lake_model.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "base/strings.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

// Relations whose rows have a begin and an end as columns.
constexpr std::array<std::string_view, 11> kWithInterval = {
    "ducklake_schema",         "ducklake_table",     "ducklake_view",     "ducklake_tag",
    "ducklake_column_tag",     "ducklake_data_file", "ducklake_column",   "ducklake_delete_file",
    "ducklake_partition_info", "ducklake_macro",     "ducklake_sort_info"};

bool HasInterval(std::string_view relation) {
  return relation.starts_with("inlined rows ") ||
         std::find(kWithInterval.begin(), kWithInterval.end(), relation) != kWithInterval.end();
}

bool Matches(const LakeRow& row, const std::vector<std::pair<std::string, std::string>>& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& column) {
    const auto found = row.find(column.first);
    return found != row.end() && found->second == column.second;
  });
}

}  // namespace

LakeModel::LakeModel() {
  Insert("ducklake_schema", {{"schema_id", "0"},
                             {"schema_uuid", std::string(kMainUuid)},
                             {"schema_name", "main"},
                             {"path", "main/"},
                             {"path_is_relative", "true"}});
  for (const auto& [key, value] : {std::pair("version", "1.0"), std::pair("data_path", "/lake/"),
                                   std::pair("encrypted", "false")}) {
    Insert("ducklake_metadata", {{"key", key}, {"value", value}});
  }
  Insert("ducklake_snapshot", {{"snapshot_id", "0"}, {"schema_version", "0"}});
  Insert("ducklake_snapshot_changes", {{"snapshot_id", "0"}});
  catalog_ids_.insert(0);
}

// --- Telling it ---

void LakeModel::Begin(SnapshotId snapshot, bool provisional) {
  now_ = snapshot;
  provisional_ = provisional;
  provisional_row_ids_.clear();
  stats_before_ = relations_["ducklake_table_stats"];
  values_before_ = values_;
  ids_before_ = {catalog_ids_, file_ids_, next_catalog_id_, next_file_id_};
  made_.clear();
  renamed_.clear();
  altered_.clear();
  words_.clear();
  touched_.clear();
}

void LakeModel::Apply(const LakeOperation& operation) {
  current_ = ToText(operation);
  object_ = operation.object;
  touched_.insert(operation.object);
  touched_.insert(operation.made.begin(), operation.made.end());
  if (operation.kind >= Kind::kInsertInlined) {
    ApplyToInlined(operation);
  } else if (operation.kind >= Kind::kCreateNameMapping) {
    ApplyToFiles(operation);
  } else if (operation.kind >= Kind::kAddColumn && operation.kind <= Kind::kSetSortOrder) {
    ApplyToColumns(operation);
  } else {
    ApplyToObjects(operation);
  }
  Sweep();
}

bool LakeModel::Commit(const CommitMessage& message) {
  current_ = "the commit";
  object_ = kNoObject;
  struct Named {
    const char* relation;
    const char* id_column;
    const char* name_column;
    const char* word;
  };
  constexpr std::array<Named, 3> kNamed = {
      Named{"ducklake_schema", "schema_id", "schema_name", "created_schema:"},
      Named{"ducklake_table", "table_id", "table_name", "created_table:"},
      Named{"ducklake_view", "view_id", "view_name", "created_view:"}};
  // A rename is told as a creation.
  std::set<int64_t> named = made_;
  named.insert(renamed_.begin(), renamed_.end());
  for (const int64_t id : named) {
    for (const Named& kind : kNamed) {
      for (const Version* object : Live(kind.relation, {{kind.id_column, StrCat(id)}})) {
        const std::string& name = object->row.at(kind.name_column);
        words_.insert(kind.word + (object->row.contains("schema_uuid")
                                       ? QuotedName(name)
                                       : QualifiedName(NumberOf(object->row, "schema_id"), name)));
      }
    }
    for (const Version* macro : Live("ducklake_macro", {{"macro_id", StrCat(id)}})) {
      const bool is_table =
          !Live("ducklake_macro_impl", {{"macro_id", StrCat(id)}, {"type", "table"}}).empty();
      words_.insert(
          StrCat(is_table ? "created_table_macro:" : "created_scalar_macro:",
                 QualifiedName(NumberOf(macro->row, "schema_id"), macro->row.at("macro_name"))));
    }
  }
  // Columns that came and went with the transaction were never there.
  last_column_id_.clear();
  for (const Version& column : relations_["ducklake_column"]) {
    int64_t& last = last_column_id_[NumberOf(column.row, "table_id")];
    last = std::max(last, NumberOf(column.row, "column_id"));
  }
  if (words_.empty()) {
    // What it made it has dropped again; the ids are still to be given.
    std::tie(catalog_ids_, file_ids_, next_catalog_id_, next_file_id_) = ids_before_;
    return false;
  }
  const bool changes_schema = std::any_of(words_.begin(), words_.end(), [](const auto& word) {
    return word.starts_with("created_") || word.starts_with("dropped_") ||
           word.starts_with("altered_");
  });
  schema_version_ += changes_schema ? 1 : 0;
  last_snapshot_ = now_;
  const std::string id = StrCat(now_);
  Insert("ducklake_snapshot", {{"snapshot_id", id}, {"schema_version", StrCat(schema_version_)}});
  LakeRow changes = {{"snapshot_id", id}};
  for (const auto& [column, text] :
       {std::pair("author", &message.author), std::pair("commit_message", &message.message),
        std::pair("commit_extra_info", &message.extra_info)}) {
    if (text->has_value()) {
      changes[column] = **text;
    }
  }
  Insert("ducklake_snapshot_changes", std::move(changes));
  for (const int64_t table : altered_) {
    Insert("ducklake_schema_versions", {{"begin_snapshot", id},
                                        {"schema_version", StrCat(schema_version_)},
                                        {"table_id", StrCat(table)}});
  }
  for (auto& [relation, versions] : relations_) {
    for (Version& version : versions) {
      version.follows_columns = false;
    }
  }
  return true;
}

// --- Asking it ---

std::vector<std::string> LakeModel::Relations() const {
  std::vector<std::string> names;
  for (const auto& [name, versions] : relations_) {
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> LakeModel::Rows(const std::string& relation, SnapshotId at) const {
  std::vector<std::string> lines;
  const auto found = relations_.find(relation);
  if (found == relations_.end()) {
    return lines;
  }
  for (const Version& version : found->second) {
    if (version.begin > at || at >= version.end) {
      continue;
    }
    if (!HasInterval(relation)) {
      lines.push_back(LineOf(version.row));
      continue;
    }
    LakeRow row = version.row;
    row["begin_snapshot"] = StrCat(version.begin);
    if (version.end != kNoEnd) {
      row["end_snapshot"] = StrCat(version.end);
    }
    lines.push_back(LineOf(row));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<LakeRow> LakeModel::LiveRows(const std::string& relation) const {
  std::vector<LakeRow> rows;
  for (const Version* version : Live(relation, {})) {
    rows.push_back(version->row);
  }
  return rows;
}

// --- Rows ---

std::vector<LakeModel::Version*> LakeModel::Live(const std::string& relation, const Where& where) {
  std::vector<Version*> found;
  for (Version& version : relations_[relation]) {
    if (version.end == kNoEnd && !version.gone && Matches(version.row, where)) {
      found.push_back(&version);
    }
  }
  return found;
}

std::vector<const LakeModel::Version*> LakeModel::Live(const std::string& relation,
                                                       const Where& where) const {
  std::vector<const Version*> found;
  const auto versions = relations_.find(relation);
  if (versions == relations_.end()) {
    return found;
  }
  for (const Version& version : versions->second) {
    if (version.end == kNoEnd && !version.gone && Matches(version.row, where)) {
      found.push_back(&version);
    }
  }
  return found;
}

LakeModel::Version* LakeModel::Find(const std::string& relation, const Where& where) {
  const std::vector<Version*> found = Live(relation, where);
  if (found.size() == 1) {
    return found.front();
  }
  std::string key;
  for (const auto& [column, value] : where) {
    StrAppend(&key, " ", column, "=", value);
  }
  Problem(StrCat(found.size(), " live rows of ", relation, key, ", expected one"));
  return nullptr;
}

void LakeModel::Insert(const std::string& relation, LakeRow row) {
  const bool timeless = relation == "ducklake_metadata" || relation == "ducklake_table_stats" ||
                        relation == "ducklake_files_scheduled_for_deletion" ||
                        relation == "ducklake_column_mapping" ||
                        relation == "ducklake_name_mapping";
  InsertAt(relation, std::move(row), timeless ? 0 : now_);
}

void LakeModel::InsertAt(const std::string& relation, LakeRow row, SnapshotId begin) {
  relations_[relation].push_back({.row = std::move(row), .begin = begin});
}

void LakeModel::End(Version* version) {
  if (version->begin == now_) {
    version->gone = true;
  } else {
    version->end = now_;
  }
}

void LakeModel::EndAll(const std::string& relation, const Where& where) {
  for (Version* version : Live(relation, where)) {
    End(version);
  }
}

void LakeModel::Replace(const std::string& relation, Version* version, const LakeRow& changes) {
  if (version == nullptr) {
    return;
  }
  LakeRow row = version->row;
  for (const auto& [column, value] : changes) {
    row[column] = value;
  }
  if (version->begin == now_) {
    version->row = std::move(row);
    return;
  }
  version->end = now_;
  Insert(relation, std::move(row));
}

void LakeModel::Erase(const std::string& relation, const Where& where) {
  for (Version& version : relations_[relation]) {
    version.gone |= Matches(version.row, where);
  }
}

void LakeModel::Sweep() {
  for (auto& [relation, versions] : relations_) {
    versions.remove_if([](const Version& version) { return version.gone; });
  }
}

std::vector<std::string> LakeModel::problems() const {
  std::vector<std::string> texts;
  for (const auto& [object, text] : problems_) {
    texts.push_back(text);
  }
  return texts;
}

void LakeModel::Problem(const std::string& text) {
  problems_.emplace(object_, StrCat("snapshot ", now_, ", ", current_, ": ", text));
}

}  // namespace varve

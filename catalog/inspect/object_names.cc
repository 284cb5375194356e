#include "catalog/inspect/object_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/relation_directory.h"

namespace varve {
namespace {

// Where the lake's files lie: the global setting data_path.
absl::StatusOr<std::string> DataPath(const ReadView& view) {
  VARVE_ASSIGN_OR_RETURN(RowReader rows, RowReader::Open(view, view.relations().FindById(kMetadata),
                                                         {"key", "value", "scope"}));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return std::string();
    }
    if (rows.Text(0) == "data_path" && rows.IsNull(2)) {
      return std::string(rows.Text(1));
    }
  }
}

// A part of a name as written: unquoted if it is quoted.
std::string Unquoted(std::string_view part) {
  if (part.size() < 2 || part.front() != '"' || part.back() != '"') {
    return std::string(part);
  }
  std::string name;
  for (size_t i = 1; i + 1 < part.size(); ++i) {
    name += part[i];
    if (part[i] == '"') {
      ++i;  // the second of a doubled quote
    }
  }
  return name;
}

// The ways to read a text as schema and table: split at each dot outside quotes.
std::vector<std::pair<std::string, std::string>> QualifiedReadings(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> readings;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '.' && !quoted) {
      readings.emplace_back(Unquoted(text.substr(0, i)), Unquoted(text.substr(i + 1)));
    }
  }
  return readings;
}

}  // namespace

std::string ResolvePath(std::string_view base, std::string_view path, bool is_relative) {
  return is_relative ? StrCat(base, path) : std::string(path);
}

std::string QuotedIfNeeded(std::string_view name) {
  const bool plain = !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
                              static_cast<unsigned char>(c) >= 0x80;
                     });
  if (plain) {
    return std::string(name);
  }
  std::string quoted = "\"";
  for (const char c : name) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

absl::StatusOr<ObjectNames> ObjectNames::Load(const ReadView& view) {
  ObjectNames names;
  VARVE_ASSIGN_OR_RETURN(const std::string data_path, DataPath(view));
  VARVE_ASSIGN_OR_RETURN(RowReader schemas,
                         RowReader::Open(view, view.relations().FindById(kSchema),
                                         {"schema_id", "schema_name", "path", "path_is_relative"}));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, schemas.Next());
    if (!more) {
      break;
    }
    names.schemas_.push_back(
        {.id = schemas.Int(0),
         .name = std::string(schemas.Text(1)),
         .path = ResolvePath(data_path, schemas.Text(2), schemas.Bool(3, true))});
  }
  std::sort(names.schemas_.begin(), names.schemas_.end(),
            [](const SchemaName& a, const SchemaName& b) {
              return std::tie(a.name, a.id) < std::tie(b.name, b.id);
            });
  for (size_t i = 0; i < names.schemas_.size(); ++i) {
    names.schema_by_id_.emplace(names.schemas_[i].id, i);
  }

  VARVE_ASSIGN_OR_RETURN(RowReader tables, RowReader::Open(view, view.relations().FindById(kTable),
                                                           {"table_id", "schema_id", "table_name",
                                                            "path", "path_is_relative"}));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, tables.Next());
    if (!more) {
      break;
    }
    const int64_t schema_id = tables.Int(1);
    const auto schema = names.schema_by_id_.find(schema_id);
    const std::string_view base = schema == names.schema_by_id_.end()
                                      ? std::string_view(data_path)
                                      : names.schemas_[schema->second].path;
    names.tables_.push_back({.id = tables.Int(0),
                             .schema_id = schema_id,
                             .schema = names.SchemaNameOf(schema_id),
                             .name = std::string(tables.Text(2)),
                             .path = ResolvePath(base, tables.Text(3), tables.Bool(4, true))});
  }
  std::sort(names.tables_.begin(), names.tables_.end(), [](const TableName& a, const TableName& b) {
    return std::tie(a.schema, a.name, a.id) < std::tie(b.schema, b.name, b.id);
  });
  return names;
}

std::string ObjectNames::SchemaNameOf(int64_t schema_id) const {
  const auto it = schema_by_id_.find(schema_id);
  return it == schema_by_id_.end() ? StrCat("#", schema_id) : schemas_[it->second].name;
}

absl::StatusOr<const SchemaName*> ObjectNames::FindSchema(std::string_view name) const {
  const std::string wanted = Unquoted(name);
  std::vector<std::string_view> candidates;
  for (const SchemaName& schema : schemas_) {
    if (EqualsIgnoreCase(schema.name, wanted)) {
      return &schema;
    }
    candidates.push_back(schema.name);
  }
  return absl::NotFoundError(
      StrCat("there is no schema '", wanted, "' at this snapshot", DidYouMean(wanted, candidates)));
}

absl::StatusOr<std::vector<const TableName*>> ObjectNames::SelectTables(
    std::string_view name) const {
  std::vector<const TableName*> selected;
  const auto select = [&](const auto& wanted) {
    selected.clear();
    for (const TableName& table : tables_) {
      if (wanted(table)) {
        selected.push_back(&table);
      }
    }
    return !selected.empty();
  };
  if (name.empty()) {
    select([](const TableName&) { return true; });
    return selected;
  }
  for (const auto& [schema, table] : QualifiedReadings(name)) {
    if (select([&, &schema = schema, &table = table](const TableName& t) {
          return EqualsIgnoreCase(t.schema, schema) && EqualsIgnoreCase(t.name, table);
        })) {
      return selected;
    }
  }
  const std::string single = Unquoted(name);
  if (select([&](const TableName& t) { return EqualsIgnoreCase(t.name, single); })) {
    if (selected.size() == 1) {
      return selected;
    }
    std::vector<std::string> choices;
    choices.reserve(selected.size());
    for (const TableName* table : selected) {
      choices.push_back(StrCat(QuotedIfNeeded(table->schema), ".", QuotedIfNeeded(table->name)));
    }
    return absl::InvalidArgumentError(StrCat(
        "table '", single, "' is in more than one schema: write ", StrJoin(choices, " or ")));
  }
  if (FindSchema(name).ok()) {
    select([&](const TableName& t) { return EqualsIgnoreCase(t.schema, single); });
    return selected;
  }
  std::vector<std::string> candidates;
  candidates.reserve(2 * tables_.size());
  for (const TableName& table : tables_) {
    candidates.push_back(table.name);
    candidates.push_back(StrCat(table.schema, ".", table.name));
  }
  return absl::NotFoundError(StrCat("there is no table '", name, "' at this snapshot",
                                    DidYouMean(name, {candidates.begin(), candidates.end()})));
}

}  // namespace varve

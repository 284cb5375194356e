#include "tests/catalog/verify_catalog_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/load/bulk_loader.h"

namespace varve {
namespace {

[[noreturn]] void Fail(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "catalog text: %s: %s\n", std::string(what).c_str(),
               std::string(text).c_str());
  std::abort();
}

void SkipSpaces(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
}

std::string TakeWord(std::string_view* text) {
  SkipSpaces(text);
  const std::string word(text->substr(0, text->find(' ')));
  text->remove_prefix(word.size());
  return word;
}

// Takes a bare or quoted value off the front; nullopt for NULL.
std::optional<std::string> TakeValue(std::string_view* text) {
  if (!text->starts_with('\'')) {
    const std::string word(text->substr(0, text->find(' ')));
    text->remove_prefix(word.size());
    return word == "NULL" ? std::nullopt : std::optional(word);
  }
  std::string value;
  text->remove_prefix(1);
  while (true) {
    const size_t quote = text->find('\'');
    if (quote == std::string_view::npos) {
      Fail("no closing quote before", *text);
    }
    value.append(text->substr(0, quote));
    text->remove_prefix(quote + 1);
    if (!text->starts_with('\'')) {
      return value;
    }
    value.push_back('\'');
    text->remove_prefix(1);
  }
}

std::map<std::string, std::optional<std::string>> TakeValues(std::string_view text) {
  std::map<std::string, std::optional<std::string>> values;
  SkipSpaces(&text);
  while (!text.empty()) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      Fail("expected column=value", text);
    }
    const std::string column(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    values[column] = TakeValue(&text);
    SkipSpaces(&text);
  }
  return values;
}

RelationRef BuiltinByShortName(std::string_view name) {
  for (const RelationRef& relation : BuiltinRelations()) {
    if (relation->short_name() == name) {
      return relation;
    }
  }
  return nullptr;
}

}  // namespace

Row TextCatalog::RowOf(const RelationSchema& relation, const Values& values) {
  Row row(relation.columns.num_columns());
  for (const auto& [name, text] : values) {
    const std::optional<size_t> column = relation.columns.Find(name);
    if (!column.has_value()) {
      Fail(StrCat(relation.name, " has no column"), name);
    }
    if (text.has_value()) {
      std::string scratch;
      Datum value;
      const absl::Status status = ParseDatum(relation.columns.column(*column).type, *text,
                                             BlobText::kHex, &scratch, &value);
      if (!status.ok()) {
        Fail(name, MessageOf(status));
      }
      row.Set(*column, value);
    }
  }
  return row;
}

Row TextCatalog::MakeRow(const RelationSchema& relation, std::string_view text) {
  return RowOf(relation, TakeValues(text));
}

void TextCatalog::Declare(const std::string& name, const std::vector<std::string>& columns) {
  std::vector<ColumnSchema> schema;
  for (const std::string& column : columns) {
    const size_t colon = column.find(':');
    schema.push_back({.name = column.substr(0, colon),
                      .type = colon == std::string::npos
                                  ? Type(TypeKind::kInt64)
                                  : TypeFromDeclaration(column.substr(colon + 1))});
  }
  absl::StatusOr<RelationSchema> relation = MakeDynamicRelation(name, std::move(schema), {});
  if (!relation.ok()) {
    Fail(name, MessageOf(relation.status()));
  }
  declared_.push_back(*std::move(relation));
}

TextCatalog::Line TextCatalog::Parse(std::string_view text) {
  Line line;
  line.relation = TakeWord(&text);
  line.values = TakeValues(text);
  return line;
}

void TextCatalog::AddRows(std::string_view lines) {
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    SkipSpaces(&line);
    if (!line.empty()) {
      rows_.push_back(Parse(line));
    }
  }
}

bool TextCatalog::Matches(const Line& row, const Line& pattern) const {
  if (row.relation != pattern.relation) {
    return false;
  }
  for (const auto& [column, value] : pattern.values) {
    const auto it = row.values.find(column);
    if ((it == row.values.end() ? std::nullopt : it->second) != value) {
      return false;
    }
  }
  return true;
}

void TextCatalog::Edit(std::string_view edit) {
  const std::string_view body = edit.substr(1);
  if (edit.starts_with('+')) {
    rows_.push_back(Parse(body));
    return;
  }
  const size_t colon = body.find(" : ");
  const Line pattern = Parse(body.substr(0, colon));
  size_t matched = 0;
  if (edit.starts_with('-')) {
    matched = std::erase_if(rows_, [&](const Line& row) { return Matches(row, pattern); });
  } else if (edit.starts_with('=') && colon != std::string_view::npos) {
    for (Line& row : rows_) {
      if (Matches(row, pattern)) {
        ++matched;
        for (const auto& [column, value] : TakeValues(body.substr(colon + 3))) {
          row.values[column] = value;
        }
      }
    }
  }
  if (matched == 0) {
    Fail("the edit matches no row", edit);
  }
}

absl::Status TextCatalog::Build(const std::string& path) const {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<BulkLoader> loader,
                         BulkLoader::Create(path, {.keep_anomalies = true}));
  std::map<std::string, RelationRef> dynamic;
  for (const RelationSchema& relation : declared_) {
    VARVE_ASSIGN_OR_RETURN(dynamic[std::string(relation.short_name())],
                           loader->AddRelation(relation));
  }
  const uint32_t origin = loader->AddOrigin("catalog text");
  for (const Line& line : rows_) {
    RelationRef relation = BuiltinByShortName(line.relation);
    if (relation == nullptr) {
      relation = dynamic[line.relation];
    }
    if (relation == nullptr) {
      Fail("there is no relation", line.relation);
    }
    const Row row = RowOf(*relation, line.values);
    VARVE_RETURN_IF_ERROR(loader->AddRow(*relation, row.values(), origin, 0));
  }
  return loader->Finish().status();
}

}  // namespace varve

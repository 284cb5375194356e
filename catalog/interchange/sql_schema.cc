#include "catalog/interchange/sql_schema.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/sql_lexer.h"

namespace varve {
namespace {

// The words that end a column's type.
constexpr std::array<std::string_view, 11> kConstraintWords = {
    "not",   "null",       "default", "primary",   "unique", "references",
    "check", "constraint", "collate", "generated", "as"};

// The words that begin a table constraint where a column could stand.
constexpr std::array<std::string_view, 6> kTableConstraintWords = {
    "constraint", "primary", "unique", "check", "foreign", "exclude"};

template <size_t N>
bool IsAnyOf(const SqlToken& token, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return token.IsWord(word); });
}

// A walk over the tokens of one statement.
class Cursor {
 public:
  explicit Cursor(std::span<const SqlToken> tokens) : tokens_(tokens) {}

  bool done() const { return next_ >= tokens_.size(); }
  const SqlToken* Peek() const { return done() ? nullptr : &tokens_[next_]; }
  const SqlToken& Take() { return tokens_[next_++]; }

  bool TakeWord(std::string_view word) {
    if (done() || !tokens_[next_].IsWord(word)) {
      return false;
    }
    ++next_;
    return true;
  }
  bool TakeSymbol(char symbol) {
    if (done() || !tokens_[next_].IsSymbol(symbol)) {
      return false;
    }
    ++next_;
    return true;
  }
  // name or schema.name (or database.schema.name): the last part. Empty when no name stands here.
  std::string TakeQualifiedName() {
    std::string name;
    while (!done() && tokens_[next_].IsName()) {
      name = Take().text;
      if (!TakeSymbol('.')) {
        break;
      }
    }
    return name;
  }
  // ( name, name, … ) after PRIMARY KEY.
  std::vector<std::string> TakeNameList() {
    std::vector<std::string> names;
    if (!TakeSymbol('(')) {
      return names;
    }
    while (!done() && !TakeSymbol(')')) {
      const SqlToken& token = Take();
      if (token.IsName() && !token.IsWord("asc") && !token.IsWord("desc")) {
        names.push_back(token.text);
      }
    }
    return names;
  }
  // The tokens up to the comma or the closing parenthesis of this nesting, which stay.
  std::span<const SqlToken> TakeElement() {
    const size_t begin = next_;
    for (int depth = 0; !done(); ++next_) {
      const SqlToken& token = tokens_[next_];
      if (depth == 0 && (token.IsSymbol(',') || token.IsSymbol(')'))) {
        break;
      }
      depth += token.IsSymbol('(') ? 1 : token.IsSymbol(')') ? -1 : 0;
    }
    return tokens_.subspan(begin, next_ - begin);
  }

 private:
  std::span<const SqlToken> tokens_;
  size_t next_ = 0;
};

bool FindPrimaryKey(std::span<const SqlToken> tokens, std::vector<std::string>* key) {
  Cursor cursor(tokens);
  while (!cursor.done()) {
    if (!cursor.TakeWord("primary")) {
      cursor.Take();
    } else if (cursor.TakeWord("key")) {
      *key = cursor.TakeNameList();
      return true;
    }
  }
  return false;
}

void ReadColumn(std::span<const SqlToken> tokens, std::string_view script, DeclaredTable* table) {
  DeclaredColumn column;
  column.name = tokens[0].text;
  size_t type_end = 1;
  for (int depth = 0; type_end < tokens.size(); ++type_end) {
    if (depth == 0 && IsAnyOf(tokens[type_end], kConstraintWords)) {
      break;
    }
    depth += tokens[type_end].IsSymbol('(') ? 1 : tokens[type_end].IsSymbol(')') ? -1 : 0;
  }
  if (type_end > 1) {
    column.type =
        std::string(script.substr(tokens[1].begin, tokens[type_end - 1].end - tokens[1].begin));
  }
  const std::span<const SqlToken> constraints = tokens.subspan(type_end);
  for (size_t i = 0; i + 1 < constraints.size(); ++i) {
    column.not_null |= constraints[i].IsWord("not") && constraints[i + 1].IsWord("null");
  }
  if (std::vector<std::string> key; FindPrimaryKey(constraints, &key)) {
    table->primary_key = {column.name};
  }
  table->columns.push_back(std::move(column));
}

// CREATE [TEMP | …] TABLE [IF NOT EXISTS] name ( … ): nullopt for any other statement.
absl::StatusOr<std::optional<DeclaredTable>> ReadCreateTable(std::span<const SqlToken> tokens,
                                                             std::string_view script,
                                                             std::string_view script_name) {
  Cursor cursor(tokens);
  if (!cursor.TakeWord("create")) {
    return std::nullopt;
  }
  while (cursor.TakeWord("unlogged") || cursor.TakeWord("temp") || cursor.TakeWord("temporary") ||
         cursor.TakeWord("foreign")) {
  }
  if (!cursor.TakeWord("table")) {
    return std::nullopt;
  }
  if (cursor.TakeWord("if")) {
    cursor.TakeWord("not");
    cursor.TakeWord("exists");
  }
  DeclaredTable table;
  table.name = cursor.TakeQualifiedName();
  if (table.name.empty() || !cursor.TakeSymbol('(')) {
    return std::nullopt;  // CREATE TABLE … AS, OF, PARTITION OF: declares no columns
  }
  do {
    const std::span<const SqlToken> element = cursor.TakeElement();
    if (element.empty()) {
      return absl::InvalidArgumentError(
          StrCat(script_name, ": CREATE TABLE ", table.name, ": expected a column, found nothing"));
    }
    if (IsAnyOf(element[0], kTableConstraintWords)) {
      FindPrimaryKey(element, &table.primary_key);
    } else if (element[0].IsName()) {
      ReadColumn(element, script, &table);
    } else {
      return absl::InvalidArgumentError(StrCat(script_name, ": CREATE TABLE ", table.name,
                                               ": expected a column name, found '", element[0].text,
                                               "'"));
    }
  } while (cursor.TakeSymbol(','));
  if (!cursor.TakeSymbol(')')) {
    return absl::InvalidArgumentError(StrCat(script_name, ": CREATE TABLE ", table.name,
                                             ": the list of columns is never closed"));
  }
  return table;
}

}  // namespace

const DeclaredColumn* DeclaredTable::Find(std::string_view column) const {
  for (const DeclaredColumn& candidate : columns) {
    if (EqualsIgnoreCase(candidate.name, column)) {
      return &candidate;
    }
  }
  return nullptr;
}

const DeclaredTable* SqlSchema::Find(std::string_view table) const {
  for (const DeclaredTable& candidate : tables_) {
    if (EqualsIgnoreCase(candidate.name, table)) {
      return &candidate;
    }
  }
  return nullptr;
}

absl::StatusOr<SqlSchema> SqlSchema::Parse(std::string_view script, const std::string& name) {
  SqlSchema schema;
  SqlLexer lexer(script, name);
  std::vector<SqlToken> tokens;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, lexer.NextStatement(&tokens));
    if (!more) {
      return schema;
    }
    VARVE_ASSIGN_OR_RETURN(std::optional<DeclaredTable> table,
                           ReadCreateTable(tokens, script, name));
    if (table.has_value()) {
      if (schema.Find(table->name) != nullptr) {
        return absl::InvalidArgumentError(
            StrCat(name, ": table ", table->name, " is declared twice; keep one declaration"));
      }
      schema.tables_.push_back(*std::move(table));
      continue;
    }
    Cursor cursor(tokens);
    if (cursor.TakeWord("alter") && cursor.TakeWord("table")) {
      cursor.TakeWord("only");
      const std::string altered = cursor.TakeQualifiedName();
      std::vector<std::string> key;
      if (cursor.TakeWord("add") && FindPrimaryKey(tokens, &key)) {
        for (DeclaredTable& candidate : schema.tables_) {
          if (EqualsIgnoreCase(candidate.name, altered)) {
            candidate.primary_key = key;
          }
        }
      }
    }
  }
}

}  // namespace varve

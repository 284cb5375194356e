// Splits SQL scripts (pg_dump, DuckDB's EXPORT DATABASE, SQLite's stored DDL) into statements of
// tokens, enough to read declarations without understanding the rest.
//
// Comments, string and dollar-quoted literals, quoted names, psql's backslash commands and the data
// blocks of `COPY … FROM stdin` are recognised, so that nothing inside them is taken for a
// statement.
//
// Thread-safety: none. Ownership: tokens own their text; the script must outlive the lexer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace varve {

struct SqlToken {
  enum class Kind : uint8_t { kWord, kQuotedName, kString, kNumber, kSymbol };
  Kind kind = Kind::kSymbol;
  std::string text;  // quotes removed, doubled ones made single
  size_t begin = 0;  // where it stands in the script
  size_t end = 0;

  bool IsName() const { return kind == Kind::kWord || kind == Kind::kQuotedName; }
  bool IsSymbol(char c) const { return kind == Kind::kSymbol && text[0] == c; }
  bool IsWord(std::string_view word) const;  // an unquoted word, case-insensitively
};

class SqlLexer {
 public:
  // `name` is what messages call the script: "schema.sql".
  SqlLexer(std::string_view script, std::string name) : script_(script), name_(std::move(name)) {}

  // The tokens of the next statement, without its semicolon; false at the end. Empty statements are
  // passed over. Error: InvalidArgument naming the line of a quote or comment never closed.
  absl::StatusOr<bool> NextStatement(std::vector<SqlToken>* tokens);

  std::string_view script() const { return script_; }

 private:
  absl::Status SkipBlank(bool at_statement_start);
  absl::Status LexToken(std::vector<SqlToken>* tokens);
  absl::Status LexQuoted(char quote, bool backslash_escapes, SqlToken* token);
  absl::Status Unclosed(size_t begin, std::string_view what) const;
  void SkipLine();
  void SkipCopyData();

  std::string_view script_;
  std::string name_;
  size_t position_ = 0;
};

// A name as SQL writes it: quoted, inner quotes doubled.
std::string QuoteSqlName(std::string_view name);
// A string literal: quoted, inner quotes doubled.
std::string QuoteSqlString(std::string_view text);

}  // namespace varve

#include "catalog/interchange/sql_lexer.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Bytes above 0x7F belong to words: names need no quotes for non-ASCII letters.
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

bool IsWordPart(char c) {
  return IsWordStart(c) || IsDigit(c) || c == '$';
}

std::string Quote(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    out.push_back(c);
    if (c == quote) {
      out.push_back(c);
    }
  }
  out.push_back(quote);
  return out;
}

}  // namespace

bool SqlToken::IsWord(std::string_view word) const {
  return kind == Kind::kWord && EqualsIgnoreCase(text, word);
}

std::string QuoteSqlName(std::string_view name) {
  return Quote(name, '"');
}
std::string QuoteSqlString(std::string_view text) {
  return Quote(text, '\'');
}

absl::StatusOr<bool> SqlLexer::NextStatement(std::vector<SqlToken>* tokens) {
  tokens->clear();
  for (;;) {
    VARVE_RETURN_IF_ERROR(SkipBlank(/*at_statement_start=*/tokens->empty()));
    if (position_ == script_.size()) {
      return !tokens->empty();
    }
    if (script_[position_] == ';') {
      ++position_;
      if (tokens->empty()) {
        continue;
      }
      if (tokens->front().IsWord("copy") && tokens->back().IsWord("stdin")) {
        SkipCopyData();
      }
      return true;
    }
    VARVE_RETURN_IF_ERROR(LexToken(tokens));
  }
}

// Passes over white space, comments and, where a statement may start, psql's backslash commands.
absl::Status SqlLexer::SkipBlank(bool at_statement_start) {
  while (position_ < script_.size()) {
    const std::string_view rest = script_.substr(position_);
    if (IsSpace(rest[0])) {
      ++position_;
    } else if (rest.starts_with("--") || (at_statement_start && rest[0] == '\\')) {
      SkipLine();
    } else if (rest.starts_with("/*")) {
      const size_t end = script_.find("*/", position_ + 2);
      if (end == std::string_view::npos) {
        return Unclosed(position_, "comment");
      }
      position_ = end + 2;
    } else {
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status SqlLexer::LexToken(std::vector<SqlToken>* tokens) {
  SqlToken token;
  token.begin = position_;
  const char c = script_[position_];
  const char next = position_ + 1 < script_.size() ? script_[position_ + 1] : '\0';
  if (c == '"' || c == '`') {
    token.kind = SqlToken::Kind::kQuotedName;
    VARVE_RETURN_IF_ERROR(LexQuoted(c, /*backslash_escapes=*/false, &token));
  } else if (c == '\'' || ((c == 'e' || c == 'E') && next == '\'')) {
    token.kind = SqlToken::Kind::kString;
    position_ += c == '\'' ? 0 : 1;
    VARVE_RETURN_IF_ERROR(LexQuoted('\'', /*backslash_escapes=*/c != '\'', &token));
  } else if (c == '$' && (next == '$' || IsWordStart(next))) {
    const size_t tag_end = script_.find('$', position_ + 1);
    const std::string_view tag = tag_end == std::string_view::npos
                                     ? std::string_view()
                                     : script_.substr(position_, tag_end + 1 - position_);
    const size_t end = tag.empty() ? std::string_view::npos : script_.find(tag, tag_end + 1);
    if (end == std::string_view::npos) {
      return Unclosed(position_, "dollar-quoted text");
    }
    token.kind = SqlToken::Kind::kString;
    token.text = std::string(script_.substr(tag_end + 1, end - tag_end - 1));
    position_ = end + tag.size();
  } else if (IsWordStart(c)) {
    token.kind = SqlToken::Kind::kWord;
    while (position_ < script_.size() && IsWordPart(script_[position_])) {
      ++position_;
    }
    token.text = std::string(script_.substr(token.begin, position_ - token.begin));
  } else if (IsDigit(c)) {
    token.kind = SqlToken::Kind::kNumber;
    while (position_ < script_.size() &&
           (IsWordPart(script_[position_]) || script_[position_] == '.')) {
      ++position_;
    }
    token.text = std::string(script_.substr(token.begin, position_ - token.begin));
  } else {
    token.text = std::string(1, c);
    ++position_;
  }
  token.end = position_;
  tokens->push_back(std::move(token));
  return absl::OkStatus();
}

absl::Status SqlLexer::LexQuoted(char quote, bool backslash_escapes, SqlToken* token) {
  const size_t begin = position_++;
  for (; position_ < script_.size(); ++position_) {
    const char c = script_[position_];
    if (c == '\\' && backslash_escapes && position_ + 1 < script_.size()) {
      token->text.push_back(script_[++position_]);
    } else if (c != quote) {
      token->text.push_back(c);
    } else if (position_ + 1 < script_.size() && script_[position_ + 1] == quote) {
      token->text.push_back(c);
      ++position_;
    } else {
      ++position_;
      return absl::OkStatus();
    }
  }
  return Unclosed(begin, quote == '\'' ? "string" : "quoted name");
}

absl::Status SqlLexer::Unclosed(size_t begin, std::string_view what) const {
  const auto line =
      1 + std::count(script_.begin(), script_.begin() + static_cast<ptrdiff_t>(begin), '\n');
  return absl::InvalidArgumentError(
      StrCat(name_, " line ", line, ": the ", what, " that begins here is never closed"));
}

void SqlLexer::SkipLine() {
  const size_t end = script_.find('\n', position_);
  position_ = end == std::string_view::npos ? script_.size() : end + 1;
}

// The data of COPY … FROM stdin ends with a line that holds \. alone.
void SqlLexer::SkipCopyData() {
  SkipLine();
  while (position_ < script_.size()) {
    const size_t begin = position_;
    SkipLine();
    std::string_view line = script_.substr(begin, position_ - begin);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (line == "\\.") {
      return;
    }
  }
}

}  // namespace varve

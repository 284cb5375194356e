#include "golden/token_cursor.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {

const Token& TokenCursor::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool TokenCursor::IsWord(size_t ahead, std::string_view word) const {
  return Peek(ahead).kind == Token::Kind::kWord && Peek(ahead).text == word;
}

bool TokenCursor::TakeWord(std::string_view word) {
  const bool taken = IsWord(0, word);
  at_ += taken ? 1 : 0;
  return taken;
}

bool TokenCursor::Take(char punctuation) {
  const bool taken = Peek().kind == Token::Kind::kPunctuation && Peek().text[0] == punctuation;
  at_ += taken ? 1 : 0;
  return taken;
}

absl::Status TokenCursor::Expected(std::string_view what) const {
  const Token& token = Peek();
  const bool end = token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kEndOfLine;
  return absl::InvalidArgumentError(
      StrCat(file_, ":", token.line, ": expected ", what, ", found ",
             end ? "the end of the line" : StrCat("'", token.text, "'")));
}

absl::Status TokenCursor::ExpectWord(std::string_view word) {
  return TakeWord(word) ? absl::OkStatus() : Expected(StrCat("'", word, "'"));
}

absl::Status TokenCursor::Expect(char punctuation) {
  return Take(punctuation) ? absl::OkStatus()
                           : Expected(StrCat("'", std::string(1, punctuation), "'"));
}

absl::StatusOr<std::string> TokenCursor::Name() {
  if (Peek().kind != Token::Kind::kWord && Peek().kind != Token::Kind::kName) {
    return Expected("a name");
  }
  return tokens_[at_++].text;
}

absl::StatusOr<std::string> TokenCursor::String() {
  if (Peek().kind != Token::Kind::kString) {
    return Expected("a text in single quotes");
  }
  return tokens_[at_++].text;
}

absl::StatusOr<Literal> TokenCursor::ParseLiteral() {
  if (Peek().kind != Token::Kind::kWord && Peek().kind != Token::Kind::kString) {
    return Expected("a value");
  }
  const Token& token = tokens_[at_++];
  return token.kind == Token::Kind::kWord && token.text == "null" ? Literal() : token.text;
}

absl::StatusOr<int64_t> TokenCursor::Integer() {
  int64_t value = 0;
  if (Peek().kind != Token::Kind::kWord || !absl::SimpleAtoi(Peek().text, &value)) {
    return Expected("a whole number");
  }
  ++at_;
  return value;
}

absl::StatusOr<std::vector<int64_t>> TokenCursor::Integers() {
  std::vector<int64_t> values;
  do {
    VARVE_ASSIGN_OR_RETURN(int64_t value, Integer());
    values.push_back(value);
  } while (Peek().kind == Token::Kind::kWord);
  return values;
}

absl::StatusOr<std::optional<SnapshotId>> TokenCursor::OptionalSnapshot(std::string_view word) {
  if (!TakeWord(word)) {
    return std::optional<SnapshotId>();
  }
  VARVE_ASSIGN_OR_RETURN(int64_t id, Integer());
  return std::optional<SnapshotId>(static_cast<SnapshotId>(id));
}

absl::StatusOr<ColumnPath> TokenCursor::Path(size_t min_parts, size_t max_parts) {
  std::vector<std::string> parts;
  do {
    VARVE_ASSIGN_OR_RETURN(std::string part, Name());
    parts.push_back(std::move(part));
  } while (Take('.'));
  if (parts.size() < min_parts || parts.size() > max_parts) {
    return Expected(StrCat("a name of at least ", min_parts, " parts before this"));
  }
  parts.resize(std::max<size_t>(parts.size(), 2));
  return ColumnPath{.table = {.schema = parts[0], .name = parts[1]},
                    .path = {parts.begin() + 2, parts.end()}};
}

absl::StatusOr<ObjectName> TokenCursor::Object() {
  VARVE_ASSIGN_OR_RETURN(ColumnPath path, Path(2, 2));
  return path.table;
}

absl::StatusOr<ColumnPath> TokenCursor::Column() {
  return Path(3, 16);
}

absl::StatusOr<std::vector<std::string>> TokenCursor::NameList() {
  return List<std::string>([this] { return Name(); });
}

absl::StatusOr<std::vector<Literal>> TokenCursor::LiteralList() {
  return List<Literal>([this] { return ParseLiteral(); });
}

// column = value {[,] column = value}
absl::StatusOr<std::vector<Assignment>> TokenCursor::Assignments() {
  std::vector<Assignment> assignments;
  do {
    Assignment assignment;
    VARVE_ASSIGN_OR_RETURN(assignment.column, Name());
    VARVE_RETURN_IF_ERROR(Expect('='));
    VARVE_ASSIGN_OR_RETURN(assignment.value, ParseLiteral());
    assignments.push_back(std::move(assignment));
  } while (Take(',') || Peek().kind == Token::Kind::kWord || Peek().kind == Token::Kind::kName);
  return assignments;
}

}  // namespace varve::golden

// The text of predicates.
//
//   predicate  = [ term { AND term } ]
//   term       = column op constant | constant op column | column IS [NOT] NULL
//              | column BETWEEN constant AND constant | column [NOT] IN ( constant { , constant } )
//   op         = "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">="
//   column     = bare_name | "quoted ""name"""
//   constant   = number | 'string' | TRUE | FALSE
//
// Keywords and column names are case-insensitive. A constant of a column that is no number or
// boolean is written as a string ('2026-11-30'), and any constant may be.

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/predicate.h"
#include "catalog/relation_directory.h"

namespace varve {
namespace {

enum class TokenKind : uint8_t {
  kName,        // a bare word: a column or a keyword
  kQuotedName,  // "a b": always a column
  kString,
  kNumber,
  kOperator,     // = <> < <= > >=
  kPunctuation,  // ( ) ,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;   // unquoted
  size_t offset = 0;  // in bytes
};

// The error at a byte offset; positions are told in characters, as an editor counts them.
absl::Status ErrorAt(std::string_view text, size_t offset, std::string_view message) {
  size_t column = 1;
  for (const char c : text.substr(0, offset)) {
    if ((static_cast<uint8_t>(c) & 0xc0) != 0x80) {
      ++column;
    }
  }
  return absl::InvalidArgumentError(StrCat("predicate column ", column, ": ", message));
}

bool IsNameStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}
bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<Token> Next() {
    while (pos_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[pos_]))) {
      ++pos_;
    }
    Token token{.offset = pos_};
    if (pos_ == text_.size()) {
      return token;
    }
    const char c = text_[pos_];
    if (c == '\'' || c == '"') {
      token.kind = c == '"' ? TokenKind::kQuotedName : TokenKind::kString;
      VARVE_RETURN_IF_ERROR(ReadQuoted(&token));
    } else if (IsNameStart(c)) {
      token.kind = TokenKind::kName;
      TakeWhile(&token, [](char x) { return IsNameStart(x) || IsDigit(x) || x == '$'; });
    } else if (StartsNumber()) {
      token.kind = TokenKind::kNumber;
      TakeNumber(&token);
    } else if (c == '(' || c == ')' || c == ',') {
      token.kind = TokenKind::kPunctuation;
      token.text = c;
      ++pos_;
    } else {
      VARVE_RETURN_IF_ERROR(ReadOperator(&token));
    }
    return token;
  }

 private:
  absl::Status ReadQuoted(Token* token) {
    const char quote = text_[pos_];
    for (size_t i = pos_ + 1; i < text_.size(); ++i) {
      if (text_[i] != quote) {
        token->text += text_[i];
      } else if (i + 1 < text_.size() && text_[i + 1] == quote) {
        token->text += quote;
        ++i;
      } else {
        pos_ = i + 1;
        return absl::OkStatus();
      }
    }
    return ErrorAt(text_, pos_,
                   quote == '"' ? "the column name that begins here has no closing \""
                                : "the string that begins here has no closing '");
  }

  bool StartsNumber() const {
    size_t i = pos_;
    if (text_[i] == '-' || text_[i] == '+') {
      ++i;
    }
    if (i < text_.size() && text_[i] == '.') {
      ++i;
    }
    return i < text_.size() && IsDigit(text_[i]);
  }

  // Everything that could belong to a number; whether it is one, the column's type decides.
  void TakeNumber(Token* token) {
    if (text_[pos_] == '+') {
      ++pos_;
    } else if (text_[pos_] == '-') {
      token->text += text_[pos_++];
    }
    TakeWhile(token, [&](char x) {
      const bool signed_exponent =
          (x == '-' || x == '+') && (token->text.back() == 'e' || token->text.back() == 'E');
      return absl::ascii_isalnum(static_cast<unsigned char>(x)) || x == '.' || x == '_' ||
             signed_exponent;
    });
  }

  absl::Status ReadOperator(Token* token) {
    token->kind = TokenKind::kOperator;
    const std::string_view rest = text_.substr(pos_);
    for (const std::string_view op : {"<=", ">=", "<>", "!=", "==", "<", ">", "="}) {
      if (rest.starts_with(op)) {
        token->text = op == "!=" ? "<>" : (op == "==" ? "=" : op);
        pos_ += op.size();
        return absl::OkStatus();
      }
    }
    return ErrorAt(text_, pos_,
                   StrCat("unexpected '", rest.substr(0, 1),
                          "'; a term looks like: table_id = 4, path = 'x', path is not null"));
  }

  template <typename Belongs>
  void TakeWhile(Token* token, const Belongs& belongs) {
    while (pos_ < text_.size() && belongs(text_[pos_])) {
      token->text += text_[pos_++];
    }
  }

  std::string_view text_;
  size_t pos_ = 0;
};

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd: return "the end";
    case TokenKind::kString: return StrCat("the string '", token.text, "'");
    case TokenKind::kQuotedName: return StrCat("\"", token.text, "\"");
    default: return StrCat("'", token.text, "'");
  }
}

std::optional<Comparison> ComparisonOf(std::string_view op) {
  if (op == "=") return Comparison::kEqual;
  if (op == "<>") return Comparison::kNotEqual;
  if (op == "<") return Comparison::kLess;
  if (op == "<=") return Comparison::kLessOrEqual;
  if (op == ">") return Comparison::kGreater;
  if (op == ">=") return Comparison::kGreaterOrEqual;
  return std::nullopt;
}

// The comparison that says the same with its sides exchanged.
Comparison Mirrored(Comparison op) {
  switch (op) {
    case Comparison::kLess: return Comparison::kGreater;
    case Comparison::kLessOrEqual: return Comparison::kGreaterOrEqual;
    case Comparison::kGreater: return Comparison::kLess;
    case Comparison::kGreaterOrEqual: return Comparison::kLessOrEqual;
    default: return op;
  }
}

class PredicateParser {
 public:
  PredicateParser(std::string_view text, const RelationSchema& relation)
      : text_(text), relation_(relation), lexer_(text) {}

  absl::StatusOr<Predicate> Parse() {
    VARVE_RETURN_IF_ERROR(Advance());
    if (token_.kind == TokenKind::kEnd) {
      return Predicate();
    }
    for (;;) {
      VARVE_RETURN_IF_ERROR(ParseTerm());
      if (token_.kind == TokenKind::kEnd) {
        return Predicate(std::move(terms_));
      }
      if (IsKeyword("or")) {
        return Unexpected("'or' is not supported; terms are joined by 'and'");
      }
      if (!IsKeyword("and")) {
        return Unexpected(StrCat("expected 'and' or the end, found ", Describe(token_)));
      }
      VARVE_RETURN_IF_ERROR(Advance());
    }
  }

 private:
  absl::Status Advance() {
    VARVE_ASSIGN_OR_RETURN(token_, lexer_.Next());
    return absl::OkStatus();
  }

  bool IsKeyword(std::string_view word) const {
    return token_.kind == TokenKind::kName && EqualsIgnoreCase(token_.text, word);
  }
  bool IsPunctuation(std::string_view text) const {
    return token_.kind == TokenKind::kPunctuation && token_.text == text;
  }
  bool IsConstant() const {
    return token_.kind == TokenKind::kString || token_.kind == TokenKind::kNumber ||
           IsKeyword("true") || IsKeyword("false") || IsKeyword("null");
  }

  absl::Status Unexpected(std::string_view message) const {
    return ErrorAt(text_, token_.offset, message);
  }

  absl::Status Expect(bool found, std::string_view what) {
    if (!found) {
      return Unexpected(StrCat("expected ", what, ", found ", Describe(token_)));
    }
    return Advance();
  }

  absl::Status ParseTerm() {
    if (IsConstant() && !NamesColumn()) {
      const Token constant = token_;
      VARVE_RETURN_IF_ERROR(Advance());
      VARVE_ASSIGN_OR_RETURN(const Comparison op, ParseOperator());
      VARVE_ASSIGN_OR_RETURN(const size_t column, ParseColumn());
      return AddTerm(column, Mirrored(op), {constant});
    }
    VARVE_ASSIGN_OR_RETURN(const size_t column, ParseColumn());
    if (IsKeyword("is")) {
      return ParseIsNull(column);
    }
    const bool negated = IsKeyword("not");
    if (negated) {
      VARVE_RETURN_IF_ERROR(Advance());
    }
    if (IsKeyword("in")) {
      return ParseIn(column, negated);
    }
    if (negated) {
      return Unexpected(IsKeyword("between")
                            ? "'not between' is not supported; compare with one bound"
                            : StrCat("expected 'in', found ", Describe(token_)));
    }
    if (IsKeyword("between")) {
      return ParseBetween(column);
    }
    VARVE_ASSIGN_OR_RETURN(const Comparison op, ParseOperator());
    const Token constant = token_;
    VARVE_RETURN_IF_ERROR(TakeConstant(column));
    return AddTerm(column, op, {constant});
  }

  absl::Status ParseIsNull(size_t column) {
    VARVE_RETURN_IF_ERROR(Advance());
    const bool negated = IsKeyword("not");
    if (negated) {
      VARVE_RETURN_IF_ERROR(Advance());
    }
    VARVE_RETURN_IF_ERROR(Expect(IsKeyword("null"), negated ? "'null'" : "'null' or 'not null'"));
    return AddTerm(column, negated ? Comparison::kIsNotNull : Comparison::kIsNull, {});
  }

  absl::Status ParseBetween(size_t column) {
    VARVE_RETURN_IF_ERROR(Advance());
    const Token low = token_;
    VARVE_RETURN_IF_ERROR(TakeConstant(column));
    VARVE_RETURN_IF_ERROR(Expect(IsKeyword("and"), "'and' between the two bounds"));
    const Token high = token_;
    VARVE_RETURN_IF_ERROR(TakeConstant(column));
    VARVE_RETURN_IF_ERROR(AddTerm(column, Comparison::kGreaterOrEqual, {low}));
    return AddTerm(column, Comparison::kLessOrEqual, {high});
  }

  absl::Status ParseIn(size_t column, bool negated) {
    VARVE_RETURN_IF_ERROR(Advance());
    VARVE_RETURN_IF_ERROR(Expect(IsPunctuation("("), "'(' after 'in'"));
    std::vector<Token> constants;
    for (;;) {
      constants.push_back(token_);
      VARVE_RETURN_IF_ERROR(TakeConstant(column));
      if (IsPunctuation(")")) {
        break;
      }
      VARVE_RETURN_IF_ERROR(Expect(IsPunctuation(","), "',' or ')'"));
    }
    VARVE_RETURN_IF_ERROR(Advance());
    if (!negated) {
      return AddTerm(column, Comparison::kIn, constants);
    }
    for (const Token& constant : constants) {
      VARVE_RETURN_IF_ERROR(AddTerm(column, Comparison::kNotEqual, {constant}));
    }
    return absl::OkStatus();
  }

  // A column may be called true, false or null; then its name wins where a column can stand.
  bool NamesColumn() const {
    return token_.kind == TokenKind::kName && relation_.columns.Find(token_.text).has_value();
  }

  absl::StatusOr<size_t> ParseColumn() {
    if (token_.kind != TokenKind::kName && token_.kind != TokenKind::kQuotedName) {
      return Unexpected(
          StrCat("expected a column of ", relation_.name, ", found ", Describe(token_)));
    }
    const std::optional<size_t> column = relation_.columns.Find(token_.text);
    if (!column.has_value()) {
      return Unexpected(UnknownColumnMessage(relation_, token_.text));
    }
    VARVE_RETURN_IF_ERROR(Advance());
    return *column;
  }

  absl::StatusOr<Comparison> ParseOperator() {
    const std::optional<Comparison> op =
        token_.kind == TokenKind::kOperator ? ComparisonOf(token_.text) : std::nullopt;
    VARVE_RETURN_IF_ERROR(
        Expect(op.has_value(), "a comparison (=, <>, <, <=, >, >=, is, in, between)"));
    return *op;
  }

  absl::Status TakeConstant(size_t column) {
    return Expect(IsConstant(), StrCat("a constant for ", relation_.columns.column(column).name));
  }

  absl::Status AddTerm(size_t column, Comparison op, const std::vector<Token>& constants) {
    Term term{.column = column, .op = op, .constants = Row(constants.size())};
    for (size_t i = 0; i < constants.size(); ++i) {
      VARVE_RETURN_IF_ERROR(ReadConstant(column, constants[i], i, &term.constants));
    }
    terms_.push_back(std::move(term));
    return absl::OkStatus();
  }

  absl::Status ReadConstant(size_t column, const Token& token, size_t slot, Row* constants) const {
    const ColumnSchema& schema = relation_.columns.column(column);
    if (token.kind == TokenKind::kName && EqualsIgnoreCase(token.text, "null")) {
      return ErrorAt(text_, token.offset,
                     StrCat("a comparison with null is never true; write '", schema.name,
                            " is null' or '", schema.name, " is not null'"));
    }
    const bool boolean = schema.type.physical() == PhysicalType::kBool;
    const bool fits = token.kind == TokenKind::kString ||
                      (token.kind == TokenKind::kName ? boolean : IsNumeric(schema.type));
    if (!fits) {
      const std::string expected = IsNumeric(schema.type) ? "a number"
                                   : boolean              ? "true or false"
                                                          : StrCat("'", token.text, "'");
      return ErrorAt(text_, token.offset,
                     StrCat(schema.name, " is ", schema.SqlType(), "; write ", expected));
    }
    std::string scratch;
    Datum value;
    const absl::Status status =
        ParseDatum(schema.type, token.text, BlobText::kHex, &scratch, &value);
    if (!status.ok()) {
      return ErrorAt(text_, token.offset, StrCat(schema.name, ": ", MessageOf(status)));
    }
    constants->Set(slot, value);
    return absl::OkStatus();
  }

  static bool IsNumeric(const Type& type) {
    return (type.kind() >= TypeKind::kInt8 && type.kind() <= TypeKind::kDecimal);
  }

  std::string_view text_;
  const RelationSchema& relation_;
  Lexer lexer_;
  Token token_;
  std::vector<Term> terms_;
};

}  // namespace

absl::StatusOr<Predicate> Predicate::Parse(std::string_view text, const RelationSchema& relation) {
  return PredicateParser(text, relation).Parse();
}

}  // namespace varve

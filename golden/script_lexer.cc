#include "golden/script_lexer.h"

#include <cctype>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {
namespace {

constexpr std::string_view kPunctuation = "(),.=";

class Lexer {
 public:
  Lexer(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (at_ < text_.size()) {
      VARVE_RETURN_IF_ERROR(Step());
    }
    if (depth_ > 0) {
      return Error("expected ')' before the end of the script");
    }
    EndLine();
    Add(Token::Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  absl::Status Step() {
    const char c = text_[at_];
    if (c == '\n') {
      EndLine();
      ++line_;
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (c == '"') {
      return Quoted('"', Token::Kind::kName);
    } else if (c == '\'') {
      return Quoted('\'', Token::Kind::kString);
    } else if (kPunctuation.find(c) != std::string_view::npos) {
      return Punctuation(c);
    } else {
      Word();
    }
    return absl::OkStatus();
  }

  void EndLine() {
    if (depth_ == 0 && !tokens_.empty() && tokens_.back().kind != Token::Kind::kEndOfLine) {
      Add(Token::Kind::kEndOfLine, "");
    }
  }

  absl::Status Punctuation(char c) {
    depth_ += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth_ < 0) {
      return Error("found ')' without '('");
    }
    Add(Token::Kind::kPunctuation, std::string(1, c));
    ++at_;
    return absl::OkStatus();
  }

  // A word that starts like a number keeps its dots: 1.5, -0.25.
  void Word() {
    const size_t start = at_;
    const bool sign = text_[at_] == '-' || text_[at_] == '+';
    const size_t first = sign ? at_ + 1 : at_;
    const bool number =
        first < text_.size() && std::isdigit(static_cast<unsigned char>(text_[first]));
    while (at_ < text_.size() && InWord(text_[at_], number)) {
      ++at_;
    }
    Add(Token::Kind::kWord, std::string(text_.substr(start, at_ - start)));
  }

  static bool InWord(char c, bool number) {
    if (c == '.' && number) {
      return true;
    }
    return !std::isspace(static_cast<unsigned char>(c)) && c != '"' && c != '\'' && c != '#' &&
           kPunctuation.find(c) == std::string_view::npos;
  }

  absl::Status Quoted(char quote, Token::Kind kind) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (c == quote && next != quote) {
        ++at_;
        Add(kind, std::move(value));
        return absl::OkStatus();
      }
      if (c == quote) {
        ++at_;
        value += quote;
      } else if (c == '\\' && kind == Token::Kind::kString) {
        if (next != 'n' && next != 't' && next != '\\') {
          return Error(
              StrCat("unknown escape '\\", std::string(1, next), "': expected \\n, \\t or \\\\"));
        }
        ++at_;
        value += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
      } else {
        value += c;
      }
    }
    return Error(StrCat("expected a closing ", std::string(1, quote), " on the same line"));
  }

  void Add(Token::Kind kind, std::string text) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_});
  }

  absl::Status Error(std::string_view message) const {
    return absl::InvalidArgumentError(StrCat(file_, ":", line_, ": ", message));
  }

  std::string_view file_;
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> TokenizeScript(std::string_view file, std::string_view text) {
  return Lexer(file, text).Run();
}

}  // namespace varve::golden

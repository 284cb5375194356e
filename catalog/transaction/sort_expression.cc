#include "catalog/transaction/sort_expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/strings.h"
#include "catalog/transaction/action.h"

namespace varve {
namespace {

// Words that stand in expressions without quotes and are never columns.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"all",   "and",     "any",  "array",    "as",   "asc",      "between", "case",
     "cast",  "collate", "desc", "else",     "end",  "escape",   "exists",  "false",
     "first", "from",    "glob", "ilike",    "in",   "interval", "is",      "isnull",
     "last",  "like",    "not",  "notnull",  "null", "nulls",    "or",      "similar",
     "then",  "to",      "true", "try_cast", "when"});

bool IsReserved(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), AsciiStrToLower(word)) != kReserved.end();
}

bool BeginsWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) != 0 || c == '_' || byte >= 0x80;
}

bool ContinuesWord(char c) {
  return BeginsWord(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}

struct Word {
  size_t begin = 0;  // in the expression, quotes included
  size_t end = 0;
  std::string name;
  bool quoted = false;
};

// Reads the words of an expression; texts, numbers and comments are passed over.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  // The words that can be columns.
  std::vector<Word> Columns() {
    std::vector<Word> columns;
    while (SkipToWord()) {
      Word word = ReadWord();
      const bool qualified = before_ == '.';
      before_ = 'a';
      const bool is_function = Next() == '(';
      if (!qualified && !is_function && (word.quoted || !IsReserved(word.name))) {
        columns.push_back(std::move(word));
      }
    }
    return columns;
  }

 private:
  // Stands on the first byte of a word, or at the end. Notes the last byte that is no blank.
  bool SkipToWord() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (BeginsWord(c) || c == '"') {
        return true;
      }
      if (c == '\'') {
        SkipQuoted('\'');
        before_ = c;
      } else if (text_.substr(position_, 2) == "--") {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (text_.substr(position_, 2) == "/*") {
        const size_t end = text_.find("*/", position_ + 2);
        position_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        SkipWord();
        before_ = '0';
      } else {
        before_ = std::isspace(static_cast<unsigned char>(c)) != 0 ? before_ : c;
        ++position_;
      }
    }
    return false;
  }

  void SkipWord() {
    while (position_ < text_.size() && ContinuesWord(text_[position_])) {
      ++position_;
    }
  }

  // Passes a quoted part; returns what is in it, doubled quotes as one.
  std::string SkipQuoted(char quote) {
    std::string content;
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == quote) {
        if (text_.substr(position_ + 1, 1) != std::string_view(&quote, 1)) {
          ++position_;
          break;
        }
        ++position_;
      }
      content.push_back(text_[position_]);
    }
    return content;
  }

  Word ReadWord() {
    Word word{.begin = position_, .quoted = text_[position_] == '"'};
    if (word.quoted) {
      word.name = SkipQuoted('"');
    } else {
      SkipWord();
      word.name = std::string(text_.substr(word.begin, position_ - word.begin));
    }
    word.end = position_;
    return word;
  }

  // The next byte that is no blank; 0 at the end.
  char Next() const {
    const size_t next = text_.find_first_not_of(" \t\r\n", position_);
    return next == std::string_view::npos ? '\0' : text_[next];
  }

  std::string_view text_;
  size_t position_ = 0;
  char before_ = '\0';  // the last byte before the word that is no blank
};

bool NeedsQuotes(std::string_view name) {
  return name.empty() || !BeginsWord(name.front()) || IsReserved(name) ||
         !std::all_of(name.begin(), name.end(), [](char c) {
           return ContinuesWord(c) && static_cast<unsigned char>(c) < 0x80 && c != '$' &&
                  std::isupper(static_cast<unsigned char>(c)) == 0;
         });
}

}  // namespace

bool MentionsColumn(std::string_view expression, std::string_view column) {
  const std::vector<Word> words = WordReader(expression).Columns();
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return EqualsIgnoreCase(word.name, column); });
}

std::string WithColumnRenamed(std::string_view expression, std::string_view from,
                              std::string_view to) {
  std::string renamed;
  size_t done = 0;
  for (const Word& word : WordReader(expression).Columns()) {
    if (EqualsIgnoreCase(word.name, from)) {
      StrAppend(&renamed, expression.substr(done, word.begin - done),
                NeedsQuotes(to) ? QuoteName(to) : std::string(to));
      done = word.end;
    }
  }
  return StrCat(renamed, expression.substr(done));
}

std::optional<std::string> SingleColumn(std::string_view expression) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = expression.find_first_not_of(kBlanks);
  const size_t end = expression.find_last_not_of(kBlanks);
  const std::vector<Word> words = WordReader(expression).Columns();
  return words.size() == 1 && words.front().begin == begin && words.front().end == end + 1
             ? std::optional(words.front().name)
             : std::nullopt;
}

}  // namespace varve

// Walking through the words of a script: what every production of the scenario language is made of.
//
// Thread-safety: none. Errors: "script.txt:12: expected a name, found '('".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "golden/scenario.h"
#include "golden/script_lexer.h"

namespace varve::golden {

class TokenCursor {
 public:
  // `file` names the script in messages and must outlive the cursor.
  TokenCursor(std::string_view file, std::vector<Token> tokens)
      : file_(file), tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const;
  void Skip(size_t tokens) { at_ += tokens; }
  void StepBack() { --at_; }

  // Whether a bare word stands there. Take… also goes past what it found.
  bool IsWord(size_t ahead, std::string_view word) const;
  bool TakeWord(std::string_view word);
  bool Take(char punctuation);
  absl::Status ExpectWord(std::string_view word);
  absl::Status Expect(char punctuation);

  // The error that `what` should stand here.
  absl::Status Expected(std::string_view what) const;

  absl::StatusOr<std::string> Name();      // bare or in double quotes
  absl::StatusOr<std::string> String();    // in single quotes
  absl::StatusOr<Literal> ParseLiteral();  // bare or in single quotes; bare null is NULL
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<std::vector<int64_t>> Integers();  // one or more
  // A snapshot id after `word`, or nothing.
  absl::StatusOr<std::optional<SnapshotId>> OptionalSnapshot(std::string_view word);

  absl::StatusOr<ObjectName> Object();  // schema.object
  absl::StatusOr<ColumnPath> Column();  // schema.table.column.field…

  // '(' item {',' item} ')'; nothing between the parentheses is an empty list.
  template <typename T, typename ParseItem>
  absl::StatusOr<std::vector<T>> List(const ParseItem& parse_item);
  absl::StatusOr<std::vector<std::string>> NameList();
  absl::StatusOr<std::vector<Literal>> LiteralList();
  // column = value {[,] column = value}
  absl::StatusOr<std::vector<Assignment>> Assignments();

 private:
  absl::StatusOr<ColumnPath> Path(size_t min_parts, size_t max_parts);

  std::string_view file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

template <typename T, typename ParseItem>
absl::StatusOr<std::vector<T>> TokenCursor::List(const ParseItem& parse_item) {
  std::vector<T> items;
  if (absl::Status status = Expect('('); !status.ok()) {
    return status;
  }
  if (Take(')')) {
    return items;
  }
  do {
    absl::StatusOr<T> item = parse_item();
    if (!item.ok()) {
      return item.status();
    }
    items.push_back(*std::move(item));
  } while (Take(','));
  if (absl::Status status = Expect(')'); !status.ok()) {
    return status;
  }
  return items;
}

}  // namespace varve::golden

// The words of a scenario script.
//
// Thread-safety: a function without state. Errors: one line, "script.txt:12: …".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace varve::golden {

struct Token {
  enum class Kind : uint8_t {
    kWord,         // bare: a keyword, a name, a number
    kName,         // "in double quotes": never a keyword
    kString,       // 'in single quotes': never a keyword, never NULL
    kPunctuation,  // one of ( ) , . =
    kEndOfLine,    // the end of a statement: a line break outside parentheses
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 0;
};

// Splits a script. A quote inside quotes is doubled; \n, \t and \\ are the escapes inside single
// quotes; # starts a comment. The last token is kEnd.
absl::StatusOr<std::vector<Token>> TokenizeScript(std::string_view file, std::string_view text);

}  // namespace varve::golden

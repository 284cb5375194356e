#include "tools/display_width.h"

#include <clocale>
#include <cwchar>

namespace varve {
namespace {

struct Character {
  wchar_t code = 0;
  size_t bytes = 1;
};

// The character at the front of `text`. The locale is UTF-8 whatever the user's is: the width of a
// character does not depend on the language.
Character FirstCharacter(std::string_view text) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): once, and output has one thread
  static const bool utf8 = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  if (!utf8 || static_cast<unsigned char>(text[0]) < 0x80) {
    return {static_cast<wchar_t>(static_cast<unsigned char>(text[0])), 1};
  }
  std::mbstate_t state{};
  wchar_t code = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the state is a local one
  const size_t bytes = std::mbrtowc(&code, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) {
    return {L'?', 1};
  }
  return {code, bytes};
}

bool IsControl(wchar_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    const int columns = ::wcwidth(character.code);
    width += columns < 0 ? 1 : static_cast<size_t>(columns);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string OneLine(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    if (!IsControl(character.code)) {
      line.append(text.substr(0, character.bytes));
    } else if (character.code == '\n') {
      line.append("\\n");
    } else if (character.code == '\t') {
      line.append("\\t");
    } else if (character.code == '\r') {
      line.append("\\r");
    } else {
      line.append("\\x");
      line.push_back(kHex[(character.code >> 4) & 15]);
      line.push_back(kHex[character.code & 15]);
    }
    text.remove_prefix(character.bytes);
  }
  return line;
}

}  // namespace varve

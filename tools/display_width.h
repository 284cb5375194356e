// How wide text is on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace varve {

// Columns that UTF-8 text takes: two for wide characters, none for combining ones. Bytes that are
// no UTF-8 count one each.
size_t DisplayWidth(std::string_view text);

// The text as one line that cannot steer the terminal: control characters are written as \n, \t, \r
// or \x1b.
std::string OneLine(std::string_view text);

}  // namespace varve

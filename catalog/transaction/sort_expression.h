// The columns that a SQL expression mentions, found by its words alone: enough to keep a sort order
// in step with the columns it names.
//
// A word is taken for a column when it stands in an expression unqualified, is no function's name
// and no reserved word. Names are case-insensitive.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve {

bool MentionsColumn(std::string_view expression, std::string_view column);
// The expression with the column under another name, quoted where it must be.
std::string WithColumnRenamed(std::string_view expression, std::string_view from,
                              std::string_view to);
// The name, when the whole expression is that of a column.
std::optional<std::string> SingleColumn(std::string_view expression);

}  // namespace varve

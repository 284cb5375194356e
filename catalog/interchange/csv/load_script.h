// load.sql of DuckDB's EXPORT DATABASE (FORMAT csv): which file holds which table, and how it is
// written. The names of the files do not say (digits become underscores, clashes are numbered).
//
// Thread-safety: immutable once parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace varve {

struct LoadedFile {
  std::string table;  // without its schema
  std::string file;   // base name: the directory at the time of the export does not matter
  char delimiter = ',';
  char quote = '"';
  bool header = true;
  std::string null_text;                // an unquoted field of this text is NULL
  std::vector<std::string> never_null;  // columns where it is the text itself
};

// Errors: InvalidArgument for an option or a format that is not understood, or a statement that
// cannot be read; `name` is what messages call the script.
absl::StatusOr<std::vector<LoadedFile>> ParseLoadScript(std::string_view script,
                                                        const std::string& name);

}  // namespace varve

#include "catalog/interchange/csv/load_script.h"

#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/sql_lexer.h"

namespace varve {
namespace {

std::string BaseName(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool IsTrue(std::string_view text) {
  return text == "1" || EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "on");
}

absl::Status SetOption(const SqlToken& option, std::span<const SqlToken> values,
                       const std::string& name, LoadedFile* file) {
  const auto bad = [&](std::string_view expected) {
    return absl::InvalidArgumentError(StrCat(name, ": COPY ", file->table, ": option ", option.text,
                                             ": expected ", expected,
                                             "; export again with DuckDB's default options"));
  };
  const std::string_view value = values.empty() ? std::string_view("true") : values[0].text;
  if (option.IsWord("format")) {
    return EqualsIgnoreCase(value, "csv") ? absl::OkStatus() : bad("csv");
  }
  if (option.IsWord("header")) {
    file->header = IsTrue(value);
  } else if (option.IsWord("nullstr") || option.IsWord("null")) {
    file->null_text = value;
  } else if (option.IsWord("force_not_null")) {
    for (const SqlToken& column : values) {
      file->never_null.push_back(column.text);
    }
  } else if (option.IsWord("delimiter") || option.IsWord("delim") || option.IsWord("sep")) {
    if (value.size() != 1) {
      return bad("one character");
    }
    file->delimiter = value[0];
  } else if (option.IsWord("quote")) {
    if (value.size() != 1) {
      return bad("one character");
    }
    file->quote = value[0];
  } else if (option.IsWord("escape")) {
    if (value.size() != 1 || value[0] != file->quote) {
      return bad("the quote character");
    }
  } else {
    return bad("one of format, header, nullstr, force_not_null, delimiter, quote, escape");
  }
  return absl::OkStatus();
}

// COPY name FROM 'path' (option value, option (value, …), …)
absl::StatusOr<LoadedFile> ReadCopy(std::span<const SqlToken> tokens, const std::string& name) {
  LoadedFile file;
  size_t i = 1;
  for (; i < tokens.size() && !tokens[i].IsWord("from"); ++i) {
    if (tokens[i].IsName()) {
      file.table = tokens[i].text;  // the last part of a qualified name
    }
  }
  ++i;
  if (file.table.empty() || i >= tokens.size() || tokens[i].kind != SqlToken::Kind::kString) {
    return absl::InvalidArgumentError(
        StrCat(name, ": COPY ", file.table, ": expected COPY table FROM 'file'"));
  }
  file.file = BaseName(tokens[i++].text);
  if (i < tokens.size() && tokens[i].IsSymbol('(')) {
    ++i;
    while (i < tokens.size() && !tokens[i].IsSymbol(')')) {
      const SqlToken& option = tokens[i++];
      std::vector<SqlToken> values;
      int depth = 0;
      for (; i < tokens.size(); ++i) {
        if (depth == 0 && (tokens[i].IsSymbol(',') || tokens[i].IsSymbol(')'))) {
          break;
        }
        if (tokens[i].kind == SqlToken::Kind::kSymbol) {
          depth += tokens[i].IsSymbol('(') ? 1 : tokens[i].IsSymbol(')') ? -1 : 0;
        } else {
          values.push_back(tokens[i]);
        }
      }
      VARVE_RETURN_IF_ERROR(SetOption(option, values, name, &file));
      if (i < tokens.size() && tokens[i].IsSymbol(',')) {
        ++i;
      }
    }
  }
  return file;
}

}  // namespace

absl::StatusOr<std::vector<LoadedFile>> ParseLoadScript(std::string_view script,
                                                        const std::string& name) {
  std::vector<LoadedFile> files;
  SqlLexer lexer(script, name);
  std::vector<SqlToken> tokens;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, lexer.NextStatement(&tokens));
    if (!more) {
      return files;
    }
    if (tokens[0].IsWord("copy")) {
      VARVE_ASSIGN_OR_RETURN(LoadedFile file, ReadCopy(tokens, name));
      files.push_back(std::move(file));
    }
  }
}

}  // namespace varve

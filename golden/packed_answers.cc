#include "golden/packed_answers.h"

#include <charconv>
#include <fstream>

#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {
namespace {

// Takes a number off the front of `text`.
std::optional<uint64_t> TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  const bool there = text->starts_with(prefix);
  text->remove_prefix(there ? prefix.size() : 0);
  return there;
}

// "17: 1-3 7", row numbers from 1, into the answers.
bool ReadSnapshotLine(std::string_view line, const std::vector<AnsweredRow>& rows,
                      PackedAnswers* answers) {
  const std::optional<uint64_t> snapshot = TakeNumber(&line);
  if (!snapshot.has_value() || !TakePrefix(":", &line)) {
    return false;
  }
  std::vector<AnsweredRow>& visible = answers->rows[*snapshot];
  while (TakePrefix(" ", &line)) {
    const std::optional<uint64_t> first = TakeNumber(&line);
    const std::optional<uint64_t> last = TakePrefix("-", &line) ? TakeNumber(&line) : first;
    if (!first.has_value() || !last.has_value() || *first < 1 || *last > rows.size()) {
      return false;
    }
    for (uint64_t row = *first; row <= *last; ++row) {
      visible.push_back(rows[row - 1]);
    }
  }
  return line.empty();
}

}  // namespace

AnsweredRow SplitCsvLine(std::string_view line) {
  AnsweredRow fields;
  do {
    if (!TakePrefix("\"", &line)) {
      const std::string_view field = line.substr(0, line.find(','));
      line.remove_prefix(field.size());
      fields.push_back(field == "\\N" ? std::nullopt : std::optional<std::string>(field));
      continue;
    }
    std::string field;
    while (!line.empty()) {
      if (TakePrefix("\"\"", &line)) {
        field += '"';
      } else if (TakePrefix("\"", &line)) {
        break;
      } else {
        field += line.front();
        line.remove_prefix(1);
      }
    }
    fields.emplace_back(std::move(field));
  } while (TakePrefix(",", &line));
  return fields;
}

absl::StatusOr<PackedAnswers> ReadPackedAnswers(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  const auto malformed = [&] {
    return absl::InvalidArgumentError(
        StrCat(path.string(), ": no packed answers: cannot read '", line, "'"));
  };
  PackedAnswers answers;
  if (!std::getline(file, line) || line != "header" || !std::getline(file, line)) {
    return malformed();
  }
  for (const std::optional<std::string>& column : SplitCsvLine(line)) {
    answers.columns.push_back(column.value_or(""));
  }
  std::getline(file, line);
  std::string_view count_line = line;
  const std::optional<uint64_t> count =
      TakePrefix("rows ", &count_line) ? TakeNumber(&count_line) : std::nullopt;
  if (!count.has_value()) {
    return malformed();
  }
  std::vector<AnsweredRow> rows;
  while (rows.size() < *count && std::getline(file, line)) {
    rows.push_back(SplitCsvLine(line));
    if (rows.back().size() != answers.columns.size()) {
      return malformed();
    }
  }
  if (!std::getline(file, line) || line != "snapshots") {
    return malformed();
  }
  while (std::getline(file, line)) {
    if (!ReadSnapshotLine(line, rows, &answers)) {
      return malformed();
    }
  }
  return answers;
}

}  // namespace varve::golden

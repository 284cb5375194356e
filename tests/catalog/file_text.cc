#include "tests/catalog/file_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/strings.h"
#include "catalog/verify/verify.h"

namespace varve {
namespace {

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::vector<std::string>> Parts(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::vector<std::string>> parts;
  for (std::string part; std::getline(in, part, ';');) {
    parts.push_back(Words(part));
  }
  return parts;
}

int64_t Number(const std::string& word) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(word);
  EXPECT_TRUE(number.has_value()) << word;
  return number.value_or(0);
}

NullableText Unless(const std::string& word) {
  return word == "-" ? NullableText() : NullableText(word);
}

}  // namespace

DataFile FileOf(std::string_view text) {
  const std::vector<std::vector<std::string>> parts = Parts(text);
  DataFile file;
  if (parts.empty() || parts[0].size() != 3) {
    ADD_FAILURE() << "expected PATH ROWS BYTES, found " << text;
    return file;
  }
  file.path = parts[0][0];
  file.record_count = Number(parts[0][1]);
  file.file_size_bytes = Number(parts[0][2]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::vector<std::string>& part = parts[i];
    if (part[0] == "partition") {
      for (size_t j = 1; j < part.size(); ++j) {
        file.partition_values.push_back(Unless(part[j]));
      }
    } else if (part.size() == 4) {
      file.columns.push_back({.column_id = Number(part[0]),
                              .value_count = file.record_count,
                              .null_count = Number(part[3]),
                              .min_value = Unless(part[1]),
                              .max_value = Unless(part[2])});
    } else {
      ADD_FAILURE() << "expected COLUMN MIN MAX NULLS in " << text;
    }
  }
  return file;
}

std::vector<DataFile> FilesOf(std::initializer_list<std::string_view> texts) {
  std::vector<DataFile> files;
  for (const std::string_view text : texts) {
    files.push_back(FileOf(text));
  }
  return files;
}

DeleteFile DeletesOf(int64_t data_file_id, std::string_view text) {
  const DataFile file = FileOf(text);
  return {.data_file_id = data_file_id,
          .path = file.path,
          .delete_count = file.record_count,
          .file_size_bytes = file.file_size_bytes};
}

std::vector<std::string> ErrorsFoundIn(const ReadView& view) {
  std::vector<std::string> errors;
  const absl::StatusOr<VerifySummary> summary = Verify(view, {}, [&](const Finding& finding) {
    if (finding.severity == Severity::kError) {
      errors.push_back(
          StrCat(finding.rule, ": ", finding.relation, " ", finding.key, ": ", finding.message));
    }
  });
  EXPECT_TRUE(summary.ok()) << summary.status();
  return errors;
}

}  // namespace varve

#include "tests/catalog/row_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

std::string_view Trim(std::string_view text) {
  return FromAbsl(absl::StripAsciiWhitespace(ToAbsl(text)));
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

// Cuts the first word off.
std::string_view Word(std::string_view* text) {
  *text = Trim(*text);
  const size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  return word;
}

void SetValue(const ColumnSchema& column, std::string_view text, size_t i, Row* row) {
  if (text == "-" || text.empty()) {
    return;
  }
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    text = text.substr(1, text.size() - 2);
  }
  std::string scratch;
  Datum value;
  const absl::Status status = ParseDatum(column.type, text, BlobText::kHex, &scratch, &value);
  if (!status.ok()) {
    ADD_FAILURE() << "column " << column.name << ": " << MessageOf(status);
    return;
  }
  row->Set(i, value);
}

// Cuts "@ N" off the end.
SnapshotId CutSnapshot(std::string_view* text) {
  const size_t at = text->rfind('@');
  if (at == std::string_view::npos) {
    ADD_FAILURE() << "no @ in '" << *text << "'";
    return 0;
  }
  const std::optional<SnapshotId> id = ParseNumber<SnapshotId>(Trim(text->substr(at + 1)));
  EXPECT_TRUE(id.has_value()) << *text;
  *text = Trim(text->substr(0, at));
  return id.value_or(0);
}

class ChangeReader {
 public:
  explicit ChangeReader(const RelationDirectory& directory) : directory_(directory) {}

  void Read(std::string_view line) {
    const std::string_view verb = Word(&line);
    if (verb == "snapshot") {
      ReadSnapshot(Trim(line));
    } else if (verb == "create") {
      RelationSchema relation = DynamicOf(line);
      created_[relation.name] = std::make_shared<RelationSchema>(relation);
      changes_.CreateRelation(std::move(relation));
    } else if (verb == "drop") {
      changes_.DropRelation(std::string(Trim(line)));
    } else {
      const RelationRef relation = Find(Word(&line));
      if (relation != nullptr) {
        ReadRow(verb, relation, Trim(line));
      }
    }
  }

  ChangeSet Take() { return std::move(changes_); }

 private:
  void ReadSnapshot(std::string_view id) {
    const absl::Time time = SnapshotTime(ParseNumber<int64_t>(id).value_or(0));
    const RelationRef relation = BuiltinRelationById(kSnapshot);
    changes_.Insert(
        relation,
        RowOf(*relation,
              StrCat(id, " | ", absl::FormatTime("%Y-%m-%d %H:%M:%S+00", time, absl::UTCTimeZone()),
                     " | 0 | 1 | 0")));
  }

  RelationRef Find(std::string_view name) {
    if (const auto it = created_.find(name); it != created_.end()) {
      return it->second;
    }
    absl::StatusOr<RelationRef> relation = directory_.Resolve(name);
    if (!relation.ok()) {
      ADD_FAILURE() << MessageOf(relation.status());
      return nullptr;
    }
    return *relation;
  }

  void ReadRow(std::string_view verb, const RelationRef& relation, std::string_view rest) {
    if (verb == "insert") {
      changes_.Insert(relation, RowOf(*relation, rest));
    } else if (verb == "put") {
      changes_.Put(relation, RowOf(*relation, rest));
    } else if (verb == "end") {
      const SnapshotId end = CutSnapshot(&rest);
      changes_.End(relation, KeyOf(*relation, rest).values(), end);
    } else if (verb == "erase") {
      const SnapshotId begin = CutSnapshot(&rest);
      changes_.Erase(relation, KeyOf(*relation, rest).values(), begin);
    } else {
      ADD_FAILURE() << "no such change: " << verb;
    }
  }

  const RelationDirectory& directory_;
  std::map<std::string, RelationRef, std::less<>> created_;
  ChangeSet changes_;
};

std::vector<size_t> OutputColumns(const RelationSchema& relation, const ScanOptions& options) {
  std::vector<size_t> columns = options.columns.value_or(std::vector<size_t>());
  for (size_t i = 0; !options.columns.has_value() && i < relation.columns.num_columns(); ++i) {
    columns.push_back(i);
  }
  return columns;
}

}  // namespace

Row RowOf(const RelationSchema& relation, std::string_view text) {
  Row row(relation.columns.num_columns());
  const std::vector<std::string_view> values = Split(text, '|');
  if (values.size() > row.size()) {
    ADD_FAILURE() << relation.name << " has " << row.size() << " columns: " << text;
    return row;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    SetValue(relation.columns.column(i), values[i], i, &row);
  }
  return row;
}

Row KeyOf(const RelationSchema& relation, std::string_view text) {
  const std::vector<std::string_view> values = Split(text, '|');
  Row row(values.size());
  if (relation.handle_kind == HandleKind::kRowNumber) {
    SetValue({.name = "row number", .type = TypeKind::kInt64}, values[0], 0, &row);
    return row;
  }
  if (values.size() > relation.handle.size()) {
    ADD_FAILURE() << relation.name << " has " << relation.handle.size() << " key columns: " << text;
    return row;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    SetValue(relation.columns.column(relation.handle[i]), values[i], i, &row);
  }
  return row;
}

ChangeSet ChangesOf(const RelationDirectory& directory, std::string_view text) {
  ChangeReader reader(directory);
  for (const std::string_view line : Split(text, '\n')) {
    if (const std::string_view change = Trim(line.substr(0, line.find('#'))); !change.empty()) {
      reader.Read(change);
    }
  }
  return reader.Take();
}

RelationSchema DynamicOf(std::string_view text) {
  const std::string_view name = Word(&text);
  const size_t semicolon = text.find(';');
  std::vector<ColumnSchema> columns;
  for (std::string_view column : Split(text.substr(0, semicolon), ',')) {
    const std::string_view column_name = Word(&column);
    columns.push_back(
        {.name = std::string(column_name), .type = TypeFromDeclaration(Trim(column))});
  }
  std::vector<std::string> key;
  if (semicolon != std::string_view::npos) {
    std::string_view rest = text.substr(semicolon + 1);
    EXPECT_EQ(Word(&rest), "key");
    for (const std::string_view column : Split(rest, ',')) {
      key.emplace_back(column);
    }
  }
  absl::StatusOr<RelationSchema> relation =
      MakeDynamicRelation(std::string(name), std::move(columns), key);
  if (!relation.ok()) {
    ADD_FAILURE() << MessageOf(relation.status());
    return {};
  }
  return *std::move(relation);
}

std::string ValueText(const Type& type, const Datum& value) {
  return value.is_null() ? "-" : ToText(type, value);
}

std::string RowText(const RelationSchema& relation, std::span<const Datum> row) {
  std::vector<std::string> values;
  for (size_t i = 0; i < row.size(); ++i) {
    values.push_back(ValueText(relation.columns.column(i).type, row[i]));
  }
  return StrJoin(values, " | ");
}

std::string IntervalText(SnapshotId begin, SnapshotId end) {
  return end == kNoEnd ? StrCat("[", begin, ", …)") : StrCat("[", begin, ", ", end, ")");
}

std::vector<std::string> ScanTexts(const ReadView& view, std::string_view name,
                                   ScanOptions options) {
  const absl::StatusOr<RelationRef> relation = view.relations().Resolve(name);
  if (!relation.ok()) {
    return {StrCat("error: ", MessageOf(relation.status()))};
  }
  const bool intervals = options.rows == ScanRows::kAllVersions;
  const std::vector<size_t> columns = OutputColumns(**relation, options);
  const auto scan = view.Scan(*relation, std::move(options));
  if (!scan.ok()) {
    return {StrCat("error: ", MessageOf(scan.status()))};
  }
  std::vector<std::string> texts;
  ScanBatch batch;
  while (true) {
    const absl::StatusOr<bool> more = (*scan)->Next(&batch);
    if (!more.ok()) {
      return {StrCat("error: ", MessageOf(more.status()))};
    }
    if (!*more) {
      return texts;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      std::vector<std::string> values;
      for (size_t i = 0; i < columns.size(); ++i) {
        values.push_back(ValueText((*relation)->columns.column(columns[i]).type,
                                   batch.columns.column(i).at(row)));
      }
      texts.push_back(StrJoin(values, " | "));
      if (intervals) {
        StrAppend(&texts.back(), " @ ", IntervalText(batch.begins[row], batch.ends[row]));
      }
    }
  }
}

std::string GetText(const ReadView& view, std::string_view name, std::string_view key) {
  const absl::StatusOr<RelationRef> relation = view.relations().Resolve(name);
  if (!relation.ok()) {
    return StrCat("error: ", MessageOf(relation.status()));
  }
  const auto row = view.Get(**relation, KeyOf(**relation, key).values());
  if (!row.ok()) {
    return StrCat("error: ", MessageOf(row.status()));
  }
  return row->has_value() ? RowText(**relation, (*row)->values.values()) : "";
}

std::vector<std::string> VersionTexts(const ReadView& view, std::string_view name,
                                      std::string_view key) {
  const absl::StatusOr<RelationRef> relation = view.relations().Resolve(name);
  if (!relation.ok()) {
    return {StrCat("error: ", MessageOf(relation.status()))};
  }
  const auto rows = view.Versions(**relation, KeyOf(**relation, key).values());
  if (!rows.ok()) {
    return {StrCat("error: ", MessageOf(rows.status()))};
  }
  std::vector<std::string> texts;
  for (const VersionedRow& row : *rows) {
    texts.push_back(
        StrCat(RowText(**relation, row.values.values()), " @ ", IntervalText(row.begin, row.end)));
  }
  return texts;
}

absl::Time SnapshotTime(int64_t snapshot) {
  constexpr int64_t kStart = 1'767'225'600;  // 2026-01-01 00:00:00 UTC
  return absl::FromUnixSeconds(kStart + snapshot);
}

}  // namespace varve

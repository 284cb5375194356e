#include "golden/snapshot_text.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve::golden {
namespace {

constexpr std::string_view kRowIndent = "  ";
constexpr std::string_view kSeparator = ", ";

bool IsTextType(const Type& type) {
  return type.kind() == TypeKind::kVarchar || type.kind() == TypeKind::kJson ||
         type.kind() == TypeKind::kText;
}

std::string Quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "''";
    } else if (c == '\\') {
      quoted += "\\\\";
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// The columns that are written, in order.
std::vector<size_t> ColumnsIn(const RelationSchema& relation, RowForm form) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (form != RowForm::kWithoutInterval ||
        (i != relation.begin_column && i != relation.end_column)) {
      columns.push_back(i);
    }
  }
  return columns;
}

std::string ColumnsText(const RelationSchema& relation, std::span<const size_t> columns) {
  std::vector<std::string> names;
  for (const size_t column : columns) {
    names.push_back(relation.columns.column(column).name);
  }
  return StrJoin(names, kSeparator);
}

// `value_of(i)` gives the Datum of column number i of those that are written.
template <typename ValueOf>
std::string RowText(const RelationSchema& relation, std::span<const size_t> columns,
                    const ValueOf& value_of) {
  std::vector<std::string> values;
  for (size_t i = 0; i < columns.size(); ++i) {
    values.push_back(ValueText(relation.columns.column(columns[i]).type, value_of(i)));
  }
  return StrJoin(values, kSeparator);
}

std::string IntervalText(SnapshotId begin, SnapshotId end) {
  return StrCat(" @[", begin, ", ", end == kNoEnd ? "…" : std::to_string(end), ")");
}

const RelationText* FindRelation(const SnapshotText& snapshot, std::string_view name) {
  const auto found =
      std::find_if(snapshot.begin(), snapshot.end(),
                   [&](const RelationText& relation) { return relation.name == name; });
  return found == snapshot.end() ? nullptr : &*found;
}

// The place of a column among "a, b, c"; npos when it is not there.
size_t PlaceOf(std::string_view column, std::string_view columns) {
  for (size_t place = 0;; ++place) {
    const size_t end = columns.find(kSeparator);
    if (columns.substr(0, end) == column) {
      return place;
    }
    if (end == std::string_view::npos) {
      return std::string_view::npos;
    }
    columns.remove_prefix(end + kSeparator.size());
  }
}

// Where the value after the one at `start` starts; quotes inside quotes are doubled.
size_t NextValue(std::string_view row, size_t start) {
  bool quoted = false;
  for (size_t at = start; at < row.size(); ++at) {
    quoted ^= row[at] == '\'';
    if (!quoted && row.substr(at, kSeparator.size()) == kSeparator) {
      return at + kSeparator.size();
    }
  }
  return row.size() + kSeparator.size();
}

// The lines around the first one that differs.
std::string DifferenceOfRows(const RelationText& expected, const RelationText& actual) {
  if (expected.columns != actual.columns) {
    return StrCat("  columns expected: ", expected.columns,
                  "\n  columns found:    ", actual.columns, "\n");
  }
  size_t row = 0;
  while (row < expected.rows.size() && row < actual.rows.size() &&
         expected.rows[row] == actual.rows[row]) {
    ++row;
  }
  const auto line = [&](const RelationText& relation) {
    return row < relation.rows.size() ? relation.rows[row] : std::string("(no more rows)");
  };
  std::string text = StrCat("  columns:  ", expected.columns, "\n");
  if (row > 0) {
    StrAppend(&text, "  before:   ", expected.rows[row - 1], "\n");
  }
  StrAppend(&text, "  row ", row + 1, " expected: ", line(expected), "\n  row ", row + 1,
            " found:    ", line(actual), "\n  rows expected: ", expected.rows.size(),
            ", found: ", actual.rows.size(), "\n");
  return text;
}

}  // namespace

std::string ValueText(const Type& type, const Datum& value) {
  if (value.is_null()) {
    return "NULL";
  }
  const std::string text = ToText(type, value);
  return IsTextType(type) ? Quote(text) : text;
}

absl::StatusOr<RelationText> ReadRelation(const ReadView& view, const RelationRef& relation,
                                          ScanRows rows, RowForm form, PackCounts* counts) {
  const std::vector<size_t> columns = ColumnsIn(*relation, form);
  RelationText text = {.name = relation->name, .columns = ColumnsText(*relation, columns)};
  ScanOptions options;
  options.columns = columns;
  options.rows = rows;
  options.with_intervals = form == RowForm::kWithInterval;
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<RowScan> scan, view.Scan(relation, options));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      const auto value_of = [&](size_t i) { return batch.columns.column(i).at(row); };
      std::string& line = text.rows.emplace_back(RowText(*relation, columns, value_of));
      if (form == RowForm::kWithInterval) {
        line += IntervalText(batch.begins[row], batch.ends[row]);
      }
    }
  }
  if (counts != nullptr) {
    counts->clean += scan->stats().columnar.packs_clean;
    counts->normal += scan->stats().columnar.packs_normal;
  }
  return text;
}

absl::StatusOr<SnapshotText> ReadSnapshot(const ReadView& view, RowForm form, PackCounts* counts) {
  SnapshotText snapshot;
  for (const RelationRef& relation : view.relations().relations()) {
    VARVE_ASSIGN_OR_RETURN(RelationText text,
                           ReadRelation(view, relation, ScanRows::kVisible, form, counts));
    if (!text.rows.empty()) {
      snapshot.push_back(std::move(text));
    }
  }
  return snapshot;
}

SnapshotText ModelText(const Model& model, std::optional<SnapshotId> snapshot, RowForm form) {
  SnapshotText text;
  for (const ModelRelation& relation : model.relations()) {
    const std::vector<size_t> columns = ColumnsIn(*relation.schema, form);
    RelationText rows = {.name = relation.schema->name,
                         .columns = ColumnsText(*relation.schema, columns)};
    for (const ModelRow& row :
         snapshot.has_value() ? model.Visible(relation, *snapshot) : model.All(relation)) {
      const auto value_of = [&](size_t i) { return row.values[columns[i]]; };
      std::string& line = rows.rows.emplace_back(RowText(*relation.schema, columns, value_of));
      if (form == RowForm::kWithInterval) {
        line += IntervalText(row.begin, row.end);
      }
    }
    if (!rows.rows.empty()) {
      text.push_back(std::move(rows));
    }
  }
  return text;
}

std::string FormatSnapshot(const SnapshotText& snapshot) {
  std::string text;
  for (const RelationText& relation : snapshot) {
    StrAppend(&text, relation.name, ": ", relation.columns, "\n");
    for (const std::string& row : relation.rows) {
      StrAppend(&text, kRowIndent, row, "\n");
    }
  }
  return text;
}

absl::StatusOr<SnapshotText> ParseSnapshotText(std::string_view text) {
  SnapshotText snapshot;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t colon = line.find(": ");
    if (line.starts_with(kRowIndent) && !snapshot.empty()) {
      snapshot.back().rows.emplace_back(line.substr(kRowIndent.size()));
    } else if (colon != std::string_view::npos) {
      snapshot.push_back({.name = std::string(line.substr(0, colon)),
                          .columns = std::string(line.substr(colon + 2))});
    } else {
      return absl::InvalidArgumentError(
          StrCat("expected 'relation: columns' or an indented row, found '", line, "'"));
    }
  }
  return snapshot;
}

SnapshotText WithoutEnds(SnapshotText snapshot) {
  for (RelationText& relation : snapshot) {
    const size_t place = PlaceOf("end_snapshot", relation.columns);
    for (std::string& row : relation.rows) {
      size_t start = 0;
      for (size_t i = 0; i < place && start < row.size(); ++i) {
        start = NextValue(row, start);
      }
      if (start < row.size()) {
        row.replace(start, NextValue(row, start) - kSeparator.size() - start, "NULL");
      }
    }
  }
  return snapshot;
}

SnapshotText DifferentRelations(const SnapshotText& now, const SnapshotText& then) {
  SnapshotText different;
  for (const RelationText& relation : then) {
    const RelationText* same = FindRelation(now, relation.name);
    if (same == nullptr || !(*same == relation)) {
      different.push_back(relation);
    }
  }
  for (const RelationText& relation : now) {
    if (FindRelation(then, relation.name) == nullptr) {
      different.push_back({.name = relation.name, .columns = relation.columns});
    }
  }
  return different;
}

SnapshotText Overlay(const SnapshotText& now, const SnapshotText& different) {
  SnapshotText result;
  for (const RelationText& relation : now) {
    if (FindRelation(different, relation.name) == nullptr) {
      result.push_back(relation);
    }
  }
  for (const RelationText& relation : different) {
    if (!relation.rows.empty()) {
      result.push_back(relation);
    }
  }
  return result;
}

std::string FirstDifference(const SnapshotText& expected, const SnapshotText& actual) {
  for (const RelationText& relation : expected) {
    const RelationText* found = FindRelation(actual, relation.name);
    const RelationText none = {.name = relation.name, .columns = relation.columns};
    if (const RelationText& other = found == nullptr ? none : *found; !(relation == other)) {
      return StrCat(relation.name, "\n", DifferenceOfRows(relation, other));
    }
  }
  for (const RelationText& relation : actual) {
    if (FindRelation(expected, relation.name) == nullptr) {
      const RelationText none = {.name = relation.name, .columns = relation.columns};
      return StrCat(relation.name, "\n", DifferenceOfRows(none, relation));
    }
  }
  return "";
}

}  // namespace varve::golden

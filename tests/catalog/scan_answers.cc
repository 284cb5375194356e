#include "tests/catalog/scan_answers.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tests/catalog/row_text.h"

namespace varve {

std::vector<std::string> AnswerOf(const ReadView& view, const RelationRef& relation,
                                  ScanOptions options, ScanPath path, ScanStats* stats) {
  options.path = path;
  const uint32_t most = options.batch_rows;
  const bool with_intervals = options.with_intervals;
  std::vector<size_t> columns(relation->columns.num_columns());
  std::iota(columns.begin(), columns.end(), size_t{0});
  columns = options.columns.value_or(columns);
  const auto scan = view.Scan(relation, std::move(options));
  if (!scan.ok()) {
    return {StrCat("error: ", scan.status().ToString())};
  }
  std::vector<std::string> lines;
  ScanBatch batch;
  while (true) {
    const absl::StatusOr<bool> more = (*scan)->Next(&batch);
    if (!more.ok()) {
      return {StrCat("error: ", more.status().ToString())};
    }
    EXPECT_EQ(*more, batch.num_rows() > 0);
    if ((*scan)->stats().path != ScanPath::kColumnar) {  // which hands packs on as they are
      EXPECT_LE(batch.num_rows(), most);
    }
    if (!*more) {
      break;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      std::string line = with_intervals ? IntervalText(batch.begins[row], batch.ends[row]) : "row";
      for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
        StrAppend(
            &line, " | ",
            ValueText(relation->columns.column(columns[i]).type, batch.columns.column(i).at(row)));
      }
      if (!batch.handles.empty()) {
        StrAppend(&line, " # ", BytesToHexString(batch.handles[row]));
      }
      lines.push_back(std::move(line));
    }
  }
  if (stats != nullptr) {
    *stats = (*scan)->stats();
  }
  return lines;
}

std::vector<std::string> SeenBy(const ReadView& view) {
  std::vector<std::string> lines;
  for (const RelationRef& relation : view.relations().relations()) {
    for (const std::string& line :
         AnswerOf(view, relation, {.rows = ScanRows::kAllVersions}, ScanPath::kRow)) {
      lines.push_back(StrCat(relation->name, " ", line));
    }
  }
  return lines;
}

std::vector<SnapshotId> ReadableSnapshots(const Catalog& catalog) {
  std::vector<SnapshotId> ids;
  for (SnapshotId id = 0; id <= catalog.Current().last_snapshot(); ++id) {
    if (catalog.At(id).ok()) {
      ids.push_back(id);
    }
  }
  return ids;
}

std::vector<Row> RowsOf(const ReadView& view, const RelationRef& relation) {
  std::vector<Row> rows;
  const auto scan = view.Scan(relation, {.rows = ScanRows::kAllVersions, .path = ScanPath::kRow});
  EXPECT_TRUE(scan.ok()) << scan.status();
  ScanBatch batch;
  while (scan.ok() && (*scan)->Next(&batch).value_or(false)) {
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      std::vector<Datum> values;
      for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
        values.push_back(batch.columns.column(i).at(row));
      }
      rows.emplace_back(values);
    }
  }
  return rows;
}

std::string QuestionText(const RelationSchema& relation, const ScanOptions& options) {
  constexpr std::string_view kOperators[] = {"=",  "!=", "<",       "<=",         ">",
                                             ">=", "in", "is null", "is not null"};
  std::string text = options.rows == ScanRows::kVisible ? "visible rows" : "all versions";
  if (options.columns.has_value()) {
    StrAppend(&text, ", columns");
    for (const size_t column : *options.columns) {
      StrAppend(&text, " ", relation.columns.column(column).name);
    }
  }
  for (const Term& term : options.predicate.terms()) {
    const auto& column = relation.columns.column(term.column);
    StrAppend(&text, ", ", column.name, " ", kOperators[static_cast<size_t>(term.op)]);
    for (const Datum& value : term.constants.values()) {
      StrAppend(&text, " ", ValueText(column.type, value));
    }
  }
  for (size_t i = 0; i < options.key_prefix.size(); ++i) {
    StrAppend(&text, i == 0 ? ", key " : " | ",
              ValueText(relation.columns.column(relation.handle[i]).type, options.key_prefix[i]));
  }
  if (options.limit.has_value()) {
    StrAppend(&text, ", limit ", *options.limit);
  }
  StrAppend(&text, options.order == ScanOrder::kAny ? ", in any order" : "");
  StrAppend(&text, ", batches of ", options.batch_rows, options.with_intervals ? ", intervals" : "",
            options.with_handles ? ", handles" : "");
  return text;
}

ScanOptions RandomQuestions::Draw(const RelationSchema& relation, const std::vector<Row>& rows) {
  ScanOptions options;
  options.rows = OneIn(2) ? ScanRows::kVisible : ScanRows::kAllVersions;
  if (OneIn(2)) {
    options.columns = DrawColumns(relation.columns.num_columns());
  }
  if (!rows.empty() && OneIn(2)) {
    options.predicate = DrawPredicate(relation, rows);
  }
  if (!rows.empty() && !relation.handle.empty() && OneIn(3)) {
    const Row& row = rows[Below(rows.size())];
    for (uint64_t i = 0, count = 1 + Below(relation.handle.size()); i < count; ++i) {
      options.key_prefix.push_back(row[relation.handle[i]]);
    }
  }
  if (OneIn(3)) {
    options.limit = Below(6);
  }
  options.with_intervals = !OneIn(4);
  options.with_handles = OneIn(2);
  constexpr uint32_t kBatchRows[] = {1, 2, 3, 7, 1024};
  options.batch_rows = kBatchRows[Below(std::size(kBatchRows))];
  return options;
}

// Some of them, in any order.
std::vector<size_t> RandomQuestions::DrawColumns(size_t count) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < count; ++i) {
    if (OneIn(2)) {
      columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(Below(columns.size() + 1)), i);
    }
  }
  return columns;
}

Predicate RandomQuestions::DrawPredicate(const RelationSchema& relation,
                                         const std::vector<Row>& rows) {
  std::vector<Term> terms;
  for (uint64_t count = 1 + Below(2); count > 0; --count) {
    Term term{.column = Below(relation.columns.num_columns()),
              .op = static_cast<Comparison>(Below(9))};
    const bool is_null_test = term.op == Comparison::kIsNull || term.op == Comparison::kIsNotNull;
    const uint64_t constants = is_null_test ? 0 : term.op == Comparison::kIn ? 1 + Below(3) : 1;
    std::vector<Datum> values;
    for (uint64_t i = 0; i < constants; ++i) {
      values.push_back(rows[Below(rows.size())][term.column]);
    }
    term.constants = Row(values);
    terms.push_back(std::move(term));
  }
  return Predicate(std::move(terms));
}

}  // namespace varve

// varve scan: the rows of a relation, in key order.

#include <gflags/gflags.h>

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/flags.h"

DEFINE_string(columns, "", "columns to print, separated by commas");
DEFINE_string(where, "", "predicate");
DEFINE_bool(count, false, "print the number of rows only");

namespace varve {
namespace {

// The names of --columns: separated by commas, in double quotes if need be.
absl::StatusOr<std::vector<std::string>> SplitNames(std::string_view text) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      names.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (quoted) {
    return UsageError(StrCat("--columns=", text, ": a double quote is not closed"));
  }
  return names;
}

absl::StatusOr<std::vector<size_t>> ChosenColumns(const RelationSchema& relation) {
  std::vector<size_t> columns;
  if (FLAGS_columns.empty()) {
    for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
      columns.push_back(i);
    }
    return columns;
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<std::string> names, SplitNames(FLAGS_columns));
  for (const std::string& name : names) {
    const std::optional<size_t> column = relation.columns.Find(name);
    if (!column.has_value()) {
      return UsageError(UnknownColumnMessage(relation, name));
    }
    if (std::find(columns.begin(), columns.end(), *column) != columns.end()) {
      return UsageError(StrCat("--columns names '", name, "' twice"));
    }
    columns.push_back(*column);
  }
  return columns;
}

// Whether a history has to show the interval beside the columns: where no printed column does.
bool NeedsIntervalColumns(const RelationSchema& relation, const std::vector<size_t>& columns) {
  const auto printed = [&](std::optional<size_t> column) {
    return std::find(columns.begin(), columns.end(), *column) != columns.end();
  };
  return relation.versioning == Versioning::kViaParent ||
         (relation.versioning == Versioning::kInterval &&
          !(printed(relation.begin_column) && printed(relation.end_column)));
}

absl::Status PrintRows(const RelationSchema& relation, const std::vector<size_t>& columns,
                       bool with_intervals, RowScan* scan, OutputFormat format, Stdout* out) {
  std::vector<ResultColumn> result;
  result.reserve(columns.size() + 2);
  for (const size_t column : columns) {
    result.push_back({relation.columns.column(column).name, relation.columns.column(column).type});
  }
  if (with_intervals) {
    result.push_back({"begin_snapshot", TypeKind::kInt64});
    result.push_back({"end_snapshot", TypeKind::kInt64});
  }
  const auto writer = MakeResultWriter(format, std::move(result), out);
  ScanBatch batch;
  std::vector<Datum> values;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return writer->Finish();
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      values.clear();
      for (size_t i = 0; i < columns.size(); ++i) {
        values.push_back(batch.columns.column(i).at(row));
      }
      if (with_intervals) {
        values.push_back(Datum::Int64(static_cast<int64_t>(batch.begins[row])));
        values.push_back(batch.ends[row] == kNoEnd
                             ? Datum()
                             : Datum::Int64(static_cast<int64_t>(batch.ends[row])));
      }
      VARVE_RETURN_IF_ERROR(writer->Row(values));
    }
  }
}

absl::Status PrintCount(RowScan* scan, OutputFormat format, Stdout* out) {
  uint64_t count = 0;
  ScanBatch batch;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    count += batch.num_rows();
  }
  const auto writer = MakeResultWriter(format, {{"count", TypeKind::kInt64}}, out);
  const Datum value = Datum::Int64(static_cast<int64_t>(count));
  VARVE_RETURN_IF_ERROR(writer->Row({&value, 1}));
  return writer->Finish();
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  if (FLAGS_history && (!FLAGS_at.empty() || !FLAGS_at_time.empty())) {
    return UsageError("--history shows every snapshot; it excludes --at and --at-time");
  }
  if (FLAGS_count && !FLAGS_columns.empty()) {
    return UsageError("--count prints no columns; it excludes --columns");
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  VARVE_ASSIGN_OR_RETURN(const RelationRef relation, ResolveRelation(view, arguments[0]));
  VARVE_ASSIGN_OR_RETURN(const std::vector<size_t> columns, ChosenColumns(*relation));
  absl::StatusOr<Predicate> predicate = Predicate::Parse(FLAGS_where, *relation);
  if (!predicate.ok()) {
    return AsUsageError(predicate.status());
  }
  ScanOptions options;
  options.columns = FLAGS_count ? std::vector<size_t>() : columns;
  options.rows = FLAGS_history ? ScanRows::kAllVersions : ScanRows::kVisible;
  options.predicate = *std::move(predicate);
  options.limit = ChosenLimit();
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(relation, std::move(options)));
  Stdout out;
  VARVE_RETURN_IF_ERROR(FLAGS_count
                            ? PrintCount(scan.get(), format, &out)
                            : PrintRows(*relation, columns,
                                        FLAGS_history && NeedsIntervalColumns(*relation, columns),
                                        scan.get(), format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command ScanCommand() {
  return {
      .name = "scan",
      .arguments = "RELATION",
      .summary = "print the rows of a relation, in key order",
      .details =
          "RELATION is any unambiguous name: ducklake_data_file, data_file, data_f.\n"
          "PREDICATE joins comparisons of columns with constants by 'and': =, <>, <, <=, >, >=,\n"
          "is [not] null, between … and …, [not] in (…). Texts and times stand in single quotes.",
      .flags = {kCatalogFlag,
                kAtFlag,
                kAtTimeFlag,
                {"history", "", "every version with its begin and end"},
                {"columns", "a,b", "these columns only, in this order"},
                {"where", "PREDICATE", "rows that satisfy it: \"a = 1 and b < 'x'\""},
                {"limit", "N", "the first N rows only"},
                {"count", "", "the number of rows only"},
                kFormatFlag,
                kReadOnlyFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve

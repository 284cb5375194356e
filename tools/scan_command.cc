// varve scan: the rows of a relation.

#include <gflags/gflags.h>

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/columnar_set.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/scan_explanation.h"

DEFINE_string(columns, "", "columns to print, separated by commas");
DEFINE_string(where, "", "predicate");
DEFINE_bool(count, false, "print the number of rows only");
DEFINE_string(clean_read, "on", "read packs clean where statistics allow it");
DEFINE_string(order, "key", "the order of rows");
DEFINE_bool(explain, false, "print what the scan did");

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

absl::StatusOr<ScanPath> ChosenPath() {
  if (FLAGS_path == "auto") {
    return ScanPath::kAuto;
  }
  if (FLAGS_path == "row") {
    return ScanPath::kRow;
  }
  if (FLAGS_path == "memory") {
    return ScanPath::kMemory;
  }
  if (FLAGS_path == "columnar") {
    return ScanPath::kColumnar;
  }
  return UsageError(StrCat("--path=", FLAGS_path, ": expected auto, row, memory or columnar",
                           DidYouMean(FLAGS_path, {"auto", "row", "memory", "columnar"})));
}

absl::StatusOr<bool> ChosenCleanRead() {
  if (FLAGS_clean_read == "on" || FLAGS_clean_read == "off") {
    return FLAGS_clean_read == "on";
  }
  return UsageError(StrCat("--clean-read=", FLAGS_clean_read, ": expected on or off"));
}

absl::StatusOr<ScanOrder> ChosenOrder() {
  if (FLAGS_order == "key") {
    return ScanOrder::kKey;
  }
  if (FLAGS_order == "any") {
    return ScanOrder::kAny;
  }
  return UsageError(StrCat("--order=", FLAGS_order, ": expected key or any"));
}

// Rows from which on columnar files answer sooner than the row store, though the catalog was opened
// for this scan alone: at 60,000 rows in half the time, at 480,000 in a third.
constexpr uint64_t kManyRows = 50'000;
// Bytes of changes that are read for it at most, for each row of the relation. To bring a change of
// some 16 bytes, as it is on disk, into memory takes as long as four rows of the row store.
constexpr uint64_t kChangeBytesPerRow = 4;

// About how many bytes of changes no columnar file has.
uint64_t UnflushedBytes(const StoreState& state) {
  const std::string first = ChangesKey(state.columnar->flushed_csn() + 1, 0, 0);
  const std::string end = ChangesKey(state.csn + 1, 0, 0);
  const rocksdb::Range range(ToSlice(first), ToSlice(end));
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  // Without an answer it looks like nothing, and memory is rebuilt: slower at worst.
  state.store->db()
      .GetApproximateSizes(options, state.store->family(Family::kChanges), &range, 1, &bytes)
      .PermitUncheckedError();
  return bytes;
}

// Whether MemRowSets are needed. They are what is missing to columnar files, and cost reading the
// changes since the last flush: --path=auto has them where a scan of everything saves more.
bool IsMemoryWanted(const StoreState& state, RelationId relation, ScanPath path) {
  if (path != ScanPath::kAuto) {
    return path == ScanPath::kMemory || path == ScanPath::kColumnar;
  }
  const RelationColumns* const columns = state.columnar->Find(relation);
  if (FLAGS_history || columns == nullptr || !state.columnar->IsComplete(relation)) {
    return false;  // the row store will answer
  }
  uint64_t rows = 0;
  for (const ColumnarPart& part : columns->l1) {
    rows += part.table->num_rows();
  }
  for (const ColumnarSegment& segment : columns->segments) {
    rows += segment.rows();
  }
  return rows >= kManyRows && UnflushedBytes(state) <= rows * kChangeBytesPerRow;
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const ScanPath path, ChosenPath());
  VARVE_ASSIGN_OR_RETURN(const bool clean_read, ChosenCleanRead());
  VARVE_ASSIGN_OR_RETURN(const ScanOrder order, ChosenOrder());
  if (FLAGS_history && (!FLAGS_at.empty() || !FLAGS_at_time.empty())) {
    return UsageError("--history shows every snapshot; it excludes --at and --at-time");
  }
  if (FLAGS_count && !FLAGS_columns.empty()) {
    return UsageError("--count prints no columns; it excludes --columns");
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(ReadView view, ChosenView(*catalog));
  VARVE_ASSIGN_OR_RETURN(const RelationRef relation, ResolveRelation(view, arguments[0]));
  if (IsMemoryWanted(*view.state(), relation->id, path)) {
    const absl::Status memory = catalog->WaitForMemory();
    if (path != ScanPath::kAuto) {
      VARVE_RETURN_IF_ERROR(memory);
    }
    VARVE_ASSIGN_OR_RETURN(view, ChosenView(*catalog));
  }
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
  options.path = path;
  options.order = order;
  options.clean_read = clean_read;
  const bool prints_intervals =
      FLAGS_history && !FLAGS_count && NeedsIntervalColumns(*relation, columns);
  options.with_intervals = prints_intervals;
  const absl::StatusOr<std::unique_ptr<RowScan>> scan = view.Scan(relation, std::move(options));
  VARVE_RETURN_IF_ERROR(AsRefusal(scan.status()));
  Stdout out;
  if (FLAGS_explain) {
    VARVE_RETURN_IF_ERROR(PrintExplanation(view, scan->get(), format, &out));
  } else if (FLAGS_count) {
    VARVE_RETURN_IF_ERROR(PrintCount(scan->get(), format, &out));
  } else {
    VARVE_RETURN_IF_ERROR(
        PrintRows(*relation, columns, prints_intervals, scan->get(), format, &out));
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command ScanCommand() {
  return {
      .name = "scan",
      .arguments = "RELATION",
      .summary = "print the rows of a relation",
      .details =
          "RELATION is any unambiguous name: ducklake_data_file, data_file, data_f.\n"
          "PREDICATE joins comparisons of columns with constants by 'and': =, <>, <, <=, >, >=,\n"
          "is [not] null, between … and …, [not] in (…). Texts and times stand in single quotes.\n"
          "The memory path first rebuilds the MemRowSets from the change log; it answers for\n"
          "relations that were empty where the log begins and were never flushed. The columnar\n"
          "path does so with what was not flushed, and answers for relations that are all in\n"
          "columnar files and memory; 'auto' takes it for large relations.",
      .flags = {kCatalogFlag,
                kAtFlag,
                kAtTimeFlag,
                {"history", "", "every version with its begin and end"},
                {"columns", "a,b", "these columns only, in this order"},
                {"where", "PREDICATE", "rows that satisfy it: \"a = 1 and b < 'x'\""},
                {"limit", "N", "the first N rows only"},
                {"count", "", "the number of rows only"},
                {"path", "auto|row|memory|columnar",
                 "what answers; every path gives the same rows"},
                {"clean_read", "on|off",
                 "read columnar packs without handle, version and end where all is visible"},
                {"order", "key|any", "rows by their keys, the default, or as it is cheapest"},
                {"explain", "", "print what the scan did, not its rows"},
                kFormatFlag,
                kReadOnlyFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve

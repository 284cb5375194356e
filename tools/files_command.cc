// varve files: the data files of a table that can have rows that a predicate lets through.

#include <gflags/gflags_declare.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/relation_directory.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/prune.h"
#include "catalog/transaction/table_statistics.h"
#include "tools/commands.h"
#include "tools/flags.h"

DECLARE_string(where);

namespace varve {
namespace {

// The columns of a table as those of a relation, which predicates are written against.
struct TableColumns {
  RelationSchema relation;
  std::vector<int64_t> ids;
};

absl::StatusOr<TableColumns> ReadTableColumns(const ReadView& view, const TableName& table) {
  TableColumns columns;
  columns.relation.name = table.name;
  std::vector<ColumnSchema> schemas;
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kColumn, {"column_id", "column_name", "column_type", "parent_column"},
      {.key_prefix = {Datum::Int64(table.id)}}, [&](const RowReader& row) {
        if (row.IsNull(3)) {  // fields of nested columns have no bounds to go by
          columns.ids.push_back(row.Int(0));
          schemas.push_back({.name = std::string(row.Text(1)), .type = TypeOfColumn(row.Text(2))});
        }
      }));
  columns.relation.columns = Schema(std::move(schemas));
  return columns;
}

// The files that every column leaves; nullopt: all.
absl::StatusOr<std::optional<std::vector<int64_t>>> ChosenFiles(const ReadView& view,
                                                                const TableName& table) {
  VARVE_ASSIGN_OR_RETURN(const TableColumns columns, ReadTableColumns(view, table));
  const absl::StatusOr<Predicate> predicate = Predicate::Parse(FLAGS_where, columns.relation);
  if (!predicate.ok()) {
    return AsUsageError(predicate.status());
  }
  std::map<size_t, std::vector<const Term*>> terms_of;
  for (const Term& term : predicate->terms()) {
    terms_of[term.column].push_back(&term);
  }
  std::optional<std::vector<int64_t>> chosen;
  for (const auto& [column, terms] : terms_of) {
    const std::optional<ColumnFilter> filter = ColumnFilter::Of(terms);
    if (!filter.has_value()) {
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(PrunedFiles pruned,
                           PruneFiles(view, table.id, columns.ids[column], *filter));
    if (chosen.has_value()) {
      std::vector<int64_t> both;
      std::set_intersection(chosen->begin(), chosen->end(), pruned.files.begin(),
                            pruned.files.end(), std::back_inserter(both));
      pruned.files = std::move(both);
    }
    chosen = std::move(pruned.files);
  }
  return chosen;
}

absl::Status PrintFiles(const ReadView& view, const TableName& table,
                        const std::optional<std::vector<int64_t>>& chosen, OutputFormat format,
                        Stdout* out) {
  const auto writer = MakeResultWriter(format,
                                       {{"data_file_id", TypeKind::kInt64},
                                        {"path"},
                                        {"record_count", TypeKind::kInt64},
                                        {"file_size_bytes", TypeKind::kInt64},
                                        {"begin_snapshot", TypeKind::kInt64}},
                                       out);
  VARVE_ASSIGN_OR_RETURN(
      RowReader files, RowReader::Open(view, view.relations().FindById(kDataFile),
                                       {"data_file_id", "path", "path_is_relative", "record_count",
                                        "file_size_bytes"},
                                       {.key_prefix = {Datum::Int64(table.id)}}));
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, files.Next());
    if (!more) {
      return writer->Finish();
    }
    if (chosen.has_value() && !std::binary_search(chosen->begin(), chosen->end(), files.Int(0))) {
      continue;
    }
    const auto number = [&](size_t i) {
      return files.IsNull(i) ? Datum() : Datum::Int64(files.Int(i));
    };
    const std::string path = ResolvePath(table.path, files.Text(1), files.Bool(2, true));
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::vector<Datum>{number(0), Datum::Bytes(path), number(3), number(4),
                                       Datum::Int64(static_cast<int64_t>(files.begin()))}));
  }
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  if (!FLAGS_where.empty() && !catalog->LatestState()->columnar->manifest().files().empty()) {
    // What was flushed answers together with what was not. Without, the row store does.
    catalog->WaitForMemory().IgnoreError();
  }
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  const absl::StatusOr<std::vector<const TableName*>> tables = names.SelectTables(arguments[0]);
  if (absl::IsInvalidArgument(tables.status())) {
    return AsUsageError(tables.status());
  }
  VARVE_RETURN_IF_ERROR(tables.status());
  if (tables->size() != 1) {
    return UsageError(StrCat("files shows one table, and ", arguments[0],
                             " is a schema; name a table of it: ", arguments[0], ".TABLE"));
  }
  const TableName& table = *tables->front();
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> chosen,
                         ChosenFiles(view, table));
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintFiles(view, table, chosen, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command FilesCommand() {
  return {
      .name = "files",
      .arguments = "TABLE",
      .summary = "list the data files of a table that can have certain rows",
      .details =
          "TABLE is table, schema.table or \"Odd schema\".\"odd.table\", in any case.\n"
          "PREDICATE is that of scan, about the table's columns. By the statistics of columns,\n"
          "files are left out that have no row that satisfies it; whether the others do have\n"
          "one only their rows can tell. Terms about several columns are joined by 'and'.",
      .flags = {kCatalogFlag,
                kAtFlag,
                kAtTimeFlag,
                {"where", "PREDICATE", "files that can have rows: \"a between 1 and 5\""},
                kFormatFlag,
                kReadOnlyFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve

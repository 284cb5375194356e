// varve get: one row by its key.

#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace varve {
namespace {

std::string KeyNames(const RelationSchema& relation) {
  std::vector<std::string_view> names;
  for (const size_t column : relation.handle) {
    names.push_back(relation.columns.column(column).name);
  }
  return StrJoin(names, " ");
}

absl::Status ReadKeyValue(const ColumnSchema& column, const std::string& text, size_t slot,
                          Row* key) {
  if (text == "NULL" || text == "\\N") {
    return absl::OkStatus();
  }
  std::string scratch;
  Datum value;
  const absl::Status status = ParseDatum(column.type, text, BlobText::kHex, &scratch, &value);
  if (!status.ok()) {
    return UsageError(StrCat("key column ", column.name, ": ", MessageOf(status)));
  }
  key->Set(slot, value);
  return absl::OkStatus();
}

// The row `values` name: by the whole key, or by the one column that is unique by itself.
absl::StatusOr<std::optional<VersionedRow>> Find(const ReadView& view,
                                                 const RelationSchema& relation,
                                                 const std::vector<std::string>& values) {
  if (values.size() == 1 && relation.handle.size() > 1 && relation.unique_column.has_value()) {
    Row key(1);
    VARVE_RETURN_IF_ERROR(
        ReadKeyValue(relation.columns.column(*relation.unique_column), values[0], 0, &key));
    if (key[0].is_null()) {
      return std::nullopt;
    }
    return view.GetByUnique(relation, key[0].int64_value());
  }
  if (relation.handle.empty()) {
    return UsageError(StrCat(relation.name, " has no key; use 'varve scan ", relation.short_name(),
                             " --where=…'"));
  }
  if (values.size() != relation.handle.size()) {
    return UsageError(StrCat("the key of ", relation.name, " is ", KeyNames(relation),
                             ": expected ", relation.handle.size(),
                             relation.handle.size() == 1 ? " value, got " : " values, got ",
                             values.size()));
  }
  Row key(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    VARVE_RETURN_IF_ERROR(
        ReadKeyValue(relation.columns.column(relation.handle[i]), values[i], i, &key));
  }
  if (relation.handle_kind == HandleKind::kInt && key[0].is_null()) {
    return std::nullopt;  // no row has NULL for its only key column
  }
  return view.Get(relation, key.values());
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  VARVE_ASSIGN_OR_RETURN(const RelationRef relation, ResolveRelation(view, arguments[0]));
  const std::vector<std::string> key(arguments.begin() + 1, arguments.end());
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, Find(view, *relation, key));
  if (!row.has_value()) {
    std::fprintf(stderr, "varve: no row of %s has the key %s at snapshot %llu\n",
                 relation->name.c_str(), StrJoin(key, " ").c_str(),
                 static_cast<unsigned long long>(view.snapshot()));
    return kExitNoRow;
  }
  std::vector<ResultColumn> columns;
  for (const ColumnSchema& column : relation->columns.columns()) {
    columns.push_back({column.name, column.type});
  }
  Stdout out;
  const auto writer = MakeResultWriter(format, std::move(columns), &out);
  VARVE_RETURN_IF_ERROR(writer->Row(row->values.values()));
  VARVE_RETURN_IF_ERROR(writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command GetCommand() {
  return {
      .name = "get",
      .arguments = "RELATION KEY…",
      .summary = "print one row by its key",
      .details =
          "KEY… are the values of the key columns in key order (docs/cli.md lists them); NULL or\n"
          "\\N stands for NULL. A data or delete file is found by its id alone, too. Where equal\n"
          "keys occur the first row is printed. Exit code 3: there is no such row.",
      .flags = {kCatalogFlag, kAtFlag, kAtTimeFlag, kFormatFlag, kReadOnlyFlag},
      .min_arguments = 2,
      .max_arguments = 16,
      .run = Run};
}

}  // namespace varve

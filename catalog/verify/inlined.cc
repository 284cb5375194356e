// Inlined rows and deletes: the dynamic relations a table's rows lie in before they become files.
#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"
#include "catalog/verify/object_lifetimes.h"

namespace varve {
namespace {

constexpr std::string_view kDataPrefix = "ducklake_inlined_data_";
constexpr std::string_view kDeletePrefix = "ducklake_inlined_delete_";

// The table number in ducklake_inlined_data_<table>_<schema version> and its like.
std::optional<int64_t> TableOfName(std::string_view name, std::string_view prefix) {
  if (!StartsWithIgnoreCase(name, prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  return ParseNumber<int64_t>(name.substr(0, name.find('_')));
}

// Reads which inlined tables are registered, by lower-cased name.
absl::StatusOr<absl::flat_hash_set<std::string>> CheckRegistry(VerifyRun* run,
                                                               const ObjectLifetimes& tables) {
  absl::flat_hash_set<std::string> names;
  VARVE_ASSIGN_OR_RETURN(RowCursor rows,
                         OpenBuiltin(*run, kInlinedDataTables, {"table_id", "table_name"}));
  while (rows.valid()) {
    if (rows.Int(0).has_value() && !tables.Contains(*rows.Int(0))) {
      run->Report(Rule::kOrphan, rows.relation_name(), rows.Key(),
                  StrCat("table ", *rows.Int(0), " does not exist"));
    }
    if (const std::optional<std::string_view> name = rows.Text(1); name.has_value()) {
      names.insert(AsciiStrToLower(*name));
      if (run->view().relations().FindByName(*name) == nullptr) {
        run->Report(Rule::kInlinedTableMissing, rows.relation_name(), rows.Key(),
                    StrCat("the catalog has no relation ", *name));
      }
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return names;
}

// Row ids are reserved from next_row_id, whether rows go to files or stay inlined. The highest one
// stands for all of the relation.
absl::Status CheckRowIds(VerifyRun* run, const RelationRef& relation, int64_t table) {
  VARVE_ASSIGN_OR_RETURN(
      RowCursor rows,
      RowCursor::Open(run->view(), relation, {relation->columns.column(relation->handle[0]).name}));
  if (!rows.valid()) {
    return absl::OkStatus();
  }
  const RelationRef stats = run->view().relations().FindById(kTableStats);
  const Datum key[] = {Datum::Int64(table)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, run->view().Get(*stats, key));
  if (!row.has_value()) {
    run->Report(
        Rule::kTableStatsMissing, stats->name, StrCat("table_id=", table),
        StrCat(relation->name,
               " has rows, but the table has no statistics; row ids would be given out again"));
    return absl::OkStatus();
  }
  const Datum& next = row->values[*stats->columns.Find("next_row_id")];
  std::optional<int64_t> highest;
  std::string highest_key;
  while (rows.valid()) {
    highest = rows.Int(0);
    if (!next.is_null() && highest.has_value() && *highest >= next.int64_value()) {
      highest_key = rows.Key();
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  if (!highest_key.empty()) {
    run->Report(Rule::kRowIdBeyondNext, relation->name, highest_key,
                StrCat("row id ", *highest, " is not below next_row_id of the table, ",
                       next.int64_value(), "; it will be given out again"));
  }
  return absl::OkStatus();
}

// Expiry drops data files and leaves inlined deletes against them behind: a note.
absl::Status CheckDeletedFiles(VerifyRun* run, const RelationRef& relation) {
  VARVE_ASSIGN_OR_RETURN(
      RowCursor rows,
      RowCursor::Open(run->view(), relation, {relation->columns.column(relation->handle[0]).name}));
  const RelationRef files = run->view().relations().FindById(kDataFile);
  std::optional<int64_t> previous;
  while (rows.valid()) {
    const std::optional<int64_t> file = rows.Int(0);
    if (file.has_value() && file != previous) {
      VARVE_ASSIGN_OR_RETURN(const bool exists, UniqueIdExists(*run, *files, *file));
      if (!exists) {
        run->Report(Rule::kOrphan, relation->name, rows.Key(),
                    StrCat("data file ", *file, " does not exist"));
      }
    }
    previous = file;
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInlined(VerifyRun* run) {
  ObjectLifetimes tables;
  VARVE_RETURN_IF_ERROR(ReadLifetimes(*run, kTable, "table_id", &tables));
  VARVE_ASSIGN_OR_RETURN(const absl::flat_hash_set<std::string> registered,
                         CheckRegistry(run, tables));
  for (const RelationRef& relation : run->view().relations().relations()) {
    if (!relation->dynamic || run->IsDamaged(relation->id)) {
      continue;
    }
    if (const auto table = TableOfName(relation->name, kDataPrefix); table.has_value()) {
      if (!registered.contains(AsciiStrToLower(relation->name))) {
        run->Report(Rule::kInlinedTableUnregistered, relation->name, "",
                    "ducklake_inlined_data_tables does not list it; no client reads its rows");
      }
      VARVE_RETURN_IF_ERROR(CheckRowIds(run, relation, *table));
    } else if (const auto of = TableOfName(relation->name, kDeletePrefix); of.has_value()) {
      if (!tables.Contains(*of)) {
        run->Report(Rule::kOrphan, relation->name, "", StrCat("table ", *of, " does not exist"));
      }
      VARVE_RETURN_IF_ERROR(CheckDeletedFiles(run, relation));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

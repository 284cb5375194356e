// Id domains: DuckLake numbers catalog objects from next_catalog_id and files from next_file_id.
#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

struct NextIds {
  std::optional<int64_t> catalog;
  std::optional<int64_t> file;
};

absl::StatusOr<NextIds> ReadNextIds(const VerifyRun& run) {
  NextIds next;
  if (run.axis().snapshots().empty()) {
    return next;
  }
  const RelationRef relation = run.view().relations().FindById(kSnapshot);
  const Datum key[] = {Datum::Int64(static_cast<int64_t>(run.axis().snapshots().back()))};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, run.view().Get(*relation, key));
  if (row.has_value()) {
    for (const auto& [name, id] :
         {std::pair("next_catalog_id", &next.catalog), std::pair("next_file_id", &next.file)}) {
      const Datum& value = row->values[*relation->columns.Find(name)];
      if (!value.is_null()) {
        *id = value.int64_value();
      }
    }
  }
  return next;
}

void CheckBelowNext(VerifyRun* run, Rule rule, const RowCursor& row, std::string_view column,
                    int64_t id, std::optional<int64_t> next) {
  if (next.has_value() && id >= *next) {
    run->Report(rule, row.relation_name(), row.Key(),
                StrCat("id ", id, " is not below ", column, " of the last snapshot, ", *next,
                       "; it will be given out again"));
  }
}

struct IdColumn {
  RelationId relation;
  std::string_view column;
};

// Walks the ids of `id_column`, each once. `visit(row, id)` returns a status.
template <typename Visit>
absl::Status ForEachId(VerifyRun* run, const IdColumn& id_column, const Visit& visit) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, id_column.relation, {id_column.column}));
  std::optional<int64_t> previous;
  while (rows.valid()) {
    const std::optional<int64_t> id = rows.Int(0);
    if (id.has_value() && id != previous) {
      VARVE_RETURN_IF_ERROR(visit(rows, *id));
    }
    previous = id;
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

// The relation that has a file with this id: ducklake_data_file, ducklake_delete_file or neither.
absl::StatusOr<std::string_view> RelationOfFile(const VerifyRun& run, int64_t id,
                                                std::initializer_list<RelationId> relations) {
  for (const RelationId relation_id : relations) {
    const RelationRef relation = run.view().relations().FindById(relation_id);
    // Whatever snapshot the file is visible at: its handle is all that is asked for.
    VARVE_ASSIGN_OR_RETURN(const bool found, UniqueIdExists(run, *relation, id));
    if (found) {
      return relation->name;
    }
  }
  return std::string_view();
}

}  // namespace

absl::Status CheckCatalogIds(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(const NextIds next, ReadNextIds(*run));
  // Not ducklake_column_mapping: the specification puts it here, the client numbers it with files.
  const IdColumn domain[] = {
      {kSchema, "schema_id"},
      {kTable, "table_id"},
      {kView, "view_id"},
      {kMacro, "macro_id"},
      {kPartitionInfo, "partition_id"},
      {kSortInfo, "sort_id"},
  };
  absl::flat_hash_map<int64_t, RelationId> owners;
  for (const IdColumn& column : domain) {
    VARVE_RETURN_IF_ERROR(ForEachId(run, column, [&](const RowCursor& row, int64_t id) {
      CheckBelowNext(run, Rule::kCatalogIdBeyondNext, row, "next_catalog_id", id, next.catalog);
      const auto [owner, inserted] = owners.emplace(id, column.relation);
      if (!inserted && owner->second != column.relation) {
        run->Report(Rule::kCatalogIdShared, row.relation_name(), row.Key(),
                    StrCat("id ", id, " is also that of a row of ",
                           run->view().relations().FindById(owner->second)->name));
      }
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::Status CheckFileIds(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(const NextIds next, ReadNextIds(*run));
  const auto below_next = [&](const RowCursor& row, int64_t id) {
    CheckBelowNext(run, Rule::kFileIdBeyondNext, row, "next_file_id", id, next.file);
  };
  VARVE_RETURN_IF_ERROR(
      ForEachId(run, {kDataFile, "data_file_id"}, [&](const RowCursor& row, int64_t id) {
        below_next(row, id);
        return absl::OkStatus();
      }));
  VARVE_RETURN_IF_ERROR(ForEachId(
      run, {kDeleteFile, "delete_file_id"}, [&](const RowCursor& row, int64_t id) -> absl::Status {
        below_next(row, id);
        VARVE_ASSIGN_OR_RETURN(const std::string_view other, RelationOfFile(*run, id, {kDataFile}));
        if (!other.empty()) {
          run->Report(Rule::kFileIdShared, row.relation_name(), row.Key(),
                      StrCat("id ", id, " is also that of a row of ", other));
        }
        return absl::OkStatus();
      }));
  VARVE_RETURN_IF_ERROR(
      ForEachId(run, {kFilesScheduledForDeletion, "data_file_id"},
                [&](const RowCursor& row, int64_t id) -> absl::Status {
                  below_next(row, id);
                  VARVE_ASSIGN_OR_RETURN(const std::string_view owner,
                                         RelationOfFile(*run, id, {kDataFile, kDeleteFile}));
                  if (!owner.empty()) {
                    run->Report(Rule::kScheduledFileInUse, row.relation_name(), row.Key(),
                                StrCat("the file is scheduled for deletion, but ", owner,
                                       " still has it; a clean-up would lose its rows"));
                  }
                  return absl::OkStatus();
                }));
  // The client takes mapping ids from next_file_id; a catalog that takes them from next_catalog_id,
  // as the specification says, is accepted as well.
  std::optional<int64_t> next_mapping = next.file;
  if (next.catalog.has_value() && next.file.has_value()) {
    next_mapping = std::max(*next.catalog, *next.file);
  }
  return ForEachId(run, {kColumnMapping, "mapping_id"}, [&](const RowCursor& row, int64_t id) {
    CheckBelowNext(run, Rule::kFileIdBeyondNext, row, "next_file_id", id, next_mapping);
    return absl::OkStatus();
  });
}

}  // namespace varve

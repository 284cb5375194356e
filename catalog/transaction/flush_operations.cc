// The way of inlined rows into a data file.
//
// A flush is seen by nobody: every version of every inlined row is in the file, with its row id and
// the snapshot it came with, and the delete file names those that have ended. So the file begins
// where the first row did, and its partial_max is where the last one did.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/delete_files.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

// What the inlined rows of a table are, all versions of them.
struct InlinedRows {
  int64_t rows = 0;
  int64_t ended = 0;
  SnapshotId first_begin = kNoEnd;
  SnapshotId last_begin = 0;
  SnapshotId first_end = kNoEnd;
  SnapshotId last_end = 0;
  int64_t first_row_id = 0;
};

bool IsChanged(const Transaction::State& state, RelationId relation) {
  const auto changes = state.rows.changes().find(relation);
  return changes != state.rows.changes().end() &&
         std::any_of(changes->second.begin(), changes->second.end(), [](const auto& entry) {
           const auto& versions = entry.second.group.versions();
           return std::any_of(versions.begin(), versions.end(), [](const GroupVersion& version) {
             return version.stored ? version.changed || version.erased : !version.erased;
           });
         });
}

// Erases the rows of one relation, all versions.
absl::Status EraseRows(Transaction::State* state, const RelationRef& relation, InlinedRows* all) {
  ScanOptions options{.rows = ScanRows::kAllVersions};
  options.columns = {relation->handle[0]};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         state->rows.base().Scan(relation, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      const int64_t row_id = batch.columns.column(0).int64s()[i];
      all->first_row_id = all->rows == 0 ? row_id : std::min(all->first_row_id, row_id);
      ++all->rows;
      all->first_begin = std::min(all->first_begin, batch.begins[i]);
      all->last_begin = std::max(all->last_begin, batch.begins[i]);
      if (!IsCurrent(batch.ends[i])) {
        ++all->ended;
        all->first_end = std::min(all->first_end, batch.ends[i]);
        all->last_end = std::max(all->last_end, batch.ends[i]);
      }
      const Datum key[] = {Datum::Int64(row_id)};
      VARVE_RETURN_IF_ERROR(state->rows.Erase(relation, key, batch.begins[i]));
    }
  }
}

// The relation of the newest schema version stays for the rows to come; older ones, empty now, go.
absl::Status DropSuperseded(Transaction::State* state, int64_t table_id,
                            const std::vector<RelationRef>& relations) {
  const RelationRef& registry = state->relation(kInlinedDataTables);
  const Datum of_table[] = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> registered,
                         state->rows.Rows(registry, of_table));
  for (size_t i = 0; i + 1 < relations.size(); ++i) {
    VARVE_RETURN_IF_ERROR(state->rows.DropRelation(relations[i]));
    VARVE_RETURN_IF_ERROR(
        state->rows.Erase(registry, HandleValues(*registry, registered[i].values), 0));
  }
  return absl::OkStatus();
}

absl::Status CheckFlushed(const LiveObject& table, const InlinedRows& all, const DataFile& file,
                          const std::optional<DeleteFile>& deletes) {
  if (all.rows == 0) {
    return absl::FailedPreconditionError(
        StrCat(ObjectText(table), " has no inlined rows to flush"));
  }
  if (file.record_count != all.rows) {
    return absl::InvalidArgumentError(StrCat(FileText("data file", file.path), " has ",
                                             file.record_count, " rows, ", ObjectText(table),
                                             " has ", all.rows, " inlined ones"));
  }
  const int64_t deleted = deletes.has_value() ? deletes->delete_count : 0;
  if (deleted != all.ended) {
    return absl::InvalidArgumentError(StrCat(ObjectText(table), " has ", all.ended,
                                             " inlined rows that have ended, the delete ",
                                             "file of the flush has ", deleted));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Flush(Transaction::State* state, int64_t table_id, const DataFile& file,
                              const std::optional<DeleteFile>& deletes) {
  VARVE_ASSIGN_OR_RETURN(DataFileWriter writer,
                         DataFileWriter::Open(state, table_id, RowsAre::kMoved));
  const LiveObject& table = writer.table();
  VARVE_RETURN_IF_ERROR(writer.Check(file));
  // Rows of several partitions may come to lie in one file, which then belongs to none.
  if (!file.partition_values.empty()) {
    VARVE_RETURN_IF_ERROR(writer.CheckPartitionValues(file));
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations,
                         InlinedRelationsOf(*state, table_id));
  InlinedRows all;
  for (const RelationRef& relation : relations) {
    if (relation->id >= kFirstProvisionalRelation || IsChanged(*state, relation->id)) {
      return absl::FailedPreconditionError(
          StrCat("the transaction has changed inlined rows of ", ObjectText(table),
                 " itself; commit it, and flush them in another one"));
    }
    VARVE_RETURN_IF_ERROR(EraseRows(state, relation, &all));
  }
  VARVE_RETURN_IF_ERROR(CheckFlushed(table, all, file, deletes));
  VARVE_RETURN_IF_ERROR(DropSuperseded(state, table_id, relations));

  const int64_t id = state->NewFileId();
  NewPaths paths(state, table_id);
  VARVE_RETURN_IF_ERROR(paths.Add(file.path, file.path_is_relative, {.id = id}));
  DeleteFilesOfTable delete_files;
  if (deletes.has_value()) {
    DeleteFile delete_file = *deletes;
    delete_file.data_file_id = id;
    delete_file.begin_snapshot = all.first_end;
    delete_file.partial_max =
        all.last_end > all.first_end ? std::optional(all.last_end) : std::nullopt;
    delete_file.holds_inlined_deletes = false;
    VARVE_RETURN_IF_ERROR(CheckFileFacts({.kind = "delete file",
                                          .path = delete_file.path,
                                          .format = delete_file.format,
                                          .file_size_bytes = delete_file.file_size_bytes,
                                          .footer_size = delete_file.footer_size,
                                          .encryption_key = delete_file.encryption_key}));
    const int64_t delete_file_id = state->NewFileId();
    VARVE_RETURN_IF_ERROR(paths.Add(delete_file.path, delete_file.path_is_relative,
                                    {.id = delete_file_id, .is_delete_file = true}));
    VARVE_RETURN_IF_ERROR(ReplaceDeleteFile(state, table, delete_file, all.first_begin,
                                            delete_file_id, &delete_files));
  }
  VARVE_RETURN_IF_ERROR(paths.Check());
  DataFilePlace place = {.file_id = id,
                         .begin = all.first_begin,
                         .partial_max = all.last_begin,
                         .row_id_start = file.row_id_start.value_or(all.first_row_id)};
  if (!file.partition_values.empty()) {
    place.partition_id = writer.partition_id();
    place.partition_values = file.partition_values;
  }
  writer.Add(file, place);
  VARVE_RETURN_IF_ERROR(writer.Write());
  CountRows(state, table_id, 0, file.file_size_bytes);
  Action action = ActionOn(table, Operation::kFlushInlined);
  action.paths = paths.Hashes();
  state->footprint.Add(std::move(action));
  paths.Keep();
  return id;
}

}  // namespace

absl::StatusOr<int64_t> Transaction::FlushInlined(int64_t table_id, const DataFile& file,
                                                  const std::optional<DeleteFile>& deletes) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = Flush(state_.get(), table_id, file, deletes);
    return id.status();
  }));
  return id;
}

}  // namespace varve

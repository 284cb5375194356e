#include "catalog/transaction/delete_files.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/inlined_relations.h"

namespace varve {
namespace {

Predicate DataFileIsOneOf(const RelationSchema& relation, const std::vector<int64_t>& ids) {
  Row constants(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    constants.Set(i, Datum::Int64(ids[i]));
  }
  std::vector<Term> terms;
  terms.push_back({.column = *relation.columns.Find("data_file_id"),
                   .op = Comparison::kIn,
                   .constants = std::move(constants)});
  return Predicate(std::move(terms));
}

// The snapshots of a delete file that holds deletes of committed ones.
absl::Status CheckBackDated(const Transaction::State& state, const DeleteFile& file,
                            SnapshotId data_file_begin) {
  const std::string text = FileText("delete file", file.path);
  const SnapshotId last = state.rows.base().last_snapshot();
  if (!file.begin_snapshot.has_value()) {
    return absl::InvalidArgumentError(StrCat(
        text, file.partial_max.has_value()
                  ? " has a partial_max, but no begin_snapshot: the first of its deletes"
                  : " holds the inlined deletes of its data file: its begin_snapshot must be "
                    "the first of theirs"));
  }
  if (*file.begin_snapshot > last) {
    return absl::InvalidArgumentError(
        StrCat(text, " begins at snapshot ", *file.begin_snapshot, ", the last one is ", last,
               "; leave begin_snapshot out for deletes of this transaction"));
  }
  if (*file.begin_snapshot < data_file_begin) {
    return absl::InvalidArgumentError(StrCat(text, " begins at snapshot ", *file.begin_snapshot,
                                             ", data file ", file.data_file_id, " at ",
                                             data_file_begin));
  }
  if (file.partial_max.has_value() &&
      (*file.partial_max < *file.begin_snapshot || *file.partial_max > last)) {
    return absl::InvalidArgumentError(StrCat(text, ": partial_max is ", *file.partial_max,
                                             ", expected a snapshot from its begin ",
                                             *file.begin_snapshot, " to the last one ", last));
  }
  return absl::OkStatus();
}

// A back-dated delete file takes the place of those that are there from its begin on: it holds
// their deletes.
absl::Status EraseReplacedDeleteFiles(Transaction::State* state, const LiveObject& table,
                                      const DeleteFile& file) {
  const RelationRef& relation = state->relation(kDeleteFile);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> versions,
                         AllDeleteFiles(*state, table.id, {file.data_file_id}));
  std::vector<VersionedRow> erased;
  for (const VersionedRow& old : versions) {
    const int64_t id = *IdOf(*relation, old.values, "delete_file_id");
    if (old.end <= *file.begin_snapshot) {
      continue;
    }
    if (old.begin < *file.begin_snapshot) {
      return absl::InvalidArgumentError(
          StrCat(FileText("delete file", file.path), " begins at snapshot ", *file.begin_snapshot,
                 ", delete file ", id, ", which it replaces, at ", old.begin,
                 "; it must begin where the first of its deletes was made"));
    }
    VARVE_RETURN_IF_ERROR(
        state->rows.Erase(relation, HandleValues(*relation, old.values), old.begin));
    erased.push_back(old);
  }
  return ScheduleForDeletion(state, table, relation, erased);
}

absl::Status EraseInlinedDeletes(Transaction::State* state, int64_t table_id,
                                 const DeleteFile& file) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> deletes,
                         InlinedDeletesOf(*state, table_id, file.data_file_id));
  const RelationRef relation = state->rows.FindRelation(InlinedDeleteName(table_id));
  const SnapshotId last = file.partial_max.value_or(*file.begin_snapshot);
  for (const VersionedRow& row : deletes) {
    if (row.begin < *file.begin_snapshot || row.begin > last) {
      return absl::InvalidArgumentError(StrCat(FileText("delete file", file.path),
                                               " holds deletes of snapshots ", *file.begin_snapshot,
                                               " to ", last, ", an inlined delete of data file ",
                                               file.data_file_id, " is of ", row.begin));
    }
    VARVE_RETURN_IF_ERROR(
        state->rows.Erase(relation, HandleValues(*relation, row.values), row.begin));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeleteFilesOfTable> LiveDeleteFiles(const Transaction::State& state,
                                                   int64_t table_id) {
  const RelationRef& relation = state.relation(kDeleteFile);
  ScanOptions options;
  options.columns = {*relation->columns.Find("data_file_id"),
                     *relation->columns.Find("delete_file_id")};
  options.key_prefix = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state.rows.Scan(relation, options));
  DeleteFilesOfTable files;
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return files;
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      if (!batch.columns.column(0).is_null(i)) {
        files[batch.columns.column(0).int64s()[i]] = {
            .delete_file_id = batch.columns.column(1).int64s()[i], .begin = batch.begins[i]};
      }
    }
  }
}

absl::StatusOr<std::vector<VersionedRow>> AllDeleteFiles(const Transaction::State& state,
                                                         int64_t table_id,
                                                         std::vector<int64_t> data_files) {
  const RelationRef& relation = state.relation(kDeleteFile);
  const size_t id_column = *relation->columns.Find("delete_file_id");
  const size_t data_file_column = *relation->columns.Find("data_file_id");
  // The ids of the delete files that the base has had, whatever the transaction did to them since,
  // and of those that the transaction sees.
  std::vector<int64_t> ids;
  const auto collect = [&](const std::unique_ptr<RowScan>& scan) -> absl::Status {
    ScanBatch batch;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
      if (!more) {
        return absl::OkStatus();
      }
      for (size_t i = 0; i < batch.num_rows(); ++i) {
        ids.push_back(batch.columns.column(0).int64s()[i]);
      }
    }
  };
  ScanOptions options;
  options.columns = {id_column, data_file_column};
  options.key_prefix = {Datum::Int64(table_id)};
  options.predicate = DataFileIsOneOf(*relation, data_files);
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> seen, state.rows.Scan(relation, options));
  VARVE_RETURN_IF_ERROR(collect(seen));
  options.rows = ScanRows::kAllVersions;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> base,
                         state.rows.base().Scan(relation, options));
  VARVE_RETURN_IF_ERROR(collect(base));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<VersionedRow> rows;
  for (const int64_t id : ids) {
    const Datum key[] = {Datum::Int64(table_id), Datum::Int64(id)};
    VARVE_ASSIGN_OR_RETURN(std::vector<VersionedRow> versions, state.rows.Versions(relation, key));
    std::move(versions.begin(), versions.end(), std::back_inserter(rows));
  }
  return rows;
}

absl::StatusOr<std::vector<VersionedRow>> InlinedDeletesOf(const Transaction::State& state,
                                                           int64_t table_id, int64_t file_id) {
  const RelationRef relation = state.rows.FindRelation(InlinedDeleteName(table_id));
  if (relation == nullptr) {
    return std::vector<VersionedRow>();
  }
  const Datum of_file[] = {Datum::Int64(file_id)};
  return state.rows.Rows(relation, of_file);
}

absl::Status EndDeleteFile(Transaction::State* state, int64_t table_id, int64_t data_file_id,
                           const DeleteFilesOfTable& delete_files) {
  const auto found = delete_files.find(data_file_id);
  if (found == delete_files.end()) {
    return absl::OkStatus();
  }
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(found->second.delete_file_id)};
  return state->rows.End(state->relation(kDeleteFile), key);
}

absl::Status ReplaceDeleteFile(Transaction::State* state, const LiveObject& table,
                               const DeleteFile& file, SnapshotId data_file_begin, int64_t id,
                               DeleteFilesOfTable* delete_files) {
  const bool back_dated =
      file.begin_snapshot.has_value() || file.partial_max.has_value() || file.holds_inlined_deletes;
  SnapshotId begin = state->rows.pending_snapshot();
  if (back_dated) {
    VARVE_RETURN_IF_ERROR(CheckBackDated(*state, file, data_file_begin));
    VARVE_RETURN_IF_ERROR(EraseReplacedDeleteFiles(state, table, file));
    begin = *file.begin_snapshot;
  } else {
    VARVE_RETURN_IF_ERROR(EndDeleteFile(state, table.id, file.data_file_id, *delete_files));
  }
  if (file.holds_inlined_deletes) {
    VARVE_RETURN_IF_ERROR(EraseInlinedDeletes(state, table.id, file));
  }
  const RelationRef& relation = state->relation(kDeleteFile);
  const Datum partial_max = file.partial_max.has_value()
                                ? Datum::Int64(static_cast<int64_t>(*file.partial_max))
                                : Datum();
  (*delete_files)[file.data_file_id] = {.delete_file_id = id, .begin = begin};
  return state->rows.Insert(
      relation, RowWith(*relation, {{"delete_file_id", Datum::Int64(id)},
                                    {"table_id", Datum::Int64(table.id)},
                                    {"begin_snapshot", Datum::Int64(static_cast<int64_t>(begin))},
                                    {"data_file_id", Datum::Int64(file.data_file_id)},
                                    {"path", Datum::Bytes(file.path)},
                                    {"path_is_relative", Datum::Bool(file.path_is_relative)},
                                    {"format", Datum::Bytes(file.format)},
                                    {"delete_count", Datum::Int64(file.delete_count)},
                                    {"file_size_bytes", Datum::Int64(file.file_size_bytes)},
                                    {"footer_size", Datum::Int64(file.footer_size)},
                                    {"encryption_key", TextOrNull(file.encryption_key)},
                                    {"partial_max", partial_max}}));
}

}  // namespace varve

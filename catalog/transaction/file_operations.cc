// Data files, their delete files, and the mappings of foreign ones.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/delete_files.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

// --- Mappings ---

absl::Status CheckMappings(const LiveObject& table, const TableColumns& columns,
                           std::span<const NameMapping> mappings) {
  if (mappings.empty()) {
    return absl::InvalidArgumentError("a mapping needs at least one column");
  }
  absl::flat_hash_set<int64_t> ids;
  for (const NameMapping& mapping : mappings) {
    const std::string what = StrCat("column ", mapping.column_id, " of the mapping");
    if (mapping.column_id < 0 || IsProvisional(mapping.column_id)) {
      return absl::InvalidArgumentError(
          StrCat(what, ": ids within a mapping are numbers from 0 up"));
    }
    if (!ids.insert(mapping.column_id).second) {
      return absl::InvalidArgumentError(StrCat(what, " is given twice"));
    }
    if (mapping.source_name.empty()) {
      return absl::InvalidArgumentError(StrCat(what, " has no source name"));
    }
    VARVE_RETURN_IF_ERROR(CheckText(StrCat("the source name of ", what), mapping.source_name));
    if (columns.Find(mapping.target_field_id) == nullptr) {
      return absl::InvalidArgumentError(
          StrCat(what, ": ", ObjectText(table), " has no column ", mapping.target_field_id));
    }
  }
  for (const NameMapping& mapping : mappings) {
    if (mapping.parent_column.has_value() &&
        (*mapping.parent_column == mapping.column_id || !ids.contains(*mapping.parent_column))) {
      return absl::InvalidArgumentError(
          StrCat("column ", mapping.column_id, " of the mapping: its parent ",
                 *mapping.parent_column, " is no other column of it"));
    }
  }
  return absl::OkStatus();
}

// DuckLake's client takes mapping ids from the counter of files.
absl::StatusOr<int64_t> MakeMapping(Transaction::State* state, int64_t table_id,
                                    std::span<const NameMapping> mappings) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(const TableColumns columns, TableColumns::Load(*state, table_id));
  VARVE_RETURN_IF_ERROR(CheckMappings(table, columns, mappings));
  const int64_t id = state->NewFileId();
  const RelationRef& of_table = state->relation(kColumnMapping);
  VARVE_RETURN_IF_ERROR(
      state->rows.Put(of_table, RowWith(*of_table, {{"mapping_id", Datum::Int64(id)},
                                                    {"table_id", Datum::Int64(table_id)},
                                                    {"type", Datum::Bytes("map_by_name")}})));
  const RelationRef& names = state->relation(kNameMapping);
  for (const NameMapping& mapping : mappings) {
    const Datum parent =
        mapping.parent_column.has_value() ? Datum::Int64(*mapping.parent_column) : Datum();
    VARVE_RETURN_IF_ERROR(state->rows.Put(
        names, RowWith(*names, {{"mapping_id", Datum::Int64(id)},
                                {"column_id", Datum::Int64(mapping.column_id)},
                                {"source_name", Datum::Bytes(mapping.source_name)},
                                {"target_field_id", Datum::Int64(mapping.target_field_id)},
                                {"parent_column", parent},
                                {"is_partition", Datum::Bool(mapping.is_partition)}})));
  }
  // A mapping is made for files to come: without a snapshot its id would be given out again.
  state->footprint.Add(ActionOn(table, Operation::kInsert));
  return id;
}

// --- Data files ---

absl::StatusOr<std::vector<int64_t>> RegisterFiles(Transaction::State* state, int64_t table_id,
                                                   std::span<const DataFile> files) {
  VARVE_ASSIGN_OR_RETURN(DataFileWriter writer,
                         DataFileWriter::Open(state, table_id, RowsAre::kNew));
  std::vector<int64_t> ids;
  ids.reserve(files.size());
  NewPaths paths(state, table_id);
  TableStatisticsDelta added;
  for (const DataFile& file : files) {
    VARVE_RETURN_IF_ERROR(writer.Check(file));
    VARVE_RETURN_IF_ERROR(writer.CheckPartitionValues(file));
    if (file.row_id_start.has_value()) {
      VARVE_RETURN_IF_ERROR(CheckRowIdStart(*state, writer.table(), file));
    } else {
      added.row_ids = SaturatingSum(added.row_ids, file.record_count);
    }
    added.record_count = SaturatingSum(added.record_count, file.record_count);
    added.file_size_bytes = SaturatingSum(added.file_size_bytes, file.file_size_bytes);
    ids.push_back(state->NewFileId());
    VARVE_RETURN_IF_ERROR(paths.Add(file.path, file.path_is_relative, {.id = ids.back()}));
  }
  VARVE_RETURN_IF_ERROR(paths.Check());
  if (files.empty()) {
    return ids;
  }
  VARVE_ASSIGN_OR_RETURN(int64_t next_row_id, TakeRowIds(state, table_id, added.row_ids));
  for (size_t i = 0; i < files.size(); ++i) {
    DataFilePlace place = {.file_id = ids[i], .row_id_start = files[i].row_id_start};
    if (!place.row_id_start.has_value()) {
      place.row_id_start = next_row_id;
      next_row_id += files[i].record_count;
    }
    place.partition_id = writer.partition_id();
    place.partition_values = files[i].partition_values;
    writer.Add(files[i], place);
  }
  VARVE_RETURN_IF_ERROR(writer.Write());
  CountRows(state, table_id, added.record_count, added.file_size_bytes);
  Action action = ActionOn(writer.table(), Operation::kInsert);
  action.paths = paths.Hashes();
  state->footprint.Add(std::move(action));
  paths.Keep();
  return ids;
}

absl::Status EndFiles(Transaction::State* state, int64_t table_id,
                      std::span<const int64_t> file_ids) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  if (file_ids.empty()) {
    return absl::OkStatus();
  }
  const RelationRef& relation = state->relation(kDataFile);
  VARVE_ASSIGN_OR_RETURN(const DeleteFilesOfTable delete_files, LiveDeleteFiles(*state, table_id));
  Action action = ActionOn(table, Operation::kDelete);
  for (const int64_t id : file_ids) {
    VARVE_ASSIGN_OR_RETURN(const VersionedRow file, FindDataFile(*state, table, id));
    VARVE_RETURN_IF_ERROR(EndDeleteFile(state, table_id, id, delete_files));
    const Datum key[] = {Datum::Int64(table_id), Datum::Int64(id)};
    VARVE_RETURN_IF_ERROR(state->rows.End(relation, key));
    if (file.begin == state->rows.pending_snapshot()) {  // it never was; merged files have a past
      VARVE_RETURN_IF_ERROR(EraseOwnFileRows(state, table_id, id));
    }
    action.files.push_back(id);
  }
  state->footprint.Add(std::move(action));
  return absl::OkStatus();
}

// --- Delete files ---

absl::Status CheckDeleteFile(const DeleteFile& file, const VersionedRow& data_file,
                             const RelationSchema& data_files) {
  VARVE_RETURN_IF_ERROR(CheckFileFacts({.kind = "delete file",
                                        .path = file.path,
                                        .format = file.format,
                                        .file_size_bytes = file.file_size_bytes,
                                        .footer_size = file.footer_size,
                                        .encryption_key = file.encryption_key}));
  const int64_t records = IdOf(data_files, data_file.values, "record_count").value_or(0);
  if (file.delete_count < 1 || file.delete_count > records) {
    return absl::InvalidArgumentError(StrCat(
        FileText("delete file", file.path), ": delete_count is ", file.delete_count, "; data file ",
        file.data_file_id, " has ", records, " rows, expected 1 to ", records));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> RegisterDeletes(Transaction::State* state, int64_t table_id,
                                                     std::span<const DeleteFile> files) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  std::vector<int64_t> ids;
  if (files.empty()) {
    return ids;
  }
  VARVE_ASSIGN_OR_RETURN(DeleteFilesOfTable delete_files, LiveDeleteFiles(*state, table_id));
  const RelationSchema& data_files = *state->relation(kDataFile);
  NewPaths paths(state, table_id);
  Action action = ActionOn(table, Operation::kDelete);
  for (const DeleteFile& file : files) {
    VARVE_ASSIGN_OR_RETURN(const VersionedRow data_file,
                           FindDataFile(*state, table, file.data_file_id));
    VARVE_RETURN_IF_ERROR(CheckDeleteFile(file, data_file, data_files));
    action.files.push_back(file.data_file_id);
    ids.push_back(state->NewFileId());
    VARVE_RETURN_IF_ERROR(
        paths.Add(file.path, file.path_is_relative, {.id = ids.back(), .is_delete_file = true}));
    VARVE_RETURN_IF_ERROR(
        ReplaceDeleteFile(state, table, file, data_file.begin, ids.back(), &delete_files));
  }
  std::sort(action.files.begin(), action.files.end());
  if (const auto twice = std::adjacent_find(action.files.begin(), action.files.end());
      twice != action.files.end()) {
    return absl::InvalidArgumentError(
        StrCat("data file ", *twice, " gets two delete files; it has one at any snapshot"));
  }
  VARVE_RETURN_IF_ERROR(paths.Check());
  action.paths = paths.Hashes();
  state->footprint.Add(std::move(action));
  paths.Keep();
  return ids;
}

}  // namespace

absl::StatusOr<int64_t> Transaction::CreateNameMapping(int64_t table_id,
                                                       std::span<const NameMapping> columns) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = MakeMapping(state_.get(), table_id, columns);
    return id.status();
  }));
  return id;
}

absl::StatusOr<std::vector<int64_t>> Transaction::RegisterDataFiles(
    int64_t table_id, std::span<const DataFile> files) {
  absl::StatusOr<std::vector<int64_t>> ids;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    ids = RegisterFiles(state_.get(), table_id, files);
    return ids.status();
  }));
  return ids;
}

absl::StatusOr<std::vector<int64_t>> Transaction::RegisterDeleteFiles(
    int64_t table_id, std::span<const DeleteFile> files) {
  absl::StatusOr<std::vector<int64_t>> ids;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    ids = RegisterDeletes(state_.get(), table_id, files);
    return ids.status();
  }));
  return ids;
}

absl::Status Transaction::EndDataFiles(int64_t table_id, std::span<const int64_t> file_ids) {
  return RunOperation(state_.get(), [&] { return EndFiles(state_.get(), table_id, file_ids); });
}

}  // namespace varve

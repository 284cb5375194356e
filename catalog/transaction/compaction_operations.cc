// Merging and rewriting data files, and forgetting files that are gone.

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/scheduled_files.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/delete_files.h"
#include "catalog/transaction/file_children.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

// A data file that is merged or rewritten.
struct Source {
  int64_t id = 0;
  VersionedRow row;
  std::vector<NullableText> partition_values;
};

std::optional<int64_t> NumberOf(const Source& source, std::string_view column) {
  return IdOf(*BuiltinRelationById(kDataFile), source.row.values, column);
}

int64_t RecordsOf(const Source& source) {
  return NumberOf(source, "record_count").value_or(0);
}

absl::StatusOr<Source> FindSource(const Transaction::State& state, const LiveObject& table,
                                  int64_t id) {
  if (IsProvisional(id)) {
    return absl::FailedPreconditionError(
        "a data file that the transaction registered itself is not compacted; commit it first");
  }
  Source source = {.id = id};
  VARVE_ASSIGN_OR_RETURN(source.row, FindDataFile(state, table, id));
  VARVE_ASSIGN_OR_RETURN(source.partition_values, PartitionValuesOf(state, table.id, id));
  return source;
}

// The sources in the order of their rows: the older file first, then the one with the lower row
// ids.
absl::StatusOr<std::vector<Source>> FindSources(const Transaction::State& state,
                                                const LiveObject& table,
                                                std::span<const int64_t> ids) {
  std::vector<Source> sources;
  for (const int64_t id : ids) {
    VARVE_ASSIGN_OR_RETURN(sources.emplace_back(), FindSource(state, table, id));
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
    return std::tuple(a.row.begin, NumberOf(a, "row_id_start"), a.id) <
           std::tuple(b.row.begin, NumberOf(b, "row_id_start"), b.id);
  });
  for (size_t i = 1; i < sources.size(); ++i) {
    if (sources[i].id == sources[i - 1].id) {
      return absl::InvalidArgumentError(StrCat("data file ", sources[i].id, " is named twice"));
    }
  }
  return sources;
}

// --- What can be merged ---

absl::Status CheckWithoutDeletes(const Transaction::State& state, const LiveObject& table,
                                 const std::vector<Source>& sources) {
  std::vector<int64_t> ids;
  for (const Source& source : sources) {
    ids.push_back(source.id);
    VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> inlined,
                           InlinedDeletesOf(state, table.id, source.id));
    if (!inlined.empty()) {
      return absl::FailedPreconditionError(StrCat(
          "data file ", source.id, " has inlined deletes; rewrite it instead of merging it"));
    }
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> deletes,
                         AllDeleteFiles(state, table.id, std::move(ids)));
  if (deletes.empty()) {
    return absl::OkStatus();
  }
  const RelationSchema& relation = *state.relation(kDeleteFile);
  const VersionedRow& first = deletes.front();
  return absl::FailedPreconditionError(
      StrCat("data file ", IdOf(relation, first.values, "data_file_id").value_or(0),
             IsCurrent(first.end) ? " has delete file " : " had delete file ",
             IdOf(relation, first.values, "delete_file_id").value_or(0),
             "; rewrite it instead of merging it"));
}

absl::Status CheckSamePartition(const std::vector<Source>& sources, const DataFile& merged) {
  const Source& first = sources.front();
  for (const Source& source : sources) {
    if (NumberOf(source, "partition_id") != NumberOf(first, "partition_id") ||
        source.partition_values != first.partition_values) {
      return absl::FailedPreconditionError(
          StrCat("data files ", first.id, " and ", source.id, " lie in different partitions"));
    }
  }
  return merged.partition_values.empty() || merged.partition_values == first.partition_values
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   StrCat(FileText("data file", merged.path),
                          ": its partition values are not those of data file ", first.id,
                          "; leave them out to take those"));
}

// The columns a table had when a file was written, as far as a reader of the file can tell: id,
// name, type and parent.
using FileSchema = std::vector<std::tuple<int64_t, std::string, std::string, int64_t>>;

// A file is written again with the columns the table has now. That is the same file to every reader
// unless a column it holds has been changed or dropped since; then it merges only with files that
// have the same columns.
absl::Status CheckSameColumns(const Transaction::State& state, const TableColumns& columns,
                              int64_t table_id, const std::vector<Source>& sources) {
  VARVE_ASSIGN_OR_RETURN(const std::vector<TableColumnVersion> versions,
                         AllColumnVersions(state, table_id));
  const auto schema_at = [&](SnapshotId snapshot) {
    FileSchema schema;
    for (const TableColumnVersion& version : versions) {
      if (IsVisible(version, snapshot)) {
        schema.emplace_back(version.column.id, version.column.name, version.column.type,
                            version.column.parent.value_or(-1));
      }
    }
    return schema;
  };
  const auto is_kept = [&](const FileSchema& schema) {
    return std::all_of(schema.begin(), schema.end(), [&](const auto& column) {
      const TableColumn* const now = columns.Find(std::get<0>(column));
      return now != nullptr && now->name == std::get<1>(column) &&
             now->type == std::get<2>(column) && now->parent.value_or(-1) == std::get<3>(column);
    });
  };
  const FileSchema first = schema_at(sources.front().row.begin);
  const bool first_is_kept = is_kept(first);
  SnapshotId last_checked = sources.front().row.begin;
  for (const Source& source : sources) {
    if (source.row.begin == last_checked) {
      continue;
    }
    last_checked = source.row.begin;
    const FileSchema schema = schema_at(source.row.begin);
    if (schema != first && !(first_is_kept && is_kept(schema))) {
      return absl::FailedPreconditionError(
          StrCat("data files ", sources.front().id, " and ", source.id,
                 " have different columns: one was changed or dropped between them"));
    }
  }
  return absl::OkStatus();
}

// --- Merging ---

// Where the row ids of the sources follow one another, the file need not hold them.
std::optional<int64_t> CommonRowIdStart(const std::vector<Source>& sources) {
  const std::optional<int64_t> start = NumberOf(sources.front(), "row_id_start");
  std::optional<int64_t> next = start;
  for (const Source& source : sources) {
    if (!next.has_value() || NumberOf(source, "row_id_start") != next) {
      return std::nullopt;
    }
    *next += RecordsOf(source);
  }
  return start;
}

// The last snapshot that the file holds rows of; nullopt when it is that of its begin, and the file
// does not say.
std::optional<SnapshotId> PartialMax(const std::vector<Source>& sources) {
  std::optional<SnapshotId> last;
  for (const Source& source : sources) {
    const std::optional<int64_t> partial_max = NumberOf(source, "partial_max");
    if (partial_max.has_value() || sources.size() > 1) {
      last =
          std::max(last.value_or(0), partial_max.has_value() ? static_cast<SnapshotId>(*partial_max)
                                                             : source.row.begin);
    }
  }
  return last;
}

absl::Status CheckMerged(const std::vector<Source>& sources, const DataFile& merged) {
  int64_t records = 0;
  for (const Source& source : sources) {
    records = SaturatingSum(records, RecordsOf(source));
  }
  return merged.record_count == records
             ? absl::OkStatus()
             : absl::InvalidArgumentError(StrCat(FileText("data file", merged.path), " has ",
                                                 merged.record_count,
                                                 " rows, the files it merges have ", records));
}

// Adds the statistics that `merged` leaves out and all sources have.
absl::Status AddCombinedStatistics(const TableColumns& columns, const std::vector<Source>& sources,
                                   const std::vector<FileChildren>& children, DataFile* merged) {
  for (const TableColumn& column : columns.all()) {
    const bool given = std::any_of(
        merged->columns.begin(), merged->columns.end(),
        [&](const ColumnStatistics& statistics) { return statistics.column_id == column.id; });
    if (given) {
      continue;
    }
    std::vector<StatisticsOfFile> parts;
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto found = children[i].columns.find(column.id);
      if (found != children[i].columns.end()) {
        parts.push_back({.row = &found->second, .record_count = RecordsOf(sources[i])});
      }
    }
    if (parts.size() == sources.size()) {  // unknown for one is unknown for all
      merged->columns.push_back(CombineStatistics(column, parts));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Merge(Transaction::State* state, int64_t table_id,
                              std::span<const int64_t> source_ids, const DataFile& merged) {
  VARVE_ASSIGN_OR_RETURN(DataFileWriter writer,
                         DataFileWriter::Open(state, table_id, RowsAre::kMoved));
  const LiveObject& table = writer.table();
  if (source_ids.empty()) {
    return absl::InvalidArgumentError("there are no data files to merge");
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<Source> sources, FindSources(*state, table, source_ids));
  VARVE_RETURN_IF_ERROR(CheckWithoutDeletes(*state, table, sources));
  VARVE_RETURN_IF_ERROR(CheckSamePartition(sources, merged));
  VARVE_RETURN_IF_ERROR(CheckSameColumns(*state, writer.columns(), table_id, sources));
  VARVE_RETURN_IF_ERROR(writer.Check(merged));
  VARVE_RETURN_IF_ERROR(CheckMerged(sources, merged));
  if (merged.row_id_start.has_value()) {
    VARVE_RETURN_IF_ERROR(CheckRowIdStart(*state, table, merged));
  }

  const int64_t id = state->NewFileId();
  NewPaths paths(state, table_id);
  VARVE_RETURN_IF_ERROR(paths.Add(merged.path, merged.path_is_relative, {.id = id}));
  VARVE_RETURN_IF_ERROR(paths.Check());

  VARVE_ASSIGN_OR_RETURN(const ChildrenReader reader, ChildrenReader::Open(*state, table_id));
  std::vector<FileChildren> children;
  std::vector<VersionedRow> erased;
  Action action = ActionOn(table, Operation::kMergeAdjacent);
  for (const Source& source : sources) {
    VARVE_ASSIGN_OR_RETURN(children.emplace_back(), reader.Read(source.id));
    VARVE_RETURN_IF_ERROR(EraseChildren(state, children.back()));
    const Datum key[] = {Datum::Int64(table_id), Datum::Int64(source.id)};
    VARVE_RETURN_IF_ERROR(state->rows.Erase(state->relation(kDataFile), key, source.row.begin));
    erased.push_back(source.row);
    action.files.push_back(source.id);
  }
  VARVE_RETURN_IF_ERROR(ScheduleForDeletion(state, table, state->relation(kDataFile), erased));

  DataFile whole = merged;
  VARVE_RETURN_IF_ERROR(AddCombinedStatistics(writer.columns(), sources, children, &whole));
  const Source& first = sources.front();
  writer.Add(whole, {.file_id = id,
                     .begin = first.row.begin,
                     .partial_max = PartialMax(sources),
                     .row_id_start = merged.row_id_start.has_value() ? merged.row_id_start
                                                                     : CommonRowIdStart(sources),
                     .partition_id = NumberOf(first, "partition_id"),
                     .partition_values = first.partition_values});
  VARVE_RETURN_IF_ERROR(writer.Write());
  action.paths = paths.Hashes();
  state->footprint.Add(std::move(action));
  paths.Keep();
  return id;
}

// --- Rewriting ---

// The rows that remain: at least those that no delete names; deletes may name a row twice.
absl::Status CheckRewritten(const Transaction::State& state, const LiveObject& table,
                            const Source& source, const DeleteFilesOfTable& delete_files,
                            const DataFile& rewritten) {
  int64_t deleted = 0;
  if (const auto found = delete_files.find(source.id); found != delete_files.end()) {
    const RelationRef& relation = state.relation(kDeleteFile);
    const Datum key[] = {Datum::Int64(table.id), Datum::Int64(found->second.delete_file_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(relation, key));
    deleted = row.has_value() ? IdOf(*relation, row->values, "delete_count").value_or(0) : 0;
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> inlined,
                         InlinedDeletesOf(state, table.id, source.id));
  deleted = SaturatingSum(deleted, static_cast<int64_t>(inlined.size()));
  const int64_t records = RecordsOf(source);
  const int64_t least = std::max<int64_t>(records - deleted, 1);
  if (rewritten.record_count < least || rewritten.record_count > records) {
    return absl::InvalidArgumentError(StrCat(
        FileText("data file", rewritten.path), " has ", rewritten.record_count, " rows; data file ",
        source.id, " has ", records, ", of which ", deleted,
        deleted < records ? " are deleted" : " are deleted; end a file none of whose rows remain"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Rewrite(Transaction::State* state, int64_t table_id, int64_t source_id,
                                const DataFile& rewritten) {
  VARVE_ASSIGN_OR_RETURN(DataFileWriter writer,
                         DataFileWriter::Open(state, table_id, RowsAre::kMoved));
  const LiveObject& table = writer.table();
  VARVE_ASSIGN_OR_RETURN(const Source source, FindSource(*state, table, source_id));
  VARVE_RETURN_IF_ERROR(CheckSamePartition({source}, rewritten));
  VARVE_RETURN_IF_ERROR(writer.Check(rewritten));
  VARVE_ASSIGN_OR_RETURN(const DeleteFilesOfTable delete_files, LiveDeleteFiles(*state, table_id));
  VARVE_RETURN_IF_ERROR(CheckRewritten(*state, table, source, delete_files, rewritten));
  if (rewritten.row_id_start.has_value()) {
    VARVE_RETURN_IF_ERROR(CheckRowIdStart(*state, table, rewritten));
  }

  const int64_t id = state->NewFileId();
  NewPaths paths(state, table_id);
  VARVE_RETURN_IF_ERROR(paths.Add(rewritten.path, rewritten.path_is_relative, {.id = id}));
  VARVE_RETURN_IF_ERROR(paths.Check());

  VARVE_RETURN_IF_ERROR(EndDeleteFile(state, table_id, source_id, delete_files));
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(source_id)};
  VARVE_RETURN_IF_ERROR(state->rows.End(state->relation(kDataFile), key));
  writer.Add(rewritten, {.file_id = id,
                         .row_id_start = rewritten.row_id_start,
                         .partition_id = NumberOf(source, "partition_id"),
                         .partition_values = source.partition_values});
  VARVE_RETURN_IF_ERROR(writer.Write());
  // The deleted rows were still counted.
  CountRows(state, table_id, rewritten.record_count - RecordsOf(source),
            rewritten.file_size_bytes - NumberOf(source, "file_size_bytes").value_or(0));
  Action action = ActionOn(table, Operation::kRewriteDelete);
  action.files = {source_id};
  action.paths = paths.Hashes();
  state->footprint.Add(std::move(action));
  paths.Keep();
  return id;
}

// --- The queue of files to remove ---

absl::Status RemoveScheduled(Transaction::State* state, std::span<const int64_t> file_ids) {
  const RelationRef& queue = state->relation(kFilesScheduledForDeletion);
  for (const int64_t id : file_ids) {
    const Datum key[] = {Datum::Int64(id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state->rows.Get(queue, key));
    if (!row.has_value()) {
      return absl::NotFoundError(StrCat("file ", id, " is not scheduled for deletion"));
    }
    if (row->csn == 0) {
      return absl::FailedPreconditionError(
          StrCat("file ", id, " was scheduled for deletion by this very transaction"));
    }
    const absl::Status status = MayRemoveScheduled(*state->rows.base().state(),
                                                   state->catalog->views(), row->csn, absl::Now());
    if (!status.ok()) {
      return Within(StrCat("file ", id), status);
    }
    VARVE_RETURN_IF_ERROR(state->rows.Erase(queue, key, 0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> Transaction::MergeFiles(int64_t table_id,
                                                std::span<const int64_t> source_ids,
                                                const DataFile& merged) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = Merge(state_.get(), table_id, source_ids, merged);
    return id.status();
  }));
  return id;
}

absl::StatusOr<int64_t> Transaction::RewriteFile(int64_t table_id, int64_t source_id,
                                                 const DataFile& rewritten) {
  absl::StatusOr<int64_t> id;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    id = Rewrite(state_.get(), table_id, source_id, rewritten);
    return id.status();
  }));
  return id;
}

absl::Status Transaction::RemoveScheduledFiles(std::span<const int64_t> file_ids) {
  return RunOperation(state_.get(), [&] { return RemoveScheduled(state_.get(), file_ids); });
}

}  // namespace varve

#include "catalog/retention/file_paths.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"

namespace varve {
namespace {

uint64_t HashOf(std::string_view path) {
  return std::hash<std::string_view>()(path);
}

std::optional<int64_t> IntAt(const ColumnVector& column, size_t row) {
  return column.is_null(row) ? std::nullopt : std::optional<int64_t>(column.int64s()[row]);
}

bool BoolAt(const ColumnVector& column, size_t row, bool if_null) {
  return column.is_null(row) ? if_null : column.bools()[row] != 0;
}

// The columns of data_file or delete_file that PathsInUse looks at.
std::vector<size_t> FileColumns(const RelationSchema& relation) {
  return {*relation.unique_column, *relation.columns.Find("table_id"),
          *relation.columns.Find("path"), *relation.columns.Find("path_is_relative")};
}

struct Place {
  SnapshotId begin = 0;
  std::string directory;
};

// Keeps the newest.
void Keep(SnapshotId begin, std::string directory, int64_t id,
          absl::flat_hash_map<int64_t, Place>* places) {
  const auto [it, added] = places->emplace(id, Place{.begin = begin, .directory = directory});
  if (!added && begin >= it->second.begin) {
    it->second = {.begin = begin, .directory = std::move(directory)};
  }
}

}  // namespace

absl::StatusOr<TableDirectories> TableDirectories::Load(std::shared_ptr<const StoreState> state) {
  const SnapshotId last = state->last_snapshot;
  const ReadView view(std::move(state), last);
  TableDirectories result;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kMetadata, {"key", "value", "scope"}, {}, [&](const RowReader& row) {
        if (row.Text(0) == "data_path" && row.IsNull(2)) {
          result.data_path_ = row.Text(1);
        }
      }));
  absl::flat_hash_map<int64_t, Place> schemas;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kSchema, {"schema_id", "path", "path_is_relative"},
                 {.rows = ScanRows::kAllVersions}, [&](const RowReader& row) {
                   Keep(row.begin(), ResolvePath(result.data_path_, row.Text(1), row.Bool(2, true)),
                        row.Int(0), &schemas);
                 }));
  absl::flat_hash_map<int64_t, Place> tables;
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kTable, {"table_id", "schema_id", "path", "path_is_relative"},
      {.rows = ScanRows::kAllVersions}, [&](const RowReader& row) {
        const bool is_relative = row.Bool(3, true);
        const auto schema = schemas.find(row.Int(1, -1));
        if (schema != schemas.end() || !is_relative) {
          Keep(
              row.begin(),
              ResolvePath(schema == schemas.end() ? "" : std::string_view(schema->second.directory),
                          row.Text(2), is_relative),
              row.Int(0), &tables);
        }
      }));
  for (auto& [table, place] : tables) {
    result.directories_.emplace(table, std::move(place.directory));
  }
  return result;
}

std::optional<std::string> TableDirectories::Resolve(std::optional<int64_t> table_id,
                                                     std::string_view path,
                                                     bool is_relative) const {
  if (!is_relative) {
    return std::string(path);
  }
  const auto directory = table_id.has_value() ? directories_.find(*table_id) : directories_.end();
  return directory == directories_.end()
             ? std::nullopt
             : std::optional<std::string>(StrCat(directory->second, path));
}

ScheduledPath TableDirectories::ToScheduled(std::string_view whole_path) const {
  if (whole_path.starts_with(data_path_)) {
    return {.path = std::string(whole_path.substr(data_path_.size())), .is_relative = true};
  }
  return {.path = std::string(whole_path), .is_relative = false};
}

std::string TableDirectories::FromScheduled(std::string_view path, bool is_relative) const {
  return ResolvePath(data_path_, path, is_relative);
}

FileRowReader::FileRowReader(RelationRef relation) : decoder_(relation, FileColumns(*relation)) {}

absl::StatusOr<FileRowReader::File> FileRowReader::Read(const ReclaimableRow& row) {
  Datum values[4];
  VARVE_RETURN_IF_ERROR(
      decoder_.Decode(row.handle, row.begin, row.end, row.payload, &scratch_, values));
  File file;
  file.id = values[0].is_null() ? 0 : values[0].int64_value();
  if (!values[1].is_null()) {
    file.table_id = values[1].int64_value();
  }
  file.path = values[2].is_null() ? std::string_view() : values[2].bytes();
  file.is_relative = values[3].is_null() || values[3].bool_value();
  return file;
}

absl::StatusOr<PathsInUse> PathsInUse::Find(std::shared_ptr<const StoreState> state,
                                            const RetainedSnapshots& retained) {
  PathsInUse paths;
  paths.csn_ = state->csn;
  VARVE_ASSIGN_OR_RETURN(paths.directories_, TableDirectories::Load(state));
  VARVE_RETURN_IF_ERROR(paths.CollectReclaimable(state, retained));
  const ReadView view(state, state->last_snapshot);
  for (const RelationId id : {kDataFile, kDeleteFile}) {
    const RelationRef relation = state->directory->FindById(id);
    if (paths.some_lie_outside_) {
      VARVE_RETURN_IF_ERROR(paths.AskFilesThatStay(view, relation, std::nullopt));
      continue;
    }
    // A file below the directory of its table can only be one of a table with the same directory.
    absl::flat_hash_set<std::string> directories;
    for (const int64_t table : paths.tables_) {
      directories.insert(paths.directories_.directories().at(table));
    }
    for (const auto& [table, directory] : paths.directories_.directories()) {
      if (directories.contains(directory)) {
        VARVE_RETURN_IF_ERROR(paths.AskFilesThatStay(view, relation, table));
      }
    }
  }
  return paths;
}

absl::Status PathsInUse::CollectReclaimable(const std::shared_ptr<const StoreState>& state,
                                            const RetainedSnapshots& retained) {
  FileRowReader data_files(state->directory->FindById(kDataFile));
  FileRowReader delete_files(state->directory->FindById(kDeleteFile));
  return ForEachReclaimable(
      {.state = state, .sets = {&retained, 1}, .only_files = true},
      [&](const ReclaimableRow& row) -> absl::Status {
        FileRowReader& reader = row.relation->id == kDataFile ? data_files : delete_files;
        VARVE_ASSIGN_OR_RETURN(const FileRowReader::File file, reader.Read(row));
        ids_.insert(file.id);
        const std::optional<std::string> path =
            directories_.Resolve(file.table_id, file.path, file.is_relative);
        if (!path.has_value()) {
          return absl::OkStatus();
        }
        if (!hashes_.insert(HashOf(*path)).second) {
          repeated_.insert(*path);
        }
        const auto directory = file.table_id.has_value()
                                   ? directories_.directories().find(*file.table_id)
                                   : directories_.directories().end();
        if (directory == directories_.directories().end() ||
            !path->starts_with(directory->second)) {
          some_lie_outside_ = true;
        } else {
          tables_.insert(*file.table_id);
        }
        return absl::OkStatus();
      });
}

absl::Status PathsInUse::AskFilesThatStay(const ReadView& view, const RelationRef& relation,
                                          std::optional<int64_t> table) {
  ScanOptions options;
  options.columns = FileColumns(*relation);
  options.rows = ScanRows::kAllVersions;
  if (table.has_value()) {
    options.key_prefix = {Datum::Int64(*table)};
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(relation, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      const std::optional<int64_t> id = IntAt(batch.columns.column(0), row);
      if (!batch.columns.column(2).is_null(row) && !(id.has_value() && ids_.contains(*id))) {
        Note(IntAt(batch.columns.column(1), row), batch.columns.column(2).bytes(row),
             BoolAt(batch.columns.column(3), row, true));
      }
    }
  }
}

void PathsInUse::Note(std::optional<int64_t> table, std::string_view path, bool is_relative) {
  std::optional<std::string> whole = directories_.Resolve(table, path, is_relative);
  if (whole.has_value() && hashes_.contains(HashOf(*whole))) {
    in_use_.insert(*std::move(whole));
  }
}

absl::Status PathsInUse::CatchUp(const std::shared_ptr<const StoreState>& state) {
  if (state->csn <= csn_ || hashes_.empty()) {
    csn_ = std::max(csn_, state->csn);
    return absl::OkStatus();
  }
  const ReadView view(state, state->last_snapshot);
  bool loaded = false;
  for (const RelationId id : {kDataFile, kDeleteFile}) {
    const RelationRef relation = state->directory->FindById(id);
    VARVE_ASSIGN_OR_RETURN(
        const std::unique_ptr<ChangeReader> changes,
        Changes(view, csn_, state->csn, {.relations = {id}, .columns = FileColumns(*relation)}));
    ChangeBatch batch;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, changes->Next(&batch));
      if (!more) {
        break;
      }
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        if (batch.kinds[row] == FeedKind::kErased || batch.columns.column(2).is_null(row)) {
          continue;
        }
        const std::optional<int64_t> table = IntAt(batch.columns.column(1), row);
        if (!loaded && table.has_value() && !directories_.directories().contains(*table)) {
          VARVE_ASSIGN_OR_RETURN(directories_, TableDirectories::Load(state));
          loaded = true;
        }
        Note(table, batch.columns.column(2).bytes(row), BoolAt(batch.columns.column(3), row, true));
      }
    }
  }
  csn_ = state->csn;
  return absl::OkStatus();
}

bool PathsInUse::Take(std::string_view whole_path) {
  if (in_use_.contains(whole_path)) {
    return false;
  }
  if (const auto it = repeated_.find(whole_path); it != repeated_.end()) {
    in_use_.insert(*it);
    repeated_.erase(it);
  }
  return true;
}

}  // namespace varve

#include "catalog/transaction/files.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/path_index.h"

namespace varve {
namespace {

constexpr int64_t kMaxNewRowIds = int64_t{1} << 59;

// Why there is no such live file.
absl::StatusOr<std::string> WhatIsWithFile(const Transaction::State& state, int64_t table_id,
                                           int64_t file_id) {
  const RelationRef& relation = state.relation(kDataFile);
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(file_id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> versions,
                         state.rows.Versions(relation, key));
  if (!versions.empty()) {
    return std::string("it has ended");
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row,
                         state.rows.base().GetByUnique(*relation, file_id));
  return row.has_value()
             ? StrCat("it is one of table ", IdOf(*relation, row->values, "table_id").value_or(0))
             : std::string("there never was one");
}

bool IsRelative(const RelationSchema& relation, const Row& row) {
  const Datum& relative = ColumnOf(relation, row, "path_is_relative");
  return relative.is_null() || relative.bool_value();
}

std::string KeyOfFile(const RelationSchema& relation, const Row& row) {
  return PathKey(TextOf(relation, row, "path"), IsRelative(relation, row));
}

// Whether some version of the file is there as the transaction leaves it, with this path.
absl::StatusOr<bool> HasPath(const Transaction::State& state, int64_t table_id,
                             const RegisteredFile& file, std::string_view path_key) {
  const RelationRef& relation = state.relation(file.is_delete_file ? kDeleteFile : kDataFile);
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(file.id)};
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> versions,
                         state.rows.Versions(relation, key));
  return std::any_of(versions.begin(), versions.end(), [&](const VersionedRow& row) {
    return KeyOfFile(*relation, row.values) == path_key;
  });
}

// Where the files of the table are, as DuckLake's queue has it: behind the data path, or whole.
struct Directory {
  std::string path;
  bool is_relative = true;
};
absl::StatusOr<Directory> DirectoryOf(const Transaction::State& state, const LiveObject& table) {
  const RelationSchema& tables = *state.relation(kTable);
  Directory directory = {.path = TextOf(tables, table.row, "path"),
                         .is_relative = IsRelative(tables, table.row)};
  if (directory.is_relative) {
    const RelationSchema& schemas = *state.relation(kSchema);
    VARVE_ASSIGN_OR_RETURN(const LiveObject schema, FindLive(state, kSchema, table.schema_id));
    directory = {.path = TextOf(schemas, schema.row, "path") + directory.path,
                 .is_relative = IsRelative(schemas, schema.row)};
  }
  return directory;
}

}  // namespace

absl::Status Within(std::string_view what, const absl::Status& error) {
  return absl::Status(error.code(), ToAbsl(StrCat(what, ": ", MessageOf(error))));
}

// --- Finding ---

absl::StatusOr<VersionedRow> FindDataFile(const Transaction::State& state, const LiveObject& table,
                                          int64_t file_id) {
  const Datum key[] = {Datum::Int64(table.id), Datum::Int64(file_id)};
  VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row,
                         state.rows.Get(state.relation(kDataFile), key));
  if (row.has_value()) {
    return *std::move(row);
  }
  VARVE_ASSIGN_OR_RETURN(const std::string what, WhatIsWithFile(state, table.id, file_id));
  return absl::NotFoundError(
      StrCat(ObjectText(table), " has no live data file ", file_id, ": ", what));
}

// --- Statistics of the table ---

absl::StatusOr<int64_t> NextRowId(const Transaction::State& state, int64_t table_id) {
  const RelationRef& relation = state.relation(kTableStats);
  const Datum key[] = {Datum::Int64(table_id)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(relation, key));
  return row.has_value() ? IdOf(*relation, row->values, "next_row_id").value_or(0) : 0;
}

absl::StatusOr<int64_t> TakeRowIds(Transaction::State* state, int64_t table_id, int64_t count) {
  if (count > kMaxNewRowIds - state->statistics[table_id].row_ids) {
    return absl::InvalidArgumentError(
        StrCat("table ", table_id, " cannot take ", count, " more rows in one transaction"));
  }
  return state->NewRowIds(table_id, count);
}

absl::Status CheckRowIdStart(const Transaction::State& state, const LiveObject& table,
                             const DataFile& file) {
  VARVE_ASSIGN_OR_RETURN(const int64_t next, NextRowId(state, table.id));
  const int64_t start = *file.row_id_start;
  if (start < 0 || start > next || file.record_count > next - start) {
    return absl::InvalidArgumentError(StrCat(FileText("data file", file.path), ": row ids ", start,
                                             " to ", start + file.record_count - 1,
                                             " are not all below the next one of ",
                                             ObjectText(table), ", ", next));
  }
  return absl::OkStatus();
}

void CountRows(Transaction::State* state, int64_t table_id, int64_t rows, int64_t bytes) {
  TableStatisticsDelta& delta = state->statistics[table_id];
  delta.record_count = SaturatingSum(delta.record_count, rows);
  delta.file_size_bytes = SaturatingSum(delta.file_size_bytes, bytes);
}

// --- Changing ---

absl::Status EraseOwnFileRows(Transaction::State* state, int64_t table_id, int64_t file_id) {
  const Datum of_table[] = {Datum::Int64(table_id)};
  for (const RelationId relation : {kFileColumnStats, kFileVariantStats, kFilePartitionValue}) {
    VARVE_RETURN_IF_ERROR(
        EraseOwn(state, relation, of_table, NamedValue{"data_file_id", Datum::Int64(file_id)}));
  }
  return absl::OkStatus();
}

absl::Status ScheduleForDeletion(Transaction::State* state, const LiveObject& table,
                                 const RelationRef& relation, std::span<const VersionedRow> rows) {
  if (rows.empty()) {
    return absl::OkStatus();
  }
  std::vector<std::string> keys;
  for (const VersionedRow& row : rows) {
    keys.push_back(KeyOfFile(*relation, row.values));
  }
  VARVE_ASSIGN_OR_RETURN(
      const std::vector<PathIndex::File> others,
      state->catalog->paths().Find(state->rows.base(), table.id,
                                   std::vector<std::string_view>(keys.begin(), keys.end())));
  std::vector<bool> in_use(rows.size());
  for (const PathIndex::File& other : others) {
    VARVE_ASSIGN_OR_RETURN(
        const bool has_path,
        HasPath(*state, table.id, {.id = other.id, .is_delete_file = other.is_delete_file},
                keys[other.key]));
    in_use[other.key] = in_use[other.key] || has_path;
  }
  VARVE_ASSIGN_OR_RETURN(const Directory directory, DirectoryOf(*state, table));
  const RelationRef& queue = state->relation(kFilesScheduledForDeletion);
  const int64_t now = absl::ToUnixMicros(state->options.time.value_or(absl::Now()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i].values;
    const bool in_table = IsRelative(*relation, row);
    const std::string path =
        (in_table ? directory.path : std::string()) + TextOf(*relation, row, "path");
    if (!in_use[i]) {
      VARVE_RETURN_IF_ERROR(state->rows.Put(
          queue,
          RowWith(*queue, {{"data_file_id", row[*relation->unique_column]},
                           {"path", Datum::Bytes(path)},
                           {"path_is_relative", Datum::Bool(in_table && directory.is_relative)},
                           {"schedule_start", Datum::Int64(now)}})));
    }
  }
  return absl::OkStatus();
}

// --- Paths ---

absl::Status NewPaths::Add(std::string_view path, bool is_relative, RegisteredFile file) {
  return paths_.try_emplace(PathKey(path, is_relative), file).second
             ? absl::OkStatus()
             : absl::AlreadyExistsError(StrCat("path ", ShownName(path), " is given to two files"));
}

absl::Status NewPaths::CheckFile(const std::string& key, const RegisteredFile& file) const {
  const RelationRef& relation = state_->relation(file.is_delete_file ? kDeleteFile : kDataFile);
  const Datum handle[] = {Datum::Int64(table_id_), Datum::Int64(file.id)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state_->rows.Get(relation, handle));
  if (!row.has_value() || KeyOfFile(*relation, row->values) != key) {
    return absl::OkStatus();
  }
  const std::string path = ShownName(TextOf(*relation, row->values, "path"));
  return absl::AlreadyExistsError(
      IsProvisional(file.id)
          ? StrCat("path ", path, " is that of another file that the transaction registered")
          : StrCat("path ", path, " is that of ", file.is_delete_file ? "delete" : "data", " file ",
                   file.id, " of the table"));
}

absl::Status NewPaths::Check() const {
  if (const auto own = state_->paths.find(table_id_); own != state_->paths.end()) {
    for (const auto& [key, file] : paths_) {
      if (const auto found = own->second.find(key); found != own->second.end()) {
        VARVE_RETURN_IF_ERROR(CheckFile(key, found->second));
      }
    }
  }
  if (IsProvisional(table_id_)) {
    return absl::OkStatus();
  }
  std::vector<std::string_view> keys;
  keys.reserve(paths_.size());
  for (const auto& [key, file] : paths_) {
    keys.push_back(key);
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<PathIndex::File> files,
                         state_->catalog->paths().Find(state_->rows.base(), table_id_, keys));
  for (const PathIndex::File& file : files) {
    VARVE_RETURN_IF_ERROR(CheckFile(std::string(keys[file.key]),
                                    {.id = file.id, .is_delete_file = file.is_delete_file}));
  }
  return absl::OkStatus();
}

std::vector<uint64_t> NewPaths::Hashes() const {
  std::vector<uint64_t> hashes;
  hashes.reserve(paths_.size());
  for (const auto& [key, file] : paths_) {
    hashes.push_back(HashOfPathKey(key));
  }
  return hashes;
}

void NewPaths::Keep() {
  RegisteredPaths& own = state_->paths[table_id_];
  for (auto& [key, file] : paths_) {
    own.insert_or_assign(key, file);
  }
}

}  // namespace varve

// The files of a table, as they were at a snapshot.
//
// A data file that was there and is there stays, with its delete file brought back to what it was.
// One that has come since ends. One that has ended since is registered again: a new id, the same
// path, row ids, statistics, partition values and deletes. So is one that stays but from which rows
// were deleted by inlined deletes since: those have no end, they cannot be taken back.

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/file_paths.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/restore.h"

namespace varve {
namespace {

// Up to so many files have their statistics looked up one by one; of more, those of the whole table
// are read.
constexpr size_t kFewFiles = 32;

using FilesById = std::map<int64_t, VersionedRow>;

absl::StatusOr<FilesById> FilesOf(const TransactionRows& rows, const RelationRef& relation,
                                  std::string_view by, int64_t table_id) {
  FilesById files;
  const Datum of_table[] = {Datum::Int64(table_id)};
  VARVE_RETURN_IF_ERROR(
      rows.ForEach(relation, of_table, [&](const VersionedRow& row) -> absl::Status {
        const std::optional<int64_t> id = IdOf(*relation, row.values, by);
        if (id.has_value()) {
          files.emplace(*id, row);
        }
        return absl::OkStatus();
      }));
  return files;
}

class FileRestore {
 public:
  FileRestore(Transaction::State* state, const RestorePoint& past, const LiveObject& table)
      : state_(*state), past_(past), table_(table), paths_(state, table.id) {}

  absl::StatusOr<Restored> Run();

 private:
  absl::Status Read();
  absl::Status ReadInlinedDeletes();
  absl::Status CheckPartial() const;
  absl::Status CheckScheduled();
  bool Stays(int64_t file_id) const {
    return then_.contains(file_id) && now_.contains(file_id) && !deleted_from_.contains(file_id);
  }
  static bool SameDeletes(const VersionedRow* a, const VersionedRow* b);
  static const VersionedRow* Find(const FilesById& files, int64_t id) {
    const auto found = files.find(id);
    return found == files.end() ? nullptr : &found->second;
  }

  absl::Status EndFiles();
  absl::Status EndDeletes(int64_t data_file_id);
  absl::Status RegisterAgain(const VersionedRow& file, int64_t old_id);
  absl::Status RegisterDeletesAgain(const VersionedRow& deletes, int64_t data_file_id);
  absl::Status CopyInlinedDeletes(int64_t old_id, int64_t new_id);
  absl::Status CopyChildren();
  absl::Status CopyChildrenOf(RelationId id, int64_t num_keys);
  absl::StatusOr<int64_t> NumPartitionKeys() const;
  absl::StatusOr<int64_t> NumColumns() const;
  absl::Status KeepRowIdsTaken(const Row& file);

  Transaction::State& state_;
  const RestorePoint& past_;
  const LiveObject& table_;
  NewPaths paths_;

  FilesById now_;
  FilesById then_;
  FilesById deletes_now_;   // by data file
  FilesById deletes_then_;  // by data file
  RelationRef inlined_deletes_;
  std::multimap<int64_t, Row> inlined_then_;       // by data file
  absl::flat_hash_set<int64_t> deleted_from_;      // by inlined deletes made since
  absl::flat_hash_map<int64_t, int64_t> new_ids_;  // of files registered again, by their old ids
  Restored restored_;
};

absl::Status FileRestore::Read() {
  const RelationRef& files = state_.relation(kDataFile);
  const RelationRef& deletes = state_.relation(kDeleteFile);
  VARVE_ASSIGN_OR_RETURN(now_, FilesOf(state_.rows, files, "data_file_id", table_.id));
  VARVE_ASSIGN_OR_RETURN(then_, FilesOf(past_.rows, files, "data_file_id", table_.id));
  VARVE_ASSIGN_OR_RETURN(deletes_now_, FilesOf(state_.rows, deletes, "data_file_id", table_.id));
  VARVE_ASSIGN_OR_RETURN(deletes_then_, FilesOf(past_.rows, deletes, "data_file_id", table_.id));
  return ReadInlinedDeletes();
}

absl::Status FileRestore::ReadInlinedDeletes() {
  inlined_deletes_ = state_.rows.FindRelation(InlinedDeleteName(table_.id));
  if (inlined_deletes_ == nullptr) {
    return absl::OkStatus();
  }
  return state_.rows.ForEach(inlined_deletes_, {}, [&](const VersionedRow& row) -> absl::Status {
    const int64_t file = IdOf(*inlined_deletes_, row.values, "file_id").value_or(-1);
    if (row.begin > past_.snapshot) {
      deleted_from_.insert(file);
    } else if (then_.contains(file)) {
      inlined_then_.emplace(file, row.values);
    }
    return absl::OkStatus();
  });
}

// A merged file holds the rows of several snapshots. One that also holds rows of later ones cannot
// be taken for what was there.
absl::Status FileRestore::CheckPartial() const {
  int64_t needed = 0;
  std::string path;
  for (const auto& [relation, files] :
       {std::pair(kDataFile, &then_), std::pair(kDeleteFile, &deletes_then_)}) {
    const RelationSchema& schema = *state_.relation(relation);
    for (const auto& [id, row] : *files) {
      const int64_t partial_max = IdOf(schema, row.values, "partial_max").value_or(0);
      if (partial_max > needed) {
        needed = partial_max;
        path = TextOf(schema, row.values, "path");
      }
    }
  }
  return needed <= static_cast<int64_t>(past_.snapshot)
             ? absl::OkStatus()
             : absl::FailedPreconditionError(
                   StrCat(ObjectText(table_), " cannot be restored to snapshot ", past_.snapshot,
                          ": file ", ShownName(path),
                          " was merged since and holds rows of "
                          "snapshots up to ",
                          needed, "; it can be restored to ", needed, " or a later one"));
}

// A file that is to be removed, or was, is none to restore.
absl::Status FileRestore::CheckScheduled() {
  struct Wanted {
    const RelationRef* relation;
    const VersionedRow* row;
    std::string_view id_column;
  };
  std::vector<Wanted> wanted;
  for (const auto& [id, row] : then_) {
    if (!Stays(id)) {
      wanted.push_back({&state_.relation(kDataFile), &row, "data_file_id"});
    }
  }
  for (const auto& [data_file, row] : deletes_then_) {
    if (!Stays(data_file) || !SameDeletes(Find(deletes_now_, data_file), &row)) {
      wanted.push_back({&state_.relation(kDeleteFile), &row, "delete_file_id"});
    }
  }
  if (wanted.empty()) {
    return absl::OkStatus();
  }
  const RelationRef& scheduled = state_.relation(kFilesScheduledForDeletion);
  VARVE_ASSIGN_OR_RETURN(const std::vector<VersionedRow> rows, state_.rows.Rows(scheduled, {}));
  if (rows.empty()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const TableDirectories directories,
                         TableDirectories::Load(state_.rows.base().state()));
  const auto is_relative = [](const RelationSchema& relation, const Row& row) {
    const Datum& value = ColumnOf(relation, row, "path_is_relative");
    return value.is_null() || value.bool_value();
  };
  absl::flat_hash_set<int64_t> ids;
  absl::flat_hash_set<std::string> paths;
  for (const VersionedRow& row : rows) {
    ids.insert(IdOf(*scheduled, row.values, "data_file_id").value_or(-1));
    paths.insert(directories.FromScheduled(TextOf(*scheduled, row.values, "path"),
                                           is_relative(*scheduled, row.values)));
  }
  for (const Wanted& file : wanted) {
    const RelationSchema& relation = **file.relation;
    const Row& row = file.row->values;
    const std::string path = TextOf(relation, row, "path");
    const std::optional<std::string> whole =
        directories.Resolve(table_.id, path, is_relative(relation, row));
    const int64_t id = IdOf(relation, row, file.id_column).value_or(-1);
    if (ids.contains(id) || (whole.has_value() && paths.contains(*whole))) {
      return absl::FailedPreconditionError(
          StrCat(ObjectText(table_), " cannot be restored to snapshot ", past_.snapshot, ": file ",
                 ShownName(path), " is scheduled for deletion, or gone already"));
    }
  }
  return absl::OkStatus();
}

bool FileRestore::SameDeletes(const VersionedRow* a, const VersionedRow* b) {
  if (a == nullptr || b == nullptr) {
    return a == b;
  }
  const RelationSchema& relation = *BuiltinRelationById(kDeleteFile);
  return IdOf(relation, a->values, "delete_file_id") == IdOf(relation, b->values, "delete_file_id");
}

absl::Status FileRestore::EndDeletes(int64_t data_file_id) {
  const VersionedRow* const deletes = Find(deletes_now_, data_file_id);
  if (deletes == nullptr) {
    return absl::OkStatus();
  }
  restored_.went = true;
  const RelationRef& relation = state_.relation(kDeleteFile);
  return state_.rows.End(relation, HandleValues(*relation, deletes->values));
}

absl::Status FileRestore::EndFiles() {
  const RelationRef& relation = state_.relation(kDataFile);
  for (const auto& [id, row] : now_) {
    if (!Stays(id)) {
      VARVE_RETURN_IF_ERROR(EndDeletes(id));
      if (IsProvisional(id)) {
        VARVE_RETURN_IF_ERROR(EraseOwnFileRows(&state_, table_.id, id));
      }
      VARVE_RETURN_IF_ERROR(state_.rows.End(relation, HandleValues(*relation, row.values)));
      restored_.went = true;
    } else if (!SameDeletes(Find(deletes_now_, id), Find(deletes_then_, id))) {
      VARVE_RETURN_IF_ERROR(EndDeletes(id));
    }
  }
  return absl::OkStatus();
}

// A file that holds its row ids itself may hold some beyond what its number of rows says.
absl::Status FileRestore::KeepRowIdsTaken(const Row& file) {
  const RelationSchema& relation = *state_.relation(kDataFile);
  const std::optional<int64_t> start = IdOf(relation, file, "row_id_start");
  if (!start.has_value() || !IdOf(relation, file, "partial_max").has_value()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const int64_t next, NextRowId(state_, table_.id));
  const int64_t end = *start + IdOf(relation, file, "record_count").value_or(0);
  TableStatisticsDelta& delta = state_.statistics[table_.id];
  delta.row_ids = std::max(delta.row_ids, end - next);
  return absl::OkStatus();
}

absl::Status FileRestore::RegisterAgain(const VersionedRow& file, int64_t old_id) {
  const RelationRef& relation = state_.relation(kDataFile);
  const int64_t id = state_.NewFileId();
  new_ids_[old_id] = id;
  VARVE_RETURN_IF_ERROR(KeepRowIdsTaken(file.values));
  Row row = file.values;
  // All of its rows are there from now on, of whatever snapshots they are.
  for (const std::string_view column : {"begin_snapshot", "end_snapshot", "partial_max"}) {
    SetColumn(*relation, {column, Datum()}, &row);
  }
  SetColumn(*relation, {"data_file_id", Datum::Int64(id)}, &row);
  const Datum& relative = ColumnOf(*relation, row, "path_is_relative");
  VARVE_RETURN_IF_ERROR(paths_.Add(TextOf(*relation, row, "path"),
                                   relative.is_null() || relative.bool_value(), {.id = id}));
  restored_.came = true;
  return state_.rows.Insert(relation, std::move(row));
}

absl::Status FileRestore::RegisterDeletesAgain(const VersionedRow& deletes, int64_t data_file_id) {
  const RelationRef& relation = state_.relation(kDeleteFile);
  const int64_t id = state_.NewFileId();
  Row row = deletes.values;
  for (const std::string_view column : {"begin_snapshot", "end_snapshot", "partial_max"}) {
    SetColumn(*relation, {column, Datum()}, &row);
  }
  SetColumn(*relation, {"delete_file_id", Datum::Int64(id)}, &row);
  SetColumn(*relation, {"data_file_id", Datum::Int64(data_file_id)}, &row);
  const Datum& relative = ColumnOf(*relation, row, "path_is_relative");
  VARVE_RETURN_IF_ERROR(paths_.Add(TextOf(*relation, row, "path"),
                                   relative.is_null() || relative.bool_value(),
                                   {.id = id, .is_delete_file = true}));
  restored_.went = true;
  return state_.rows.Insert(relation, std::move(row));
}

absl::Status FileRestore::CopyInlinedDeletes(int64_t old_id, int64_t new_id) {
  const auto [first, last] = inlined_then_.equal_range(old_id);
  for (auto it = first; it != last; ++it) {
    Row row = it->second;
    SetColumn(*inlined_deletes_, {"file_id", Datum::Int64(new_id)}, &row);
    SetColumn(*inlined_deletes_, {"begin_snapshot", Datum()}, &row);
    VARVE_RETURN_IF_ERROR(state_.rows.Insert(inlined_deletes_, std::move(row)));
  }
  return absl::OkStatus();
}

// How many keys the partitionings of the table have had at most.
absl::StatusOr<int64_t> FileRestore::NumPartitionKeys() const {
  const RelationRef& relation = state_.relation(kPartitionColumn);
  ScanOptions options;
  options.columns = {*relation->columns.Find("table_id"),
                     *relation->columns.Find("partition_key_index")};
  options.rows = ScanRows::kAllVersions;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         past_.rows.base().Scan(relation, std::move(options)));
  int64_t keys = 0;
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return keys;
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      const Datum table = batch.columns.column(0).at(i);
      if (!table.is_null() && table.int64_value() == table_.id) {
        keys = std::max(keys, batch.columns.column(1).at(i).int64_value() + 1);
      }
    }
  }
}

absl::StatusOr<int64_t> FileRestore::NumColumns() const {
  const TableColumns none;
  VARVE_ASSIGN_OR_RETURN(const ColumnCounter next, NextColumn(state_, table_.id, none));
  return next.next_id;
}

// Of a relation whose key is (table, column or partition key, file, …).
absl::Status FileRestore::CopyChildrenOf(RelationId id, int64_t num_keys) {
  const RelationRef& relation = state_.relation(id);
  const auto copy = [&](const VersionedRow& child) -> absl::Status {
    const std::optional<int64_t> file = IdOf(*relation, child.values, "data_file_id");
    const auto new_id = file.has_value() ? new_ids_.find(*file) : new_ids_.end();
    if (new_id == new_ids_.end()) {
      return absl::OkStatus();
    }
    Row row = child.values;
    SetColumn(*relation, {"data_file_id", Datum::Int64(new_id->second)}, &row);
    return state_.rows.Insert(relation, std::move(row));
  };
  if (new_ids_.size() > kFewFiles) {
    const Datum of_table[] = {Datum::Int64(table_.id)};
    return past_.rows.ForEach(relation, of_table, copy);
  }
  for (int64_t key = 0; key < num_keys; ++key) {
    for (const auto& [old_id, new_id] : new_ids_) {
      const Datum prefix[] = {Datum::Int64(table_.id), Datum::Int64(key), Datum::Int64(old_id)};
      VARVE_RETURN_IF_ERROR(past_.rows.ForEach(relation, prefix, copy));
    }
  }
  return absl::OkStatus();
}

absl::Status FileRestore::CopyChildren() {
  if (new_ids_.empty()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const int64_t columns, NumColumns());
  VARVE_ASSIGN_OR_RETURN(const int64_t keys, NumPartitionKeys());
  VARVE_RETURN_IF_ERROR(CopyChildrenOf(kFileColumnStats, columns));
  VARVE_RETURN_IF_ERROR(CopyChildrenOf(kFileVariantStats, columns));
  return CopyChildrenOf(kFilePartitionValue, keys);
}

absl::StatusOr<Restored> FileRestore::Run() {
  VARVE_RETURN_IF_ERROR(Read());
  VARVE_RETURN_IF_ERROR(CheckPartial());
  VARVE_RETURN_IF_ERROR(CheckScheduled());
  VARVE_RETURN_IF_ERROR(EndFiles());
  for (const auto& [id, row] : then_) {
    const VersionedRow* const deletes = Find(deletes_then_, id);
    if (!Stays(id)) {
      VARVE_RETURN_IF_ERROR(RegisterAgain(row, id));
      VARVE_RETURN_IF_ERROR(CopyInlinedDeletes(id, new_ids_.at(id)));
      if (deletes != nullptr) {
        VARVE_RETURN_IF_ERROR(RegisterDeletesAgain(*deletes, new_ids_.at(id)));
      }
    } else if (deletes != nullptr && !SameDeletes(Find(deletes_now_, id), deletes)) {
      VARVE_RETURN_IF_ERROR(RegisterDeletesAgain(*deletes, id));
    }
  }
  VARVE_RETURN_IF_ERROR(CopyChildren());
  VARVE_RETURN_IF_ERROR(paths_.Check());
  paths_.Keep();
  return restored_;
}

}  // namespace

absl::StatusOr<Restored> RestoreFiles(Transaction::State* state, const RestorePoint& past,
                                      const LiveObject& table) {
  return FileRestore(state, past, table).Run();
}

}  // namespace varve

#include "catalog/transaction/path_index.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/hash/hash.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"

namespace varve {
namespace {

// Reading what one commit did takes about as long as reading this many rows of a table.
constexpr uint64_t kRowsPerCommit = 20;

constexpr std::array<RelationId, 2> kFileRelations = {kDataFile, kDeleteFile};

// Where a file relation has its id, table, path and whether it is relative.
std::vector<size_t> PathColumns(const RelationSchema& relation) {
  return {*relation.unique_column, *relation.columns.Find("table_id"),
          *relation.columns.Find("path"), *relation.columns.Find("path_is_relative")};
}

struct PathRow {
  int64_t file_id = 0;
  int64_t table_id = 0;
  std::string key;
};
// Row `i` of a batch of PathColumns; false if it is no whole one.
bool ReadPath(const ColumnBatch& batch, size_t i, PathRow* row) {
  if (batch.column(0).is_null(i) || batch.column(1).is_null(i) || batch.column(2).is_null(i)) {
    return false;
  }
  row->file_id = batch.column(0).int64s()[i];
  row->table_id = batch.column(1).int64s()[i];
  const bool is_relative = batch.column(3).is_null(i) || batch.column(3).bools()[i] != 0;
  row->key = PathKey(batch.column(2).bytes(i), is_relative);
  return true;
}

}  // namespace

std::string PathKey(std::string_view path, bool is_relative) {
  return StrCat(is_relative ? "r" : "a", path);
}

uint64_t HashOfPathKey(std::string_view key) {
  return absl::HashOf(key);
}

void PathIndex::Table::Add(uint64_t hash, PackedFile file) {
  const auto [it, is_new] = files.try_emplace(hash, file);
  if (!is_new && it->second != file) {
    further.emplace(hash, file);
  }
}

absl::StatusOr<std::vector<PathIndex::File>> PathIndex::Find(
    const ReadView& view, int64_t table_id, std::span<const std::string_view> keys) {
  const std::shared_ptr<Table> table = Take(table_id);
  std::vector<File> files;
  size_t paths = 0;
  {
    const std::lock_guard lock(table->mutex);
    if (table->csn < view.csn()) {
      if (const absl::Status status = BringUpToDate(view, table_id, table.get()); !status.ok()) {
        table->csn = 0;  // whatever was read of it is read again
        return status;
      }
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      const uint64_t hash = HashOfPathKey(keys[i]);
      const auto add = [&](PackedFile file) {
        files.push_back({.key = i, .id = file >> 1, .is_delete_file = (file & 1) != 0});
      };
      if (const auto found = table->files.find(hash); found != table->files.end()) {
        add(found->second);
        const auto [first, last] = table->further.equal_range(hash);
        std::for_each(first, last, [&](const auto& more) { add(more.second); });
      }
    }
    paths = table->size();
  }
  Note(table_id, table, paths);
  return files;
}

std::shared_ptr<PathIndex::Table> PathIndex::Take(int64_t table_id) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = tables_.try_emplace(table_id);
  Entry& entry = it->second;
  if (is_new) {
    recency_.push_front(table_id);
    entry = {.table = std::make_shared<Table>(), .recency = recency_.begin()};
  } else {
    recency_.splice(recency_.begin(), recency_, entry.recency);
  }
  return entry.table;
}

void PathIndex::Note(int64_t table_id, const std::shared_ptr<Table>& table, size_t paths) {
  const std::lock_guard lock(mutex_);
  const auto noted = tables_.find(table_id);
  if (noted == tables_.end() || noted->second.table != table) {
    return;  // forgotten meanwhile
  }
  num_paths_ += paths - noted->second.paths;
  noted->second.paths = paths;
  while (num_paths_ > max_paths_ && recency_.back() != table_id) {
    const auto oldest = tables_.find(recency_.back());
    num_paths_ -= oldest->second.paths;
    tables_.erase(oldest);
    recency_.pop_back();
  }
}

absl::Status PathIndex::BringUpToDate(const ReadView& view, int64_t table_id, Table* table) {
  if (table->csn != 0 && (view.csn() - table->csn) * kRowsPerCommit <= table->size()) {
    VARVE_ASSIGN_OR_RETURN(const bool complete, ReadChanges(view, table_id, table));
    if (complete) {
      return absl::OkStatus();
    }
  }
  return ReadRows(view, table_id, table);
}

absl::Status PathIndex::ReadRows(const ReadView& view, int64_t table_id, Table* table) {
  table->files.clear();
  table->further.clear();
  table->csn = view.csn();
  for (const RelationId id : kFileRelations) {
    const RelationRef relation = view.relations().FindById(id);
    ScanOptions options{.rows = ScanRows::kAllVersions};
    options.columns = PathColumns(*relation);
    options.key_prefix = {Datum::Int64(table_id)};
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                           view.Scan(relation, std::move(options)));
    ScanBatch batch;
    PathRow row;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
      if (!more) {
        break;
      }
      for (size_t i = 0; i < batch.num_rows(); ++i) {
        if (ReadPath(batch.columns, i, &row)) {
          table->Add(HashOfPathKey(row.key), (row.file_id << 1) | (id == kDeleteFile ? 1 : 0));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> PathIndex::ReadChanges(const ReadView& view, int64_t table_id, Table* table) {
  for (const RelationId id : kFileRelations) {
    ChangeFeedOptions options;
    options.relations = {id};
    options.columns = PathColumns(*view.relations().FindById(id));
    absl::StatusOr<std::unique_ptr<ChangeReader>> changes =
        Changes(view, table->csn, view.csn(), std::move(options));
    if (absl::IsOutOfRange(changes.status())) {
      return false;
    }
    VARVE_RETURN_IF_ERROR(changes.status());
    ChangeBatch batch;
    PathRow row;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, (*changes)->Next(&batch));
      if (!more) {
        break;
      }
      for (size_t i = 0; i < batch.num_rows(); ++i) {
        if (batch.kinds[i] == FeedKind::kInserted && ReadPath(batch.columns, i, &row) &&
            row.table_id == table_id) {
          table->Add(HashOfPathKey(row.key), (row.file_id << 1) | (id == kDeleteFile ? 1 : 0));
        }
      }
    }
  }
  table->csn = view.csn();
  return true;
}

size_t PathIndex::num_paths() const {
  const std::lock_guard lock(mutex_);
  return num_paths_;
}

}  // namespace varve

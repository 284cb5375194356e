#include "catalog/transaction/path_index.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/hash/hash.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/transaction/footprint.h"

namespace varve {
namespace {

// Reading what one commit did takes about as long as reading this many rows of a table.
constexpr uint64_t kRowsPerCommit = 20;

bool MayRegisterFiles(Operation operation) {
  return operation == Operation::kInsert || TouchesFiles(operation);
}

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
  if (is_new || it->second == file) {
    return;
  }
  const auto [first, last] = further.equal_range(hash);
  if (std::none_of(first, last, [&](const auto& other) { return other.second == file; })) {
    further.emplace(hash, file);
  }
}

void PathIndex::Table::AddNoted(uint64_t hash, Csn noted) {
  if (noted > read_csn) {
    Csn& last = not_read[hash];
    last = std::max(last, noted);
  }
}

// A path may be known and registered again, once its file has ended.
bool PathIndex::Table::HasRead(Csn view_csn, std::span<const std::string_view> keys) const {
  return read_csn >= view_csn || std::none_of(keys.begin(), keys.end(), [&](std::string_view key) {
           return not_read.contains(HashOfPathKey(key));
         });
}

std::vector<PathIndex::File> PathIndex::Table::Find(std::span<const std::string_view> keys) const {
  std::vector<File> found;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t hash = HashOfPathKey(keys[i]);
    const auto add = [&](PackedFile file) {
      found.push_back({.key = i, .id = file >> 1, .is_delete_file = (file & 1) != 0});
    };
    if (const auto first = files.find(hash); first != files.end()) {
      add(first->second);
      const auto [begin, end] = further.equal_range(hash);
      std::for_each(begin, end, [&](const auto& more) { add(more.second); });
    }
  }
  return found;
}

absl::StatusOr<std::vector<PathIndex::File>> PathIndex::Find(
    const ReadView& view, int64_t table_id, std::span<const std::string_view> keys) {
  const std::shared_ptr<Table> table = Take(table_id);
  std::vector<File> files;
  size_t paths = 0;
  {
    const std::lock_guard lock(table->mutex);
    if (table->csn < view.csn() && !TakeNoted(view, table_id, table.get())) {
      VARVE_RETURN_IF_ERROR(Read(view, table_id, table.get()));
    }
    if (!table->HasRead(view.csn(), keys)) {
      VARVE_RETURN_IF_ERROR(Read(view, table_id, table.get()));
    }
    files = table->Find(keys);
    paths = table->size();
  }
  Count(table_id, table, paths);
  return files;
}

// --- What commits say ---

void PathIndex::Note(const std::vector<CommitFootprint>& commits) {
  const std::lock_guard lock(mutex_);
  for (const CommitFootprint& commit : commits) {
    if (commit.csn != last_noted_ + 1) {  // some say nothing of what they did
      for (auto& [table_id, entry] : tables_) {
        entry.complete_from = commit.csn - 1;
      }
    }
    last_noted_ = commit.csn;
    for (const Action& action : commit.footprint->actions()) {
      const auto found = tables_.find(action.id);
      if (found == tables_.end() || !MayRegisterFiles(action.operation)) {
        continue;
      }
      if (action.paths.empty() || action.all_files) {
        found->second.complete_from = commit.csn;
      }
      for (const uint64_t hash : action.paths) {
        found->second.noted.emplace_back(commit.csn, hash);
      }
    }
  }
}

bool PathIndex::TakeNoted(const ReadView& view, int64_t table_id, Table* table) {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(table_id);
  if (found == tables_.end() || found->second.table.get() != table) {
    return false;  // forgotten meanwhile
  }
  Entry& entry = found->second;
  const auto end = std::find_if(entry.noted.begin(), entry.noted.end(),
                                [&](const auto& noted) { return noted.first > view.csn(); });
  std::for_each(entry.noted.begin(), end,
                [&](const auto& noted) { table->AddNoted(noted.second, noted.first); });
  entry.noted.erase(entry.noted.begin(), end);
  if (table->csn == 0 || entry.complete_from > table->csn || last_noted_ < view.csn()) {
    return false;
  }
  table->csn = view.csn();
  return true;
}

// --- Which tables are kept ---

std::shared_ptr<PathIndex::Table> PathIndex::Take(int64_t table_id) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = tables_.try_emplace(table_id);
  Entry& entry = it->second;
  if (is_new) {
    recency_.push_front(table_id);
    entry.table = std::make_shared<Table>();
    entry.recency = recency_.begin();
    entry.complete_from = last_noted_;
  } else {
    recency_.splice(recency_.begin(), recency_, entry.recency);
  }
  return entry.table;
}

void PathIndex::Count(int64_t table_id, const std::shared_ptr<Table>& table, size_t paths) {
  const std::lock_guard lock(mutex_);
  const auto counted = tables_.find(table_id);
  if (counted == tables_.end() || counted->second.table != table) {
    return;  // forgotten meanwhile
  }
  num_paths_ += paths - counted->second.paths;
  counted->second.paths = paths;
  while (num_paths_ > max_paths_ && recency_.back() != table_id) {
    const auto oldest = tables_.find(recency_.back());
    num_paths_ -= oldest->second.paths;
    tables_.erase(oldest);
    recency_.pop_back();
  }
}

size_t PathIndex::num_paths() const {
  const std::lock_guard lock(mutex_);
  return num_paths_;
}

// --- Reading ---

absl::Status PathIndex::Read(const ReadView& view, int64_t table_id, Table* table) {
  bool read = false;
  if (table->read_csn != 0 && (view.csn() - table->read_csn) * kRowsPerCommit <= table->size()) {
    VARVE_ASSIGN_OR_RETURN(read, ReadChanges(view, table_id, table));
  }
  if (!read) {
    // All anew, without what was erased; after an error next time again.
    table->files.clear();
    table->further.clear();
    table->csn = table->read_csn = 0;
    VARVE_RETURN_IF_ERROR(ReadRows(view, table_id, table));
  }
  table->read_csn = view.csn();
  absl::erase_if(table->not_read,
                 [&](const auto& noted) { return noted.second <= table->read_csn; });
  table->csn = std::max(table->csn, view.csn());
  return absl::OkStatus();
}

absl::Status PathIndex::ReadRows(const ReadView& view, int64_t table_id, Table* table) {
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
        Changes(view, table->read_csn, view.csn(), std::move(options));
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
  return true;
}

}  // namespace varve

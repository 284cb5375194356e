// Which files of a table have a path: so that no path is registered twice, and none is given up
// that another file still has, without reading a table's files each time.
//
// For each table that is asked about, the hashes of the paths of its files, live and ended ones,
// are kept in memory with the files' ids: read from the table's rows when first asked for, then
// brought up to date from the change feed. They are hints: files that were erased since stay, and
// two paths may have one hash. Whoever asks looks at the rows of what is found. Tables not asked
// about lately are forgotten when there are too many hashes.
//
// Thread-safety: any thread; those that ask about one table are served one at a time.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

// What distinguishes paths: the text, and whether it is relative.
std::string PathKey(std::string_view path, bool is_relative);

// A hash of a key; equal keys have equal ones within this process.
uint64_t HashOfPathKey(std::string_view key);

class PathIndex {
 public:
  // About this many paths are kept, 16 to 40 bytes each.
  static constexpr size_t kDefaultMaxPaths = 8'000'000;
  explicit PathIndex(size_t max_paths = kDefaultMaxPaths) : max_paths_(max_paths) {}

  struct File {
    size_t key = 0;  // position of its path's key in what was asked for
    int64_t id = 0;
    bool is_delete_file = false;
  };
  // The files of the table that may have one of the paths (PathKey). Every file of the view that
  // has one, live or ended, is among them.
  absl::StatusOr<std::vector<File>> Find(const ReadView& view, int64_t table_id,
                                         std::span<const std::string_view> keys);

  size_t num_paths() const;

 private:
  // A file id, and in the lowest bit whether it is a delete file.
  using PackedFile = int64_t;

  struct Table {
    std::mutex mutex;
    Csn csn = 0;  // what commits did up to here is in it; 0: nothing was read yet
    absl::flat_hash_map<uint64_t, PackedFile> files;        // by hash of the path key
    std::unordered_multimap<uint64_t, PackedFile> further;  // more files of one hash
    size_t size() const { return files.size() + further.size(); }
    void Add(uint64_t hash, PackedFile file);
  };
  // What is known of a table, and where it stands among those to forget.
  struct Entry {
    std::shared_ptr<Table> table;
    std::list<int64_t>::iterator recency;
    size_t paths = 0;  // of the table, when it was last asked about
  };

  static absl::Status BringUpToDate(const ReadView& view, int64_t table_id, Table* table);
  static absl::Status ReadRows(const ReadView& view, int64_t table_id, Table* table);
  // false: the changes are not all there.
  static absl::StatusOr<bool> ReadChanges(const ReadView& view, int64_t table_id, Table* table);
  // Makes the table the last one to be forgotten.
  std::shared_ptr<Table> Take(int64_t table_id);
  // Takes note of how many paths the table has now; forgets others if those are too many.
  void Note(int64_t table_id, const std::shared_ptr<Table>& table, size_t paths);

  const size_t max_paths_;
  mutable std::mutex mutex_;  // of what follows; never taken before a table's
  size_t num_paths_ = 0;
  std::list<int64_t> recency_;  // the table asked about last comes first
  std::unordered_map<int64_t, Entry> tables_;
};

}  // namespace varve

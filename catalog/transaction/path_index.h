// Which files of a table have a path: so that no path is registered twice, and none is given up
// that another file still has, without reading a table's files each time.
//
// For each table that is asked about, the hashes of the paths of its files, live and ended ones,
// are kept in memory with the files' ids. They are read from the table's rows when first asked for.
// After that commits say which paths they register; where one did not, the change feed does. They
// are hints: files that were erased since stay, and two paths may have one hash. Whoever asks looks
// at the rows of what is found. Tables not asked about lately are forgotten when there are too many
// hashes.
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
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/store/commit.h"

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

  // Takes in what was committed, in csn order, before anyone sees it.
  void Note(const std::vector<CommitFootprint>& commits);

  size_t num_paths() const;

 private:
  // A file id, and in the lowest bit whether it is a delete file.
  using PackedFile = int64_t;

  struct Table {
    std::mutex mutex;
    Csn csn = 0;       // the paths of commits up to here are in it; 0: nothing is
    Csn read_csn = 0;  // with the ids of their files
    absl::flat_hash_map<uint64_t, PackedFile> files;        // by hash of the path key
    std::unordered_multimap<uint64_t, PackedFile> further;  // more files of one hash
    absl::flat_hash_map<uint64_t, Csn> not_read;  // the last commit after read_csn with such a path
    size_t size() const { return files.size() + further.size() + not_read.size(); }
    void Add(uint64_t hash, PackedFile file);
    void AddNoted(uint64_t hash, Csn noted);
    // Whether the ids of all files that commits up to the view's registered under these paths are
    // known.
    bool HasRead(Csn view_csn, std::span<const std::string_view> keys) const;
    std::vector<File> Find(std::span<const std::string_view> keys) const;
  };
  // What is known of a table, and where it stands among those to forget.
  struct Entry {
    std::shared_ptr<Table> table;
    std::list<int64_t>::iterator recency;
    size_t paths = 0;  // of the table, when it was last asked about
    // What commits registered since it was last asked about. Those up to `complete_from` did not
    // all say so.
    std::vector<std::pair<Csn, uint64_t>> noted;
    Csn complete_from = 0;
  };

  // Makes the table the last one to be forgotten.
  std::shared_ptr<Table> Take(int64_t table_id);
  // Moves what was noted up to the view's csn to the table; false: that is not everything.
  bool TakeNoted(const ReadView& view, int64_t table_id, Table* table);
  // How many paths the table has now; others are forgotten if those are too many.
  void Count(int64_t table_id, const std::shared_ptr<Table>& table, size_t paths);

  static absl::Status Read(const ReadView& view, int64_t table_id, Table* table);
  static absl::Status ReadRows(const ReadView& view, int64_t table_id, Table* table);
  // false: the changes are not all there.
  static absl::StatusOr<bool> ReadChanges(const ReadView& view, int64_t table_id, Table* table);

  const size_t max_paths_;
  mutable std::mutex mutex_;  // of what follows; never taken before a table's
  size_t num_paths_ = 0;
  std::list<int64_t> recency_;  // the table asked about last comes first
  std::unordered_map<int64_t, Entry> tables_;
  Csn last_noted_ = 0;
};

}  // namespace varve

// Where the files of a lake are, and which of those that are about to be given up are still used.
//
// A restored file is registered again under the path it has, with a new id. So before a path is
// scheduled for deletion with the row of one file, the files that stay are asked.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "catalog/payload_codec.h"
#include "catalog/read_view.h"
#include "catalog/retention/reclaimable.h"
#include "catalog/store/row_store.h"

namespace varve {

// A path as files_scheduled_for_deletion keeps it: what is behind the data path, or the whole.
struct ScheduledPath {
  std::string path;
  bool is_relative = false;
};

// The directories of all tables a state knows, also of those that were dropped: data path, schema
// and table. Where versions differ, the newest counts.
class TableDirectories {
 public:
  static absl::StatusOr<TableDirectories> Load(std::shared_ptr<const StoreState> state);

  // The whole path of a file of the table; nullopt for a relative one of a table that is not there,
  // or whose schema is not.
  std::optional<std::string> Resolve(std::optional<int64_t> table_id, std::string_view path,
                                     bool is_relative) const;
  // By table.
  const absl::flat_hash_map<int64_t, std::string>& directories() const { return directories_; }

  // As DuckLake writes it, and back.
  ScheduledPath ToScheduled(std::string_view whole_path) const;
  std::string FromScheduled(std::string_view path, bool is_relative) const;

 private:
  std::string data_path_;
  absl::flat_hash_map<int64_t, std::string> directories_;
};

// Decodes what stored rows of data_file or delete_file say of their files.
class FileRowReader {
 public:
  // `relation`: one of the two.
  explicit FileRowReader(RelationRef relation);

  struct File {
    int64_t id = 0;
    std::optional<int64_t> table_id;
    std::string_view path;  // borrows from the row
    bool is_relative = true;
  };
  absl::StatusOr<File> Read(const ReclaimableRow& row);

 private:
  RowDecoder decoder_;
  DecodedHandle scratch_;
};

// Which paths of reclaimable files are also those of files that stay.
//
// Costs some 20 bytes a reclaimable file, and a walk over the files of the tables that have such;
// over all files if one lies outside the directory of its table.
class PathsInUse {
 public:
  // For what `retained` makes reclaimable in the state.
  static absl::StatusOr<PathsInUse> Find(std::shared_ptr<const StoreState> state,
                                         const RetainedSnapshots& retained);

  // Takes in the files that commits registered since, up to `state`. OutOfRange when the changes in
  // between are not all there any more.
  absl::Status CatchUp(const std::shared_ptr<const StoreState>& state);

  const TableDirectories& directories() const { return directories_; }

  // Whether the path of a reclaimable file is to be scheduled for deletion: no file that stays has
  // it, and of several that go and have it, this is the first asked about.
  bool Take(std::string_view whole_path);

 private:
  absl::Status CollectReclaimable(const std::shared_ptr<const StoreState>& state,
                                  const RetainedSnapshots& retained);
  absl::Status AskFilesThatStay(const ReadView& view, const RelationRef& relation,
                                std::optional<int64_t> table);
  // A path that some file has which stays.
  void Note(std::optional<int64_t> table, std::string_view path, bool is_relative);

  TableDirectories directories_;
  Csn csn_ = 0;
  // Of the reclaimable files:
  absl::flat_hash_set<uint64_t> hashes_;  // of their whole paths
  absl::flat_hash_set<int64_t> ids_;
  absl::flat_hash_set<int64_t> tables_;
  bool some_lie_outside_ = false;
  std::set<std::string, std::less<>>
      repeated_;  // paths that several have, until the first is taken
  // Paths of files that stay, and of repeated ones once one was taken.
  std::set<std::string, std::less<>> in_use_;
};

}  // namespace varve

// The columnar files of a catalog state: which there are, and what each answers for.
//
//   L1  written by flushes, newest first; for each relation the ranges of handles that no
//       compaction has taken yet
//   L2  segments: ranges of handles that do not overlap, each with at most a file of live rows and
//       one of ended rows
//
// The manifest (columnar.proto) is the truth of what there is; it is written with the commits that
// change it. Files are opened when a set is made and stay open with it: a reader reads on in files
// that were replaced since. A file that was replaced is removed when the last set lets go of it;
// what a crash left behind is removed when the catalog is opened for writing.
//
// Thread-safety: a set is immutable. Ownership: states share sets, sets share files.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/columnar.pb.h"
#include "catalog/read_view.h"
#include "catalog/tiers/handle_range.h"
#include "columnar/columnar_file.h"
#include "columnar/pack_cache.h"

namespace varve {

// The directory of a catalog that holds its columnar files, and the name of one.
inline constexpr std::string_view kColumnarDirectory = "columnar";
std::string ColumnarFileName(uint64_t number);
// The number in a file's name; nullopt: it is no name of a columnar file.
std::optional<uint64_t> ColumnarFileNumber(std::string_view name);

// What a table of the manifest answers for, and how a range is added to it.
std::vector<HandleRange> AnsweredRanges(const proto::ColumnarTableEntry& table);
void AddRange(const HandleRange& range, proto::ColumnarTableEntry* table);

// An open file of the tier.
class StoredColumnarFile {
 public:
  static absl::StatusOr<std::shared_ptr<const StoredColumnarFile>> Open(
      rocksdb::FileSystem* file_system, const std::string& directory,
      const proto::ColumnarFileEntry& entry);
  // Removes the file, if it is obsolete.
  ~StoredColumnarFile();
  StoredColumnarFile(const StoredColumnarFile&) = delete;
  StoredColumnarFile& operator=(const StoredColumnarFile&) = delete;

  uint64_t number() const { return number_; }
  uint32_t level() const { return level_; }
  const std::shared_ptr<const ColumnarFile>& file() const { return file_; }
  // No manifest has it any more.
  void MakeObsolete() const { obsolete_ = true; }

 private:
  StoredColumnarFile(rocksdb::FileSystem* file_system, uint64_t number, uint32_t level,
                     std::shared_ptr<const ColumnarFile> file)
      : file_system_(file_system), number_(number), level_(level), file_(std::move(file)) {}

  rocksdb::FileSystem* const file_system_;
  const uint64_t number_;
  const uint32_t level_;
  const std::shared_ptr<const ColumnarFile> file_;
  mutable std::atomic<bool> obsolete_ = false;
};

// What a file answers for in a relation.
struct ColumnarPart {
  std::shared_ptr<const StoredColumnarFile> file;
  const ColumnarTable* table = nullptr;
  std::vector<HandleRange> ranges;  // ascending
};

// A range of handles of a relation in L2.
struct ColumnarSegment {
  HandleRange range;
  std::optional<ColumnarPart> live;
  std::optional<ColumnarPart> ended;
  uint64_t rows() const;
};

struct RelationColumns {
  std::vector<ColumnarPart> l1;           // the newest first
  std::vector<ColumnarSegment> segments;  // ascending; between them there is nothing
  // A file with rows of the relation cannot be read: what is wrong with it. The row store answers.
  absl::Status damage;

  bool has_files() const { return !(l1.empty() && segments.empty()); }
};

class ColumnarSet {
 public:
  // Opens what the manifest says; files that `earlier` has open are shared. A file that is missing
  // or damaged is noted with the relations it has rows of.
  static std::shared_ptr<const ColumnarSet> Open(rocksdb::FileSystem* file_system,
                                                 const std::string& catalog_path,
                                                 proto::ColumnarManifest manifest,
                                                 const ColumnarSet* earlier,
                                                 std::shared_ptr<const PackCache> cache);

  const proto::ColumnarManifest& manifest() const { return manifest_; }
  Csn flushed_csn() const { return manifest_.flushed_csn(); }
  // nullptr: no file has rows of the relation.
  const RelationColumns* Find(RelationId relation) const;
  // Whether the files, with the changes after flushed_csn(), hold every version of the relation
  // that counts, and can be read.
  bool IsComplete(RelationId relation) const;
  // Of decoded packs; may be null.
  const PackCache* cache() const { return cache_.get(); }
  // The open files, by number.
  const absl::flat_hash_map<uint64_t, std::shared_ptr<const StoredColumnarFile>>& files() const {
    return files_;
  }
  // Why a file of the manifest could not be opened; OK: it is open, or no file of the manifest.
  absl::Status WhyNotOpen(uint64_t number) const;

 private:
  void AddFile(const proto::ColumnarFileEntry& entry,
               absl::StatusOr<std::shared_ptr<const StoredColumnarFile>> file);
  void AddToSegment(ColumnarPart part, bool ended, RelationColumns* columns);

  proto::ColumnarManifest manifest_;
  std::shared_ptr<const PackCache> cache_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<const StoredColumnarFile>> files_;
  absl::flat_hash_map<uint64_t, absl::Status> not_open_;  // the other ones
  absl::flat_hash_map<RelationId, RelationColumns> relations_;
  absl::flat_hash_set<RelationId> incomplete_;
};

}  // namespace varve

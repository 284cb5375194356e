// A file system for tests that fails on purpose, and that can forget what was never synced, as a
// disk does when its power is cut.
//
// It works on the real files. Syncing only keeps account of what a disk would hold: the bytes of
// a file up to its last sync, and the names of a directory as they were at its last sync. So no
// call waits for the disk, and DropUnsynced can put the files back to what is accounted for.
//
// Writing calls are counted: creating, renaming, linking, truncating and deleting a file,
// appending to it, syncing it, making a directory, syncing it. RocksDB's own log, LOG, which is
// written now and then and read by nobody, is passed through uncounted.
//
// Thread-safety: any thread. Must outlive the databases opened over it.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace varve {

class FaultFileSystem : public rocksdb::FileSystemWrapper {
 public:
  struct Fault {
    enum class Kind : uint8_t {
      kIoError,
      kNoSpace,
      kTornAppend,  // of an append half is written; another call fails without a trace
      kPowerCut,    // no error: from this call on nothing is durable any more
    };
    uint64_t at = 0;  // the writing call that fails, counted from 1; 0: none
    Kind kind = Kind::kIoError;
    bool lasting = false;  // every later writing call fails, too (a power cut always lasts)
  };

  // `attic`: a directory of the test on the same disk, where deleted files wait until their
  // deletion is durable.
  explicit FaultFileSystem(std::string attic);

  const char* Name() const override { return "VarveFaultFileSystem"; }

  // Writing calls are counted anew from here.
  void Arm(const Fault& fault);
  uint64_t calls() const;
  // How many calls failed since then.
  uint64_t failures() const;
  // How many of those were appends to write-ahead logs and syncs of them: what a committer must
  // hear of.
  uint64_t log_failures() const;
  // "sync 000012.log, append to …": the calls that failed.
  std::string failed_calls() const;
  // As if the power were cut now: nothing is durable any more, whatever calls say.
  void CutPower();
  bool power_is_cut() const;

  enum class Tail : uint8_t {
    kGone,
    kTorn,  // half of what the file written last has unsynced is there
  };
  // Puts all files back to what is durable, and what is left is durable from then on. Requires:
  // none is open.
  void DropUnsynced(Tail tail);

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                                    rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus Truncate(const std::string& name, size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus CreateDir(const std::string& name, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override;

 private:
  class File;
  class Directory;

  // A file written through here; one that was there before counts as durable. Sizes in bytes.
  struct Account {
    uint64_t written = 0;
    uint64_t synced = 0;
  };
  // A change of a directory that no sync has made durable.
  struct NameChange {
    std::string name;       // made, replaced or deleted
    std::string from;       // where a rename took it from
    std::string displaced;  // in the attic: what had the name before
    Account displaced_account;
  };

  // Counts a writing call; the error it must fail with, if any. `is_data`: it appends to the file
  // or syncs it.
  rocksdb::IOStatus Count(std::string_view what, const std::string& name, bool is_data = false);
  // Moves what has the name to the attic, and notes that the name is about to change.
  void Displace(const std::string& name, const std::string& from);
  void Undo(const NameChange& change);
  void SyncNames(const std::string& directory);

  const std::string attic_;
  mutable std::mutex mutex_;
  Fault fault_;
  bool power_is_cut_ = false;
  uint64_t calls_ = 0;
  uint64_t failures_ = 0;
  uint64_t log_failures_ = 0;
  std::string failed_calls_;
  uint64_t displaced_files_ = 0;
  std::map<std::string, Account> accounts_;  // by path
  std::vector<NameChange> unsynced_names_;   // in the order they were made
  std::string last_written_;
};

}  // namespace varve

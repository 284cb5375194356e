// An opened columnar file: footer and metas in memory, packs on disk.
//
// Opening reads the footer and the metas and checks their checksums; the file stays open, so it can
// be read after its name is gone. Packs are read by ColumnarTableReader.
//
// Thread-safety: immutable but for the note that damage was seen; any number of threads may read.
// Ownership: owns the open file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/columnar_table.h"
#include "rocksdb/file_system.h"

namespace varve {

struct ColumnarFileOptions {
  // What tells the file's packs from others in a PackCache: a number that no other file ever has,
  // such as its number in the manifest. Without one the file gets one that no other has in this
  // process.
  std::optional<uint64_t> file_id;
};

class ColumnarFile {
 public:
  // DataLoss naming file and section for anything damaged or cut short, Unimplemented for a format
  // version that is later than ours; an error of the file system as it is.
  static absl::StatusOr<std::shared_ptr<const ColumnarFile>> Open(
      rocksdb::FileSystem* file_system, std::string path, const ColumnarFileOptions& options = {});

  const std::string& path() const { return path_; }
  uint64_t file_id() const { return file_id_; }
  uint64_t file_size() const { return file_size_; }
  const ColumnarFileProperties& properties() const { return properties_; }

  // In the order of properties().tables.
  const std::vector<ColumnarTable>& tables() const { return tables_; }
  // Null if the file has no such relation.
  const ColumnarTable* FindTable(uint32_t relation) const;

  // Reads exactly `n` bytes at `offset` to `scratch`. DataLoss if the file is shorter.
  absl::Status Read(uint64_t offset, size_t n, char* scratch) const;

  // The error that something in the file is damaged; one line. Notes that damage was seen.
  absl::Status Damaged(std::string_view section, std::string_view what) const;

  // Whether a reader has met damage since the file was opened, or since it was forgotten.
  bool damage_seen() const { return damage_seen_.load(std::memory_order_relaxed); }
  void ForgetDamage() const { damage_seen_.store(false, std::memory_order_relaxed); }

 private:
  ColumnarFile(std::string path, uint64_t file_id, uint64_t file_size,
               std::unique_ptr<rocksdb::FSRandomAccessFile> file);

  absl::Status ReadHeader() const;
  absl::Status ReadFooter(uint64_t* footer_offset);
  absl::Status ReadTable(const ColumnarTableProperties& properties, uint64_t footer_offset);

  const std::string path_;
  const uint64_t file_id_;
  const uint64_t file_size_;
  const std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  ColumnarFileProperties properties_;
  std::vector<ColumnarTable> tables_;
  mutable std::atomic<bool> damage_seen_ = false;
};

}  // namespace varve

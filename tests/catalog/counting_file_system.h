// A file system for tests that counts which bytes of columnar files are read.
//
// Thread-safety: any thread. Must outlive the files opened through it.
#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace varve {

class CountingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  CountingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "VarveCountingFileSystem"; }

  struct Piece {
    std::string path;
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  void Forget() {
    const std::lock_guard lock(mutex_);
    pieces_.clear();
  }
  // How many bytes of the range of the file were read, each time they were.
  uint64_t BytesRead(const std::string& path, uint64_t offset, uint64_t length) const {
    const std::lock_guard lock(mutex_);
    uint64_t bytes = 0;
    for (const Piece& piece : pieces_) {
      const uint64_t from = std::max(piece.offset, offset);
      const uint64_t to = std::min(piece.offset + piece.length, offset + length);
      bytes += piece.path == path && from < to ? to - from : 0;
    }
    return bytes;
  }
  uint64_t BytesRead() const {
    const std::lock_guard lock(mutex_);
    uint64_t bytes = 0;
    for (const Piece& piece : pieces_) {
      bytes += piece.length;
    }
    return bytes;
  }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = target()->NewRandomAccessFile(name, options, file, context);
    if (status.ok() && name.ends_with(".vcol")) {
      *file = std::make_unique<File>(std::move(*file), name, this);
    }
    return status;
  }

 private:
  class File : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::string path,
         CountingFileSystem* counts)
        : FSRandomAccessFileOwnerWrapper(std::move(file)),
          path_(std::move(path)),
          counts_(counts) {}
    rocksdb::IOStatus Read(uint64_t offset, size_t n, const rocksdb::IOOptions& options,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* context) const override {
      const std::lock_guard lock(counts_->mutex_);
      counts_->pieces_.push_back({path_, offset, n});
      return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, context);
    }

   private:
    const std::string path_;
    CountingFileSystem* const counts_;
  };

  mutable std::mutex mutex_;
  std::vector<Piece> pieces_;
};

}  // namespace varve

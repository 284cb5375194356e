// A file system in memory: what is written can be looked at and damaged, every read is recorded,
// and the nth writing call can be made to fail.
//
// Thread-safety: reading may happen from several threads, everything else from one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"

namespace varve {

class MemoryFileSystem : public rocksdb::FileSystemWrapper {
 public:
  struct Read {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  MemoryFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "VarveMemoryFileSystem"; }

  // The bytes of a file; made empty if there is none.
  std::string& contents(const std::string& path) {
    std::shared_ptr<std::string>& file = files_[path];
    if (file == nullptr) {
      file = std::make_shared<std::string>();
    }
    return *file;
  }
  // How much of the file was written when it was synced last.
  size_t synced_size(const std::string& path) { return synced_[path]; }

  std::vector<Read> TakeReads() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reads_, {});
  }

  // The call number `n` from now on, from 0, that creates, appends to, syncs or closes a file
  // fails.
  void FailWritingCall(uint64_t n) { calls_left_ = n; }
  bool has_failed() const { return has_failed_; }

  rocksdb::IOStatus NewWritableFile(const std::string& name,
                                    const rocksdb::FileOptions& /*options*/,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* /*context*/) override {
    if (rocksdb::IOStatus status = Count(); !status.ok()) {
      return status;
    }
    files_[name] = std::make_shared<std::string>();
    *file = std::make_unique<WritableFile>(this, name, files_[name]);
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& /*options*/,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* /*context*/) override {
    const auto it = files_.find(name);
    if (it == files_.end()) {
      return rocksdb::IOStatus::PathNotFound(name);
    }
    *file = std::make_unique<RandomAccessFile>(this, it->second);
    return rocksdb::IOStatus::OK();
  }

  rocksdb::IOStatus GetFileSize(const std::string& name, const rocksdb::IOOptions& /*options*/,
                                uint64_t* size, rocksdb::IODebugContext* /*context*/) override {
    const auto it = files_.find(name);
    if (it == files_.end()) {
      return rocksdb::IOStatus::PathNotFound(name);
    }
    *size = it->second->size();
    return rocksdb::IOStatus::OK();
  }

 private:
  class WritableFile : public rocksdb::FSWritableFile {
   public:
    WritableFile(MemoryFileSystem* owner, std::string name, std::shared_ptr<std::string> bytes)
        : owner_(owner), name_(std::move(name)), bytes_(std::move(bytes)) {}

    using rocksdb::FSWritableFile::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& /*options*/,
                             rocksdb::IODebugContext* /*context*/) override {
      rocksdb::IOStatus status = owner_->Count();
      if (status.ok()) {
        bytes_->append(data.data(), data.size());
      }
      return status;
    }
    rocksdb::IOStatus Flush(const rocksdb::IOOptions& /*options*/,
                            rocksdb::IODebugContext* /*context*/) override {
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& /*options*/,
                           rocksdb::IODebugContext* /*context*/) override {
      rocksdb::IOStatus status = owner_->Count();
      if (status.ok()) {
        owner_->synced_[name_] = bytes_->size();
      }
      return status;
    }
    rocksdb::IOStatus Close(const rocksdb::IOOptions& /*options*/,
                            rocksdb::IODebugContext* /*context*/) override {
      return owner_->Count();
    }

   private:
    MemoryFileSystem* const owner_;
    const std::string name_;
    const std::shared_ptr<std::string> bytes_;
  };

  class RandomAccessFile : public rocksdb::FSRandomAccessFile {
   public:
    RandomAccessFile(MemoryFileSystem* owner, std::shared_ptr<std::string> bytes)
        : owner_(owner), bytes_(std::move(bytes)) {}

    rocksdb::IOStatus Read(uint64_t offset, size_t n, const rocksdb::IOOptions& /*options*/,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* /*context*/) const override {
      {
        const std::lock_guard lock(owner_->mutex_);
        owner_->reads_.push_back({.offset = offset, .size = n});
      }
      const size_t size = offset < bytes_->size() ? std::min(n, bytes_->size() - offset) : 0;
      if (size > 0) {
        std::memcpy(scratch, bytes_->data() + offset, size);
      }
      *result = rocksdb::Slice(scratch, size);
      return rocksdb::IOStatus::OK();
    }

   private:
    MemoryFileSystem* const owner_;
    const std::shared_ptr<std::string> bytes_;
  };

  rocksdb::IOStatus Count() {
    if (calls_left_ == 0) {
      has_failed_ = true;
      return rocksdb::IOStatus::IOError("injected");
    }
    --calls_left_;
    return rocksdb::IOStatus::OK();
  }

  std::map<std::string, std::shared_ptr<std::string>> files_;
  std::map<std::string, size_t> synced_;
  uint64_t calls_left_ = std::numeric_limits<uint64_t>::max();
  bool has_failed_ = false;
  std::mutex mutex_;
  std::vector<Read> reads_;
};

}  // namespace varve

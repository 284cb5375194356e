// Whole files copied, linked and checksummed, durably.
//
// Thread-safety: free functions; a FileDescriptor is one thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace varve {

// An open file, closed with the object.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Called with the number of bytes each step has read.
using ByteCounter = std::function<void(uint64_t bytes)>;

// NotFound when there is no such file.
absl::StatusOr<FileDescriptor> OpenForReading(const std::string& path);

absl::StatusOr<uint64_t> SizeOf(const FileDescriptor& file, const std::string& path);

// Copies the first `size` bytes of an open file to a new one, synced, and returns their XXH3-64.
// `from` is the file's name, for messages. Errors: DataLoss when the file is shorter; NotFound,
// AlreadyExists, ResourceExhausted (the disk is full) and others of the system.
absl::StatusOr<uint64_t> CopyFile(const FileDescriptor& file, const std::string& from,
                                  uint64_t size, const std::string& to,
                                  const ByteCounter& on_bytes);

// The XXH3-64 of a file's first `size` bytes. Errors as above.
absl::StatusOr<uint64_t> ChecksumFile(const std::string& path, uint64_t size,
                                      const ByteCounter& on_bytes);

absl::Status SyncFile(const std::string& path);

// Makes a directory, unless it is there.
absl::Status MakeDirectory(const std::string& path);

// Gives a file another name. false: the two places cannot share a file (they are on different file
// systems, or the file system has no hard links); copy it then. NotFound when `from` is not there.
absl::StatusOr<bool> LinkFile(const std::string& from, const std::string& to);

}  // namespace varve

#include "catalog/backup/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr size_t kStepBytes = size_t{1} << 20;

absl::Status SystemError(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, StrCat(what, " ", path));
}

absl::Status WriteAll(int fd, std::span<const char> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return SystemError("cannot write", path);
    }
    bytes = bytes.subspan(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Sync(int fd, const std::string& path) {
  return fsync(fd) == 0 ? absl::OkStatus() : SystemError("cannot sync", path);
}

// Hands the first `size` bytes of a file to `take`, step by step, and returns their checksum.
absl::StatusOr<uint64_t> ReadAll(int fd, const std::string& path, uint64_t size,
                                 const ByteCounter& on_bytes,
                                 const std::function<absl::Status(std::span<const char>)>& take) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(std::min<uint64_t>(size, kStepBytes));
  for (uint64_t done = 0; done < size;) {
    const ssize_t got = pread(fd, buffer.data(), std::min<uint64_t>(size - done, buffer.size()),
                              static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return SystemError("cannot read", path);
    }
    if (got == 0) {
      return absl::DataLossError(
          StrCat(path, " ends after ", done, " bytes; ", size, " were expected"));
    }
    const std::span<const char> bytes(buffer.data(), static_cast<size_t>(got));
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
    VARVE_RETURN_IF_ERROR(take(bytes));
    done += bytes.size();
    if (on_bytes) {
      on_bytes(bytes.size());
    }
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

absl::StatusOr<FileDescriptor> OpenForReading(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return SystemError("cannot open", path);
  }
  return FileDescriptor(fd);
}

absl::StatusOr<uint64_t> SizeOf(const FileDescriptor& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) {
    return SystemError("cannot look at", path);
  }
  return static_cast<uint64_t>(status.st_size);
}

absl::StatusOr<uint64_t> CopyFile(const FileDescriptor& file, const std::string& from,
                                  uint64_t size, const std::string& to,
                                  const ByteCounter& on_bytes) {
  const FileDescriptor copy(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (copy.get() < 0) {
    return SystemError("cannot make", to);
  }
  VARVE_ASSIGN_OR_RETURN(const uint64_t checksum,
                         ReadAll(file.get(), from, size, on_bytes, [&](std::span<const char> b) {
                           return WriteAll(copy.get(), b, to);
                         }));
  VARVE_RETURN_IF_ERROR(Sync(copy.get(), to));
  return checksum;
}

absl::StatusOr<uint64_t> ChecksumFile(const std::string& path, uint64_t size,
                                      const ByteCounter& on_bytes) {
  VARVE_ASSIGN_OR_RETURN(const FileDescriptor file, OpenForReading(path));
  return ReadAll(file.get(), path, size, on_bytes,
                 [](std::span<const char>) { return absl::OkStatus(); });
}

absl::Status SyncFile(const std::string& path) {
  VARVE_ASSIGN_OR_RETURN(const FileDescriptor file, OpenForReading(path));
  return Sync(file.get(), path);
}

absl::Status MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST ? absl::OkStatus()
                                                           : SystemError("cannot make", path);
}

absl::StatusOr<bool> LinkFile(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) {
    return true;
  }
  constexpr std::array kCannotShare = {EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS};
  if (std::find(kCannotShare.begin(), kCannotShare.end(), errno) != kCannotShare.end()) {
    return false;
  }
  return SystemError(StrCat("cannot make ", to, " a link to"), from);
}

}  // namespace varve

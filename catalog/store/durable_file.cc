#include "catalog/store/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

std::string ParentOf(const std::string& path) {
  std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (!normal.has_filename()) {
    normal = normal.parent_path();  // a trailing slash
  }
  const std::filesystem::path parent = normal.parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

absl::Status WriteDurableFile(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot write ", path));
  }
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      const int error = errno;
      close(fd);
      return absl::ErrnoToStatus(error, StrCat("cannot write ", path));
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  const bool synced = fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (!synced) {
    return absl::ErrnoToStatus(error, StrCat("cannot sync ", path));
  }
  return SyncDirectory(ParentOf(path));
}

absl::Status SyncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot open directory ", path));
  }
  const bool synced = fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return synced ? absl::OkStatus()
                : absl::ErrnoToStatus(error, StrCat("cannot sync directory ", path));
}

absl::Status PublishDirectory(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) {
      return absl::AlreadyExistsError(StrCat(to, " exists; choose another path or remove it"));
    }
    return absl::ErrnoToStatus(errno, StrCat("cannot rename ", from, " to ", to));
  }
  return SyncDirectory(ParentOf(to));
}

}  // namespace varve

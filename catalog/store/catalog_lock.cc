#include "catalog/store/catalog_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/strings.h"

namespace varve {
namespace {

std::string Holder(int fd) {
  std::array<char, 400> text;
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  if (size <= 0) {
    return "another process";
  }
  std::string holder(text.data(), static_cast<size_t>(size));
  return holder.substr(0, holder.find('\n'));
}

std::string OwnName() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  return StrCat("process ", getpid(), " on host ", host.data());
}

// Whether the open file is the one that has this name.
bool IsFileAt(const std::string& path, int fd) {
  struct stat open_file {};
  struct stat named {};
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CatalogLock>> CatalogLock::Acquire(const std::string& directory) {
  const std::string path = StrCat(directory, "/", kFileName);
  while (true) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
      return absl::ErrnoToStatus(errno, StrCat("cannot open the lock file ", path));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = Holder(fd);
      close(fd);
      if (error != EWOULDBLOCK) {
        return absl::ErrnoToStatus(error, StrCat("cannot lock ", path));
      }
      return absl::UnavailableError(StrCat("catalog ", directory, " is open in ", holder,
                                           "; close it there. Reading needs no lock: log, ls, "
                                           "scan, get, diff, stats, verify and export open "
                                           "it read-only and work meanwhile"));
    }
    if (!IsFileAt(path, fd)) {
      close(fd);  // its last holder removed or renamed it after it was opened here
      continue;
    }
    const std::string name = StrCat(OwnName(), "\n");
    // The text is for messages only; a lock without it is still a lock.
    if (ftruncate(fd, 0) != 0 || pwrite(fd, name.data(), name.size(), 0) < 0) {
      const int error = errno;
      close(fd);
      return absl::ErrnoToStatus(error, StrCat("cannot write the lock file ", path));
    }
    return std::unique_ptr<CatalogLock>(new CatalogLock(fd));
  }
}

CatalogLock::~CatalogLock() {
  close(fd_);
}

}  // namespace varve

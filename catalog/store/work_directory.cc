#include "catalog/store/work_directory.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/row_store.h"

namespace varve {
namespace {

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

absl::Status CheckNothingAt(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(std::filesystem::symlink_status(path, error));
  const bool empty_directory = exists && std::filesystem::is_directory(path, error) &&
                               std::filesystem::is_empty(path, error);
  if (!exists || empty_directory) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      CheckIsCatalog(path).ok()
          ? StrCat(path, " holds a catalog already; choose another path (or remove that one)")
          : StrCat(path, " exists; choose another path"));
}

// What stands at the working name may be cleared only if such work left it: the lock file is the
// first thing each makes.
absl::Status CheckIsLeftover(const std::string& path, std::string_view what) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::OkStatus();
  }
  const bool ours = std::filesystem::is_directory(path, error) &&
                    (std::filesystem::is_empty(path, error) ||
                     std::filesystem::exists(StrCat(path, "/", CatalogLock::kFileName), error));
  return ours ? absl::OkStatus()
              : absl::AlreadyExistsError(StrCat(path, " is in the way: ", what,
                                                " works there, and it holds something else; move "
                                                "it or choose another path"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::Create(std::string target,
                                                                     std::string_view suffix,
                                                                     std::string_view what) {
  target = WithoutTrailingSlashes(std::move(target));
  if (target.empty()) {
    return absl::InvalidArgumentError("the path is empty");
  }
  VARVE_RETURN_IF_ERROR(CheckNothingAt(target));
  std::string path = StrCat(target, suffix);
  VARVE_RETURN_IF_ERROR(CheckIsLeftover(path, what));
  std::unique_ptr<WorkDirectory> work(new WorkDirectory(std::move(target), std::move(path)));
  std::error_code error;
  // Not the directories above it: a typo would make them.
  std::filesystem::create_directory(work->path_, error);
  if (error) {
    return absl::NotFoundError(StrCat("cannot make ", work->path_, ": ", error.message()));
  }
  VARVE_ASSIGN_OR_RETURN(work->lock_, CatalogLock::Acquire(work->path_));
  // Whatever a killed process left is ours to remove now that we hold its lock.
  for (const auto& entry : std::filesystem::directory_iterator(work->path_, error)) {
    if (entry.path().filename() != CatalogLock::kFileName) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
  return work;
}

WorkDirectory::~WorkDirectory() {
  if (lock_ != nullptr) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

absl::Status WorkDirectory::Publish() {
  VARVE_RETURN_IF_ERROR(SyncDirectory(path_));
  VARVE_RETURN_IF_ERROR(PublishDirectory(path_, target_));
  lock_.reset();
  return absl::OkStatus();
}

}  // namespace varve

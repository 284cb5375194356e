// A directory that is filled under a working name and gets its own by one rename at the end: what
// is at the name is whole, or not there.
//
// The working name is the target's with a suffix, so both are on one file system. Whoever works
// there holds the lock in it (catalog_lock.h); what a killed process left is cleared by the next.
//
// Thread-safety: one thread. Ownership: owns the working directory, and removes it when it is
// destroyed before Publish.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/store/catalog_lock.h"

namespace varve {

class WorkDirectory {
 public:
  // Makes `target` + `suffix`, empty but for the lock. `what` names the work in messages: "a load".
  // Errors: AlreadyExists (something is at `target`, or at the working name and not left by such
  // work), NotFound (the directory above is not there), Unavailable (another process works there).
  static absl::StatusOr<std::unique_ptr<WorkDirectory>> Create(std::string target,
                                                               std::string_view suffix,
                                                               std::string_view what);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  // Without slashes at its end.
  const std::string& target() const { return target_; }
  // Where to work.
  const std::string& path() const { return path_; }

  // Syncs the directory, renames it to the target and lets go of the lock, whose file goes along.
  // Requires: all in it is synced. AlreadyExists when something has come to the target meanwhile.
  absl::Status Publish();

 private:
  WorkDirectory(std::string target, std::string path)
      : target_(std::move(target)), path_(std::move(path)) {}

  const std::string target_;
  const std::string path_;
  std::unique_ptr<CatalogLock> lock_;  // null: nothing here is ours
};

}  // namespace varve

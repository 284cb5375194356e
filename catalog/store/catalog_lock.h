// The lock on a catalog's directory: one writer process at a time.
//
// The lock is an flock on `varve.lock`, so the kernel lets go of it when its process dies: a stale
// file is no obstacle. The file's text says who holds the lock, for the message the second one
// gets.
//
// Thread-safety: none. Ownership: holding the object is holding the lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace varve {

class CatalogLock {
 public:
  // The lock file, in the locked directory.
  static constexpr std::string_view kFileName = "varve.lock";

  // Locks `directory`. Unavailable when someone else holds it: "… is open in process 4711 on host
  // lake1 …".
  static absl::StatusOr<std::unique_ptr<CatalogLock>> Acquire(const std::string& directory);
  ~CatalogLock();
  CatalogLock(const CatalogLock&) = delete;
  CatalogLock& operator=(const CatalogLock&) = delete;

 private:
  explicit CatalogLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace varve

// Errors of rocksdb::FileSystem as absl::Status.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/io_status.h"

namespace varve {

// `what` says what was tried, the file's name included.
absl::Status FromIoStatus(const rocksdb::IOStatus& status, std::string_view what);

}  // namespace varve

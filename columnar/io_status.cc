#include "columnar/io_status.h"

#include "base/strings.h"

namespace varve {

absl::Status FromIoStatus(const rocksdb::IOStatus& status, std::string_view what) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  const std::string message = StrCat(what, ": ", status.ToString());
  if (status.IsPathNotFound() || status.IsNotFound()) {
    return absl::NotFoundError(message);
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(message);
  }
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(message);
  }
  return absl::InternalError(message);
}

}  // namespace varve

// The files of a checkpoint, brought to its directory; and what that directory then holds.
//
// Thread-safety: free functions; a ByteProgress is one thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/backup/checkpoint.h"
#include "catalog/backup/checkpoint_info.h"
#include "catalog/columnar.pb.h"

namespace varve {

// Counts the bytes of all files of a checkpoint as they are read.
class ByteProgress {
 public:
  // `report` may be empty.
  ByteProgress(const std::function<void(uint64_t bytes, uint64_t total)>& report, uint64_t total)
      : report_(report), total_(total) {}

  // How much there is to read behind what was read so far.
  void ExpectMore(uint64_t bytes) { total_ = done_ + bytes; }

  void Add(uint64_t bytes) {
    done_ += bytes;
    if (report_) {
      report_(done_, total_);
    }
  }

 private:
  const std::function<void(uint64_t bytes, uint64_t total)>& report_;
  uint64_t done_ = 0;
  uint64_t total_;
};

// The commit that a catalog or checkpoint holds, found by opening it.
struct HeldState {
  CheckpointInfo info;  // without time and files
  proto::ColumnarManifest manifest;
};
absl::StatusOr<HeldState> ReadHeldState(const std::string& path);

// Brings all files of a checkpoint of the catalog to the directory `path`, synced, and says what
// they are and hold; the time is not set. Requires: the directory holds nothing but a lock. Errors:
// those of CreateCheckpoint.
absl::StatusOr<CheckpointSummary> MakeCheckpointFiles(const Catalog& catalog,
                                                      const std::string& path,
                                                      const CheckpointOptions& options);

}  // namespace varve

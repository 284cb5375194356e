// What a checkpoint says of itself: its file CHECKPOINT.
//
// Text, one line a fact:
//
//   varve checkpoint, format 2
//   uuid 0b8e…
//   csn 42
//   last_snapshot 17
//   created 2026-11-30 08:37:06.331149+00
//   file columnar/00000003.vcol 8901 fedcba9876543210
//   file rows/000012.sst 34567 0123456789abcdef       name, bytes, XXH3-64 of them; one line each
//   checksum 89ab…                                    XXH3-64 of all lines above
//
// Without columnar files it has format 1, which is the same otherwise.
//
// Thread-safety: values and free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/read_view.h"

namespace varve {

struct CheckpointFile {
  std::string name;  // below the checkpoint: "VARVE", "rows/000012.sst", "columnar/00000003.vcol"
  uint64_t size = 0;
  uint64_t checksum = 0;
};

struct CheckpointInfo {
  std::string uuid;  // of the catalog
  Csn csn = 0;       // the last commit in it
  SnapshotId last_snapshot = 0;
  absl::Time created;
  std::vector<CheckpointFile> files;  // all but CHECKPOINT itself, by name

  uint64_t total_bytes() const;
};

std::string SerializeCheckpointInfo(const CheckpointInfo& info);

// Errors: FailedPrecondition (a newer format), DataLoss (damaged: what is wrong, without the
// file's name).
absl::StatusOr<CheckpointInfo> ParseCheckpointInfo(std::string_view text);

// Of the checkpoint at `directory`. Errors: as above, naming it; NotFound when there is none.
absl::StatusOr<CheckpointInfo> ReadCheckpointInfo(const std::string& directory);

}  // namespace varve

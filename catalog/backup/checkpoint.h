// Checkpoints: copies of a whole catalog as one commit left it, made while it is written to.
//
// A checkpoint is a directory laid out as a catalog, with a file CHECKPOINT beside VARVE that says
// what it holds and how to prove every byte of it (checkpoint_info.h). It can be read in place,
// opened read-only; opening it for writing is refused. Table files and columnar files are hard
// links to those of the catalog where the file system allows: neither is ever changed, new ones are
// written and names removed. All else is copied.
//
// Columnar files are those that the manifest of this very commit names (columnar_files.h). One that
// the catalog has lost is not in the checkpoint either: the row store has its rows.
//
// Each function leaves its result wholly at its path, by a rename after everything is synced, or
// nothing there.
//
// Thread-safety: free functions; any thread, beside commits and reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/backup/checkpoint_info.h"
#include "catalog/catalog.h"
#include "catalog/verify/verify.h"

namespace varve {

struct CheckpointOptions {
  // Copies table files and columnar files, too, so that no damage done to one copy's bytes reaches
  // the other.
  bool copy = false;
  // Called now and then: bytes read so far, of how many.
  std::function<void(uint64_t bytes, uint64_t total)> on_progress;
};

struct CheckpointSummary {
  CheckpointInfo info;
  uint64_t linked_bytes = 0;
  uint64_t copied_bytes = 0;
  // Of a restore: what is wrong with each columnar file that was left out. The row store answers
  // for it until it is made anew (tiers/compaction.h).
  std::vector<std::string> left_out;
};

// Makes a checkpoint at `directory`, which must not exist. Of a catalog open for writing, it has
// every commit acknowledged before the call; of one open read-only, also those of a writer in
// another process. Errors: AlreadyExists, NotFound (the directory above `directory`),
// InvalidArgument (`directory` is inside the catalog), Unavailable (another checkpoint is being
// made there, or a writer beside changes its files too fast), DataLoss, ResourceExhausted.
absl::StatusOr<CheckpointSummary> CreateCheckpoint(const Catalog& catalog,
                                                   const std::string& directory,
                                                   const CheckpointOptions& options = {});

// Compares every byte of a checkpoint with what CHECKPOINT says of it. Errors: NotFound (there is
// no checkpoint), FailedPrecondition (a newer format), DataLoss: names what is damaged, cut off,
// missing, or there without belonging to it.
absl::StatusOr<CheckpointInfo> CheckCheckpointFiles(const std::string& directory,
                                                    const CheckpointOptions& options = {});

// CheckCheckpointFiles; then opens the checkpoint, checks that it holds the commit it says it
// does, and what rules it breaks (verify.h).
absl::StatusOr<VerifySummary> VerifyCheckpoint(const std::string& directory,
                                               const CheckpointOptions& options,
                                               const VerifyOptions& verify_options,
                                               const std::function<void(const Finding&)>& report);

// Makes a catalog of a checkpoint at `path`, which must not exist; it keeps the uuid. Nothing that
// is later written to it changes the checkpoint. A columnar file that is damaged or missing is left
// out. Errors: those of CheckCheckpointFiles, of whose checks it makes all that concern the other
// files it takes; and AlreadyExists, NotFound (the directory above
// `path`), InvalidArgument (`path` is inside the checkpoint), Unavailable, ResourceExhausted.
absl::StatusOr<CheckpointSummary> RestoreCheckpoint(const std::string& directory,
                                                    const std::string& path,
                                                    const CheckpointOptions& options = {});

}  // namespace varve

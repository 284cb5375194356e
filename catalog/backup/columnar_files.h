// The columnar files of a checkpoint: those that the manifest in it names, no others.
//
// Columnar files never change once a manifest has them; a writer removes their names. So they are
// claimed as the files of the row store are (source_files.h): linked into the checkpoint, or held
// open to be copied. What was claimed cannot be lost. Which of them are wanted is known when the
// row store's copy has been opened, since the manifest stands in it; the rest is let go of then.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/backup/checkpoint_info.h"
#include "catalog/backup/file_copy.h"
#include "catalog/columnar.pb.h"

namespace varve {

class ColumnarClaims {
 public:
  // From the catalog at `catalog` for the copy at `target`, which may get the directory
  // `columnar`. `share` false: no links, files are copied.
  ColumnarClaims(std::string_view catalog, std::string_view target, bool share);

  // Claims the files of a manifest. One that is not there is passed over: the row store has its
  // rows.
  absl::Status ClaimNamed(const proto::ColumnarManifest& manifest);
  // Claims whatever is in the catalog's directory at this moment and is not claimed yet.
  absl::Status ClaimAll();
  // Lets go of everything.
  void Clear();

  bool Has(uint64_t number) const { return claims_.contains(number); }

  struct Stored {
    CheckpointFile file;
    bool linked = false;
  };
  // Brings the files of the manifest that were claimed to where they belong, synced, and lets go of
  // all others. `on_bytes` is called as they are read.
  absl::StatusOr<std::vector<Stored>> Store(const proto::ColumnarManifest& manifest,
                                            const ByteCounter& on_bytes);

 private:
  struct Claim {
    bool linked = false;  // it is in the target directory
    FileDescriptor file;  // to copy from, else
  };
  absl::Status ClaimOne(uint64_t number);

  const std::string from_;  // directories
  const std::string to_;
  const bool share_;
  std::map<uint64_t, Claim> claims_;
};

}  // namespace varve

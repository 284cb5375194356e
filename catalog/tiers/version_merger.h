// Merges the versions of several tiers in key order; of equal keys only the newest image remains.
//
// Versions come as runs: stretches of one source that nothing of another one comes between. A pack
// that stands alone, because no other source has a handle between its first and its last (edges
// included), comes as a run of its own before anything of it was read: whoever takes it may know
// that less than all of it is needed.
//
// Thread-safety: one thread. Ownership: owns its sources.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/tiers/version_source.h"

namespace varve {

class VersionMerger {
 public:
  // Newer sources come first; packs are older than all of them, and no two have one identity.
  VersionMerger(std::vector<std::unique_ptr<VersionSource>> sources,
                std::vector<std::unique_ptr<PackSource>> packs);

  struct Run {
    // The rows [from, to) of a block. It lives until the next call.
    const VersionBlock* block = nullptr;
    size_t from = 0;
    size_t to = 0;
    // Or a pack that stands alone and was not read; its rows are [0, bounds->rows).
    PackSource* pack = nullptr;
    const PackBounds* bounds = nullptr;
  };
  // false: there are no more.
  absl::StatusOr<bool> Next(Run* run);

  // Packs that had to be read whole because they did not stand alone.
  uint64_t packs_merged() const { return packs_merged_; }

 private:
  struct Input {
    std::unique_ptr<VersionSource> source;  // or …
    std::unique_ptr<PackSource> pack;
    PackBounds bounds;     // of the pack it stands on, …
    bool pending = false;  // … which was not read
    VersionBlock block;
    size_t next = 0;  // the first row that was not merged yet
    bool done = false;
    // What it comes with next: a version key, or the first handle of a pending pack, which sorts
    // before the keys of its versions.
    std::string_view position() const { return pending ? bounds.first : block.keys[next]; }
    std::string_view handle() const;
  };

  // Sees to it that the input has something, unless it is done.
  static absl::Status Fill(Input* input);
  // Whether the input goes on behind the pack.
  static bool ComesBehind(const Input& other, const PackBounds& pack);
  bool StandsAlone(const Input& pending) const;
  // Whether none of the sources, which are newer, has a handle of the pack's: then its images are
  // the newest ones, and those that are not visible need not be merged.
  bool IsUnhidden(const Input& pending) const;
  absl::Status TakeRows(Input* first, Run* run);

  std::vector<Input> inputs_;
  uint64_t packs_merged_ = 0;
};

}  // namespace varve

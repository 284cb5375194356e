// Merges the versions of several tiers in key order; of equal keys only the newest image remains.
//
// Versions come as runs: stretches of one source that nothing of another one comes between. A pack
// that stands alone, because no other source has a handle between its first and its last (edges
// included), comes as a run of its own before anything of it was read: whoever takes it may know
// that less than all of it is needed. A pack that nothing newer reaches into, but another pack
// does, can come in several runs of its visible rows: the merge then reads keys of few of them.
// Where any order will do, packs are not merged with each other, and such a pack stands alone.
//
// Thread-safety: one thread. Ownership: owns its sources.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/tiers/version_source.h"

namespace varve {

struct VersionMergerOptions {
  // Rows of two packs may come in any order. Those of sources come in key order all the same, and
  // behind all rows of packs with a smaller key, before all with a larger one.
  bool in_any_order = false;
  // A pack that only other packs reach into comes in runs of its rows, not as a block.
  bool cuts_packs = false;
};

class VersionMerger {
 public:
  // Newer sources come first; packs are older than all of them, and no two have one identity.
  VersionMerger(std::vector<std::unique_ptr<VersionSource>> sources,
                std::vector<std::unique_ptr<PackSource>> packs, VersionMergerOptions options = {});

  static constexpr size_t kNoLane = std::numeric_limits<size_t>::max();

  // It lives until the next call.
  struct Run {
    // The rows [from, to) of a block.
    const VersionBlock* block = nullptr;
    size_t from = 0;
    size_t to = 0;
    // Or rows of a pack: with `rows` those, which are visible (PackSource::VisibleRows), else the
    // pack stands alone and was not read; its rows are [0, bounds->rows).
    PackSource* pack = nullptr;
    const PackBounds* bounds = nullptr;
    std::optional<std::span<const uint32_t>> rows;
    // Which of the packs given it comes from; kNoLane: a source.
    size_t lane = kNoLane;
  };
  // false: there are no more.
  absl::StatusOr<bool> Next(Run* run);

  // Packs that had to be merged because they did not stand alone.
  uint64_t packs_merged() const { return packs_merged_; }

 private:
  struct Input {
    enum class State : uint8_t {
      kBlock,    // it has the rows of the block from `next` on
      kPending,  // it stands on a pack that was not read
      kChosen,   // it has `rows` of a pack from `next` on
      kDone,
    };
    bool has_rows() const {
      return (state == State::kBlock && next < block.num_rows()) ||
             (state == State::kChosen && next < rows.size());
    }
    // What it comes with next: a version key, or the first handle of a pending pack, which sorts
    // before the keys of its versions.
    std::string_view position() const;
    std::string_view handle() const;
    // On to another of its rows.
    void GoTo(size_t row);

    std::unique_ptr<VersionSource> source;  // or …
    std::unique_ptr<PackSource> pack;
    size_t lane = kNoLane;
    State state = State::kBlock;
    PackBounds bounds;  // of the pack
    VersionBlock block;
    std::span<const uint32_t> rows;
    std::string key;  // of rows[next], for kChosen
    size_t next = 0;  // the first row that was not merged yet
  };

  // Sees to it that the input has something, unless it is done.
  static absl::Status Fill(Input* input);
  // Whether the input goes on behind the pack.
  static bool ComesBehind(const Input& other, const PackBounds& pack);
  bool StandsAlone(const Input& pending) const;
  // Whether none of the sources, which are newer, has a handle of the pack's: then its images are
  // the newest ones, and those that are not visible need not be merged.
  bool IsUnhidden(const Input& pending) const;
  absl::Status ChooseRows(Input* pending);
  absl::Status ChooseRowsBeside(const Input& pending);
  absl::Status ReadBlock(Input* pending);
  absl::Status TakeRows(Input* first, Run* run);

  const VersionMergerOptions options_;
  std::vector<Input> inputs_;
  std::string scratch_;  // a key
  uint64_t packs_merged_ = 0;
};

}  // namespace varve

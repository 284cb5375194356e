#include "catalog/tiers/version_merger.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "catalog/tiers/memory_format.h"

namespace varve {
namespace {

// The first row from `from` on whose key is not below `limit`. Runs are mostly long or of one row,
// so the steps double.
size_t EndOfRun(const std::vector<std::string_view>& keys, size_t from, std::string_view limit) {
  size_t step = 1;
  size_t low = from;
  while (low + step < keys.size() && keys[low + step] < limit) {
    low += step;
    step *= 2;
  }
  const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, keys.size()));
  return static_cast<size_t>(std::lower_bound(begin, end, limit) - keys.begin());
}

}  // namespace

std::string_view VersionMerger::Input::handle() const {
  return pending ? std::string_view(bounds.first) : HandleOfVersionKey(block.keys[next]);
}

VersionMerger::VersionMerger(std::vector<std::unique_ptr<VersionSource>> sources,
                             std::vector<std::unique_ptr<PackSource>> packs) {
  inputs_.reserve(sources.size() + packs.size());
  for (std::unique_ptr<VersionSource>& source : sources) {
    inputs_.emplace_back().source = std::move(source);
  }
  for (std::unique_ptr<PackSource>& pack : packs) {
    inputs_.emplace_back().pack = std::move(pack);
  }
}

absl::Status VersionMerger::Fill(Input* input) {
  while (!input->done && !input->pending && input->next == input->block.num_rows()) {
    input->next = 0;
    if (input->pack != nullptr) {
      input->block.begins.clear();  // no rows
      VARVE_ASSIGN_OR_RETURN(input->pending, input->pack->NextPack(&input->bounds));
      input->done = !input->pending;
    } else {
      VARVE_ASSIGN_OR_RETURN(const bool more, input->source->Next(&input->block));
      input->done = !more;
    }
  }
  return absl::OkStatus();
}

bool VersionMerger::ComesBehind(const Input& other, const PackBounds& pack) {
  const std::string_view handle = other.handle();
  return pack.last_is_in_pack ? handle > pack.last : handle >= pack.last;
}

bool VersionMerger::StandsAlone(const Input& pending) const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& other) {
    return &other == &pending || other.done || ComesBehind(other, pending.bounds);
  });
}

bool VersionMerger::IsUnhidden(const Input& pending) const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& other) {
    return other.pack != nullptr || other.done || ComesBehind(other, pending.bounds);
  });
}

absl::Status VersionMerger::TakeRows(Input* first, Run* run) {
  size_t end = first->block.num_rows();
  for (Input& other : inputs_) {
    if (&other == first) {
      continue;
    }
    if (!other.done && !other.pending && other.position() == first->position()) {
      ++other.next;  // an older image
      VARVE_RETURN_IF_ERROR(Fill(&other));
    }
    if (!other.done && end > first->next + 1) {
      end = std::min(end, EndOfRun(first->block.keys, first->next, other.position()));
    }
  }
  *run = {.block = &first->block, .from = std::exchange(first->next, end), .to = end};
  return absl::OkStatus();
}

absl::StatusOr<bool> VersionMerger::Next(Run* run) {
  while (true) {
    Input* first = nullptr;
    for (Input& input : inputs_) {
      VARVE_RETURN_IF_ERROR(Fill(&input));
      // Of equal keys that of the newer source, which comes first, is taken.
      if (!input.done && (first == nullptr || input.position() < first->position())) {
        first = &input;
      }
    }
    if (first == nullptr) {
      return false;
    }
    if (!first->pending) {
      VARVE_RETURN_IF_ERROR(TakeRows(first, run));
      return true;
    }
    first->pending = false;
    if (StandsAlone(*first)) {
      *run = {.to = first->bounds.rows, .pack = first->pack.get(), .bounds = &first->bounds};
      return true;
    }
    ++packs_merged_;
    VARVE_RETURN_IF_ERROR(first->pack->ReadPack(
        IsUnhidden(*first) ? PackRows::kVisible : PackRows::kAll, &first->block));
  }
}

}  // namespace varve

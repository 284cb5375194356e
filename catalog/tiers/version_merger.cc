#include "catalog/tiers/version_merger.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "catalog/tiers/memory_format.h"

namespace varve {
namespace {

// The first of `count` rows from `from` on whose key is not below `limit`. Runs are mostly long or
// of one row, so the steps double. Requires: the keys ascend; the row `from` is below.
template <typename KeyOf>
size_t EndOfRun(size_t count, size_t from, std::string_view limit, const KeyOf& key_of) {
  size_t step = 1;
  size_t low = from;
  while (low + step < count && key_of(low + step) < limit) {
    low += step;
    step *= 2;
  }
  size_t high = std::min(low + step, count);
  ++low;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    key_of(middle) < limit ? low = middle + 1 : high = middle;
  }
  return low;
}

}  // namespace

std::string_view VersionMerger::Input::position() const {
  switch (state) {
    case State::kPending: return bounds.first;
    case State::kChosen: return key;
    default: return block.keys[next];
  }
}

std::string_view VersionMerger::Input::handle() const {
  return state == State::kPending ? std::string_view(bounds.first) : HandleOfVersionKey(position());
}

void VersionMerger::Input::GoTo(size_t row) {
  next = row;
  if (state == State::kChosen && next < rows.size()) {
    key.clear();
    pack->AppendKey(rows[next], &key);
  }
}

VersionMerger::VersionMerger(std::vector<std::unique_ptr<VersionSource>> sources,
                             std::vector<std::unique_ptr<PackSource>> packs,
                             VersionMergerOptions options)
    : options_(options) {
  inputs_.reserve(sources.size() + packs.size());
  for (std::unique_ptr<VersionSource>& source : sources) {
    inputs_.emplace_back().source = std::move(source);
  }
  for (size_t lane = 0; lane < packs.size(); ++lane) {
    inputs_.emplace_back().pack = std::move(packs[lane]);
    inputs_.back().lane = lane;
  }
}

absl::Status VersionMerger::Fill(Input* input) {
  using State = Input::State;
  while (input->state != State::kDone && input->state != State::kPending && !input->has_rows()) {
    input->next = 0;
    bool more = false;
    if (input->pack != nullptr) {
      VARVE_ASSIGN_OR_RETURN(more, input->pack->NextPack(&input->bounds));
    } else {
      VARVE_ASSIGN_OR_RETURN(more, input->source->Next(&input->block));
    }
    input->state = !more ? State::kDone : input->pack != nullptr ? State::kPending : State::kBlock;
  }
  return absl::OkStatus();
}

bool VersionMerger::ComesBehind(const Input& other, const PackBounds& pack) {
  const std::string_view handle = other.handle();
  return pack.last_is_in_pack ? handle > pack.last : handle >= pack.last;
}

bool VersionMerger::StandsAlone(const Input& pending) const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& other) {
    return &other == &pending || other.state == Input::State::kDone ||
           (options_.in_any_order && other.pack != nullptr) || ComesBehind(other, pending.bounds);
  });
}

bool VersionMerger::IsUnhidden(const Input& pending) const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& other) {
    return other.pack != nullptr || other.state == Input::State::kDone ||
           ComesBehind(other, pending.bounds);
  });
}

absl::Status VersionMerger::ChooseRows(Input* pending) {
  ++packs_merged_;
  VARVE_ASSIGN_OR_RETURN(pending->rows, pending->pack->VisibleRows());
  if (!pending->rows.empty()) {
    VARVE_RETURN_IF_ERROR(pending->pack->ReadKeys());
  }
  pending->state = Input::State::kChosen;
  pending->GoTo(0);
  return absl::OkStatus();
}

// Other packs may reach into this one with invisible rows alone.
absl::Status VersionMerger::ChooseRowsBeside(const Input& pending) {
  for (Input& other : inputs_) {
    while (&other != &pending && other.state == Input::State::kPending &&
           !ComesBehind(other, pending.bounds) && IsUnhidden(other)) {
      VARVE_RETURN_IF_ERROR(ChooseRows(&other));
      VARVE_RETURN_IF_ERROR(Fill(&other));
    }
  }
  return absl::OkStatus();
}

absl::Status VersionMerger::ReadBlock(Input* pending) {
  ++packs_merged_;
  VARVE_RETURN_IF_ERROR(pending->pack->ReadPack(&pending->block));
  pending->state = Input::State::kBlock;
  pending->next = 0;
  return absl::OkStatus();
}

absl::Status VersionMerger::TakeRows(Input* first, Run* run) {
  const bool is_block = first->state == Input::State::kBlock;
  size_t end = is_block ? first->block.num_rows() : first->rows.size();
  for (Input& other : inputs_) {
    if (&other == first || other.state == Input::State::kDone ||
        (options_.in_any_order && first->pack != nullptr && other.pack != nullptr)) {
      continue;
    }
    if (other.state != Input::State::kPending && other.position() == first->position()) {
      other.GoTo(other.next + 1);  // an older image
      VARVE_RETURN_IF_ERROR(Fill(&other));
      if (other.state == Input::State::kDone) {
        continue;
      }
    }
    if (end == first->next + 1) {
      continue;
    }
    end = is_block ? EndOfRun(end, first->next, other.position(),
                              [&](size_t row) { return first->block.keys[row]; })
                   : EndOfRun(end, first->next, other.position(), [&](size_t row) {
                       scratch_.clear();
                       first->pack->AppendKey(first->rows[row], &scratch_);
                       return std::string_view(scratch_);
                     });
  }
  const size_t from = first->next;
  *run = {.lane = first->lane};
  if (is_block) {
    run->block = &first->block;
    run->from = from;
    run->to = end;
  } else {
    run->to = end - from;
    run->pack = first->pack.get();
    run->bounds = &first->bounds;
    run->rows = first->rows.subspan(from, end - from);
  }
  first->GoTo(end);
  return absl::OkStatus();
}

absl::StatusOr<bool> VersionMerger::Next(Run* run) {
  while (true) {
    Input* first = nullptr;
    for (Input& input : inputs_) {
      VARVE_RETURN_IF_ERROR(Fill(&input));
      // Of equal keys that of the newer source, which comes first, is taken.
      if (input.state != Input::State::kDone &&
          (first == nullptr || input.position() < first->position())) {
        first = &input;
      }
    }
    if (first == nullptr) {
      return false;
    }
    if (first->state != Input::State::kPending) {
      VARVE_RETURN_IF_ERROR(TakeRows(first, run));
      return true;
    }
    const bool may_cut = options_.cuts_packs && IsUnhidden(*first);
    if (may_cut && !StandsAlone(*first)) {
      VARVE_RETURN_IF_ERROR(ChooseRowsBeside(*first));
    }
    if (StandsAlone(*first)) {
      *run = {.to = first->bounds.rows,
              .pack = first->pack.get(),
              .bounds = &first->bounds,
              .lane = first->lane};
      first->state = Input::State::kChosen;  // with no rows left
      first->rows = {};
      first->next = 0;
      return true;
    }
    VARVE_RETURN_IF_ERROR(may_cut ? ChooseRows(first) : ReadBlock(first));
  }
}

}  // namespace varve

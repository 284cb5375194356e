#include "catalog/feed/touched_handles.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/status.h"
#include "catalog/feed/change_feed.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/memory_set.h"

namespace varve {
namespace {

// Whether the sets have every change after `from`.
bool ReachBackTo(const MemorySet* newest, Csn from) {
  for (const MemorySet* set = newest; set != nullptr; set = set->older.get()) {
    if (set->from <= from) {
      return true;
    }
  }
  return false;
}

// Appends the handles of versions that changed in the window. A pre-image is older than the change
// that brought it along: it counts where it was written.
void AppendTouched(const MemRowSet& rows, Csn from, Csn to, std::vector<std::string>* handles) {
  const std::unique_ptr<MemRowSetIterator> it = rows.NewIterator({.snap_to_exclude = from,
                                                                  .snap_to_include = to,
                                                                  .include_deleted_rows = true,
                                                                  .want_keys = true});
  for (RowBlock block; it->Next(&block);) {
    for (size_t row = 0; row < block.num_rows; ++row) {
      if (block.selected[row] == 0) {
        continue;
      }
      const std::string_view handle = HandleOfVersionKey(block.keys[row]);
      // The versions of a handle follow each other.
      if (handles->empty() || handles->back() != handle) {
        handles->emplace_back(handle);
      }
    }
  }
}

}  // namespace

void TouchedHandles::AddFromMemory(const MemorySet& newest, Csn from, Csn to,
                                   const std::vector<RelationId>& relations) {
  const MemorySet* set = &newest;
  while (set != nullptr) {
    for (const auto& [relation, memory] : set->relations) {
      if (relations.empty() ||
          std::find(relations.begin(), relations.end(), relation) != relations.end()) {
        AppendTouched(*memory->rows, from, to, &handles_[relation]);
      }
    }
    // What was changed after set->from lies in this set and in newer ones.
    set = set->from <= from ? nullptr : set->older.get();
  }
}

absl::Status TouchedHandles::AddFromFeed(const ReadView& view, Csn from, Csn to,
                                         std::vector<RelationId> relations) {
  ChangeFeedOptions options;
  options.relations = std::move(relations);
  options.columns.emplace();
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<ChangeReader> reader,
                         Changes(view, from, to, std::move(options)));
  ChangeBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, reader->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    std::vector<std::string>& handles = handles_[batch.relation->id];
    std::move(batch.handles.begin(), batch.handles.end(), std::back_inserter(handles));
  }
}

absl::StatusOr<TouchedHandles> TouchedHandles::Collect(const ReadView& view, Csn from, Csn to,
                                                       std::vector<RelationId> relations) {
  TouchedHandles touched;
  const MemorySet* const memory = view.state()->memory.get();
  if (from <= to && to <= view.csn() && ReachBackTo(memory, from)) {
    touched.AddFromMemory(*memory, from, to, relations);
  } else {  // it also says what is wrong with a window
    VARVE_RETURN_IF_ERROR(touched.AddFromFeed(view, from, to, std::move(relations)));
  }
  for (auto& [relation, handles] : touched.handles_) {
    std::sort(handles.begin(), handles.end());
    handles.erase(std::unique(handles.begin(), handles.end()), handles.end());
  }
  return touched;
}

std::span<const std::string> TouchedHandles::Of(RelationId relation) const {
  const auto it = handles_.find(relation);
  return it == handles_.end() ? std::span<const std::string>() : it->second;
}

}  // namespace varve

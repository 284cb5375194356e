#include "catalog/feed/touched_handles.h"

#include <algorithm>
#include <iterator>

#include "base/status.h"
#include "catalog/feed/change_feed.h"

namespace varve {

absl::StatusOr<TouchedHandles> TouchedHandles::Collect(const ReadView& view, Csn from, Csn to,
                                                       std::vector<RelationId> relations) {
  ChangeFeedOptions options;
  options.relations = std::move(relations);
  options.columns.emplace();
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<ChangeReader> reader,
                         Changes(view, from, to, std::move(options)));
  TouchedHandles touched;
  ChangeBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, reader->Next(&batch));
    if (!more) {
      break;
    }
    std::vector<std::string>& handles = touched.handles_[batch.relation->id];
    std::move(batch.handles.begin(), batch.handles.end(), std::back_inserter(handles));
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

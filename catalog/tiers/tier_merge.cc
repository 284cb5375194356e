#include "catalog/tiers/tier_merge.h"

#include <utility>

#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/columnar_source.h"
#include "catalog/tiers/memory_set.h"
#include "catalog/tiers/memory_source.h"

namespace varve {

TierMerge MergeTiers(const ReadView& view, const RelationRef& relation,
                     const TierMergeOptions& options) {
  std::vector<std::unique_ptr<VersionSource>> sources;
  std::vector<std::unique_ptr<PackSource>> packs;
  const StoreState& state = *view.state();
  const RelationColumns* const columns = state.columnar->Find(relation->id);
  const bool has_files = columns != nullptr && columns->has_files();
  for (const MemorySet* set = state.memory.get(); set != nullptr; set = set->older.get()) {
    if (const auto memory = set->relations.find(relation->id); memory != set->relations.end()) {
      sources.push_back(std::make_unique<MemorySource>(
          memory->second, MemorySourceOptions{.columns = options.read.columns,
                                              .lower = options.read.range.lower,
                                              .upper = options.read.range.upper,
                                              .csn = view.csn(),
                                              .with_erased = set->older != nullptr || has_files,
                                              .batch_rows = options.batch_rows}));
    }
  }
  if (has_files) {
    ColumnarSourceOptions of_columns = {
        .relation = relation, .read = options.read, .cache = state.columnar->cache()};
    // What statistics say of a newer image says nothing of the older ones that it hides.
    of_columns.read.at = std::nullopt;
    of_columns.read.predicate = nullptr;
    for (const ColumnarPart& part : columns->l1) {
      sources.push_back(std::make_unique<ColumnarSource>(std::vector{part}, of_columns));
    }
    of_columns.read.at = options.read.at;
    of_columns.read.predicate = options.read.predicate;
    // In the order of kLiveLane and kEndedLane; one without files has no packs.
    for (const auto lane : {&ColumnarSegment::live, &ColumnarSegment::ended}) {
      std::vector<ColumnarPart> parts;
      for (const ColumnarSegment& segment : columns->segments) {
        if ((segment.*lane).has_value()) {
          parts.push_back(*(segment.*lane));
        }
      }
      packs.push_back(std::make_unique<ColumnarSource>(std::move(parts), of_columns));
    }
  }
  return {.merger =
              std::make_unique<VersionMerger>(std::move(sources), std::move(packs), options.merge),
          .has_files = has_files};
}

}  // namespace varve

#include "catalog/inspect/tier_stats.h"

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/columnar_source.h"

namespace varve {
namespace {

uint64_t BytesOf(const ColumnarTable& table) {
  uint64_t bytes = table.properties().meta_length;
  const auto add = [&](const ColumnarTable::Column& column) {
    for (const PackLocation& pack : column.packs) {
      bytes += pack.length;
    }
  };
  add(table.handle_column());
  add(table.version_column());
  add(table.end_column());
  for (const ColumnarTable::Column& column : table.columns()) {
    add(column);
  }
  return bytes;
}

// What a scan of everything would do with the packs of a part. Sources decide it; nothing is read.
struct PackCount {
  uint64_t packs = 0;  // that are not skipped
  uint64_t skipped = 0;
  uint64_t clean = 0;
  uint64_t rows = 0;  // of packs that are not skipped
  absl::Status status;
};

PackCount CountPacks(const ReadView& view, const RelationRef& relation, const ColumnarPart& part) {
  PackCount count;
  ReadCounters reads;
  ColumnarScanCounters counters;
  ColumnarSource source(
      {part},
      {.relation = relation,
       .read = {
           .at = view.snapshot(), .read_ahead = false, .reads = &reads, .counters = &counters}});
  PackBounds bounds;
  while (true) {
    const absl::StatusOr<bool> more = source.NextPack(&bounds);
    count.status.Update(more.status());
    if (!more.ok() || !*more) {
      break;
    }
    ++count.packs;
    count.rows += bounds.rows;
    count.clean += source.rejection().has_value() ? 0 : 1;
  }
  count.skipped = counters.packs_skipped;
  return count;
}

RelationTierStats CountRelation(const ReadView& view, const RelationRef& relation) {
  const ColumnarSet& set = *view.state()->columnar;
  RelationTierStats stats{.relation = relation, .complete = set.IsComplete(relation->id)};
  const RelationColumns* const columns = set.Find(relation->id);
  if (columns == nullptr) {
    return stats;
  }
  absl::Status damage = columns->damage;
  for (const ColumnarPart& part : columns->l1) {
    const PackCount count = CountPacks(view, relation, part);
    damage.Update(count.status);
    ++stats.l1_files;
    stats.l1_rows += count.rows;
    stats.scanned_rows += count.rows;
    stats.bytes += BytesOf(*part.table);
  }
  for (const ColumnarSegment& segment : columns->segments) {
    for (const auto lane : {&ColumnarSegment::live, &ColumnarSegment::ended}) {
      const std::optional<ColumnarPart>& part = segment.*lane;
      if (!part.has_value()) {
        continue;
      }
      const PackCount count = CountPacks(view, relation, *part);
      damage.Update(count.status);
      ++stats.l2_files;
      (lane == &ColumnarSegment::live ? stats.live_rows : stats.ended_rows) +=
          part->table->num_rows();
      stats.bytes += BytesOf(*part->table);
      stats.packs += count.packs + count.skipped;
      stats.clean_packs += count.clean;
      stats.skipped_packs += count.skipped;
      stats.scanned_rows += count.rows;
    }
  }
  if (!damage.ok()) {
    stats.damage = std::string(MessageOf(damage));
  }
  return stats;
}

}  // namespace

TierStats CollectTierStats(const ReadView& view) {
  const ColumnarSet& set = *view.state()->columnar;
  TierStats stats{.csn = view.csn(), .flushed_csn = set.flushed_csn()};
  for (const proto::ColumnarFileEntry& file : set.manifest().files()) {
    LevelStats& level = stats.levels[file.level() == 1 ? 0 : 1];
    ++level.files;
    level.bytes += file.bytes();
    for (const proto::ColumnarTableEntry& table : file.tables()) {
      level.rows += table.rows();
    }
  }
  for (const RelationRef& relation : view.relations().relations()) {
    if (set.Find(relation->id) != nullptr || !set.IsComplete(relation->id)) {
      stats.relations.push_back(CountRelation(view, relation));
    }
  }
  return stats;
}

}  // namespace varve

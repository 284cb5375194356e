#include "catalog/inspect/catalog_stats.h"

#include <rocksdb/metadata.h>

#include <algorithm>

#include "base/status.h"
#include "catalog/store/row_store.h"
#include "catalog/store/version_cursor.h"
#include "catalog/tiers/memory_set.h"

namespace varve {
namespace {

double Ratio(uint64_t versions, uint64_t rows) {
  return rows == 0 ? 1.0 : static_cast<double>(versions) / static_cast<double>(rows);
}

// Size of a stored pair: its key (relation prefix, handle, begin of ended versions) and its
// payload; the few bytes of begin and csn before the payload are left out.
uint64_t PairBytes(const StoredVersion& version) {
  return kRelationPrefixSize + version.handle.size() + version.payload.size() +
         (version.end == kNoEnd ? 0 : kBeginSuffixSize);
}

absl::StatusOr<RelationStats> CountRelation(const ReadView& view, const RelationRef& relation) {
  RelationStats stats;
  stats.relation = relation;
  const bool timeless = relation->versioning == Versioning::kUnversioned ||
                        relation->versioning == Versioning::kViaParent;
  VersionCursor cursor(*view.state(), relation, VersionSet::kBoth, "");
  VARVE_RETURN_IF_ERROR(cursor.Start());
  while (cursor.valid()) {
    const StoredVersion& version = cursor.version();
    if (IsCurrent(version.end)) {
      ++stats.live;
      stats.live_bytes += PairBytes(version);
    } else {
      ++stats.ended;
      stats.ended_bytes += PairBytes(version);
    }
    if (timeless || IsVisible(version.begin, version.end, view.snapshot())) {
      ++stats.rows;
    }
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  stats.history_amplification = Ratio(stats.live + stats.ended, stats.rows);
  stats.scan_amplification =
      view.is_current() ? Ratio(stats.live, stats.rows) : stats.history_amplification;
  return stats;
}

FamilyStats MeasureFamily(const RowStore& store, Family family) {
  FamilyStats stats;
  rocksdb::DB& db = store.db();
  rocksdb::ColumnFamilyHandle* const handle = store.family(family);
  stats.name = kFamilyNames[static_cast<size_t>(family)];
  // A property RocksDB does not answer leaves its number at 0.
  db.GetIntProperty(handle, rocksdb::DB::Properties::kEstimateNumKeys, &stats.keys);
  db.GetIntProperty(handle, rocksdb::DB::Properties::kCurSizeAllMemTables, &stats.memory_bytes);
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(handle, &meta);
  stats.file_bytes = meta.size;
  stats.files = meta.file_count;
  return stats;
}

}  // namespace

absl::StatusOr<CatalogStats> CollectStats(const ReadView& view) {
  CatalogStats stats;
  const RowStore& store = *view.state()->store;
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> uuid,
                         store.GetDefault(kUuidKey, view.state()->snapshot));
  stats.uuid = uuid.value_or("");
  stats.snapshot = view.snapshot();
  stats.last_snapshot = view.last_snapshot();
  stats.csn = view.csn();
  for (const RelationRef& relation : view.relations().relations()) {
    VARVE_ASSIGN_OR_RETURN(RelationStats counted, CountRelation(view, relation));
    if (relation->id == kSnapshot) {
      stats.snapshots = counted.live;
    }
    if (counted.live + counted.ended > 0) {
      stats.relations.push_back(std::move(counted));
    }
  }
  for (size_t i = 0; i < kNumFamilies; ++i) {
    stats.families.push_back(MeasureFamily(store, static_cast<Family>(i)));
  }
  return stats;
}

std::vector<MemoryStats> CollectMemoryStats(const ReadView& view) {
  std::vector<MemoryStats> all;
  for (const MemorySet* set = view.state()->memory.get(); set != nullptr; set = set->older.get()) {
    for (const auto& [id, memory] : set->relations) {
      const MemRowSet& rows = *memory->rows;
      const uint64_t live = rows.live_row_count();
      all.push_back({.relation = memory->format.relation(),
                     .live_rows = live,
                     .deleted_rows = rows.num_rows() - live,
                     .pre_images = rows.num_pre_images(),
                     .mutations = rows.num_mutations(),
                     .bytes = rows.memory_footprint()});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const MemoryStats& a, const MemoryStats& b) {
    return a.relation->id < b.relation->id;
  });
  return all;
}

MemoryStats SumOf(const std::vector<MemoryStats>& parts) {
  MemoryStats sum;
  for (const MemoryStats& part : parts) {
    sum.live_rows += part.live_rows;
    sum.deleted_rows += part.deleted_rows;
    sum.pre_images += part.pre_images;
    sum.mutations += part.mutations;
    sum.bytes += part.bytes;
  }
  return sum;
}

}  // namespace varve

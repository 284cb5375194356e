// Inlined rows, and what hangs on a table that is gone.
#include <optional>
#include <utility>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/payload_codec.h"
#include "catalog/retention/reclaim_walk.h"

namespace varve {
namespace {

// The table of ducklake_inlined_data_<table>_<schema version> or ducklake_inlined_delete_<table>.
std::optional<int64_t> TableOfInlined(const RelationSchema& relation) {
  for (const std::string_view prefix : {"ducklake_inlined_data_", "ducklake_inlined_delete_"}) {
    if (relation.dynamic && StartsWithIgnoreCase(relation.name, prefix)) {
      const std::string_view rest = std::string_view(relation.name).substr(prefix.size());
      return ParseNumber<int64_t>(rest.substr(0, rest.find('_')));
    }
  }
  return std::nullopt;
}

absl::Status EmitTablesRows(ReclaimWalk* walk, RelationId id, int64_t table, bool with_next) {
  const RelationRef relation = walk->relation(id);
  std::string prefix;
  const Datum key = Datum::Int64(table);
  VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*relation, {&key, 1}, &prefix));
  return walk->ForEachVersion(
      relation, VersionSet::kLive, prefix, [&](const StoredVersion& version) {
        return walk->Emit(relation, version, walk->TableGone(table), with_next);
      });
}

absl::Status WalkMappings(ReclaimWalk* walk) {
  const RelationRef mappings = walk->relation(kColumnMapping);
  const RelationRef names = walk->relation(kNameMapping);
  const RowDecoder decoder(mappings, {*mappings->columns.Find("table_id")});
  DecodedHandle handle;
  DecodedHandle scratch;
  Datum table;
  absl::flat_hash_map<int64_t, ReclaimMask> fates;
  const auto note = [&](const StoredVersion& version) -> absl::Status {
    VARVE_RETURN_IF_ERROR(DecodeHandle(*mappings, version.handle, &handle));
    VARVE_RETURN_IF_ERROR(decoder.Decode(version.handle, version.begin, version.end,
                                         version.payload, &scratch, {&table, 1}));
    fates[handle.key[0].int64_value()] =
        table.is_null() ? ReclaimMask{0} : walk->TableGone(table.int64_value());
    return absl::OkStatus();
  };
  VARVE_RETURN_IF_ERROR(walk->ForEachVersion(mappings, VersionSet::kLive, "", note));
  const auto emit = [&](const RelationRef& relation, const StoredVersion& version) -> absl::Status {
    VARVE_RETURN_IF_ERROR(DecodeHandle(*relation, version.handle, &handle));
    if (handle.key[0].is_null()) {
      return absl::OkStatus();
    }
    const auto fate = fates.find(handle.key[0].int64_value());
    return walk->Emit(relation, version, fate == fates.end() ? walk->all() : fate->second);
  };
  for (const RelationRef& relation : {names, mappings}) {
    VARVE_RETURN_IF_ERROR(walk->ForEachVersion(
        relation, VersionSet::kLive, "",
        [&](const StoredVersion& version) { return emit(relation, version); }));
  }
  return absl::OkStatus();
}

// The relations of inlined rows and deletes of a table that is gone, with what registers them.
absl::Status EmitInlinedRelations(ReclaimWalk* walk, int64_t table,
                                  const std::vector<RelationRef>& relations) {
  const ReclaimMask by = walk->TableGone(table);
  VARVE_RETURN_IF_ERROR(
      EmitTablesRows(walk, kInlinedDataTables, table, /*with_next=*/!relations.empty()));
  for (const RelationRef& relation : relations) {
    uint64_t rows = 0;
    const auto count = [&](const StoredVersion&) {
      ++rows;
      return absl::OkStatus();
    };
    VARVE_RETURN_IF_ERROR(walk->ForEachVersion(relation, VersionSet::kBoth, "", count));
    VARVE_RETURN_IF_ERROR(
        walk->EmitRelation(relation, rows, by, /*with_next=*/relation != relations.back()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WalkInlinedRows(ReclaimWalk* walk) {
  for (const RelationRef& relation : walk->state().directory->relations()) {
    if (!relation->dynamic || relation->versioning != Versioning::kInterval) {
      continue;
    }
    // With its table the whole relation goes.
    const std::optional<int64_t> table = TableOfInlined(*relation);
    const ReclaimMask gone = table.has_value() ? walk->TableGone(*table) : ReclaimMask{0};
    if (gone == walk->all()) {
      continue;
    }
    VARVE_RETURN_IF_ERROR(
        walk->ForEachVersion(relation, VersionSet::kEnded, "", [&](const StoredVersion& version) {
          return walk->Emit(relation, version, Without(walk->Of(version.begin, version.end), gone));
        }));
  }
  return absl::OkStatus();
}

absl::Status WalkColumnStatsOfTables(ReclaimWalk* walk) {
  for (const int64_t table : walk->gone_tables()) {
    VARVE_RETURN_IF_ERROR(EmitTablesRows(walk, kTableColumnStats, table, /*with_next=*/false));
  }
  return absl::OkStatus();
}

absl::Status WalkOwnedByTables(ReclaimWalk* walk) {
  VARVE_RETURN_IF_ERROR(WalkMappings(walk));
  absl::flat_hash_map<int64_t, std::vector<RelationRef>> inlined;
  for (const RelationRef& relation : walk->state().directory->relations()) {
    if (const std::optional<int64_t> table = TableOfInlined(*relation);
        table.has_value() && walk->TableGone(*table) != 0) {
      inlined[*table].push_back(relation);
    }
  }
  for (const int64_t table : walk->gone_tables()) {
    // Inlined rows before the statistics that give their ids.
    VARVE_RETURN_IF_ERROR(EmitInlinedRelations(walk, table, inlined[table]));
    for (const RelationId relation : {kTableStats, kSchemaVersions}) {
      VARVE_RETURN_IF_ERROR(EmitTablesRows(walk, relation, table, /*with_next=*/false));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

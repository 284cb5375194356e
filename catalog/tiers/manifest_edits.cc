#include "catalog/tiers/manifest_edits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "catalog/tiers/columnar_set.h"

namespace varve {
namespace {

template <typename IsTaken>
void TakeTables(proto::ColumnarManifest* manifest, const IsTaken& is_taken) {
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (is_taken(file, table)) {
        table.clear_ranges();
      }
    }
  }
}

}  // namespace

void TakeFromL1(RelationId relation, const HandleRange& range, proto::ColumnarManifest* manifest) {
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (file.level() != 1 || table.relation() != relation) {
        continue;
      }
      const std::vector<HandleRange> left = Without(AnsweredRanges(table), range);
      table.clear_ranges();
      for (const HandleRange& rest : left) {
        AddRange(rest, &table);
      }
    }
  }
}

void RemoveRelation(RelationId relation, proto::ColumnarManifest* manifest) {
  TakeTables(manifest,
             [&](const auto& /*file*/, const auto& table) { return table.relation() == relation; });
}

void RemoveTable(uint64_t number, RelationId relation, proto::ColumnarManifest* manifest) {
  TakeTables(manifest, [&](const auto& file, const auto& table) {
    return file.number() == number && table.relation() == relation;
  });
}

void RemoveFile(uint64_t number, proto::ColumnarManifest* manifest) {
  TakeTables(manifest,
             [&](const auto& file, const auto& /*table*/) { return file.number() == number; });
}

void RemoveVanished(const RelationDirectory& directory, proto::ColumnarManifest* manifest) {
  TakeTables(manifest, [&](const auto& /*file*/, const auto& table) {
    return directory.FindById(table.relation()) == nullptr;
  });
}

void RemoveEmptyFiles(proto::ColumnarManifest* manifest) {
  google::protobuf::RepeatedPtrField<proto::ColumnarFileEntry> kept;
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    google::protobuf::RepeatedPtrField<proto::ColumnarTableEntry> tables;
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (table.ranges_size() > 0) {
        *tables.Add() = std::move(table);
      }
    }
    file.mutable_tables()->Swap(&tables);
    if (file.tables_size() > 0) {
      *kept.Add() = std::move(file);
    }
  }
  manifest->mutable_files()->Swap(&kept);
}

void AddIncomplete(RelationId relation, proto::ColumnarManifest* manifest) {
  const auto& incomplete = manifest->incomplete();
  if (std::find(incomplete.begin(), incomplete.end(), relation) == incomplete.end()) {
    manifest->add_incomplete(relation);
  }
}

void RemoveIncomplete(RelationId relation, proto::ColumnarManifest* manifest) {
  auto* const incomplete = manifest->mutable_incomplete();
  incomplete->erase(std::remove(incomplete->begin(), incomplete->end(), relation),
                    incomplete->end());
}

}  // namespace varve

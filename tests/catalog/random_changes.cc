#include "tests/catalog/random_changes.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/catalog/row_text.h"

namespace varve {
namespace {

// Relations of each kind of versioning and of handle; parents stand beside their children.
constexpr std::array kRelations = {"ducklake_table",
                                   "ducklake_tag",
                                   "ducklake_data_file",
                                   "ducklake_data_file",
                                   "ducklake_file_column_stats",
                                   "ducklake_file_column_stats",
                                   "ducklake_file_partition_value",
                                   "ducklake_file_variant_stats",
                                   "ducklake_partition_info",
                                   "ducklake_partition_column",
                                   "ducklake_macro",
                                   "ducklake_macro_parameters",
                                   "ducklake_schema_versions",
                                   "ducklake_snapshot_changes",
                                   "ducklake_table_stats",
                                   "ducklake_metadata",
                                   "ducklake_inlined_data_1_1",
                                   "ducklake_inlined_delete_1",
                                   "heap"};

constexpr std::array kDynamic = {
    "ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a double",
    "ducklake_inlined_delete_1 file_id bigint, row_id bigint, begin_snapshot bigint",
    "heap a bigint, b varchar"};

Datum Id(SnapshotId snapshot) {
  return Datum::Int64(static_cast<int64_t>(snapshot));
}

}  // namespace

RandomChanges::RandomChanges(uint64_t seed) : random_(seed) {
  // Those of Init's rows whose keys may be drawn again.
  const RelationDirectory builtin;
  EXPECT_TRUE(model_.Apply(ChangesOf(builtin, "snapshot 0\n insert snapshot_changes 0")));
}

ChangeSet RandomChanges::Next() {
  while (true) {
    ChangeSet changes = Draw();
    if (model_.Apply(changes)) {
      return changes;
    }
  }
}

ChangeSet RandomChanges::Draw() {
  ChangeSet changes;
  last_ = model_.last_snapshot();
  if (Below(3) != 0) {
    AddSnapshot(&changes);
  }
  if (Below(10) == 0) {
    ExpireSnapshot(&changes);
  }
  if (Below(8) == 0) {
    ChangeDirectory(&changes);
  }
  for (uint64_t count = Below(8); count > 0; --count) {
    ChangeRow(kRelations[Below(kRelations.size())], &changes);
  }
  return changes;
}

void RandomChanges::AddSnapshot(ChangeSet* changes) {
  last_ += Below(5) == 0 ? 1 + Below(3) : 1;
  const RelationRef snapshots = BuiltinRelationById(kSnapshot);
  Row row = RandomRow(*snapshots);
  row.Set(0, Id(last_));
  changes->Insert(snapshots, std::move(row));
}

void RandomChanges::ExpireSnapshot(ChangeSet* changes) {
  const std::vector<SnapshotId> ids = model_.Snapshots();
  const SnapshotId id = ids[Below(ids.size())];
  if (id != model_.last_snapshot()) {
    changes->Erase(BuiltinRelationById(kSnapshot), std::vector{Id(id)}, id);
  }
}

void RandomChanges::ChangeDirectory(ChangeSet* changes) {
  const RelationSchema relation = DynamicOf(kDynamic[Below(kDynamic.size())]);
  const bool exists = model_.relations().contains(relation.name);
  if (exists) {
    changes->DropRelation(relation.name);
  }
  if (!exists || Below(2) == 0) {
    changes->CreateRelation(relation);
  }
}

void RandomChanges::ChangeRow(const std::string& name, ChangeSet* changes) {
  const auto it = model_.relations().find(name);
  if (it == model_.relations().end()) {
    return;
  }
  const RelationRef relation = it->second.schema;
  const std::vector<CatalogModel::Version>& versions = it->second.versions;
  if (versions.empty() || Below(3) == 0) {
    changes->Insert(relation, RandomRow(*relation));
    return;
  }
  const CatalogModel::Version& version = versions[Below(versions.size())];
  const std::vector<Datum> key = CatalogModel::KeyOfVersion(*relation, version);
  Row row = Below(2) == 0 ? version.row : RandomRow(*relation);
  for (const size_t column : relation->handle) {
    row.Set(column, version.row[column]);
  }
  const uint64_t what = Below(4);
  if (what == 0) {  // gone, or written anew
    changes->Erase(relation, key, version.begin);
    if (Below(2) == 0) {
      changes->Insert(relation, std::move(row));
    }
  } else if (relation->versioning == Versioning::kInterval) {
    const SnapshotId at = Below(3) == 0 ? Below(last_ + 1) : last_;  // now, or dated back
    changes->End(relation, key, at);
    if (what == 1) {
      row.Set(*relation->begin_column, Id(at));
      row.Set(*relation->end_column, Datum::Null());
      changes->Insert(relation, std::move(row));
    }
  } else if (relation->versioning != Versioning::kBeginOnly) {
    changes->Put(relation, std::move(row));
  }
}

Row RandomChanges::RandomRow(const RelationSchema& relation) {
  constexpr std::array<std::string_view, 3> kTexts = {"a", "b", "c"};
  Row row(relation.columns.num_columns());
  for (size_t i = 0; i < row.size(); ++i) {
    if (!relation.IsHandleColumn(i) && Below(4) == 0) {
      continue;
    }
    // Few values, so that keys meet again and children find parents.
    const std::string& name = relation.columns.column(i).name;
    const uint64_t values = name == "data_file_id" ? 12 : name == "table_id" ? 2 : 4;
    switch (relation.columns.column(i).type.physical()) {
      case PhysicalType::kBool: row.Set(i, Datum::Bool(Below(2) == 0)); break;
      case PhysicalType::kInt64:
        row.Set(i, Datum::Int64(static_cast<int64_t>(Below(values))));
        break;
      case PhysicalType::kInt128: row.Set(i, Datum::Int128(static_cast<int128_t>(Below(4)))); break;
      case PhysicalType::kFloat64: row.Set(i, Datum::Float64(0.5)); break;
      case PhysicalType::kBytes: row.SetBytes(i, kTexts[Below(kTexts.size())]); break;
    }
  }
  if (relation.begin_column.has_value()) {
    const SnapshotId begin = Below(3) == 0 ? Below(last_ + 1) : last_;
    row.Set(*relation.begin_column, Id(begin));
    if (relation.end_column.has_value()) {
      const SnapshotId end = begin + 1 + Below(4);
      row.Set(*relation.end_column, Below(4) == 0 && end <= last_ ? Id(end) : Datum::Null());
    }
  }
  return row;
}

}  // namespace varve

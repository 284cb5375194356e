// Long random histories, applied to a catalog and to a plain in-memory model (catalog_model.h):
// both must take and refuse the same change sets and say the same of every relation at every
// snapshot.
//
// VARVE_MODEL_SEED=N repeats a run; VARVE_MODEL_ITERATIONS=N makes it N change sets long.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/catalog_model.h"
#include "tests/seed.h"

namespace varve {
namespace {

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no other thread
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Relations of each kind of versioning and of handle, dynamic ones last.
constexpr std::array kRelations = {"ducklake_table",
                                   "ducklake_column",
                                   "ducklake_schema",
                                   "ducklake_data_file",
                                   "ducklake_file_column_stats",
                                   "ducklake_file_partition_value",
                                   "ducklake_partition_info",
                                   "ducklake_partition_column",
                                   "ducklake_metadata",
                                   "ducklake_table_stats",
                                   "ducklake_table_column_stats",
                                   "ducklake_snapshot_changes",
                                   "ducklake_schema_versions",
                                   "ducklake_inlined_data_1_1",
                                   "ducklake_inlined_delete_1",
                                   "heap",
                                   "notes"};

constexpr std::array kDynamic = {
    "ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a "
    "double, "
    "b blob, c hugeint, d uuid",
    "ducklake_inlined_delete_1 file_id bigint, row_id bigint, begin_snapshot bigint",
    "heap a bigint, b varchar", "notes id varchar, n integer, text varchar; key id, n"};

// Makes random change sets: most of them sensible, some that must be refused.
class ChangeMaker {
 public:
  ChangeMaker(const CatalogModel& model, uint64_t seed) : model_(model), random_(seed) {}

  ChangeSet Next() {
    ChangeSet changes;
    last_ = model_.last_snapshot();
    if (Below(2) == 0) {
      AddSnapshot(&changes);
    }
    if (Below(12) == 0) {
      DeleteSnapshot(&changes);
    }
    if (Below(6) == 0) {
      ChangeDirectory(&changes);
    }
    for (uint64_t count = Below(6); count > 0; --count) {
      ChangeRow(&changes);
    }
    return changes;
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

 private:
  using Relation = CatalogModel::Relation;
  using Version = CatalogModel::Version;

  static RelationRef Snapshots() { return BuiltinRelationById(kSnapshot); }

  void AddSnapshot(ChangeSet* changes) {
    last_ += Below(4) == 0 ? 1 + Below(3) : 1;  // with gaps
    Row row = RandomRow(*Snapshots());
    row.Set(0, Datum::Int64(static_cast<int64_t>(last_)));
    changes->Insert(Snapshots(), std::move(row));
  }

  void DeleteSnapshot(ChangeSet* changes) {
    const std::vector<SnapshotId> ids = model_.Snapshots();
    const SnapshotId id = ids[Below(ids.size())];  // now and then the last one
    changes->Erase(Snapshots(), std::vector{Datum::Int64(static_cast<int64_t>(id))}, id);
  }

  void ChangeDirectory(ChangeSet* changes) {
    const RelationSchema relation = DynamicOf(kDynamic[Below(kDynamic.size())]);
    const bool exists = model_.relations().contains(relation.name);
    if (exists && Below(3) != 0) {
      return;  // drop seldom
    }
    if (exists || Below(20) == 0) {
      changes->DropRelation(relation.name);
    }
    if (!exists || Below(2) == 0) {
      changes->CreateRelation(relation);
    }
  }

  // The relation by its name: of the model, or one that this very set creates.
  RelationRef Find(const ChangeSet& changes, std::string_view name) {
    for (const RelationSchema& created : changes.created()) {
      if (created.name == name) {
        return std::make_shared<RelationSchema>(created);
      }
    }
    const auto it = model_.relations().find(std::string(name));
    return it == model_.relations().end() ? nullptr : it->second.schema;
  }

  void ChangeRow(ChangeSet* changes) {
    const std::string name = kRelations[Below(kRelations.size())];
    const RelationRef relation = Find(*changes, name);
    if (relation == nullptr) {
      return;
    }
    const auto it = model_.relations().find(name);
    const Version* version = nullptr;
    if (it != model_.relations().end() && !it->second.versions.empty()) {
      version = &it->second.versions[Below(it->second.versions.size())];
    }
    switch (Below(version == nullptr ? 2 : 8)) {
      case 0:
      case 1: changes->Insert(relation, RandomRow(*relation)); return;
      case 2: Erase(relation, *version, changes); return;
      case 3: EraseAndInsert(relation, *version, changes); return;
      default: Update(relation, *version, changes); return;
    }
  }

  void Erase(const RelationRef& relation, const Version& version, ChangeSet* changes) {
    const SnapshotId begin = Below(15) == 0 ? version.begin + 1 : version.begin;
    changes->Erase(relation, CatalogModel::KeyOfVersion(*relation, version), begin);
  }

  // The same version with other values, or with another interval.
  void EraseAndInsert(const RelationRef& relation, const Version& version, ChangeSet* changes) {
    Erase(relation, version, changes);
    Row row = Below(2) == 0 ? RandomRow(*relation) : version.row;
    for (const size_t column : relation->handle) {
      row.Set(column, version.row[column]);
    }
    changes->Insert(relation, std::move(row));
  }

  // Ends a version and inserts its successor, in either order; or overwrites in place.
  void Update(const RelationRef& relation, const Version& version, ChangeSet* changes) {
    Row row = RandomRow(*relation);
    for (const size_t column : relation->handle) {
      row.Set(column, version.row[column]);
    }
    if (relation->versioning != Versioning::kInterval) {
      changes->Put(relation, Below(4) == 0 ? version.row : std::move(row));
      return;
    }
    const std::vector<Datum> key = CatalogModel::KeyOfVersion(*relation, version);
    const SnapshotId at = Below(4) == 0 ? version.begin + Below(last_ + 3 - version.begin) : last_;
    const uint64_t what = Below(4);
    row.Set(*relation->begin_column, Datum::Int64(static_cast<int64_t>(at)));
    row.Set(*relation->end_column, Datum::Null());
    if (what == 0) {
      changes->Insert(relation, row);
    }
    changes->End(relation, key, at);
    if (what == 1 || what == 2) {
      changes->Insert(relation, std::move(row));
    }
  }

  Row RandomRow(const RelationSchema& relation) {
    Row row(relation.columns.num_columns());
    for (size_t i = 0; i < row.size(); ++i) {
      const bool in_key = relation.IsHandleColumn(i);
      if (Below(in_key ? 25 : 6) != 0) {
        SetRandom(relation.columns.column(i).type, i, &row);
      }
    }
    if (relation.begin_column.has_value()) {
      const SnapshotId begin = Below(3) == 0 ? Below(last_ + 2) : last_;
      row.Set(*relation.begin_column, Datum::Int64(static_cast<int64_t>(begin)));
      if (relation.end_column.has_value()) {
        const SnapshotId end = begin + Below(4);
        row.Set(*relation.end_column,
                Below(3) != 0 ? Datum::Null() : Datum::Int64(static_cast<int64_t>(end)));
      }
    }
    return row;
  }

  void SetRandom(const Type& type, size_t column, Row* row) {
    constexpr std::array<std::string_view, 5> kTexts = {"", "a", "b", "ab", "a | longer text"};
    switch (type.physical()) {
      case PhysicalType::kBool: row->Set(column, Datum::Bool(Below(2) == 0)); return;
      case PhysicalType::kInt64:
        row->Set(column,
                 Datum::Int64(static_cast<int64_t>(Below(20) == 0 ? random_() >> 20 : Below(6))));
        return;
      case PhysicalType::kInt128:
        row->Set(column, Datum::Int128(static_cast<int128_t>(random_()) * 1'000'003));
        return;
      case PhysicalType::kFloat64:
        row->Set(column, Datum::Float64(static_cast<double>(Below(100)) / 8));
        return;
      case PhysicalType::kBytes: row->SetBytes(column, kTexts[Below(kTexts.size())]); return;
    }
  }

  const CatalogModel& model_;
  std::mt19937_64 random_;
  SnapshotId last_ = 0;  // the last snapshot after the set being made
};

class Model : public CatalogFixture {
 protected:
  // A new catalog and its model.
  void Begin() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    CatalogFixture::SetUp();
    model_ = CatalogModel();
    // What Init put into the catalog.
    const RelationDirectory builtin;
    ASSERT_TRUE(model_.Apply(ChangesOf(builtin, StrCat(R"(
      snapshot 0
      insert snapshot_changes 0 | created_schema:"main"
      insert schema 0 | )",
                                                       kMainUuid, R"( | 0 | - | main | main/ | true
      insert metadata version | 1.0
      insert metadata created_by | Varve 0.1.0
      insert metadata data_path | /lake/
      insert metadata encrypted | false
    )"))));
  }

  void CompareAll() {
    const ReadView current = catalog_->Current();
    ASSERT_EQ(current.last_snapshot(), model_.last_snapshot());
    ASSERT_EQ(current.relations().relations().size(), model_.relations().size());
    for (const auto& [name, relation] : model_.relations()) {
      ASSERT_EQ(ScanTexts(current, name, {.rows = ScanRows::kAllVersions}),
                model_.AllVersions(relation))
          << name;
      const RelationRef stored = current.relations().FindByName(name);
      ASSERT_NE(stored, nullptr) << name;
      if (relation.schema->handle_kind != HandleKind::kRowNumber) {
        for (const Row& key : relation.keys) {
          ASSERT_EQ(TextsOf(*stored, current.Versions(*stored, key.values())),
                    model_.Versions(relation, key.values()))
              << name;
        }
      }
    }
    for (const SnapshotId at : model_.Snapshots()) {
      const auto view = catalog_->At(at);
      ASSERT_TRUE(view.ok()) << view.status();
      CompareAt(*view);
      ASSERT_FALSE(HasFatalFailure()) << "at snapshot " << at;
    }
  }

  void CompareAt(const ReadView& view) {
    PointReader reader(view);
    for (const auto& [name, relation] : model_.relations()) {
      ASSERT_EQ(ScanTexts(view, name), model_.Visible(relation, view.snapshot())) << name;
      if (relation.schema->handle_kind == HandleKind::kRowNumber) {
        continue;
      }
      const RelationRef stored = view.relations().FindByName(name);
      for (const Row& key : relation.keys) {
        VersionedRow row;
        const auto found = reader.Get(*stored, key.values(), &row);
        ASSERT_TRUE(found.ok()) << found.status();
        ASSERT_EQ(*found ? RowText(*stored, row.values.values()) : "",
                  model_.Get(relation, key.values(), view.snapshot()))
            << name;
      }
    }
    const CatalogModel::Relation& files = model_.relations().at("ducklake_data_file");
    for (const CatalogModel::Version& file : files.versions) {
      const auto row = view.GetByUnique(*files.schema, file.row[0].int64_value());
      ASSERT_TRUE(row.ok()) << row.status();
      ASSERT_EQ(row->has_value(), IsVisible(file.begin, file.end, view.snapshot()));
    }
  }

  static std::vector<std::string> TextsOf(const RelationSchema& relation,
                                          const absl::StatusOr<std::vector<VersionedRow>>& rows) {
    if (!rows.ok()) {
      return {rows.status().ToString()};
    }
    std::vector<std::string> texts;
    for (const VersionedRow& row : *rows) {
      texts.push_back(
          StrCat(RowText(relation, row.values.values()), " @ ", IntervalText(row.begin, row.end)));
    }
    return texts;
  }

  // Sometimes closes and opens the catalog, or moves its rows from memory to files, or merges
  // these.
  void Disturb(ChangeMaker* maker) {
    switch (maker->Below(8)) {
      case 0: Reopen(); return;
      case 1: {
        Reopen({.read_only = true});
        CompareAll();
        Reopen();
        return;
      }
      case 2: ASSERT_TRUE(catalog_->store().Flush().ok()); return;
      case 3:
        for (const Family family : {Family::kLive, Family::kEnded}) {
          ASSERT_TRUE(catalog_->store()
                          .db()
                          .CompactRange({}, catalog_->store().family(family), nullptr, nullptr)
                          .ok());
        }
        return;
      default: return;
    }
  }

  CatalogModel model_;
};

TEST_F(Model, ACatalogAnswersLikeTheModelThroughRandomHistories) {
  const uint64_t seed = NumberFromEnvironment("VARVE_MODEL_SEED", TestSeed());
  const uint64_t iterations = NumberFromEnvironment("VARVE_MODEL_ITERATIONS", 400);
  std::printf("VARVE_MODEL_SEED=%llu\n", static_cast<unsigned long long>(seed));
  constexpr uint64_t kHistory = 200;  // change sets of one catalog; then the next one begins
  constexpr uint64_t kCompareEvery = 10;
  std::map<bool, uint64_t> taken;
  for (uint64_t i = 0; i < iterations; i += kHistory) {
    Begin();
    ChangeMaker maker(model_, seed + i);
    for (uint64_t j = 0; j < kHistory; ++j) {
      const ChangeSet changes = maker.Next();
      const bool expected = model_.Apply(changes);
      const absl::Status status = catalog_->Apply(changes);
      ASSERT_EQ(status.ok(), expected) << "change set " << i + j << ": " << status;
      ++taken[expected];
      if (j % kCompareEvery == kCompareEvery - 1) {
        CompareAll();
        ASSERT_FALSE(HasFatalFailure()) << "after change set " << i + j;
        Disturb(&maker);
        ASSERT_FALSE(HasFatalFailure()) << "after change set " << i + j;
      }
    }
    Reopen({.read_only = true});
    CompareAll();
    ASSERT_FALSE(HasFatalFailure()) << "in the end of history " << i / kHistory;
  }
  EXPECT_GT(taken[true], iterations / 4);
  EXPECT_GT(taken[false], iterations / 50);
}

}  // namespace
}  // namespace varve

#include "catalog/inspect/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "tests/catalog/temp_dir.h"
#include "tests/catalog/verify_catalog_text.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string ValueText(const RelationSchema& relation, size_t column, const Datum& value) {
  return value.is_null() ? "NULL" : ToText(relation.columns.column(column).type, value);
}

// "+ a=1 …" with every column; changed rows as "~ key | column: before -> after".
std::string Describe(const RelationSchema& relation, const RowDiff& diff) {
  const Row& row = diff.after.has_value() ? *diff.after : *diff.before;
  std::string text = diff.kind == DiffKind::kAdded     ? "+"
                     : diff.kind == DiffKind::kRemoved ? "-"
                                                       : "~";
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (diff.kind != DiffKind::kChanged || relation.IsHandleColumn(i)) {
      StrAppend(&text, " ", ValueText(relation, i, row[i]));
    }
  }
  for (const size_t column : diff.changed_columns) {
    StrAppend(&text, " | ", relation.columns.column(column).name, ": ",
              ValueText(relation, column, (*diff.before)[column]), " -> ",
              ValueText(relation, column, (*diff.after)[column]));
  }
  return text;
}

std::vector<std::string> DiffOf(const ReadView& from, const ReadView& to,
                                const RelationRef& relation) {
  std::vector<std::string> diffs;
  const absl::Status status = DiffRelation(from, to, relation, [&](const RowDiff& diff) {
    EXPECT_EQ(diff.before.has_value(), diff.kind != DiffKind::kAdded);
    EXPECT_EQ(diff.after.has_value(), diff.kind != DiffKind::kRemoved);
    diffs.push_back(Describe(*relation, diff));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return diffs;
}

// The visible rows by their key as text.
std::map<std::string, Row> Materialize(const ReadView& view, const RelationRef& relation) {
  std::map<std::string, Row> rows;
  absl::StatusOr<std::unique_ptr<RowScan>> scan = view.Scan(relation, {.batch_rows = 3});
  EXPECT_TRUE(scan.ok()) << scan.status();
  ScanBatch batch;
  while (scan.ok()) {
    const absl::StatusOr<bool> more = (*scan)->Next(&batch);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) {
      break;
    }
    for (size_t r = 0; r < batch.num_rows(); ++r) {
      Row row(relation->columns.num_columns());
      std::string key;
      for (size_t c = 0; c < row.size(); ++c) {
        row.Set(c, batch.columns.column(c).at(r));
      }
      for (const size_t c : relation->handle) {
        StrAppend(&key, ValueText(*relation, c, row[c]), " ");
      }
      EXPECT_TRUE(rows.emplace(key, std::move(row)).second) << key;
    }
  }
  return rows;
}

// The same by comparing two whole states key by key.
std::multiset<std::string> BruteForce(const ReadView& from, const ReadView& to,
                                      const RelationRef& relation) {
  const std::map<std::string, Row> before = Materialize(from, relation);
  const std::map<std::string, Row> after = Materialize(to, relation);
  std::multiset<std::string> diffs;
  for (const auto& [key, row] : before) {
    const auto it = after.find(key);
    RowDiff diff{.kind = DiffKind::kRemoved, .before = row};
    if (it != after.end()) {
      diff.kind = DiffKind::kChanged;
      diff.after = it->second;
      for (size_t c = 0; c < row.size(); ++c) {
        const std::string& name = relation->columns.column(c).name;
        if (name != "begin_snapshot" && name != "end_snapshot" && !(row[c] == it->second[c])) {
          diff.changed_columns.push_back(c);
        }
      }
      if (diff.changed_columns.empty()) {
        continue;
      }
    }
    diffs.insert(Describe(*relation, diff));
  }
  for (const auto& [key, row] : after) {
    if (!before.contains(key)) {
      diffs.insert(Describe(*relation, {.kind = DiffKind::kAdded, .after = row}));
    }
  }
  return diffs;
}

class DiffTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Catalog::Init(dir_ / "lake", {.data_path = "/lake/"}).ok());
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(dir_ / "lake");
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
  }

  // Adds the rows of a new snapshot to the changes and commits them.
  void Commit(SnapshotId id, ChangeSet changes) {
    changes.Insert(BuiltinRelationById(kSnapshot),
                   TextCatalog::MakeRow(*BuiltinRelationById(kSnapshot),
                                        StrCat("snapshot_id=", id, " snapshot_time='2040-01-01 00:",
                                               id / 600, id / 60 % 10, ":", id / 10 % 6, id % 10,
                                               "+00' schema_version=0 next_catalog_id=1000 "
                                               "next_file_id=1000")));
    changes.Insert(
        BuiltinRelationById(kSnapshotChanges),
        TextCatalog::MakeRow(*BuiltinRelationById(kSnapshotChanges), StrCat("snapshot_id=", id)));
    const absl::Status status = catalog_->Apply(changes);
    ASSERT_TRUE(status.ok()) << status;
  }
  static void Insert(ChangeSet* changes, RelationId relation, const std::string& row) {
    const RelationRef schema = BuiltinRelationById(relation);
    changes->Insert(schema, TextCatalog::MakeRow(*schema, row));
  }
  ReadView At(SnapshotId snapshot) {
    absl::StatusOr<ReadView> view = catalog_->At(snapshot);
    EXPECT_TRUE(view.ok()) << view.status();
    return *view;
  }

  TempDir dir_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(DiffTest, TellsAddedRemovedAndChangedRowsInKeyOrder) {
  ChangeSet first;
  Insert(&first, kTag, "object_id=1 key=a begin_snapshot=1 value=x");
  Insert(&first, kTag, "object_id=2 key=a begin_snapshot=1 value=x");
  Insert(&first, kTag, "object_id=3 key=a begin_snapshot=1 value=x");
  Commit(1, std::move(first));
  ChangeSet second;
  const RelationRef tags = BuiltinRelationById(kTag);
  const Datum removed[] = {Datum::Int64(1), Datum::Bytes("a")};
  const Datum changed[] = {Datum::Int64(2), Datum::Bytes("a")};
  const Datum rewritten[] = {Datum::Int64(3), Datum::Bytes("a")};
  second.End(tags, removed, 2);
  second.End(tags, changed, 2);
  second.End(tags, rewritten, 2);
  Insert(&second, kTag, "object_id=2 key=a begin_snapshot=2 value=NULL");
  Insert(&second, kTag, "object_id=3 key=a begin_snapshot=2 value=x");
  Insert(&second, kTag, "object_id=4 key=a begin_snapshot=2 value=y");
  Commit(2, std::move(second));

  EXPECT_THAT(DiffOf(At(1), At(2), tags),
              ElementsAre("- 1 1 2 a x", "~ 2 a | value: x -> NULL", "+ 4 2 NULL a y"));
  EXPECT_THAT(DiffOf(At(2), At(1), tags),
              ElementsAre("+ 1 1 2 a x", "~ 2 a | value: NULL -> x", "- 4 2 NULL a y"));
  EXPECT_THAT(DiffOf(At(2), At(2), tags), IsEmpty());
}

TEST_F(DiffTest, UnversionedRowsNeverDiffer) {
  ChangeSet changes;
  const RelationRef stats = BuiltinRelationById(kTableStats);
  changes.Put(stats, TextCatalog::MakeRow(*stats, "table_id=1 next_row_id=5"));
  Commit(1, std::move(changes));
  EXPECT_THAT(DiffOf(At(0), At(1), stats), IsEmpty());
}

TEST_F(DiffTest, TheVisitorsErrorEndsTheWalk) {
  ChangeSet changes;
  Insert(&changes, kTag, "object_id=1 key=a begin_snapshot=1");
  Insert(&changes, kTag, "object_id=2 key=a begin_snapshot=1");
  Commit(1, std::move(changes));
  int calls = 0;
  const absl::Status status =
      DiffRelation(At(0), At(1), BuiltinRelationById(kTag), [&](const RowDiff&) {
        ++calls;
        return absl::CancelledError("enough");
      });
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(calls, 1);
}

TEST_F(DiffTest, ViewsOfTwoStatesAreRefused) {
  const ReadView before = At(0);
  ChangeSet changes;
  Insert(&changes, kTag, "object_id=1 key=a begin_snapshot=1");
  Commit(1, std::move(changes));
  const absl::Status status = DiffRelation(before, At(1), BuiltinRelationById(kTag),
                                           [](const RowDiff&) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

// A random history: views that are made, changed and dropped, and files whose statistics live and
// die with them.
class RandomHistory {
 public:
  explicit RandomHistory(uint64_t seed) : random_(seed) {}

  ChangeSet Next(SnapshotId snapshot) {
    ChangeSet changes;
    for (int64_t id = 1; id <= 12; ++id) {
      ChangeView(id, snapshot, &changes);
    }
    std::erase_if(live_files_, [&](int64_t id) {
      if (!Chance(5)) {
        return false;
      }
      const Datum key[] = {Datum::Int64(7), Datum::Int64(id)};
      changes.End(BuiltinRelationById(kDataFile), key, snapshot);
      return true;
    });
    if (Chance(2)) {
      AddFile(snapshot, &changes);
    }
    return changes;
  }

 private:
  bool Chance(int one_in) { return std::uniform_int_distribution(1, one_in)(random_) == 1; }

  void ChangeView(int64_t id, SnapshotId snapshot, ChangeSet* changes) {
    const RelationRef views = BuiltinRelationById(kView);
    const bool was_live = live_views_.contains(id);
    if (!Chance(3)) {
      return;
    }
    if (was_live) {
      const Datum key[] = {Datum::Int64(id)};
      changes->End(views, key, snapshot);
      live_views_.erase(id);
    }
    if (!was_live || Chance(2)) {
      // Few texts, so that a new version often equals the old.
      const int text = std::uniform_int_distribution(0, 2)(random_);
      changes->Insert(
          views, TextCatalog::MakeRow(*views, StrCat("view_id=", id, " begin_snapshot=", snapshot,
                                                     " schema_id=0 view_name=v", text,
                                                     text == 2 ? " sql=NULL" : " sql=s")));
      live_views_.insert(id);
    }
  }

  void AddFile(SnapshotId snapshot, ChangeSet* changes) {
    const int64_t id = next_file_++;
    const RelationRef files = BuiltinRelationById(kDataFile);
    changes->Insert(files, TextCatalog::MakeRow(
                               *files, StrCat("data_file_id=", id, " table_id=7 begin_snapshot=",
                                              snapshot, " path=p", id)));
    const RelationRef stats = BuiltinRelationById(kFileColumnStats);
    for (int column = 1; column <= 3; ++column) {
      changes->Put(stats, TextCatalog::MakeRow(
                              *stats, StrCat("data_file_id=", id, " table_id=7 column_id=", column,
                                             " min_value=m", column)));
    }
    live_files_.push_back(id);
  }

  std::mt19937_64 random_;
  std::set<int64_t> live_views_;
  std::vector<int64_t> live_files_;
  int64_t next_file_ = 0;
};

TEST_F(DiffTest, EqualsABruteForceComparisonOnRandomHistories) {
  constexpr SnapshotId kSnapshots = 30;
  RandomHistory history(TestSeed());
  for (SnapshotId snapshot = 1; snapshot <= kSnapshots; ++snapshot) {
    ASSERT_NO_FATAL_FAILURE(Commit(snapshot, history.Next(snapshot)));
  }
  size_t seen = 0;
  for (SnapshotId from = 0; from <= kSnapshots; from += 3) {
    for (SnapshotId to = 0; to <= kSnapshots; to += 2) {
      const ReadView before = At(from);
      const ReadView after = At(to);
      for (const RelationId id : {kView, kDataFile, kFileColumnStats, kSnapshot}) {
        const RelationRef relation = before.relations().FindById(id);
        const std::vector<std::string> diffs = DiffOf(before, after, relation);
        seen += diffs.size();
        EXPECT_EQ(std::multiset<std::string>(diffs.begin(), diffs.end()),
                  BruteForce(before, after, relation))
            << relation->name << " from " << from << " to " << to;
      }
    }
  }
  EXPECT_GT(seen, 0U);
}

}  // namespace
}  // namespace varve

// Random lakes: whatever was written, given up and pinned, an excision changes no answer at any
// retained snapshot, removes what its plan says, leaves nothing behind that it should have taken,
// and a catalog that verify is content with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/expire.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::IsEmpty;

// Relations that show a row only while it, or what it belongs to, is there.
constexpr const char* kVersioned[] = {"schema",
                                      "table",
                                      "view",
                                      "tag",
                                      "column_tag",
                                      "data_file",
                                      "delete_file",
                                      "column",
                                      "partition_info",
                                      "macro",
                                      "sort_info",
                                      "macro_impl",
                                      "macro_parameters",
                                      "sort_expression",
                                      "partition_column",
                                      "file_column_stats",
                                      "file_partition_value"};

class ExciseRandom : public CatalogFixture {
 protected:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <typename Set>
  auto Any(const Set& set) {
    auto it = set.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(Below(set.size())));
    return *it;
  }

  // One commit that makes a snapshot.
  void Step() {
    ++last_;
    text_ = StrCat("insert snapshot ", last_, " | '2026-01-01 00:00:00+00' | ", last_,
                   " | 100000 | 100000\n insert snapshot_changes ", last_, " | altered_table:1\n");
    for (uint64_t n = 1 + Below(4); n > 0; --n) {
      ChangeSomething();
    }
    MustApply(text_);
  }

  void ChangeSomething() {
    if (tables_.empty() || OneIn(6)) {
      CreateTable();
      return;
    }
    const int64_t table = Any(tables_).first;
    switch (Below(14)) {
      case 0: DropTable(table); return;
      case 1: RenameTable(table); return;
      case 2: AddColumn(table); return;
      case 3: DropColumn(table); return;
      case 4: Repartition(table); return;
      case 5: ReplaceView(); return;
      case 6: ReplaceMacro(); return;
      case 7: EndFile(table); return;
      case 8: ReplaceTag(); return;
      case 9: ReplaceDeletes(table); return;
      case 10: InsertInlined(table); return;
      default: AddFile(table); return;
    }
  }

  struct File {
    std::string path;
    int64_t deletes = 0;
  };
  struct Table {
    SnapshotId created = 0;
    SnapshotId touched = 0;  // when its name last changed: a version lives for at least a snapshot
    SnapshotId inlined = 0;  // its newest inlined row
    std::map<int64_t, SnapshotId> columns;  // live ones, with their begin
    int64_t next_column = 1;
    int64_t partitioning = 0;
    SnapshotId partitioned = 0;
    std::map<int64_t, std::pair<File, SnapshotId>> files;
  };

  void CreateTable() {
    const int64_t table = next_id_++;
    Table& made = tables_[table];
    made.created = last_;
    made.touched = last_;
    StrAppend(&text_, "insert table ", table, " | - | ", last_, " | - | 0 | t", table, " | t",
              table, "/ | true\n insert table_stats ", table, " | 1 | 1000 | 1\n",
              "insert schema_versions ", last_, " | ", last_, " | ", table, "\n",
              "create ducklake_inlined_data_", table, "_1 row_id bigint, begin_snapshot bigint, ",
              "end_snapshot bigint, a bigint\n", "insert inlined_data_tables ", table,
              " | ducklake_inlined_data_", table, "_1 | 1\n");
    AddColumn(table);
  }
  void AddColumn(int64_t table) {
    Table& in = tables_[table];
    const int64_t column = in.next_column++;
    in.columns[column] = last_;
    StrAppend(&text_, "insert column ", column, " | ", last_, " | - | ", table, " | ", column,
              " | c", column, " | int64\n");
  }
  void DropColumn(int64_t table) {
    Table& in = tables_[table];
    if (in.columns.size() < 2) {
      return;
    }
    const auto [column, begin] = Any(in.columns);
    if (begin < last_) {
      StrAppend(&text_, "end column ", table, " | ", column, " @ ", last_, "\n");
      in.columns.erase(column);
    }
  }
  void RenameTable(int64_t table) {
    Table& in = tables_[table];
    if (in.touched < last_) {
      in.touched = last_;
      StrAppend(&text_, "end table ", table, " @ ", last_, "\n insert table ", table, " | - | ",
                last_, " | - | 0 | t", table, "_", last_, " | t", table, "/ | true\n");
    }
  }
  void DropTable(int64_t table) {
    Table& in = tables_[table];
    if (in.touched == last_ || in.partitioned == last_) {
      return;
    }
    for (const auto& [column, begin] : in.columns) {
      if (begin == last_) {
        return;
      }
    }
    for (const auto& [file, begin] : in.files) {
      if (begin.second == last_) {
        return;
      }
    }
    StrAppend(&text_, "end table ", table, " @ ", last_, "\n");
    for (const auto& [column, begin] : in.columns) {
      StrAppend(&text_, "end column ", table, " | ", column, " @ ", last_, "\n");
    }
    for (const auto& [file, entry] : in.files) {
      EndFileRow(table, file, entry.first);
    }
    if (in.partitioning != 0) {
      StrAppend(&text_, "end partition_info ", in.partitioning, " @ ", last_, "\n");
    }
    tables_.erase(table);
  }
  void Repartition(int64_t table) {
    Table& in = tables_[table];
    if (in.partitioned == last_) {
      return;
    }
    if (in.partitioning != 0) {
      StrAppend(&text_, "end partition_info ", in.partitioning, " @ ", last_, "\n");
    }
    in.partitioning = next_id_++;
    in.partitioned = last_;
    StrAppend(&text_, "insert partition_info ", in.partitioning, " | ", table, " | ", last_,
              " | -\n insert partition_column ", in.partitioning, " | ", table,
              " | 0 | 1 | identity\n");
  }
  void AddFile(int64_t table) {
    Table& in = tables_[table];
    const int64_t file = next_file_++;
    // Now and then the path of one that is there.
    std::string path = StrCat("f", file);
    if (!paths_[table].empty() && OneIn(4)) {
      const std::string again = Any(paths_[table]);
      path = given_up_.contains(StrCat("main/t", table, "/", again)) ? path : again;
    }
    paths_[table].insert(path);
    in.files[file] = {File{.path = path}, last_};
    StrAppend(&text_, "insert data_file ", file, " | ", table, " | ", last_, " | - | - | ", path,
              " | true | parquet | 1 | 1 | 1 | 0 | ",
              in.partitioning == 0 ? "-" : StrCat(in.partitioning), "\n");
    for (const auto& [column, begin] : in.columns) {
      StrAppend(&text_, "insert file_column_stats ", file, " | ", table, " | ", column,
                " | 1 | 1 | 0\n");
    }
    if (in.partitioning != 0) {
      StrAppend(&text_, "insert file_partition_value ", file, " | ", table, " | 0 | v\n");
    }
  }
  void EndFileRow(int64_t table, int64_t file, const File& what) {
    StrAppend(&text_, "end data_file ", table, " | ", file, " @ ", last_, "\n");
    if (what.deletes != 0) {
      StrAppend(&text_, "end delete_file ", table, " | ", what.deletes, " @ ", last_, "\n");
    }
  }
  void EndFile(int64_t table) {
    Table& in = tables_[table];
    if (in.files.empty()) {
      return;
    }
    const auto [file, entry] = Any(in.files);
    if (entry.second < last_) {
      EndFileRow(table, file, entry.first);
      in.files.erase(file);
    }
  }
  void ReplaceDeletes(int64_t table) {
    Table& in = tables_[table];
    if (in.files.empty()) {
      return;
    }
    const int64_t file = Any(in.files).first;
    auto& [what, touched] = in.files[file];
    if (touched == last_) {
      return;
    }
    if (what.deletes != 0) {
      StrAppend(&text_, "end delete_file ", table, " | ", what.deletes, " @ ", last_, "\n");
    }
    what.deletes = next_file_++;
    touched = last_;
    StrAppend(&text_, "insert delete_file ", what.deletes, " | ", table, " | ", last_, " | - | ",
              file, " | d", what.deletes, " | true | parquet | 1 | 1\n");
  }
  // Ends the live version of an object, if there is one, and begins the next.
  void Replace(std::string_view relation, std::string_view key, std::string_view row) {
    const auto [it, first] = begun_.emplace(StrCat(relation, " ", key), last_);
    if (!first && it->second == last_) {
      return;
    }
    if (!first) {
      StrAppend(&text_, "end ", relation, " ", key, " @ ", last_, "\n");
    }
    it->second = last_;
    StrAppend(&text_, "insert ", relation, " ", row, "\n");
  }
  void ReplaceView() {
    const uint64_t view = 90'000 + Below(3);
    Replace("view", StrCat(view),
            StrCat(view, " | - | ", last_, " | - | 0 | v", view, " | duckdb | x", last_));
  }
  void ReplaceMacro() {
    const int64_t macro = next_id_++;
    StrAppend(&text_, "insert macro 0 | ", macro, " | m", macro, " | ", last_, " | -\n",
              "insert macro_impl ", macro, " | 0 | duckdb | x | scalar\n",
              "insert macro_parameters ", macro, " | 0 | 0 | a\n");
    if (macro_ != 0 && macro_begun_ < last_) {
      StrAppend(&text_, "end macro ", macro_, " @ ", last_, "\n");
    }
    macro_ = macro;
    macro_begun_ = last_;
  }
  void ReplaceTag() {
    const uint64_t tag = Below(3);
    Replace("tag", StrCat("0 | k", tag), StrCat("0 | ", last_, " | - | k", tag, " | v", last_));
  }
  void InsertInlined(int64_t table) {
    Table& in = tables_[table];
    if (in.created == last_ || in.inlined == last_) {
      return;
    }
    const std::string relation = StrCat("ducklake_inlined_data_", table, "_1");
    if (in.inlined != 0 && OneIn(2)) {
      StrAppend(&text_, "end ", relation, " ", in.inlined, " @ ", last_, "\n");
    }
    in.inlined = last_;
    StrAppend(&text_, "insert ", relation, " ", last_, " | ", last_, " | - | 7\n");
  }

  std::vector<std::string> Shown(SnapshotId at) {
    std::vector<std::string> rows;
    const ReadView view = At(at);
    for (const char* relation : kVersioned) {
      for (const std::string& row : ScanTexts(view, relation)) {
        rows.push_back(StrCat(relation, " ", row));
      }
    }
    for (const RelationRef& relation : view.relations().relations()) {
      const bool dynamic_rows = relation->dynamic && relation->versioning == Versioning::kInterval;
      // The rows of a table that is gone at every retained snapshot belong to nobody.
      const std::string table = relation->name.substr(relation->name.rfind("data_") + 5);
      if (dynamic_rows && !GetText(view, "table", table.substr(0, table.find('_'))).empty()) {
        for (const std::string& row : ScanTexts(view, relation->name)) {
          rows.push_back(StrCat(relation->name, " ", row));
        }
      }
    }
    return rows;
  }
  std::map<SnapshotId, std::vector<std::string>> ShownAtRetained() {
    std::map<SnapshotId, std::vector<std::string>> shown;
    const auto retained = RetainedOf(*catalog_, *catalog_->LatestState(), absl::Now());
    EXPECT_TRUE(retained.ok()) << retained.status();
    for (const SnapshotId at : retained->snapshots()) {
      shown[at] = Shown(at);
    }
    return shown;
  }

  // Paths of all files, by whether a file of the catalog has them.
  std::set<std::string> PathsInUse() {
    std::set<std::string> paths;
    for (const char* relation : {"data_file", "delete_file"}) {
      for (const std::string& row :
           ScanTexts(catalog_->Current(), relation,
                     {.columns = {{1, 5}}, .rows = ScanRows::kAllVersions})) {
        const std::string_view text = row;
        const std::string_view table = text.substr(0, text.find(" | "));
        const size_t path = table.size() + 3;
        paths.insert(StrCat("main/t", table, "/", text.substr(path, text.find(" @ ") - path)));
      }
    }
    return paths;
  }

  void ExciseAndCheck() {
    const auto before = ShownAtRetained();
    const std::set<std::string> used_before = PathsInUse();
    const auto plan = PlanExcise(*catalog_, nullptr);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto result =
        Excise(catalog_.get(), {.rows_per_step = static_cast<uint32_t>(1 + Below(40))});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->rows, plan->reclaimable.rows);
    ASSERT_EQ(ShownAtRetained(), before);
    ASSERT_THAT(PlanExcise(*catalog_, nullptr)->reclaimable.rows, IsEmpty());

    // A path is scheduled iff no file has it any more.
    const std::set<std::string> used = PathsInUse();
    for (const std::string& path : used_before) {
      if (!used.contains(path)) {
        given_up_.insert(path);
      }
    }
    std::set<std::string> scheduled;
    for (const std::string& path : Rows("files_scheduled_for_deletion", {.columns = {{1}}})) {
      ASSERT_FALSE(used.contains(path)) << path << " is in use";
      scheduled.insert(path);
    }
    ASSERT_EQ(scheduled, given_up_);

    std::vector<std::string> errors;
    const auto summary = Verify(catalog_->Current(), {}, [&](const Finding& finding) {
      if (finding.severity == Severity::kError || finding.rule == "orphan") {
        errors.push_back(
            StrCat(finding.rule, " ", finding.relation, " ", finding.key, ": ", finding.message));
      }
    });
    ASSERT_TRUE(summary.ok()) << summary.status();
    ASSERT_THAT(errors, IsEmpty());
  }

  void Retain() {
    const auto retained = RetainedOf(*catalog_, *catalog_->LatestState(), absl::Now());
    switch (Below(4)) {
      case 0:
        if (const SnapshotId at = Any(retained->snapshots()); catalog_->At(at).ok()) {
          ASSERT_TRUE(
              PlacePin(catalog_.get(), {.name = StrCat("p", ++pins_), .snapshot = at}).ok());
        }
        return;
      case 1:
        if (const PinSet pins = *catalog_->LatestState()->pins; !pins.empty()) {
          ASSERT_TRUE(RemovePin(catalog_.get(), Any(pins).first).ok());
        }
        return;
      case 2: {
        const SnapshotId floor = std::max(catalog_->LatestState()->retain_from,
                                          last_ - std::min<SnapshotId>(last_, Below(8)));
        ASSERT_TRUE(ApplyGc(catalog_.get(), {.retain_from = floor}).ok());
        return;
      }
      default:
        // Its rows only; the excision is looked at by itself.
        MustExpireRow(Any(retained->snapshots()));
    }
  }
  void MustExpireRow(SnapshotId snapshot) {
    const absl::Status status =
        Apply(StrCat("erase snapshot ", snapshot, " @ ", snapshot, "\n erase snapshot_changes ",
                     snapshot, " @ ", snapshot));
    ASSERT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
  }

  std::mt19937_64 random_{TestSeed()};
  std::string text_;
  SnapshotId last_ = 0;
  int64_t next_id_ = 1;
  int64_t next_file_ = 1;
  std::map<int64_t, Table> tables_;
  std::map<int64_t, std::set<std::string>> paths_;  // ever, by table
  std::map<std::string, SnapshotId> begun_;
  int pins_ = 0;
  int64_t macro_ = 0;
  SnapshotId macro_begun_ = 0;
  std::set<std::string> given_up_;
};

TEST_F(ExciseRandom, ChangesNoAnswerAtAnyRetainedSnapshot) {
  for (int round = 0; round < 25; ++round) {
    for (uint64_t steps = 1 + Below(6); steps > 0; --steps) {
      Step();
      ASSERT_FALSE(HasFatalFailure());
    }
    for (uint64_t times = Below(4); times > 0; --times) {
      Retain();
      ASSERT_FALSE(HasFatalFailure());
    }
    ExciseAndCheck();
    ASSERT_FALSE(HasFailure()) << "round " << round;
    if (OneIn(5)) {
      Reopen();
    }
  }
}

}  // namespace
}  // namespace varve

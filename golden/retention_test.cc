// What raising the retention floor and excising leave of every scenario: each snapshot that is
// still retained shows the rows its expectation holds, each that is not is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "golden/expectations.h"
#include "golden/scenario_files.h"
#include "golden/scenario_run.h"
#include "golden/storage_state.h"
#include "golden/temporary_path.h"

namespace varve::golden {
namespace {

// Relations that say what there is, not what was true at a snapshot.
bool IsOfTheState(const std::string& relation) {
  static const std::set<std::string> of_the_state = {"ducklake_snapshot",
                                                     "ducklake_snapshot_changes",
                                                     "ducklake_schema_versions",
                                                     "ducklake_table_stats",
                                                     "ducklake_table_column_stats",
                                                     "ducklake_files_scheduled_for_deletion",
                                                     "ducklake_inlined_data_tables",
                                                     "ducklake_column_mapping",
                                                     "ducklake_name_mapping"};
  return of_the_state.contains(relation);
}

// The rows of inlined relations whose table or data file is there at the snapshot. Those of others
// have no end, but nothing leads to them: excision removes them.
SnapshotText Reachable(SnapshotText text) {
  std::set<std::string> tables;
  std::set<std::string> files;
  const auto first_value = [](const std::string& row) { return row.substr(0, row.find(',')); };
  for (const RelationText& relation : text) {
    for (const std::string& row : relation.rows) {
      if (relation.name == "ducklake_table") {
        tables.insert(first_value(row));
      } else if (relation.name == "ducklake_data_file") {
        files.insert(first_value(row));
      }
    }
  }
  constexpr std::string_view kRows = "ducklake_inlined_data_";
  constexpr std::string_view kDeletes = "ducklake_inlined_delete_";
  for (RelationText& relation : text) {
    if (relation.name.starts_with(kDeletes)) {
      std::erase_if(relation.rows,
                    [&](const std::string& row) { return !files.contains(first_value(row)); });
    } else if (relation.name.starts_with(kRows) &&
               relation.name != "ducklake_inlined_data_tables") {
      const std::string ids = relation.name.substr(kRows.size());
      if (!tables.contains(ids.substr(0, ids.find('_')))) {
        relation.rows.clear();
      }
    }
  }
  std::erase_if(text, [](const RelationText& relation) {
    return relation.rows.empty() || IsOfTheState(relation.name);
  });
  return text;
}

class RetentionOfScenarios : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const absl::StatusOr<std::string> text = ReadFile(ScenarioDirectory(GetParam()) / "script.txt");
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<Scenario> scenario = ParseScenario("script.txt", *text);
    ASSERT_TRUE(scenario.ok()) << scenario.status();
    const absl::StatusOr<Observations> run =
        RunScenario(*scenario, StorageStates().front(), path_.path());
    ASSERT_TRUE(run.ok()) << run.status();
    absl::StatusOr<Observations> expected =
        ReadExpectations(ScenarioDirectory(GetParam()) / "expected");
    ASSERT_TRUE(expected.ok()) << expected.status();
    expected_ = *std::move(expected);
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path_.path());
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
  }

  // The newest `keep` snapshots show what is expected, the others are refused.
  void ExpectOnlyTheNewest(size_t keep, bool excised) {
    size_t older = expected_.now.size() - std::min(keep, expected_.now.size());
    for (const auto& [name, expected] : expected_.now) {
      const absl::StatusOr<ReadView> view = catalog_->At(std::stoull(name));
      if (older > 0) {
        --older;
        EXPECT_EQ(view.status().code(), absl::StatusCode::kNotFound) << "snapshot " << name;
        continue;
      }
      ASSERT_TRUE(view.ok()) << view.status();
      const absl::StatusOr<SnapshotText> seen = ReadSnapshot(*view, RowForm::kValues);
      ASSERT_TRUE(seen.ok()) << seen.status();
      const std::string difference = excised
                                         ? FirstDifference(Reachable(expected), Reachable(*seen))
                                         : FirstDifference(expected, *seen);
      EXPECT_TRUE(difference.empty()) << "snapshot " << name << ": " << difference;
    }
  }

  const TemporaryPath path_;
  Observations expected_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_P(RetentionOfScenarios, WhatIsRetainedShowsTheSameRowsAfterGcAndAfterExcision) {
  for (const size_t keep : {size_t{3}, size_t{1}}) {
    const absl::StatusOr<GcPlan> gc = ApplyGc(catalog_.get(), {.keep_last = keep});
    ASSERT_TRUE(gc.ok()) << gc.status();
    ExpectOnlyTheNewest(keep, /*excised=*/keep == 1);

    const absl::StatusOr<ExciseResult> excised = Excise(catalog_.get(), {.rows_per_step = 3});
    ASSERT_TRUE(excised.ok()) << excised.status();
    ExpectOnlyTheNewest(keep, /*excised=*/true);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, RetentionOfScenarios, testing::ValuesIn(ScenarioNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace varve::golden

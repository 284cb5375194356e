// Runs every scenario in every state of storage and compares with its expected/ directory.
//
//   golden_test --update        writes the expected/ directories instead (or GOLDEN_UPDATE=1)
//
// What is written is never what the catalog alone says: a run fails before it when the catalog and
// the model disagree.

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>

#include "golden/expectations.h"
#include "golden/scenario_files.h"
#include "golden/scenario_run.h"
#include "golden/storage_state.h"
#include "golden/temporary_path.h"

DEFINE_bool(update, false, "write the expected snapshots of the scenarios instead of comparing");

namespace varve::golden {
namespace {

bool Updating() {
  return FLAGS_update || std::getenv("GOLDEN_UPDATE") != nullptr;
}

class ScenarioTest : public testing::TestWithParam<std::tuple<std::string, StorageState>> {};

TEST_P(ScenarioTest, ShowsTheExpectedRowsAtEverySnapshot) {
  const auto& [name, state] = GetParam();
  const std::filesystem::path expected_directory = ScenarioDirectory(name) / "expected";
  const TemporaryPath path;
  const absl::StatusOr<Scenario> scenario = LoadScenario(name);
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();

  const absl::StatusOr<Observations> seen = RunScenario(*scenario, state, path.path());

  ASSERT_TRUE(seen.ok()) << seen.status().message();
  if (Updating()) {
    const absl::Status written = WriteExpectations(expected_directory, *seen);
    ASSERT_TRUE(written.ok()) << written.message();
  }
  const absl::StatusOr<Observations> expected = ReadExpectations(expected_directory);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  const std::string difference = CompareExpectations(*expected, *seen);
  EXPECT_TRUE(difference.empty()) << difference << "in " << expected_directory << ", catalog "
                                  << state.says;
  if (state.reads_clean) {
    EXPECT_GT(seen->packs.clean, 0U) << "nothing was read clean, catalog " << state.says;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ScenarioTest,
                         testing::Combine(testing::ValuesIn(ScenarioNames()),
                                          testing::ValuesIn(StorageStates().begin(),
                                                            StorageStates().end())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  std::string(std::get<1>(test.param).name);
                         });

}  // namespace
}  // namespace varve::golden

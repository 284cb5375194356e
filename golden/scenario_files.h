// The scenarios of the repository, by the names of their directories.
//
// Thread-safety: functions without state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "golden/scenario.h"

namespace varve::golden {

std::filesystem::path ScenarioDirectory(const std::string& name);

// Ascending.
std::vector<std::string> ScenarioNames();

absl::StatusOr<Scenario> LoadScenario(const std::string& name);

}  // namespace varve::golden

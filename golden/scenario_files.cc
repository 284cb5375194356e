#include "golden/scenario_files.h"

#include <algorithm>

#include "golden/expectations.h"

namespace varve::golden {

std::filesystem::path ScenarioDirectory(const std::string& name) {
  return std::filesystem::path(VARVE_SOURCE_DIR) / "golden" / "scenarios" / name;
}

std::vector<std::string> ScenarioNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ScenarioDirectory(""))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Scenario> LoadScenario(const std::string& name) {
  absl::StatusOr<std::string> text = ReadFile(ScenarioDirectory(name) / "script.txt");
  return text.ok() ? ParseScenario("script.txt", *text) : text.status();
}

}  // namespace varve::golden

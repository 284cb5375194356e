// The expected/ directory of a scenario: reading, writing and comparing it.
//
// Thread-safety: functions without state.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "golden/scenario_run.h"

namespace varve::golden {

// Reads a directory; the `then` of the result is complete, not only what differs. A `then` without
// a file, because nothing was rewritten since, is left out of the result.
absl::StatusOr<Observations> ReadExpectations(const std::filesystem::path& directory);

// Writes what was seen, replacing whatever files the directory holds.
absl::Status WriteExpectations(const std::filesystem::path& directory, const Observations& seen);

// The first difference for a person to read, with the file it is in; empty when there is none.
std::string CompareExpectations(const Observations& expected, const Observations& seen);

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path);

}  // namespace varve::golden

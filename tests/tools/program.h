// Runs the varve program as a process.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace varve {

struct Outcome {
  int exit_code = -1;  // 128 + the signal that ended it, if one did
  std::string out;
  std::string err;
};

struct RunOptions {
  // Variables beside PATH and VARVE_CATALOG, which is never inherited.
  std::vector<std::pair<std::string, std::string>> environment;
  // Where standard output goes instead of Outcome::out. A pipe whose reader has gone: "closed
  // pipe".
  std::string stdout_path;
  // Standard error is a terminal, not a file.
  bool stderr_is_terminal = false;
};

// The catalog is named by `catalog` through --catalog, unless it is empty.
Outcome RunVarve(const std::string& catalog, std::vector<std::string> arguments,
                 const RunOptions& options = {});

// The small real catalog, imported once for all tests of the process.
const std::string& SmallCatalog();

// The data it came from.
std::string SmallCatalogSource();

// Lines of a text, without their ends.
std::vector<std::string> Lines(const std::string& text);

}  // namespace varve

// From the words of a command line to a command, its arguments, and gflags' flags set.
//
// The command is the first word that is no flag; flags may stand before and after it, as
// --name=value,
// --name value, and for switches --name and --noname; dashes in flag names count as underscores. A
// word that looks like a negative number is an argument, and so is everything after "--".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/command.h"

namespace varve {

struct CommandLine {
  const Command* command = nullptr;  // nullptr: none was named
  std::vector<std::string> arguments;
  bool help = false;     // --help or -h
  bool version = false;  // --version
};

// Usage errors: an unknown command or flag (the nearest is named), a flag that is not the
// command's, a missing or malformed value, too few or too many arguments.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& words);

// "at-time" for "at_time": how flags are shown.
std::string DashedName(std::string_view flag);

}  // namespace varve

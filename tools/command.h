// What a subcommand of the program is: how it is called, what it does, and the function that does
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/exit_codes.h"

namespace varve {

// A flag as one command understands it. Its value lives in a gflags flag of the same name; two
// commands may read one flag in different ways (--from of import and of diff).
struct CommandFlag {
  std::string_view name;   // as gflags has it: "at_time"; shown and accepted as "at-time" too
  std::string_view value;  // what stands for the value in the usage: "TIME"; empty: a switch
  std::string_view help;
};

struct Command {
  std::string_view name;
  std::string_view arguments;  // "RELATION KEY…"
  std::string_view summary;    // one line, lower case, no full stop
  std::string_view details;    // paragraphs for `varve help NAME`
  std::vector<CommandFlag> flags;
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  // Prints results to standard output. The code is the program's exit code.
  absl::StatusOr<ExitCode> (*run)(const std::vector<std::string>& arguments);
};

// All commands, in the order help lists them.
const std::vector<Command>& Commands();

// nullptr when there is none of that name.
const Command* FindCommand(std::string_view name);

// "; did you mean 'scan'?"
std::string NearestCommand(std::string_view name);

}  // namespace varve

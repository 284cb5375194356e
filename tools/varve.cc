// The varve program: reads the command line, runs a command, turns its error into one line and an
// exit code.

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "tools/command_line.h"
#include "tools/display_width.h"
#include "tools/help.h"
#include "tools/stdout.h"

namespace varve {
namespace {

absl::StatusOr<ExitCode> PrintText(const std::string& text) {
  Stdout out;
  VARVE_RETURN_IF_ERROR(out.Write(text));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& words) {
  VARVE_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(words));
  if (line.version) {
    return PrintText(VersionText());
  }
  if (line.help) {
    return PrintText(line.command == nullptr ? ProgramHelp() : CommandHelp(*line.command));
  }
  if (line.command == nullptr) {
    return UsageError("no command was given; 'varve help' lists them");
  }
  return line.command->run(line.arguments);
}

int Main(const std::vector<std::string>& words) {
  // Writing to a pipe whose reader has gone is an error to be handled, not a signal to die from.
  std::signal(SIGPIPE, SIG_IGN);
  // Standard output is for results; what the library logs goes where errors go.
  spdlog::set_default_logger(spdlog::stderr_logger_mt("varve"));
  spdlog::set_pattern("varve: %v");
  const absl::StatusOr<ExitCode> result = Run(words);
  if (result.ok()) {
    return *result;
  }
  if (IsOutputClosed(result.status())) {
    return kExitOk;
  }
  std::fprintf(stderr, "varve: %s\n", OneLine(MessageOf(result.status())).c_str());
  return ExitCodeOf(result.status());
}

}  // namespace
}  // namespace varve

int main(int argc, char** argv) {
  try {
    return varve::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {  // out of memory, from the standard library
    std::fprintf(stderr, "varve: %s\n", error.what());
    return varve::kExitFailure;
  }
}

// varve help: what the commands do and how they are called.

#include <absl/base/config.h>
#include <libpq-fe.h>
#include <rocksdb/version.h>
#include <sqlite3.h>
#include <zstd.h>

#include <google/protobuf/stubs/common.h>

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/stdout.h"

namespace varve {
namespace {

std::string Padded(std::string_view text, size_t width) {
  std::string padded(text);
  padded.append(text.size() < width ? width - text.size() : 0, ' ');
  return padded;
}

std::string FlagText(const CommandFlag& flag) {
  return StrCat("--", DashedName(flag.name), flag.value.empty() ? "" : "=", flag.value);
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  std::string text = ProgramHelp();
  if (!arguments.empty()) {
    const Command* command = FindCommand(arguments[0]);
    if (command == nullptr) {
      return UsageError(
          StrCat("unknown command '", arguments[0], "'", NearestCommand(arguments[0])));
    }
    text = CommandHelp(*command);
  }
  Stdout out;
  VARVE_RETURN_IF_ERROR(out.Write(text));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

std::string ProgramHelp() {
  std::string text =
      "varve: a versioned DuckLake catalog that can be read at any snapshot\n\n"
      "usage: varve COMMAND [ARGUMENTS] [FLAGS]\n\ncommands:\n";
  size_t width = 0;
  for (const Command& command : Commands()) {
    width = std::max(width, command.name.size());
  }
  for (const Command& command : Commands()) {
    StrAppend(&text, "  ", Padded(command.name, width), "  ", command.summary, "\n");
  }
  StrAppend(
      &text,
      "\n'varve help COMMAND' shows its arguments and flags; 'varve --version' the versions.\n"
      "The catalog is --catalog=PATH or the variable VARVE_CATALOG.\n\nexit codes:\n");
  for (const ExitCodeMeaning& code : kExitCodes) {
    StrAppend(&text, code.code < 10 ? "   " : "  ", static_cast<int>(code.code), "  ", code.meaning,
              "\n");
  }
  return text;
}

std::string CommandHelp(const Command& command) {
  std::string text = StrCat("varve ", command.name, ": ", command.summary, "\n\nusage: varve ",
                            command.name, command.arguments.empty() ? "" : " ", command.arguments,
                            command.flags.empty() ? "" : " [FLAGS]", "\n");
  if (!command.details.empty()) {
    StrAppend(&text, "\n", command.details, "\n");
  }
  if (command.flags.empty()) {
    return text;
  }
  StrAppend(&text, "\nflags:\n");
  size_t width = 0;
  for (const CommandFlag& flag : command.flags) {
    width = std::max(width, FlagText(flag).size());
  }
  for (const CommandFlag& flag : command.flags) {
    StrAppend(&text, "  ", Padded(FlagText(flag), width), "  ", flag.help, "\n");
  }
  return text;
}

std::string VersionText() {
  const int pq = PQlibVersion();
  return StrCat("varve ", VARVE_VERSION, "\nDuckLake catalog 1.0 (reads 0.3 to 1.0)\nRocksDB ",
                ROCKSDB_MAJOR, ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH, "\nprotobuf ",
                google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION), "\nabseil ",
                ABSL_LTS_RELEASE_VERSION, "\nzstd ", ZSTD_versionString(), "\nSQLite ",
                sqlite3_libversion(), "\nlibpq ", pq / 10000, ".", pq % 10000, "\n");
}

Command HelpCommand() {
  return {.name = "help",
          .arguments = "[COMMAND]",
          .summary = "show this list, or how a command is used",
          .max_arguments = 1,
          .run = Run};
}

}  // namespace varve

#include "tools/commands.h"

#include "catalog/relation_directory.h"

namespace varve {

const std::vector<Command>& Commands() {
  static const auto& commands = *new std::vector<Command>{
      InitCommand(),       ImportCommand(),  ExportCommand(),  LogCommand(),    LsCommand(),
      FilesCommand(),      ScanCommand(),    GetCommand(),     DiffCommand(),   ChangesCommand(),
      StatsCommand(),      MetricsCommand(), InspectCommand(), VerifyCommand(), FlushCommand(),
      CompactCommand(),    RepairCommand(),  RestoreCommand(), PinCommand(),    UnpinCommand(),
      PinsCommand(),       GcCommand(),      ExciseCommand(),  ExpireCommand(), AuditCommand(),
      CheckpointCommand(), HelpCommand()};
  return commands;
}

const Command* FindCommand(std::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) {
      return &command;
    }
  }
  return nullptr;
}

std::string NearestCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : Commands()) {
    names.push_back(command.name);
  }
  return DidYouMean(name, names);
}

}  // namespace varve

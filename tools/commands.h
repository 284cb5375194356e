// The commands, one function each. Each returns the entry of the command table that command.h hands
// out; commands.cc puts them in order.
#pragma once

#include "tools/command.h"

namespace varve {

Command InitCommand();
Command ImportCommand();
Command ExportCommand();
Command LogCommand();
Command LsCommand();
Command FilesCommand();
Command ScanCommand();
Command GetCommand();
Command DiffCommand();
Command ChangesCommand();
Command StatsCommand();
Command MetricsCommand();
Command InspectCommand();
Command VerifyCommand();
Command FlushCommand();
Command CompactCommand();
Command RepairCommand();
Command RestoreCommand();
Command PinCommand();
Command UnpinCommand();
Command PinsCommand();
Command GcCommand();
Command ExciseCommand();
Command ExpireCommand();
Command AuditCommand();
Command CheckpointCommand();
Command HelpCommand();

}  // namespace varve

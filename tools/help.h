// The program's help and version texts.
#pragma once

#include <string>

#include "tools/command.h"

namespace varve {

std::string ProgramHelp();
std::string CommandHelp(const Command& command);
std::string VersionText();

}  // namespace varve

// Exit codes of the varve program. docs/cli.md and `varve help` list them; scripts rely on them, so
// a code keeps its meaning for good.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace varve {

enum ExitCode : int {
  kExitOk = 0,
  kExitFindings = 1,
  kExitUsage = 2,
  kExitNoRow = 3,
  kExitNotFound = 4,
  kExitBadInput = 5,
  kExitBusy = 6,
  kExitDamaged = 7,
  kExitFailure = 8,
  kExitExists = 9,
  kExitUnsupported = 10,
  kExitRefused = 11,
};

struct ExitCodeMeaning {
  ExitCode code;
  std::string_view meaning;
};

inline constexpr ExitCodeMeaning kExitCodes[] = {
    {kExitOk, "success"},
    {kExitFindings, "verify found something wrong"},
    {kExitUsage, "usage: unknown command, flag or column, malformed value or predicate"},
    {kExitNoRow, "get: no row has this key"},
    {kExitNotFound, "not there: no catalog, snapshot, relation, table or input of that name"},
    {kExitBadInput, "the input of an import was refused"},
    {kExitBusy, "busy: the catalog is in use by another process, or a database cannot be reached"},
    {kExitDamaged, "the catalog is damaged"},
    {kExitFailure, "reading, writing or something else failed"},
    {kExitExists, "the target exists already"},
    {kExitUnsupported, "a catalog is of a format or version this program does not know"},
    {kExitRefused, "refused: the state of the catalog does not allow it now"},
};

// An error of how the program was called, whatever code its message came with.
absl::Status UsageError(std::string_view message);
absl::Status AsUsageError(const absl::Status& status);

// A FailedPrecondition as what the state of the catalog does not allow; other statuses as they are.
absl::Status AsRefusal(const absl::Status& status);

// What a command returns when the reader of standard output has gone: the program ends quietly.
absl::Status OutputClosed();
bool IsOutputClosed(const absl::Status& status);

// The exit code of an error that ended a command.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace varve

// Files and directories that must survive a power cut.
//
// Thread-safety: free functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace varve {

// Writes a small file whole and syncs it and its directory.
absl::Status WriteDurableFile(const std::string& path, std::string_view text);

// Syncs a directory, so that names made or removed in it stay so.
absl::Status SyncDirectory(const std::string& path);

// Renames a directory to a name that must not exist (an empty directory counts as not existing),
// and syncs the directory above. AlreadyExists when something is there.
absl::Status PublishDirectory(const std::string& from, const std::string& to);

}  // namespace varve

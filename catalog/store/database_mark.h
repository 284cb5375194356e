// What the files of a RocksDB database looked like at a moment.
//
// A reader beside a writer tells by two marks what happened between them: every file that is added
// or no longer belongs is in the manifest before anything is removed, and every write makes a log
// longer before it is acknowledged.
//
// Thread-safety: free functions and values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace varve {

struct DatabaseMark {
  std::string manifest;                  // its name and size
  std::map<std::string, uint64_t> logs;  // write-ahead logs, by name, with their sizes

  friend bool operator==(const DatabaseMark&, const DatabaseMark&) = default;
};

// The mark of the database in the directory `rows`. What cannot be read counts as not there.
DatabaseMark TakeMark(const std::string& rows);

// Whether the same files make up the database: the logs may have grown.
bool SameFiles(const DatabaseMark& a, const DatabaseMark& b);

}  // namespace varve

// Finds damage in RocksDB's logs, the write-ahead logs and the manifest.
//
// A log may end in the middle of a record: the write was cut off by a crash, and what it should
// have said was never acknowledged. RocksDB takes more than that for such an end: a record whose
// length or kind is damaged makes it drop, without a word, all that follows. So each opening checks
// the logs first, record by record; only an end that no damage to an intact record explains is let
// pass.
//
// A log is a sequence of blocks of 32 KiB, the last one shorter. A block holds records, and fewer
// than 7 bytes of padding at its end:
//
//   checksum u32 (masked CRC-32C of kind and body) | length u16 | kind u8 | body
//
// Thread-safety: free functions. They only read.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace varve {

// Checks one log. DataLoss names the file and the byte where the damage is.
absl::Status CheckLog(const std::string& path);

// Checks the manifest in use and all write-ahead logs of a RocksDB database. A file that vanishes
// meanwhile (another process writes there) is left out.
absl::Status CheckLogs(const std::string& database);

}  // namespace varve

// Finds damage in those parts of RocksDB's table files that RocksDB reads without checking.
//
// RocksDB checks data, index and filter blocks against their checksums whenever it reads them. But
// the footer has no checksum, and a damaged properties block is passed over: the file is then read
// with guesses in place of its properties (or, where the library was built with assertions, the
// process ends). So each opening looks at the end of every table first: a footer exactly as Varve
// has them written, and whole meta-index and properties blocks. That is a few hundred bytes a file.
//
//   … blocks … | metaindex block | index block | footer
//   block    contents | compression u8 | checksum u32
//   footer   kind of checksum u8 | handles of metaindex and index, padded to 40 bytes
//            | format version u32 | magic u64
//
// Thread-safety: free functions. They only read.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace varve {

// Checks one table file. DataLoss names the file and the part that is damaged.
absl::Status CheckTable(const std::string& path);

}  // namespace varve

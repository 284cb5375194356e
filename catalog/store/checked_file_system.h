// A file system that lets RocksDB open a table file only when its end is intact.
//
// Each table is checked (table_check.h) when RocksDB opens it, so exactly the files that belong to
// the database are looked at: not one that a writer beside us has begun and not finished, and not
// what a crash left behind.
//
// Thread-safety: any thread.
#pragma once

#include <rocksdb/env.h>

namespace varve {

// The environment to open a row store with. Lives as long as the process.
rocksdb::Env* CheckedEnvironment();

}  // namespace varve

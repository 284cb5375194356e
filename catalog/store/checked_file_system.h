// A file system that lets RocksDB open a table file only when its end is intact.
//
// Each table is checked (table_check.h) when RocksDB opens it, so exactly the files that belong to
// the database are looked at: not one that a writer beside us has begun and not finished, and not
// what a crash left behind.
//
// Thread-safety: any thread.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>

namespace varve {

// The environment to open a row store with. Lives as long as the process.
rocksdb::Env* CheckedEnvironment();

// One over another file system, which must keep its files where the default one does: the checks
// read them past it. Must outlive the databases opened with it.
std::unique_ptr<rocksdb::Env> MakeCheckedEnvironment(std::shared_ptr<rocksdb::FileSystem> base);

}  // namespace varve

// Writes pairs that come in key order into files of one column family, ready to be taken over by
// the row store whole (RocksDB's external file ingestion).
//
// Thread-safety: one thread.
#pragma once

#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "catalog/store/row_store.h"

namespace varve {

class SortedFileWriter {
 public:
  // Files are named `directory`/<family>-<number>.sst.
  SortedFileWriter(Family family, std::string directory);

  // Keys must ascend strictly.
  absl::Status Put(std::string_view key, std::string_view value);
  absl::Status Finish();
  // Moves the finished files into the store.
  absl::Status IngestInto(RowStore* store);

 private:
  absl::Status FinishFile();

  Family family_;
  std::string directory_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> files_;
};

}  // namespace varve

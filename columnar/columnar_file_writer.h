// Writes a columnar file: header, the packs and meta of one table after the other, footer.
//
// The file goes through rocksdb::FileSystem and is streamed; what memory it takes is said at
// ColumnarTableBuilder. It is synced before Finish returns. The caller gives the name and syncs the
// directory; after an error, or when a writer is destroyed before Finish, it deletes the file.
//
// Thread-safety: none. Ownership: the open file; borrows the file system.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/columnar_rows.h"
#include "columnar/columnar_schema.h"
#include "columnar/columnar_table_builder.h"
#include "rocksdb/file_system.h"

namespace varve {

struct ColumnarFileWriterOptions {
  int level = 2;
  ColumnarFileKind kind = ColumnarFileKind::kMixed;
  std::optional<uint64_t> flushed_csn;
  ColumnarTableBuilderOptions table;
};

class ColumnarFileWriter : private ColumnarSink {
 public:
  // Creates the file, over any that is there.
  static absl::StatusOr<std::unique_ptr<ColumnarFileWriter>> Create(
      rocksdb::FileSystem* file_system, std::string path, ColumnarFileWriterOptions options);
  ~ColumnarFileWriter() override;
  ColumnarFileWriter(const ColumnarFileWriter&) = delete;
  ColumnarFileWriter& operator=(const ColumnarFileWriter&) = delete;

  // Starts a table; the one before, if any, is finished. InvalidArgument if the file has the
  // relation already.
  absl::Status BeginTable(ColumnarTableSchema schema);
  // Adds rows to the table begun last (see ColumnarTableBuilder::Append).
  absl::Status Append(const ColumnarRows& rows) { return Append(rows, 0, rows.num_rows()); }
  absl::Status Append(const ColumnarRows& rows, size_t from, size_t to);

  // Finishes the last table, writes the footer, syncs and closes the file. What it says of itself.
  absl::StatusOr<ColumnarFileProperties> Finish();

  // Bytes handed to the file so far; the size of the file once it is finished.
  uint64_t file_size() const { return offset_; }

 private:
  ColumnarFileWriter(std::string path, ColumnarFileWriterOptions options,
                     std::unique_ptr<rocksdb::FSWritableFile> file);

  absl::Status Append(std::string_view bytes) override;
  uint64_t offset() const override { return offset_; }
  absl::Status FinishTable();

  const std::string path_;
  const ColumnarFileWriterOptions options_;
  std::unique_ptr<rocksdb::FSWritableFile> file_;
  uint64_t offset_ = 0;
  std::unique_ptr<ColumnarTableBuilder> table_;  // the table under way
  ColumnarFileProperties properties_;
};

}  // namespace varve

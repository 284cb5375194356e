#include "columnar/columnar_file_writer.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"
#include "columnar/io_status.h"

namespace varve {

ColumnarFileWriter::ColumnarFileWriter(std::string path, ColumnarFileWriterOptions options,
                                       std::unique_ptr<rocksdb::FSWritableFile> file)
    : path_(std::move(path)), options_(std::move(options)), file_(std::move(file)) {
  properties_.level = options_.level;
  properties_.kind = options_.kind;
  properties_.flushed_csn = options_.flushed_csn;
}

ColumnarFileWriter::~ColumnarFileWriter() = default;

absl::StatusOr<std::unique_ptr<ColumnarFileWriter>> ColumnarFileWriter::Create(
    rocksdb::FileSystem* file_system, std::string path, ColumnarFileWriterOptions options) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  VARVE_RETURN_IF_ERROR(FromIoStatus(
      file_system->NewWritableFile(path, rocksdb::FileOptions(), &file, /*dbg=*/nullptr),
      StrCat("creating columnar file ", path)));
  std::unique_ptr<ColumnarFileWriter> writer(
      new ColumnarFileWriter(std::move(path), std::move(options), std::move(file)));
  std::string header(kColumnarHeaderMagic);
  PutLittleEndian(&header, kColumnarFormatVersion);
  PutLittleEndian(&header, SectionChecksum(header));
  VARVE_RETURN_IF_ERROR(writer->Append(header));
  return writer;
}

absl::Status ColumnarFileWriter::Append(std::string_view bytes) {
  VARVE_RETURN_IF_ERROR(
      FromIoStatus(file_->Append(rocksdb::Slice(bytes.data(), bytes.size()), rocksdb::IOOptions(),
                                 /*dbg=*/nullptr),
                   StrCat("writing columnar file ", path_)));
  offset_ += bytes.size();
  return absl::OkStatus();
}

absl::Status ColumnarFileWriter::BeginTable(ColumnarTableSchema schema) {
  VARVE_RETURN_IF_ERROR(FinishTable());
  if (std::ranges::any_of(properties_.tables, [&schema](const ColumnarTableProperties& table) {
        return table.schema.relation == schema.relation;
      })) {
    return absl::InvalidArgumentError(
        StrCat("columnar file ", path_, " already has a table of relation ", schema.relation));
  }
  table_ = std::make_unique<ColumnarTableBuilder>(std::move(schema), options_.table,
                                                  static_cast<ColumnarSink*>(this));
  return absl::OkStatus();
}

absl::Status ColumnarFileWriter::Append(const ColumnarRows& rows, size_t from, size_t to) {
  if (table_ == nullptr) {
    return absl::FailedPreconditionError(
        StrCat("rows were given to columnar file ", path_, " before a table was begun"));
  }
  return table_->Append(rows, from, to);
}

absl::Status ColumnarFileWriter::FinishTable() {
  if (table_ == nullptr) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(ColumnarTableProperties table, table_->Finish());
  if (const std::optional<SnapshotId> max = table_->max_version(); max.has_value()) {
    properties_.max_version = std::max(properties_.max_version.value_or(0), *max);
  }
  properties_.tables.push_back(std::move(table));
  table_.reset();
  return absl::OkStatus();
}

absl::StatusOr<ColumnarFileProperties> ColumnarFileWriter::Finish() {
  VARVE_RETURN_IF_ERROR(FinishTable());
  const uint64_t footer_offset = offset_;
  std::string encoded;
  AppendFileProperties(properties_, &encoded);
  std::string footer;
  PutLengthPrefixed(&footer, encoded);
  PutLittleEndian(&footer, footer_offset);
  PutLittleEndian(&footer, SectionChecksum(footer));
  footer.append(kColumnarFooterMagic);
  VARVE_RETURN_IF_ERROR(Append(footer));

  const rocksdb::IOOptions io;
  // Fsync, not Sync: the file is new, and its length has to last as well.
  VARVE_RETURN_IF_ERROR(
      FromIoStatus(file_->Fsync(io, /*dbg=*/nullptr), StrCat("syncing columnar file ", path_)));
  VARVE_RETURN_IF_ERROR(
      FromIoStatus(file_->Close(io, /*dbg=*/nullptr), StrCat("closing columnar file ", path_)));
  file_.reset();
  return properties_;
}

}  // namespace varve

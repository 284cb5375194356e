#include "catalog/load/sorted_file_writer.h"

#include <rocksdb/cache.h>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr uint64_t kFileBytes = uint64_t{64} << 20;

}  // namespace

SortedFileWriter::SortedFileWriter(Family family, std::string directory)
    : family_(family),
      directory_(std::move(directory)),
      options_(rocksdb::DBOptions(), FamilyOptions(family, /*cache=*/nullptr)) {}

absl::Status SortedFileWriter::Put(std::string_view key, std::string_view value) {
  if (writer_ == nullptr) {
    writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options_);
    files_.push_back(StrCat(directory_, "/", kFamilyNames[static_cast<size_t>(family_)], "-",
                            files_.size(), ".sst"));
    VARVE_RETURN_IF_ERROR(
        FromRocksDb(writer_->Open(files_.back()), StrCat("writing ", files_.back())));
  }
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(writer_->Put(ToSlice(key), ToSlice(value)), StrCat("writing ", files_.back())));
  return writer_->FileSize() >= kFileBytes ? FinishFile() : absl::OkStatus();
}

absl::Status SortedFileWriter::FinishFile() {
  const rocksdb::Status status = writer_->Finish();
  writer_.reset();
  return FromRocksDb(status, StrCat("writing ", files_.back()));
}

absl::Status SortedFileWriter::Finish() {
  return writer_ == nullptr ? absl::OkStatus() : FinishFile();
}

absl::Status SortedFileWriter::IngestInto(RowStore* store) {
  if (files_.empty()) {
    return absl::OkStatus();
  }
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  options.snapshot_consistency = false;
  options.write_global_seqno = false;  // changing a file in place would leave its checksum wrong
  return FromRocksDb(store->db().IngestExternalFile(store->family(family_), files_, options),
                     "taking over the sorted files");
}

}  // namespace varve

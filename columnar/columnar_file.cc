#include "columnar/columnar_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"
#include "columnar/io_status.h"

namespace varve {
namespace {

// Numbers given to files that came without one: from the top, where no manifest's numbers are.
uint64_t NextFileId() {
  static std::atomic<uint64_t> next = uint64_t{1} << 63;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

ColumnarFile::ColumnarFile(std::string path, uint64_t file_id, uint64_t file_size,
                           std::unique_ptr<rocksdb::FSRandomAccessFile> file)
    : path_(std::move(path)), file_id_(file_id), file_size_(file_size), file_(std::move(file)) {}

absl::StatusOr<std::shared_ptr<const ColumnarFile>> ColumnarFile::Open(
    rocksdb::FileSystem* file_system, std::string path, const ColumnarFileOptions& options) {
  const std::string what = StrCat("opening columnar file ", path);
  uint64_t file_size = 0;
  VARVE_RETURN_IF_ERROR(FromIoStatus(
      file_system->GetFileSize(path, rocksdb::IOOptions(), &file_size, /*dbg=*/nullptr), what));
  std::unique_ptr<rocksdb::FSRandomAccessFile> random_access;
  VARVE_RETURN_IF_ERROR(FromIoStatus(
      file_system->NewRandomAccessFile(path, rocksdb::FileOptions(), &random_access, nullptr),
      what));
  const uint64_t file_id = options.file_id.has_value() ? *options.file_id : NextFileId();
  const std::shared_ptr<ColumnarFile> file(
      new ColumnarFile(std::move(path), file_id, file_size, std::move(random_access)));
  VARVE_RETURN_IF_ERROR(file->ReadHeader());
  uint64_t footer_offset = 0;
  VARVE_RETURN_IF_ERROR(file->ReadFooter(&footer_offset));
  file->tables_.reserve(file->properties_.tables.size());
  for (const ColumnarTableProperties& table : file->properties_.tables) {
    VARVE_RETURN_IF_ERROR(file->ReadTable(table, footer_offset));
  }
  return file;
}

absl::Status ColumnarFile::Damaged(std::string_view section, std::string_view what) const {
  damage_seen_.store(true, std::memory_order_relaxed);
  return absl::DataLossError(StrCat("columnar file ", path_, " is damaged: ", section, ": ", what));
}

absl::Status ColumnarFile::Read(uint64_t offset, size_t n, char* scratch) const {
  rocksdb::Slice result;
  VARVE_RETURN_IF_ERROR(
      FromIoStatus(file_->Read(offset, n, rocksdb::IOOptions(), &result, scratch, /*dbg=*/nullptr),
                   StrCat("reading columnar file ", path_)));
  if (result.size() != n) {
    return Damaged(StrCat("bytes from ", offset, " on"),
                   StrCat(n, " were expected, ", result.size(), " are there"));
  }
  if (result.data() != scratch) {
    std::memcpy(scratch, result.data(), n);
  }
  return absl::OkStatus();
}

absl::Status ColumnarFile::ReadHeader() const {
  if (file_size_ < kColumnarHeaderSize + kColumnarTailSize) {
    return Damaged("header", StrCat("the file has ", file_size_, " bytes only"));
  }
  std::string header(kColumnarHeaderSize, '\0');
  VARVE_RETURN_IF_ERROR(Read(0, header.size(), header.data()));
  std::string_view in = header;
  if (!in.starts_with(kColumnarHeaderMagic)) {
    return Damaged("header", "it does not begin as a columnar file does");
  }
  in.remove_prefix(kColumnarHeaderMagic.size());
  uint32_t version = 0;
  uint64_t checksum = 0;
  GetLittleEndian(&in, &version);
  GetLittleEndian(&in, &checksum);
  if (checksum != SectionChecksum({header.data(), header.size() - kChecksumSize})) {
    return Damaged("header", "its checksum does not match");
  }
  if (version != kColumnarFormatVersion) {
    return absl::UnimplementedError(StrCat("columnar file ", path_, " has format version ", version,
                                           "; this program reads version ",
                                           kColumnarFormatVersion));
  }
  return absl::OkStatus();
}

absl::Status ColumnarFile::ReadFooter(uint64_t* footer_offset) {
  const uint64_t tail_offset = file_size_ - kColumnarTailSize;
  std::string tail(kColumnarTailSize, '\0');
  VARVE_RETURN_IF_ERROR(Read(tail_offset, tail.size(), tail.data()));
  std::string_view in = tail;
  uint64_t checksum = 0;
  GetLittleEndian(&in, footer_offset);
  GetLittleEndian(&in, &checksum);
  if (in != kColumnarFooterMagic) {
    return Damaged("footer", "the file does not end as a columnar file does: it is cut short");
  }
  if (*footer_offset < kColumnarHeaderSize || *footer_offset > tail_offset) {
    return Damaged("footer", StrCat("it cannot start at ", *footer_offset));
  }
  // All but checksum and magic.
  std::string footer(tail_offset + sizeof(uint64_t) - *footer_offset, '\0');
  VARVE_RETURN_IF_ERROR(Read(*footer_offset, footer.size(), footer.data()));
  if (checksum != SectionChecksum(footer)) {
    return Damaged("footer", "its checksum does not match");
  }
  in = footer;
  std::string_view properties;
  if (!GetLengthPrefixed(&in, &properties)) {
    return Damaged("footer", "the file properties are cut short");
  }
  if (const absl::Status status = ParseFileProperties(properties, &properties_); !status.ok()) {
    return Damaged("footer", FromAbsl(status.message()));
  }
  return absl::OkStatus();
}

absl::Status ColumnarFile::ReadTable(const ColumnarTableProperties& properties,
                                     uint64_t footer_offset) {
  const std::string section = StrCat("meta of table ", properties.schema.relation);
  if (properties.meta_offset < kColumnarHeaderSize || properties.meta_length < kChecksumSize ||
      properties.meta_offset > footer_offset ||
      properties.meta_length > footer_offset - properties.meta_offset) {
    return Damaged(section, "it does not lie before the footer");
  }
  if (FindTable(properties.schema.relation) != nullptr) {
    return Damaged(section, "there are two of them");
  }
  std::string bytes(properties.meta_length, '\0');
  VARVE_RETURN_IF_ERROR(Read(properties.meta_offset, bytes.size(), bytes.data()));
  const size_t size = bytes.size() - kChecksumSize;
  const std::string_view contents(bytes.data(), size);
  if (LoadLittleEndian<uint64_t>(bytes.data() + size) != SectionChecksum(contents)) {
    return Damaged(section, "its checksum does not match");
  }
  TableMeta meta;
  if (const absl::Status status =
          ParseTableMeta(contents, kColumnarHeaderSize, properties.meta_offset, &meta);
      !status.ok()) {
    return Damaged(section, FromAbsl(status.message()));
  }
  absl::StatusOr<ColumnarTable> table = ColumnarTable::Make(properties, std::move(meta));
  if (!table.ok()) {
    return Damaged(section, FromAbsl(table.status().message()));
  }
  tables_.push_back(*std::move(table));
  return absl::OkStatus();
}

const ColumnarTable* ColumnarFile::FindTable(uint32_t relation) const {
  const auto it = std::ranges::find_if(tables_, [relation](const ColumnarTable& table) {
    return table.schema().relation == relation;
  });
  return it == tables_.end() ? nullptr : &*it;
}

}  // namespace varve

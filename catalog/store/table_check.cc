#include "catalog/store/table_check.h"

#include <xxhash.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr size_t kHandlesSize = 40;
constexpr size_t kFooterSize = 1 + kHandlesSize + 4 + 8;
constexpr size_t kTrailerSize = 5;
constexpr char kXxh3Kind = 4;
constexpr uint32_t kFormatVersionOfTables = 5;
constexpr uint64_t kMagic = 0x88e241b785f4cff7;
constexpr std::string_view kPropertiesName = "rocksdb.properties";

// Where a block lies, without its trailer.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;
};

bool ReadHandle(std::string_view* in, BlockHandle* handle) {
  return GetVarint64(in, &handle->offset) && GetVarint64(in, &handle->size);
}

// RocksDB's XXH3 checksum of a block: the low half over the contents, changed by the compression
// byte.
uint32_t BlockChecksum(std::string_view contents, uint8_t compression) {
  constexpr uint32_t kPrime = 0x6b9083d9;
  return static_cast<uint32_t>(XXH3_64bits(contents.data(), contents.size())) ^
         compression * kPrime;
}

class Table {
 public:
  explicit Table(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    size_ = error ? 0 : size;
  }

  bool is_open() const { return file_.is_open(); }

  absl::Status Check() {
    BlockHandle metaindex;
    VARVE_RETURN_IF_ERROR(ReadFooter(&metaindex));
    std::string contents;
    VARVE_RETURN_IF_ERROR(ReadBlock(metaindex, "metaindex block", &contents));
    const std::optional<BlockHandle> properties = FindProperties(contents);
    if (!properties.has_value()) {
      return Damaged("metaindex block");
    }
    return ReadBlock(*properties, "properties block", &contents);
  }

 private:
  absl::Status Damaged(std::string_view part) const {
    return absl::DataLossError(StrCat("the ", part, " of ", path_, " is damaged"));
  }

  bool Read(uint64_t offset, size_t size, std::string* bytes) {
    bytes->resize(size);
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes->data(), static_cast<std::streamsize>(size));
    return file_.good();
  }

  absl::Status ReadFooter(BlockHandle* metaindex) {
    std::string footer;
    if (size_ < kFooterSize || !Read(size_ - kFooterSize, kFooterSize, &footer)) {
      return Damaged("footer");
    }
    std::string_view handles = std::string_view(footer).substr(1, kHandlesSize);
    BlockHandle index;
    std::string_view tail = std::string_view(footer).substr(1 + kHandlesSize);
    uint32_t version = 0;
    uint64_t magic = 0;
    const bool intact = footer[0] == kXxh3Kind && ReadHandle(&handles, metaindex) &&
                        ReadHandle(&handles, &index) && GetLittleEndian(&tail, &version) &&
                        version == kFormatVersionOfTables && GetLittleEndian(&tail, &magic) &&
                        magic == kMagic;
    return intact ? absl::OkStatus() : Damaged("footer");
  }

  absl::Status ReadBlock(const BlockHandle& handle, std::string_view name, std::string* contents) {
    if (handle.size > size_ || handle.offset > size_ - handle.size ||
        kTrailerSize > size_ - handle.size - handle.offset ||
        !Read(handle.offset, handle.size + kTrailerSize, contents)) {
      return Damaged(name);
    }
    const std::string_view body = std::string_view(*contents).substr(0, handle.size);
    const auto compression = static_cast<uint8_t>((*contents)[handle.size]);
    if (LoadLittleEndian<uint32_t>(contents->data() + handle.size + 1) !=
        BlockChecksum(body, compression)) {
      return Damaged(name);
    }
    contents->resize(handle.size);
    return absl::OkStatus();
  }

  // Entries of a metaindex block: shared and own length of the name, length of the value, the
  // name's own part, the value (a handle). Offsets for searching follow, and their number.
  static std::optional<BlockHandle> FindProperties(std::string_view block) {
    if (block.size() < sizeof(uint32_t)) {
      return std::nullopt;
    }
    const uint64_t restarts =
        LoadLittleEndian<uint32_t>(block.data() + block.size() - sizeof(uint32_t));
    if (restarts >= block.size() / sizeof(uint32_t)) {
      return std::nullopt;
    }
    block.remove_suffix((restarts + 1) * sizeof(uint32_t));
    std::string name;
    while (!block.empty()) {
      uint64_t shared = 0;
      uint64_t own = 0;
      uint64_t length = 0;
      if (!GetVarint64(&block, &shared) || !GetVarint64(&block, &own) ||
          !GetVarint64(&block, &length) || shared > name.size() || own > block.size() ||
          length > block.size() - own) {
        return std::nullopt;
      }
      name.resize(shared);
      name.append(block.substr(0, own));
      std::string_view value = block.substr(own, length);
      block.remove_prefix(own + length);
      BlockHandle handle;
      if (name == kPropertiesName) {
        return ReadHandle(&value, &handle) ? std::optional(handle) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::string path_;
  std::ifstream file_;
  uint64_t size_ = 0;
};

}  // namespace

absl::Status CheckTable(const std::string& path) {
  Table table(path);
  return table.is_open() ? table.Check() : absl::NotFoundError(StrCat("cannot read ", path));
}

}  // namespace varve

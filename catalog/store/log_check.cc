#include "catalog/store/log_check.h"

#include <rocksdb/file_checksum.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr size_t kBlockSize = size_t{32} << 10;
constexpr size_t kHeaderSize = 7;
constexpr size_t kLengthAt = 4;
constexpr size_t kKindAt = 6;
constexpr uint8_t kFirstKind = 1;  // a whole record, its first, middle or last part
constexpr uint8_t kLastKind = 4;

// RocksDB's CRC-32C of `bytes`, masked as logs store it.
uint32_t MaskedChecksum(std::string_view bytes) {
  static const std::shared_ptr<rocksdb::FileChecksumGenFactory> factory =
      rocksdb::GetFileChecksumGenCrc32cFactory();
  const std::unique_ptr<rocksdb::FileChecksumGenerator> generator =
      factory->CreateFileChecksumGenerator(rocksdb::FileChecksumGenContext());
  generator->Update(bytes.data(), bytes.size());
  generator->Finalize();
  const auto crc = LoadBigEndian<uint32_t>(generator->GetChecksum().data());
  constexpr int kMaskRotation = 15;
  constexpr uint32_t kMaskDelta = 0xa282ead8;
  return std::rotr(crc, kMaskRotation) + kMaskDelta;
}

enum class RecordState : uint8_t { kIntact, kTorn, kDamaged };

// Whether the body of the record at the front of `rest` fits its checksum, were it `length` long.
bool FitsChecksum(std::string_view rest, size_t length) {
  return LoadLittleEndian<uint32_t>(rest.data()) ==
         MaskedChecksum(rest.substr(kKindAt, 1 + length));
}

// Judges the record at the front of `rest`, which ends where the block or the file does. `room` is
// what the block would hold from there on. Requires: a whole header.
RecordState Judge(std::string_view rest, size_t room, size_t* length) {
  *length = LoadLittleEndian<uint16_t>(rest.data() + kLengthAt);
  const auto kind = static_cast<uint8_t>(rest[kKindAt]);
  if (kHeaderSize + *length <= rest.size()) {
    return kind >= kFirstKind && kind <= kLastKind && FitsChecksum(rest, *length)
               ? RecordState::kIntact
               : RecordState::kDamaged;
  }
  if (kHeaderSize + *length > room) {
    return RecordState::kDamaged;  // never written so
  }
  // Cut off, unless some other length makes it a record: then it is the length that is damaged.
  for (size_t other = 0; kHeaderSize + other <= rest.size(); ++other) {
    if (FitsChecksum(rest, other)) {
      return RecordState::kDamaged;
    }
  }
  return RecordState::kTorn;
}

bool IsZero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

}  // namespace

absl::Status CheckLog(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return absl::NotFoundError(StrCat("cannot read ", path));
  }
  std::string block(kBlockSize, '\0');
  bool ended = false;  // only zeros follow: room that was set aside and never written
  for (uint64_t offset = 0; file; offset += kBlockSize) {
    file.read(block.data(), static_cast<std::streamsize>(kBlockSize));
    const std::string_view bytes(block.data(), static_cast<size_t>(file.gcount()));
    size_t at = 0;
    while (!ended && at + kHeaderSize <= bytes.size()) {
      const std::string_view rest = bytes.substr(at);
      size_t length = 0;
      ended = IsZero(rest);
      const RecordState state = ended ? RecordState::kTorn : Judge(rest, kBlockSize - at, &length);
      if (state == RecordState::kDamaged) {
        return absl::DataLossError(StrCat(path, " is damaged at byte ", offset + at,
                                          "; restore the catalog from a copy, or import it again"));
      }
      if (state == RecordState::kTorn) {
        break;
      }
      at += kHeaderSize + length;
    }
    if (ended && !IsZero(bytes.substr(at))) {
      return absl::DataLossError(StrCat(path, " has a hole before byte ", offset + bytes.size(),
                                        "; restore the catalog from a copy, or import it again"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLogs(const std::string& database) {
  const auto check = [](const std::string& path) {
    const absl::Status status = CheckLog(path);
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  };
  std::ifstream current(StrCat(database, "/CURRENT"));
  std::string manifest;
  if (std::getline(current, manifest)) {
    VARVE_RETURN_IF_ERROR(check(StrCat(database, "/", manifest)));
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(database, error)) {
    if (entry.path().extension() == ".log") {
      VARVE_RETURN_IF_ERROR(check(entry.path().string()));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

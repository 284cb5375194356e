// Constants of the columnar file format, and the few primitives all its sections are made of.
//
// docs/file-format.md describes the format byte for byte. All integers are little-endian; every
// section carries the XXH3-64 of its bytes.
//
// Thread-safety: constants and pure functions.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/coding.h"

namespace varve {

inline constexpr std::string_view kColumnarHeaderMagic = "VARVECOL";
inline constexpr std::string_view kColumnarFooterMagic = "LOCEVRAV";
inline constexpr uint32_t kColumnarFormatVersion = 1;

inline constexpr size_t kChecksumSize = sizeof(uint64_t);
// magic(8) | format version(4) | checksum(8)
inline constexpr size_t kColumnarHeaderSize = 8 + 4 + kChecksumSize;
// footer offset(8) | checksum(8) | magic(8): the end of the footer, at a fixed place.
inline constexpr size_t kColumnarTailSize = 8 + kChecksumSize + 8;

// A pack is finished at this many rows, as soon as the next handle differs.
inline constexpr size_t kRowsPerPack = 8'192;
// No pack has more rows: it bounds what a reader allocates, whatever a file says. A single handle
// with more versions than that cannot be written.
inline constexpr size_t kMaxRowsPerPack = size_t{1} << 24;

// Ids of the columns that every table has besides its own.
inline constexpr uint32_t kHandleColumnId = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t kVersionColumnId = kHandleColumnId - 1;
inline constexpr uint32_t kEndColumnId = kHandleColumnId - 2;
inline constexpr uint32_t kFirstReservedColumnId = kEndColumnId;

// Keys of table properties. A reader ignores keys it does not know.
inline constexpr std::string_view kPropPackMvccStats = "pack_mvcc_stats_v1";
inline constexpr std::string_view kPropMaxVersion = "max_ver";
inline constexpr std::string_view kPropPackSnapshotBounds = "pack_snapshot_bounds_v1";
inline constexpr std::string_view kPropPackLastHandle = "pack_last_handle_v1";
inline constexpr std::string_view kPropHandleBloom = "handle_bloom_v1";

// Keys of file properties.
inline constexpr std::string_view kFilePropLevel = "level";
inline constexpr std::string_view kFilePropKind = "kind";
inline constexpr std::string_view kFilePropMaxVersion = "max_version";
inline constexpr std::string_view kFilePropFlushedCsn = "flushed_csn";
inline constexpr std::string_view kFilePropTables = "tables";

// The first byte of every versioned property value; a reader ignores values of a later version.
inline constexpr uint8_t kPropertyVersion = 1;

inline uint64_t SectionChecksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

inline void PutLengthPrefixed(std::string* out, std::string_view bytes) {
  PutLittleEndian<uint32_t>(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes);
}

// Takes length(4) | bytes off the front of `in`; false, leaving all untouched, when they run out.
// `bytes` points into `in`.
inline bool GetLengthPrefixed(std::string_view* in, std::string_view* bytes) {
  std::string_view rest = *in;
  uint32_t length = 0;
  if (!GetLittleEndian(&rest, &length) || rest.size() < length) {
    return false;
  }
  *bytes = rest.substr(0, length);
  in->remove_prefix(sizeof(length) + length);
  return true;
}

}  // namespace varve

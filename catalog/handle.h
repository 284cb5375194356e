// Handles: the encoded key columns of a row, without its snapshot.
//
//   int handle      8 bytes, big-endian, sign bit flipped
//   common handle   the key columns as a key tuple (base/key_codec.h)
//   row number      8 bytes like an int handle; no column of the row
//
// Where a relation has no declared key, rows with equal key columns are kept apart by an ordinal.
// Ordinal 0, the normal case, takes no byte; others append 4 bytes: big-endian, top bit set. So a
// handle with its ordinals is one byte prefix, and in the `ended` family, where a begin (below
// 2^63) follows the handle, ordinal 0 with any begin sorts before ordinal 1.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/datum.h"
#include "catalog/relation.h"

namespace varve {

inline constexpr uint32_t kOrdinalMark = 0x8000'0000;
inline constexpr uint32_t kMaxOrdinal = 0x00ff'ffff;
inline constexpr size_t kOrdinalSize = 4;

// The largest handle, in bytes without an ordinal: with that and a begin it is still a key of a
// MemRowSet.
inline constexpr size_t kMaxHandleSize = 65'000;

// Appends the handle of the given key values (in key order, all handle columns). Errors: NULL as an
// int handle, a value of the wrong physical type, more than kMaxHandleSize bytes.
absl::Status AppendHandle(const RelationSchema& relation, std::span<const Datum> key,
                          std::string* out);

// Appends the handle of a whole row (a value for every column). Requires: not a row-number
// relation.
absl::Status AppendHandleOfRow(const RelationSchema& relation, std::span<const Datum> row,
                               std::string* out);

void AppendOrdinal(uint32_t ordinal, std::string* out);  // nothing for ordinal 0

// Appends the byte prefix that the handles with these leading key values share.
absl::Status AppendHandlePrefix(const RelationSchema& relation, std::span<const Datum> leading,
                                std::string* out);

// The decoded columns of a handle, in key order. Bytes values point into the handle or into
// `scratch` entries. For row numbers `key` is empty.
struct DecodedHandle {
  std::vector<Datum> key;
  int64_t row_number = 0;
  uint32_t ordinal = 0;
  std::vector<std::string> scratch;
};

// Decodes a handle (with its ordinal, if any). DataLoss when the bytes are no handle of the
// relation.
absl::Status DecodeHandle(const RelationSchema& relation, std::string_view handle,
                          DecodedHandle* decoded);

// The handle without its ordinal. Requires: a well-formed handle of the relation; malformed ones
// come back whole.
std::string_view HandleWithoutOrdinal(const RelationSchema& relation, std::string_view handle);

// "table_id=4 column_id=7", for messages; the ordinal is shown when it is not 0.
std::string HandleToText(const RelationSchema& relation, std::string_view handle);

}  // namespace varve

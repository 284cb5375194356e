// Payloads: a row's columns as the bytes of a protobuf message.
//
// A payload is the wire format of the relation's message (entities.proto, or the same by
// description for dynamic relations) without the handle columns, begin and end. NULL is an absent
// field. The codec is driven by the RelationSchema, without protobuf reflection; it skips fields it
// does not know, so rows of a newer writer can be read, and code that moves a row keeps its payload
// bytes, so that unknown fields survive.
//
// Thread-safety: a RowDecoder is immutable once made; the buffers belong to the caller.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/column_batch.h"
#include "base/datum.h"
#include "catalog/handle.h"
#include "catalog/relation.h"

namespace varve {

// Appends the payload of a row; `values` has one value per column of the relation.
void AppendPayload(const RelationSchema& relation, std::span<const Datum> values, std::string* out);

// Decodes chosen columns of stored rows: from payload, handle, begin and end alike.
class RowDecoder {
 public:
  // `columns`: indexes into the relation's columns, in the order wanted; none may repeat.
  RowDecoder(RelationRef relation, std::vector<size_t> columns);

  const std::vector<size_t>& columns() const { return columns_; }
  const std::vector<PhysicalType>& types() const { return types_; }

  // Reads one row into `values` (columns().size() of them, overwritten). Bytes values point into
  // `handle`, `payload` or `scratch`. DataLoss, naming relation and key, when malformed.
  absl::Status Decode(std::string_view handle, SnapshotId begin, SnapshotId end,
                      std::string_view payload, DecodedHandle* scratch,
                      std::span<Datum> values) const;

 private:
  absl::Status DecodePayload(std::string_view handle, std::string_view payload,
                             std::span<Datum> values) const;
  int SlotOfField(uint64_t field) const;

  RelationRef relation_;
  std::vector<size_t> columns_;
  std::vector<PhysicalType> types_;
  // Where each source's value goes in the output.
  static constexpr size_t kDenseFields = 64;
  std::vector<int> slot_of_field_;  // fields 0 … kDenseFields - 1; -1: not wanted
  std::vector<std::pair<uint32_t, int>> sparse_fields_;
  std::vector<WireEncoding> wire_of_slot_;
  std::vector<std::pair<size_t, size_t>> handle_slots_;  // position in the key, output slot
  int begin_slot_ = -1;
  int end_slot_ = -1;
  bool needs_payload_ = false;
};

}  // namespace varve

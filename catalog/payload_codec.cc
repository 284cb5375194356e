#include "catalog/payload_codec.h"

#include <algorithm>
#include <bit>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// Protobuf wire types.
constexpr uint32_t kWireVarint = 0;
constexpr uint32_t kWireFixed64 = 1;
constexpr uint32_t kWireLength = 2;
constexpr uint32_t kWireFixed32 = 5;

constexpr size_t kInt128Bytes = 16;

uint32_t WireTypeOf(WireEncoding encoding) {
  switch (encoding) {
    case WireEncoding::kVarint:
    case WireEncoding::kZigZag: return kWireVarint;
    case WireEncoding::kFixed64: return kWireFixed64;
    case WireEncoding::kBytes:
    case WireEncoding::kInt128: return kWireLength;
  }
  return kWireLength;
}

void AppendField(const ColumnSchema& column, const Datum& value, std::string* out) {
  PutVarint64(out, (static_cast<uint64_t>(column.field) << 3) | WireTypeOf(column.wire));
  switch (column.wire) {
    case WireEncoding::kVarint:
      PutVarint64(out, value.physical() == PhysicalType::kBool
                           ? static_cast<uint64_t>(value.bool_value())
                           : static_cast<uint64_t>(value.int64_value()));
      return;
    case WireEncoding::kZigZag: PutVarint64(out, ZigZagEncode(value.int64_value())); return;
    case WireEncoding::kFixed64:
      PutLittleEndian(out, value.physical() == PhysicalType::kFloat64
                               ? std::bit_cast<uint64_t>(value.float64_value())
                               : static_cast<uint64_t>(value.int64_value()));
      return;
    case WireEncoding::kBytes:
      PutVarint64(out, value.bytes().size());
      out->append(value.bytes());
      return;
    case WireEncoding::kInt128: {
      const uint128_t bits = static_cast<uint128_t>(value.int128_value()) ^ kInt128SignBit;
      PutVarint64(out, kInt128Bytes);
      PutBigEndian(out, static_cast<uint64_t>(bits >> 64));
      PutBigEndian(out, static_cast<uint64_t>(bits));
      return;
    }
  }
}

// One field of a payload: its raw number or bytes.
struct WireValue {
  uint64_t number = 0;
  std::string_view bytes;
};

bool ReadWireValue(std::string_view* in, uint32_t wire_type, WireValue* value) {
  switch (wire_type) {
    case kWireVarint: return GetVarint64(in, &value->number);
    case kWireFixed64: return GetLittleEndian(in, &value->number);
    case kWireLength: {
      uint64_t length = 0;
      if (!GetVarint64(in, &length) || length > in->size()) {
        return false;
      }
      value->bytes = in->substr(0, length);
      in->remove_prefix(length);
      return true;
    }
    case kWireFixed32: {
      uint32_t number = 0;
      if (!GetLittleEndian(in, &number)) {
        return false;
      }
      value->number = number;
      return true;
    }
    default: return false;
  }
}

bool ToDatum(WireEncoding wire, PhysicalType type, const WireValue& raw, Datum* value) {
  switch (wire) {
    case WireEncoding::kVarint:
      *value = type == PhysicalType::kBool ? Datum::Bool(raw.number != 0)
                                           : Datum::Int64(static_cast<int64_t>(raw.number));
      return true;
    case WireEncoding::kZigZag: *value = Datum::Int64(ZigZagDecode(raw.number)); return true;
    case WireEncoding::kFixed64:
      *value = type == PhysicalType::kFloat64 ? Datum::Float64(std::bit_cast<double>(raw.number))
                                              : Datum::Int64(static_cast<int64_t>(raw.number));
      return true;
    case WireEncoding::kBytes: *value = Datum::Bytes(raw.bytes); return true;
    case WireEncoding::kInt128: {
      if (raw.bytes.size() != kInt128Bytes) {
        return false;
      }
      const uint128_t high = LoadBigEndian<uint64_t>(raw.bytes.data());
      const uint128_t low = LoadBigEndian<uint64_t>(raw.bytes.data() + 8);
      *value = Datum::Int128(static_cast<int128_t>(((high << 64) | low) ^ kInt128SignBit));
      return true;
    }
  }
  return false;
}

}  // namespace

void AppendPayload(const RelationSchema& relation, std::span<const Datum> values,
                   std::string* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (relation.in_payload[i] && !values[i].is_null()) {
      AppendField(relation.columns.column(i), values[i], out);
    }
  }
}

RowDecoder::RowDecoder(RelationRef relation, std::vector<size_t> columns)
    : relation_(std::move(relation)),
      columns_(std::move(columns)),
      slot_of_field_(kDenseFields, -1) {
  for (size_t slot = 0; slot < columns_.size(); ++slot) {
    const size_t index = columns_[slot];
    const ColumnSchema& column = relation_->columns.column(index);
    types_.push_back(column.type.physical());
    wire_of_slot_.push_back(column.wire);
    // The handle is asked first: a begin that is part of the key reads the same from either.
    const auto in_key = std::find(relation_->handle.begin(), relation_->handle.end(), index);
    if (in_key != relation_->handle.end()) {
      handle_slots_.emplace_back(in_key - relation_->handle.begin(), slot);
    } else if (relation_->begin_column == index) {
      begin_slot_ = static_cast<int>(slot);
    } else if (relation_->end_column == index) {
      end_slot_ = static_cast<int>(slot);
    } else {
      needs_payload_ = true;
      if (column.field < kDenseFields) {
        slot_of_field_[column.field] = static_cast<int>(slot);
      } else {
        sparse_fields_.emplace_back(column.field, static_cast<int>(slot));
      }
    }
  }
}

int RowDecoder::SlotOfField(uint64_t field) const {
  if (field < kDenseFields) {
    return slot_of_field_[field];
  }
  for (const auto& [wanted, slot] : sparse_fields_) {
    if (wanted == field) {
      return slot;
    }
  }
  return -1;
}

absl::Status RowDecoder::Decode(std::string_view handle, SnapshotId begin, SnapshotId end,
                                std::string_view payload, DecodedHandle* scratch,
                                std::span<Datum> values) const {
  if (!handle_slots_.empty()) {
    VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, handle, scratch));
    for (const auto& [position, slot] : handle_slots_) {
      values[slot] = scratch->key[position];
    }
  }
  if (begin_slot_ >= 0) {
    values[static_cast<size_t>(begin_slot_)] = Datum::Int64(static_cast<int64_t>(begin));
  }
  if (end_slot_ >= 0) {
    values[static_cast<size_t>(end_slot_)] =
        end == kNoEnd ? Datum::Null() : Datum::Int64(static_cast<int64_t>(end));
  }
  return needs_payload_ ? DecodePayload(handle, payload, values) : absl::OkStatus();
}

absl::Status RowDecoder::DecodePayload(std::string_view handle, std::string_view payload,
                                       std::span<Datum> values) const {
  for (const int slot : slot_of_field_) {
    if (slot >= 0) {
      values[static_cast<size_t>(slot)] = Datum::Null();
    }
  }
  for (const auto& [field, slot] : sparse_fields_) {
    values[static_cast<size_t>(slot)] = Datum::Null();
  }
  while (!payload.empty()) {
    uint64_t tag = 0;
    WireValue raw;
    const bool read = GetVarint64(&payload, &tag) &&
                      ReadWireValue(&payload, static_cast<uint32_t>(tag & 7), &raw);
    if (!read) {
      return absl::DataLossError(StrCat(relation_->name, " ", HandleToText(*relation_, handle),
                                        ": the stored row is cut short or malformed"));
    }
    const int slot = SlotOfField(tag >> 3);
    if (slot < 0) {
      continue;
    }
    const auto at = static_cast<size_t>(slot);
    if (WireTypeOf(wire_of_slot_[at]) != (tag & 7) ||
        !ToDatum(wire_of_slot_[at], types_[at], raw, &values[at])) {
      return absl::DataLossError(StrCat(relation_->name, " ", HandleToText(*relation_, handle),
                                        ": column ", relation_->columns.column(columns_[at]).name,
                                        " is stored in a form that is not its type's"));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve

#include "mvcc/mrs_row.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr uint32_t kMaxDenseId = 4'095;

// Of a cell; a value of variable length has its place and its length there.
size_t CellWidth(PhysicalType type) {
  return type == PhysicalType::kBytes ? 2 * sizeof(uint32_t)
                                      : static_cast<size_t>(FixedWidth(type));
}

std::string_view PhysicalTypeName(PhysicalType type) {
  switch (type) {
    case PhysicalType::kBool: return "a boolean";
    case PhysicalType::kInt64: return "a 64-bit integer";
    case PhysicalType::kInt128: return "a 128-bit integer";
    case PhysicalType::kFloat64: return "a float";
    case PhysicalType::kBytes: return "bytes";
  }
  return "a value";
}

template <typename T>
void StoreCell(char* cells, size_t offset, T value) {
  std::memcpy(cells + offset, &value, sizeof(T));
}

}  // namespace

RowLayout::RowLayout(const Schema& schema) : schema_(&schema), columns_(schema.num_columns()) {
  size_t offset = 0;
  // Wide cells first: they stay aligned then.
  for (const bool wide : {true, false}) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const PhysicalType type = schema.column(i).type.physical();
      if ((CellWidth(type) > 1) == wide) {
        columns_[i].type = type;
        columns_[i].offset = static_cast<uint32_t>(offset);
        offset += CellWidth(type);
      }
    }
  }
  size_t num_nullable = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (column.type == PhysicalType::kBytes) {
      column.bytes_column = static_cast<uint32_t>(num_bytes_columns_++);
    }
    if (schema.column(i).nullable) {
      column.nullable = true;
      column.null_byte = static_cast<uint32_t>(offset + num_nullable / 8);
      column.null_mask = static_cast<uint8_t>(1U << (num_nullable % 8));
      ++num_nullable;
    }
    const uint32_t id = schema.column(i).field;
    assert(IndexOf(id) == kNoColumn);
    if (id <= kMaxDenseId) {
      dense_ids_.resize(std::max<size_t>(dense_ids_.size(), id + 1), kNoColumn);
      dense_ids_[id] = i;
    } else {
      large_ids_.emplace(id, i);
    }
  }
  cells_size_ = offset + (num_nullable + 7) / 8;
}

absl::Status RowLayout::CheckCells(std::span<const Datum> cells) const {
  if (cells.size() != columns_.size()) {
    return absl::InvalidArgumentError(
        StrCat("a row has ", columns_.size(), " cells, not ", cells.size()));
  }
  size_t variable_bytes = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Column& column = columns_[i];
    if (cells[i].is_null()) {
      if (!column.nullable) {
        return absl::InvalidArgumentError(
            StrCat("column ", schema_->column(i).name, " cannot be NULL"));
      }
    } else if (cells[i].physical() != column.type) {
      return absl::InvalidArgumentError(StrCat("column ", schema_->column(i).name, " holds ",
                                               PhysicalTypeName(column.type), ", not ",
                                               PhysicalTypeName(cells[i].physical())));
    } else if (column.type == PhysicalType::kBytes) {
      variable_bytes += cells[i].bytes().size();
    }
  }
  if (variable_bytes > kMaxVariableBytes) {
    return absl::InvalidArgumentError(
        StrCat("a row holds at most ", kMaxVariableBytes, " bytes of text, not ", variable_bytes));
  }
  return absl::OkStatus();
}

absl::Status RowLayout::CheckChanges(RowChangeList list) const {
  VARVE_RETURN_IF_ERROR(list.CheckForm());
  if (list.bytes().size() > kMaxVariableBytes) {
    return absl::InvalidArgumentError(StrCat("a change list has at most ", kMaxVariableBytes,
                                             " bytes, not ", list.bytes().size()));
  }
  RowChangeListDecoder decoder(list);
  ColumnChange change;
  while (decoder.Next(&change)) {
    const size_t i = IndexOf(change.id);
    if (i == kNoColumn) {
      continue;  // of a schema this row set does not have
    }
    if (change.is_null) {
      if (!columns_[i].nullable) {
        return absl::InvalidArgumentError(
            StrCat("column ", schema_->column(i).name, " cannot be NULL"));
      }
    } else if (!FitsType(change.value, columns_[i].type)) {
      return absl::InvalidArgumentError(StrCat("column ", schema_->column(i).name, " holds ",
                                               PhysicalTypeName(columns_[i].type), ", which these ",
                                               change.value.size(), " bytes are not"));
    }
  }
  return absl::OkStatus();
}

void ApplyChange(const RowLayout& layout, Timestamp at, RowChangeList list, RowState* state,
                 std::span<Datum> cells) {
  state->written_at = at;
  state->deleted = list.is_delete();
  RowChangeListDecoder decoder(list);
  ColumnChange change;
  while (decoder.Next(&change)) {
    const size_t i = layout.IndexOf(change.id);
    if (i != RowLayout::kNoColumn) {
      cells[i] = change.is_null ? Datum::Null() : DecodeValue(change.value, layout.column(i).type);
    }
  }
}

MrsRow* MrsRow::Create(Arena* arena, const RowLayout& layout, Timestamp inserted_at,
                       std::string_view key, std::span<const Datum> cells) {
  static_assert(sizeof(MrsRow) == kHeaderSize);
  size_t variable_bytes = 0;
  if (layout.num_bytes_columns() > 0) {
    for (const Datum& cell : cells) {
      if (!cell.is_null() && cell.physical() == PhysicalType::kBytes) {
        variable_bytes += cell.bytes().size();
      }
    }
  }
  const size_t key_size = RowTree::StoredKeySize(key);
  const size_t variable_place = kHeaderSize + layout.cells_size() + key_size;
  char* const memory =
      static_cast<char*>(arena->Allocate(variable_place + variable_bytes, alignof(MrsRow)));
  auto* const row = new (memory) MrsRow(inserted_at);

  char* const out = memory + kHeaderSize;
  // NULL cells and null bits are zero unless set below.
  std::memset(out, 0, layout.cells_size());
  RowTree::StoreKey(key, out + layout.cells_size());
  size_t place = variable_place;
  for (size_t i = 0; i < cells.size(); ++i) {
    const RowLayout::Column& column = layout.column(i);
    if (cells[i].is_null()) {
      out[column.null_byte] = static_cast<char>(out[column.null_byte] | column.null_mask);
      continue;
    }
    switch (column.type) {
      case PhysicalType::kBool: out[column.offset] = cells[i].bool_value() ? 1 : 0; break;
      case PhysicalType::kInt64: StoreCell(out, column.offset, cells[i].int64_value()); break;
      case PhysicalType::kInt128: StoreCell(out, column.offset, cells[i].int128_value()); break;
      case PhysicalType::kFloat64: StoreCell(out, column.offset, cells[i].float64_value()); break;
      case PhysicalType::kBytes: {
        const std::string_view bytes = cells[i].bytes();
        StoreCell(out, column.offset, static_cast<uint32_t>(place));
        StoreCell(out, column.offset + sizeof(uint32_t), static_cast<uint32_t>(bytes.size()));
        bytes.copy(memory + place, bytes.size());
        place += bytes.size();
        break;
      }
    }
  }
  return row;
}

Datum MrsRow::Cell(const RowLayout& layout, size_t i) const {
  const RowLayout::Column& column = layout.column(i);
  if (layout.IsNull(cells(), column)) {
    return Datum::Null();
  }
  switch (column.type) {
    case PhysicalType::kBool: return Datum::Bool(cells()[column.offset] != 0);
    case PhysicalType::kInt64: return Datum::Int64(LoadCell<int64_t>(cells(), column.offset));
    case PhysicalType::kInt128: return Datum::Int128(LoadCell<int128_t>(cells(), column.offset));
    case PhysicalType::kFloat64: return Datum::Float64(LoadCell<double>(cells(), column.offset));
    case PhysicalType::kBytes: return Datum::Bytes(bytes(column));
  }
  return Datum::Null();
}

}  // namespace varve

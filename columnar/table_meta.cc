#include "columnar/table_meta.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"

namespace varve {
namespace {

// The columns every table has: handle, version, end.
constexpr uint32_t kSystemColumns = 3;
constexpr size_t kLocationSize = sizeof(uint64_t) + sizeof(uint32_t);
constexpr auto kLastKind = static_cast<uint8_t>(TypeKind::kText);

void AppendColumnMeta(const ColumnMeta& column, const std::vector<uint64_t>& row_offsets,
                      std::string* out) {
  PutLittleEndian<uint32_t>(out, static_cast<uint32_t>(column.packs.size()));
  for (const PackLocation& pack : column.packs) {
    PutLittleEndian(out, pack.offset);
    PutLittleEndian(out, pack.length);
  }
  for (const uint64_t row : row_offsets) {
    PutLittleEndian(out, row);
  }
  std::string info;
  AppendColumnInfo(column.info, &info);
  PutLengthPrefixed(out, info);
  PutLengthPrefixed(out, column.min_max);
  PutLengthPrefixed(out, /*column_props=*/{});
}

// Reads a table meta from the front of a text, part by part.
class MetaReader {
 public:
  MetaReader(std::string_view in, uint64_t packs_begin, uint64_t packs_end)
      : in_(in), packs_begin_(packs_begin), packs_end_(packs_end) {}

  absl::Status Read(TableMeta* meta) {
    uint32_t num_columns = 0;
    if (!GetLittleEndian(&in_, &num_columns) || num_columns < kSystemColumns) {
      return absl::DataLossError("it has no handle, version and end column");
    }
    for (ColumnMeta* column : {&meta->handle, &meta->version, &meta->end}) {
      VARVE_RETURN_IF_ERROR(ReadColumn(column, &meta->row_offsets));
    }
    for (uint32_t i = kSystemColumns; i < num_columns; ++i) {
      // Grown one by one: a count alone justifies no allocation.
      VARVE_RETURN_IF_ERROR(ReadColumn(&meta->columns.emplace_back(), &meta->row_offsets));
    }
    std::string_view handle_index;
    std::string_view properties;
    if (!GetLengthPrefixed(&in_, &handle_index)) {
      return absl::DataLossError("the handle index is cut short");
    }
    if (!GetLengthPrefixed(&in_, &properties) || !ParseProperties(properties, &meta->properties)) {
      return absl::DataLossError("the table properties are malformed");
    }
    meta->handle_index.assign(handle_index);
    return absl::OkStatus();
  }

 private:
  absl::Status ReadColumn(ColumnMeta* column, std::vector<uint64_t>* row_offsets) {
    uint32_t num_packs = 0;
    if (!GetLittleEndian(&in_, &num_packs) ||
        in_.size() < num_packs * kLocationSize + (uint64_t{num_packs} + 1) * sizeof(uint64_t)) {
      return absl::DataLossError("the packs of a column are cut short");
    }
    column->packs.resize(num_packs);
    for (PackLocation& pack : column->packs) {
      GetLittleEndian(&in_, &pack.offset);
      GetLittleEndian(&in_, &pack.length);
      if (pack.length < kChecksumSize || pack.offset < packs_begin_ || pack.offset > packs_end_ ||
          pack.length > packs_end_ - pack.offset) {
        return absl::DataLossError(StrCat("a pack of ", pack.length, " bytes at offset ",
                                          pack.offset, " does not lie among the packs"));
      }
    }
    VARVE_RETURN_IF_ERROR(ReadRowOffsets(num_packs, row_offsets));
    std::string_view info;
    std::string_view min_max;
    std::string_view properties;
    if (!GetLengthPrefixed(&in_, &info) || !GetLengthPrefixed(&in_, &min_max) ||
        !GetLengthPrefixed(&in_, &properties)) {
      return absl::DataLossError("what describes a column is cut short");
    }
    if (!ParseColumnInfo(info, &column->info)) {
      return absl::DataLossError("the type or name of a column is malformed");
    }
    column->min_max.assign(min_max);
    return absl::OkStatus();
  }

  // Requires: that many are there. The first column's are kept, the others' must be the same.
  absl::Status ReadRowOffsets(uint32_t num_packs, std::vector<uint64_t>* row_offsets) {
    std::vector<uint64_t> offsets(size_t{num_packs} + 1);
    for (uint64_t& row : offsets) {
      GetLittleEndian(&in_, &row);
    }
    if (row_offsets->empty()) {
      bool ascend = offsets[0] == 0;
      for (size_t pack = 0; pack < num_packs; ++pack) {
        ascend = ascend && offsets[pack] < offsets[pack + 1] &&
                 offsets[pack + 1] - offsets[pack] <= kMaxRowsPerPack;
      }
      if (!ascend) {
        return absl::DataLossError("row numbers do not ascend, or a pack has too many");
      }
      *row_offsets = std::move(offsets);
    } else if (offsets != *row_offsets) {
      return absl::DataLossError("packs of two columns do not hold the same rows");
    }
    return absl::OkStatus();
  }

  std::string_view in_;
  const uint64_t packs_begin_;
  const uint64_t packs_end_;
};

}  // namespace

const std::string* FindProperty(const std::vector<Property>& properties, std::string_view key) {
  const auto it = std::ranges::find(properties, key, &Property::key);
  return it == properties.end() ? nullptr : &it->value;
}

const std::string* TableMeta::FindProperty(std::string_view key) const {
  return varve::FindProperty(properties, key);
}

void AppendColumnInfo(const ColumnarColumn& column, std::string* out) {
  PutLittleEndian(out, column.id);
  PutLittleEndian(out, static_cast<uint8_t>(column.type.kind()));
  PutLittleEndian(out, column.type.precision());
  PutLittleEndian(out, column.type.scale());
  PutLengthPrefixed(out, column.name);
}

bool ParseColumnInfo(std::string_view in, ColumnarColumn* column) {
  uint8_t kind = 0;
  uint8_t precision = 0;
  uint8_t scale = 0;
  std::string_view name;
  if (!GetLittleEndian(&in, &column->id) || !GetLittleEndian(&in, &kind) ||
      !GetLittleEndian(&in, &precision) || !GetLittleEndian(&in, &scale) ||
      !GetLengthPrefixed(&in, &name) || kind > kLastKind) {
    return false;
  }
  const auto type_kind = static_cast<TypeKind>(kind);
  column->type =
      type_kind == TypeKind::kDecimal ? Type::Decimal(precision, scale) : Type(type_kind);
  column->name.assign(name);
  return true;
}

void AppendProperties(const std::vector<Property>& properties, std::string* out) {
  for (const Property& property : properties) {
    PutLengthPrefixed(out, property.key);
    PutLengthPrefixed(out, property.value);
  }
}

bool ParseProperties(std::string_view in, std::vector<Property>* properties) {
  while (!in.empty()) {
    std::string_view key;
    std::string_view value;
    if (!GetLengthPrefixed(&in, &key) || !GetLengthPrefixed(&in, &value)) {
      return false;
    }
    properties->push_back({.key = std::string(key), .value = std::string(value)});
  }
  return true;
}

void AppendTableMeta(const TableMeta& meta, std::string* out) {
  PutLittleEndian<uint32_t>(out, static_cast<uint32_t>(kSystemColumns + meta.columns.size()));
  for (const ColumnMeta* column : {&meta.handle, &meta.version, &meta.end}) {
    AppendColumnMeta(*column, meta.row_offsets, out);
  }
  for (const ColumnMeta& column : meta.columns) {
    AppendColumnMeta(column, meta.row_offsets, out);
  }
  PutLengthPrefixed(out, meta.handle_index);
  std::string properties;
  AppendProperties(meta.properties, &properties);
  PutLengthPrefixed(out, properties);
}

absl::Status ParseTableMeta(std::string_view in, uint64_t packs_begin, uint64_t packs_end,
                            TableMeta* meta) {
  *meta = TableMeta();
  return MetaReader(in, packs_begin, packs_end).Read(meta);
}

}  // namespace varve

#include "columnar/columnar_file_properties.h"

#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"

namespace varve {
namespace {

void AppendHandle(const OwnedHandle& handle, HandleType type, std::string* out) {
  if (type == HandleType::kCommon) {
    PutLengthPrefixed(out, handle.common_handle);
    return;
  }
  std::string bytes;
  PutLittleEndian(&bytes, static_cast<uint64_t>(handle.int_handle));
  PutLengthPrefixed(out, bytes);
}

bool TakeHandle(std::string_view* in, HandleType type, OwnedHandle* handle) {
  std::string_view bytes;
  if (!GetLengthPrefixed(in, &bytes)) {
    return false;
  }
  if (type == HandleType::kCommon) {
    handle->common_handle.assign(bytes);
    return true;
  }
  uint64_t value = 0;
  if (bytes.size() != sizeof(value) || !GetLittleEndian(&bytes, &value)) {
    return false;
  }
  handle->int_handle = static_cast<int64_t>(value);
  return true;
}

void AppendTable(const ColumnarTableProperties& table, std::string* out) {
  const ColumnarTableSchema& schema = table.schema;
  PutLittleEndian(out, schema.relation);
  PutLittleEndian(out, static_cast<uint8_t>(schema.handle));
  PutLittleEndian(out, table.row_count);
  AppendHandle(table.smallest_handle, schema.handle, out);
  AppendHandle(table.largest_handle, schema.handle, out);
  PutLittleEndian<uint32_t>(out, static_cast<uint32_t>(schema.columns.size()));
  for (const ColumnarColumn& column : schema.columns) {
    std::string info;
    AppendColumnInfo(column, &info);
    PutLengthPrefixed(out, info);
  }
  PutLittleEndian(out, table.meta_offset);
  PutLittleEndian(out, table.meta_length);
}

bool TakeTable(std::string_view* in, ColumnarTableProperties* table) {
  ColumnarTableSchema& schema = table->schema;
  uint8_t handle_type = 0;
  uint32_t num_columns = 0;
  if (!GetLittleEndian(in, &schema.relation) || !GetLittleEndian(in, &handle_type) ||
      handle_type > static_cast<uint8_t>(HandleType::kCommon)) {
    return false;
  }
  schema.handle = static_cast<HandleType>(handle_type);
  if (!GetLittleEndian(in, &table->row_count) ||
      !TakeHandle(in, schema.handle, &table->smallest_handle) ||
      !TakeHandle(in, schema.handle, &table->largest_handle) ||
      !GetLittleEndian(in, &num_columns)) {
    return false;
  }
  for (uint32_t i = 0; i < num_columns; ++i) {
    std::string_view info;
    if (!GetLengthPrefixed(in, &info) || !ParseColumnInfo(info, &schema.columns.emplace_back())) {
      return false;
    }
  }
  return GetLittleEndian(in, &table->meta_offset) && GetLittleEndian(in, &table->meta_length);
}

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes;
  PutLittleEndian(&bytes, value);
  return bytes;
}

// A value that is one number, and nothing else.
template <typename T>
bool ReadNumber(std::string_view value, T* number) {
  return GetLittleEndian(&value, number) && value.empty();
}

bool ReadTables(std::string_view value, std::vector<ColumnarTableProperties>* tables) {
  uint32_t num_tables = 0;
  if (!GetLittleEndian(&value, &num_tables)) {
    return false;
  }
  for (uint32_t i = 0; i < num_tables; ++i) {
    // Each is length-prefixed, so that a later writer can add to it.
    std::string_view table;
    if (!GetLengthPrefixed(&value, &table) || !TakeTable(&table, &tables->emplace_back())) {
      return false;
    }
  }
  return value.empty();
}

absl::Status Malformed(std::string_view key) {
  return absl::DataLossError(StrCat("file property ", key, " is missing or malformed"));
}

}  // namespace

OwnedHandle OwnedHandle::Of(const Datum& handle) {
  return handle.physical() == PhysicalType::kInt64
             ? OwnedHandle{.int_handle = handle.int64_value()}
             : OwnedHandle{.common_handle = std::string(handle.bytes())};
}

Datum OwnedHandle::datum(HandleType type) const {
  return type == HandleType::kInt ? Datum::Int64(int_handle) : Datum::Bytes(common_handle);
}

void AppendFileProperties(const ColumnarFileProperties& properties, std::string* out) {
  std::vector<Property> list;
  const auto add = [&list](std::string_view key, std::string value) {
    list.push_back({.key = std::string(key), .value = std::move(value)});
  };
  add(kFilePropLevel, LittleEndian(static_cast<uint8_t>(properties.level)));
  add(kFilePropKind, LittleEndian(static_cast<uint8_t>(properties.kind)));
  if (properties.max_version.has_value()) {
    add(kFilePropMaxVersion, LittleEndian(*properties.max_version));
  }
  if (properties.flushed_csn.has_value()) {
    add(kFilePropFlushedCsn, LittleEndian(*properties.flushed_csn));
  }
  std::string tables;
  PutLittleEndian<uint32_t>(&tables, static_cast<uint32_t>(properties.tables.size()));
  for (const ColumnarTableProperties& table : properties.tables) {
    std::string bytes;
    AppendTable(table, &bytes);
    PutLengthPrefixed(&tables, bytes);
  }
  add(kFilePropTables, std::move(tables));
  AppendProperties(list, out);
  AppendProperties(properties.others, out);
}

absl::Status ParseFileProperties(std::string_view in, ColumnarFileProperties* properties) {
  *properties = ColumnarFileProperties();
  std::vector<Property> list;
  if (!ParseProperties(in, &list)) {
    return absl::DataLossError("the file properties are cut short");
  }
  uint8_t level = 0;
  uint8_t kind = 0;
  bool has_level = false;
  bool has_kind = false;
  bool has_tables = false;
  for (Property& property : list) {
    bool ok = true;
    if (property.key == kFilePropLevel) {
      ok = has_level = ReadNumber(property.value, &level) && (level == 1 || level == 2);
    } else if (property.key == kFilePropKind) {
      ok = has_kind = ReadNumber(property.value, &kind) &&
                      kind <= static_cast<uint8_t>(ColumnarFileKind::kMixed);
    } else if (property.key == kFilePropMaxVersion) {
      ok = ReadNumber(property.value, &properties->max_version.emplace());
    } else if (property.key == kFilePropFlushedCsn) {
      ok = ReadNumber(property.value, &properties->flushed_csn.emplace());
    } else if (property.key == kFilePropTables) {
      ok = has_tables = ReadTables(property.value, &properties->tables);
    } else {
      properties->others.push_back(std::move(property));
    }
    if (!ok) {
      return Malformed(property.key);
    }
  }
  if (!has_level || !has_kind || !has_tables) {
    return Malformed(!has_level ? kFilePropLevel : !has_kind ? kFilePropKind : kFilePropTables);
  }
  properties->level = level;
  properties->kind = static_cast<ColumnarFileKind>(kind);
  return absl::OkStatus();
}

}  // namespace varve

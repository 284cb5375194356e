// The table meta section of a columnar file: where the packs of one table lie and what is known of
// them.
//
//   table meta   num_columns(4) | handle column meta | version column meta | end column meta
//                | column meta × (num_columns - 3)
//                | compressed_handle_index_len(4) | compressed_handle_index
//                | table_props_len(4) | table_props
//   column meta  num_packs(4) | pack_offsets | row_offsets | col_info_len(4) | col_info
//                | min_max_idx_len(4) | min_max_idx | column_props_len(4) | column_props
//   pack_offsets (offset(8) | length(4)) × num_packs: where each pack starts in the file, and the
//                bytes it takes there, its checksum included
//   row_offsets  row(8) × (num_packs + 1): the number of the first row of each pack, then the
//                number of rows. The same for every column of a table
//   col_info     id(4) | type kind(1) | precision(1) | scale(1) | name_len(4) | name, and whatever
//                a later writer adds. Kinds are numbered in base/type.h
//   table_props  (key_len(4) | key | value_len(4) | value)…, to the end
//
// Every length may be longer than what this reader knows of; the rest is skipped.
//
// Thread-safety: value types and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "columnar/columnar_schema.h"

namespace varve {

// Where the bytes of a pack lie in the file, its checksum included.
struct PackLocation {
  uint64_t offset = 0;
  uint32_t length = 0;

  friend bool operator==(const PackLocation&, const PackLocation&) = default;
};

struct ColumnMeta {
  ColumnarColumn info;
  std::vector<PackLocation> packs;
  std::string min_max;  // empty: none

  friend bool operator==(const ColumnMeta&, const ColumnMeta&) = default;
};

struct Property {
  std::string key;
  std::string value;

  friend bool operator==(const Property&, const Property&) = default;
};

// All columns have as many packs as row_offsets has numbers, less one.
struct TableMeta {
  ColumnMeta handle;
  ColumnMeta version;
  ColumnMeta end;
  std::vector<ColumnMeta> columns;
  std::vector<uint64_t> row_offsets;  // num_packs + 1, ascending from 0
  std::string handle_index;           // an encoded pack: the first handle of each pack
  std::vector<Property> properties;

  size_t num_packs() const { return row_offsets.size() - 1; }
  // The first property of that key; null if there is none.
  const std::string* FindProperty(std::string_view key) const;

  friend bool operator==(const TableMeta&, const TableMeta&) = default;
};

void AppendColumnInfo(const ColumnarColumn& column, std::string* out);
bool ParseColumnInfo(std::string_view in, ColumnarColumn* column);

void AppendProperties(const std::vector<Property>& properties, std::string* out);
bool ParseProperties(std::string_view in, std::vector<Property>* properties);
const std::string* FindProperty(const std::vector<Property>& properties, std::string_view key);

// Appends the section, without a checksum.
void AppendTableMeta(const TableMeta& meta, std::string* out);

// Reads a whole section. Packs must lie between `packs_begin` and `packs_end` of the file. DataLoss
// with what is malformed, in one line without the file's name; never allocates more than the bytes
// given can justify.
absl::Status ParseTableMeta(std::string_view in, uint64_t packs_begin, uint64_t packs_end,
                            TableMeta* meta);

}  // namespace varve

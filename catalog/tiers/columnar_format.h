// How relations lie in columnar files: which columns a table has, and how handles are told from
// their encoded form and back.
//
// A table has the columns of its relation but for begin and end, which every table has, under the
// relation's field numbers; handle columns are there a second time, as columns. Where rows of a
// relation with an integer as its handle may repeat, an ordinal may follow the integer: such
// handles are bytes.
//
// Tables of L2 can have derived columns, which are made from the row and which no relation has:
// those of file column statistics have their bounds as order-preserving numbers
// (statistics_keys.h), and the texts of the bounds only where these do not say them
// (bound_texts.h).
//
// Thread-safety: free functions.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/datum.h"
#include "catalog/relation.h"
#include "columnar/columnar_schema.h"
#include "columnar/columnar_table.h"
#include "columnar/columnar_table_reader.h"

namespace varve {

// The ids of derived columns: no field of a relation has such a number.
inline constexpr uint32_t kMinKeyColumn = 0xffff'0000;
inline constexpr uint32_t kMaxKeyColumn = 0xffff'0001;
inline constexpr uint32_t kKeyTypeColumn = 0xffff'0002;
inline constexpr uint32_t kKeyTextsColumn = 0xffff'0003;
// Those of file column statistics, in the order in which they stand in a table.
struct DerivedColumnId {
  uint32_t id = 0;
  PhysicalType type = PhysicalType::kInt64;
};
inline constexpr std::array<DerivedColumnId, 4> kStatisticsKeyColumns = {{
    {.id = kMinKeyColumn, .type = PhysicalType::kInt128},
    {.id = kMaxKeyColumn, .type = PhysicalType::kInt128},
    {.id = kKeyTypeColumn, .type = PhysicalType::kInt64},
    {.id = kKeyTextsColumn, .type = PhysicalType::kInt64},
}};

HandleType HandleTypeOf(const RelationSchema& relation);

// The columns of the relation that are columns of its tables, in the order of the schema.
std::vector<size_t> TableColumnsOf(const RelationSchema& relation);
// The derived columns come last.
ColumnarTableSchema TableSchemaOf(const RelationSchema& relation,
                                  std::span<const ColumnarColumn> derived = {});

// What a column of the relation is read from.
ColumnSlot SlotOfColumn(const RelationSchema& relation, size_t column);

// A handle of a table in its encoded form (handle.h), and back. DecodeTableHandle borrows.
void AppendEncodedHandle(HandleType type, const Datum& handle, std::string* out);
std::string EncodedHandle(HandleType type, const Datum& handle);
// Requires: an encoded handle of the type.
Datum DecodeTableHandle(HandleType type, std::string_view encoded);

std::string FirstHandle(const ColumnarTable& table, size_t pack);
// The first pack that can hold a handle at or behind `lower`, which need not be a handle itself.
size_t SeekPack(const ColumnarTable& table, std::string_view lower);

}  // namespace varve

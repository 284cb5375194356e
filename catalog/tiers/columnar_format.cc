#include "catalog/tiers/columnar_format.h"

#include <optional>

#include "base/coding.h"
#include "base/key_codec.h"

namespace varve {

HandleType HandleTypeOf(const RelationSchema& relation) {
  return relation.handle_kind == HandleKind::kCommon || relation.may_repeat() ? HandleType::kCommon
                                                                              : HandleType::kInt;
}

std::vector<size_t> TableColumnsOf(const RelationSchema& relation) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (i != relation.begin_column && i != relation.end_column) {
      columns.push_back(i);
    }
  }
  return columns;
}

ColumnarTableSchema TableSchemaOf(const RelationSchema& relation,
                                  std::span<const ColumnarColumn> derived) {
  ColumnarTableSchema schema{.relation = relation.id, .handle = HandleTypeOf(relation)};
  for (const size_t column : TableColumnsOf(relation)) {
    const ColumnSchema& of_relation = relation.columns.column(column);
    schema.columns.push_back(
        {.id = of_relation.field, .name = of_relation.name, .type = of_relation.type});
  }
  schema.columns.insert(schema.columns.end(), derived.begin(), derived.end());
  return schema;
}

ColumnSlot SlotOfColumn(const RelationSchema& relation, size_t column) {
  if (column == relation.begin_column) {
    return ColumnSlot::Version();
  }
  return column == relation.end_column ? ColumnSlot::End()
                                       : ColumnSlot::Data(relation.columns.column(column).field);
}

void AppendEncodedHandle(HandleType type, const Datum& handle, std::string* out) {
  if (type == HandleType::kInt) {
    AppendIntHandle(handle.int64_value(), out);
  } else {
    out->append(handle.bytes());
  }
}

std::string EncodedHandle(HandleType type, const Datum& handle) {
  std::string encoded;
  AppendEncodedHandle(type, handle, &encoded);
  return encoded;
}

Datum DecodeTableHandle(HandleType type, std::string_view encoded) {
  if (type == HandleType::kCommon) {
    return Datum::Bytes(encoded);
  }
  int64_t number = 0;
  ReadIntHandle(&encoded, &number);
  return Datum::Int64(number);
}

std::string FirstHandle(const ColumnarTable& table, size_t pack) {
  return EncodedHandle(table.schema().handle, table.first_handle(pack));
}

size_t SeekPack(const ColumnarTable& table, std::string_view lower) {
  // Prefixes and ends of ranges are no handles, so encoded forms are compared.
  size_t low = 0;
  size_t high = table.num_packs();
  while (low < high) {  // the first pack that begins behind `lower`
    const size_t middle = low + (high - low) / 2;
    (FirstHandle(table, middle) <= lower ? low = middle + 1 : high = middle);
  }
  if (low == 0) {
    return 0;
  }
  const ColumnarTable::HandleBound last = table.last_handle_bound(low - 1);
  const std::string encoded = EncodedHandle(table.schema().handle, last.handle);
  const bool reaches = last.inclusive ? encoded >= lower : encoded > lower;
  return reaches ? low - 1 : low;
}

}  // namespace varve

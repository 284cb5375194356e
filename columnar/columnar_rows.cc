#include "columnar/columnar_rows.h"

#include <array>
#include <string_view>

#include "base/coding.h"
#include "columnar/format.h"

namespace varve {

ColumnarRows::ColumnarRows(const ColumnarTableSchema& schema)
    : handles(PhysicalOfHandle(schema.handle)) {
  std::vector<PhysicalType> types;
  types.reserve(schema.columns.size());
  for (const ColumnarColumn& column : schema.columns) {
    types.push_back(column.type.physical());
  }
  columns.Reset(types);
}

void ColumnarRows::Clear() {
  handles.Clear();
  begins.clear();
  ends.clear();
  erased.clear();
  columns.Clear();
}

void ColumnarRows::Append(const ColumnarRows& rows, size_t from, size_t to) {
  const auto begin = static_cast<std::ptrdiff_t>(from);
  const auto end = static_cast<std::ptrdiff_t>(to);
  handles.AppendRange(rows.handles, from, to - from);
  begins.insert(begins.end(), rows.begins.begin() + begin, rows.begins.begin() + end);
  ends.insert(ends.end(), rows.ends.begin() + begin, rows.ends.begin() + end);
  if (!rows.erased.empty()) {
    erased.resize(begins.size() - (to - from));  // the rows before had none
    erased.insert(erased.end(), rows.erased.begin() + begin, rows.erased.begin() + end);
  } else if (!erased.empty()) {
    erased.resize(begins.size());
  }
  for (size_t i = 0; i < columns.num_columns(); ++i) {
    columns.mutable_column(i).AppendRange(rows.columns.column(i), from, to - from);
  }
  columns.SetNumRows(begins.size());
}

uint64_t HashOfHandle(const Datum& handle) {
  if (handle.physical() == PhysicalType::kBytes) {
    return SectionChecksum(handle.bytes());
  }
  std::array<char, sizeof(int64_t)> bytes;
  const auto value = static_cast<uint64_t>(handle.int64_value());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * i));
  }
  return SectionChecksum({bytes.data(), bytes.size()});
}

}  // namespace varve

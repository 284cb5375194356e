#include "columnar/columnar_rows.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "base/coding.h"
#include "columnar/format.h"

namespace varve {
namespace {

template <typename T>
void Gather(std::span<const T> values, std::span<const uint32_t> selection, std::span<T> out) {
  for (size_t i = 0; i < selection.size(); ++i) {
    out[i] = values[selection[i]];
  }
}

}  // namespace

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
  AppendRows(rows.handles, from, to, &handles);
  begins.insert(begins.end(), rows.begins.begin() + begin, rows.begins.begin() + end);
  ends.insert(ends.end(), rows.ends.begin() + begin, rows.ends.begin() + end);
  if (!rows.erased.empty()) {
    erased.resize(begins.size() - (to - from));  // the rows before had none
    erased.insert(erased.end(), rows.erased.begin() + begin, rows.erased.begin() + end);
  } else if (!erased.empty()) {
    erased.resize(begins.size());
  }
  for (size_t i = 0; i < columns.num_columns(); ++i) {
    AppendRows(rows.columns.column(i), from, to, &columns.mutable_column(i));
  }
  columns.SetNumRows(begins.size());
}

void AppendRows(const ColumnVector& rows, size_t from, size_t to, ColumnVector* out) {
  assert(rows.type() == out->type());
  const size_t count = to - from;
  if (count == 0) {
    return;
  }
  const size_t old_size = out->size();
  switch (rows.type()) {
    case PhysicalType::kBool:
      std::ranges::copy(rows.bools().subspan(from, count), out->GrowBools(count).begin());
      break;
    case PhysicalType::kInt64:
      std::ranges::copy(rows.int64s().subspan(from, count), out->GrowInt64s(count).begin());
      break;
    case PhysicalType::kInt128:
      std::ranges::copy(rows.int128s().subspan(from, count), out->GrowInt128s(count).begin());
      break;
    case PhysicalType::kFloat64:
      std::ranges::copy(rows.float64s().subspan(from, count), out->GrowFloat64s(count).begin());
      break;
    case PhysicalType::kBytes: {
      const size_t start = from == 0 ? 0 : rows.ends()[from - 1];
      const size_t length = rows.ends()[to - 1] - start;
      const ColumnVector::GrownBytes grown = out->GrowBytes(count, length);
      std::ranges::copy(rows.heap().substr(start, length), grown.heap.begin());
      for (size_t i = 0; i < count; ++i) {
        grown.ends[i] = grown.heap_start + rows.ends()[from + i] - start;
      }
      break;
    }
  }
  std::ranges::copy(rows.nulls().subspan(from, count),
                    out->mutable_nulls().subspan(old_size).begin());
}

void AppendSelected(const ColumnVector& rows, std::span<const uint32_t> selection,
                    ColumnVector* out) {
  assert(rows.type() == out->type());
  const size_t count = selection.size();
  const size_t old_size = out->size();
  switch (rows.type()) {
    case PhysicalType::kBool: Gather(rows.bools(), selection, out->GrowBools(count)); break;
    case PhysicalType::kInt64: Gather(rows.int64s(), selection, out->GrowInt64s(count)); break;
    case PhysicalType::kInt128: Gather(rows.int128s(), selection, out->GrowInt128s(count)); break;
    case PhysicalType::kFloat64:
      Gather(rows.float64s(), selection, out->GrowFloat64s(count));
      break;
    case PhysicalType::kBytes:
      for (const uint32_t row : selection) {
        out->AppendBytes(rows.bytes(row));
      }
      break;
  }
  Gather(rows.nulls(), selection, out->mutable_nulls().subspan(old_size));
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

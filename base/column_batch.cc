#include "base/column_batch.h"

#include <cstring>
#include <utility>

namespace varve {
namespace {

template <typename T>
void SelectInPlace(std::span<const uint32_t> selection, std::vector<T>* values) {
  for (size_t i = 0; i < selection.size(); ++i) {
    (*values)[i] = (*values)[selection[i]];
  }
  values->resize(selection.size());
}

// Appends chosen values of another array.
template <typename T>
void AppendChosen(const std::vector<T>& from, std::span<const uint32_t> selection,
                  std::vector<T>* values) {
  const size_t old_size = values->size();
  values->resize(old_size + selection.size());
  T* to = values->data() + old_size;
  for (const uint32_t row : selection) {
    *to++ = from[row];
  }
}

}  // namespace

Datum ColumnVector::at(size_t row) const {
  if (is_null(row)) {
    return Datum::Null();
  }
  switch (type_) {
    case PhysicalType::kBool: return Datum::Bool(bools_[row] != 0);
    case PhysicalType::kInt64: return Datum::Int64(int64s_[row]);
    case PhysicalType::kInt128: return Datum::Int128(int128s_[row]);
    case PhysicalType::kFloat64: return Datum::Float64(float64s_[row]);
    case PhysicalType::kBytes: return Datum::Bytes(bytes(row));
  }
  return Datum::Null();
}

void ColumnVector::Clear() {
  nulls_.clear();
  bools_.clear();
  int64s_.clear();
  int128s_.clear();
  float64s_.clear();
  ends_.clear();
  heap_.clear();
}

void ColumnVector::Append(const Datum& value) {
  if (value.is_null()) {
    AppendNull();
    return;
  }
  switch (type_) {
    case PhysicalType::kBool: AppendBool(value.bool_value()); return;
    case PhysicalType::kInt64: AppendInt64(value.int64_value()); return;
    case PhysicalType::kInt128: AppendInt128(value.int128_value()); return;
    case PhysicalType::kFloat64: AppendFloat64(value.float64_value()); return;
    case PhysicalType::kBytes: AppendBytes(value.bytes()); return;
  }
}

void ColumnVector::AppendNull() {
  nulls_.push_back(1);
  switch (type_) {
    case PhysicalType::kBool: bools_.push_back(0); return;
    case PhysicalType::kInt64: int64s_.push_back(0); return;
    case PhysicalType::kInt128: int128s_.push_back(0); return;
    case PhysicalType::kFloat64: float64s_.push_back(0); return;
    case PhysicalType::kBytes: ends_.push_back(heap_.size()); return;
  }
}

ColumnVector::GrownBytes ColumnVector::GrowBytes(size_t rows, size_t heap_bytes) {
  const size_t heap_start = heap_.size();
  heap_.resize(heap_start + heap_bytes);
  return {.ends = Grow(rows, &ends_),
          .heap = std::span<char>(heap_).subspan(heap_start),
          .heap_start = heap_start};
}

void ColumnVector::AppendSelected(const ColumnVector& other, std::span<const uint32_t> selection) {
  assert(type_ == other.type_ && this != &other);
  AppendChosen(other.nulls_, selection, &nulls_);
  switch (type_) {
    case PhysicalType::kBool: AppendChosen(other.bools_, selection, &bools_); return;
    case PhysicalType::kInt64: AppendChosen(other.int64s_, selection, &int64s_); return;
    case PhysicalType::kInt128: AppendChosen(other.int128s_, selection, &int128s_); return;
    case PhysicalType::kFloat64: AppendChosen(other.float64s_, selection, &float64s_); return;
    case PhysicalType::kBytes: {
      const size_t old_rows = ends_.size();
      const size_t old_bytes = heap_.size();
      size_t end = old_bytes;
      ends_.resize(old_rows + selection.size());
      for (size_t i = 0; i < selection.size(); ++i) {
        end += other.bytes(selection[i]).size();
        ends_[old_rows + i] = end;
      }
      heap_.resize(end);
      char* to = heap_.data() + old_bytes;
      for (size_t i = 0; i < selection.size();) {  // neighbours in one piece
        size_t last = i;
        while (last + 1 < selection.size() && selection[last + 1] == selection[last] + 1) {
          ++last;
        }
        const size_t start = selection[i] == 0 ? 0 : other.ends_[selection[i] - 1];
        const size_t bytes = other.ends_[selection[last]] - start;
        std::memcpy(to, other.heap_.data() + start, bytes);
        to += bytes;
        i = last + 1;
      }
      return;
    }
  }
}

void ColumnVector::AppendRange(const ColumnVector& other, size_t from, size_t count) {
  assert(type_ == other.type_ && this != &other && from + count <= other.size());
  const auto append = [&](const auto& values, auto* to) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(from);
    to->insert(to->end(), first, first + static_cast<std::ptrdiff_t>(count));
  };
  append(other.nulls_, &nulls_);
  switch (type_) {
    case PhysicalType::kBool: append(other.bools_, &bools_); return;
    case PhysicalType::kInt64: append(other.int64s_, &int64s_); return;
    case PhysicalType::kInt128: append(other.int128s_, &int128s_); return;
    case PhysicalType::kFloat64: append(other.float64s_, &float64s_); return;
    case PhysicalType::kBytes: {
      const size_t start = from == 0 ? 0 : other.ends_[from - 1];
      const size_t end = count == 0 ? start : other.ends_[from + count - 1];
      const size_t shift = heap_.size() - start;  // modulo 2^64
      heap_.append(other.heap_, start, end - start);
      const size_t old_size = ends_.size();
      ends_.resize(old_size + count);
      for (size_t i = 0; i < count; ++i) {
        ends_[old_size + i] = other.ends_[from + i] + shift;
      }
      return;
    }
  }
}

void ColumnVector::Truncate(size_t size) {
  assert(size <= nulls_.size());
  nulls_.resize(size);
  switch (type_) {
    case PhysicalType::kBool: bools_.resize(size); return;
    case PhysicalType::kInt64: int64s_.resize(size); return;
    case PhysicalType::kInt128: int128s_.resize(size); return;
    case PhysicalType::kFloat64: float64s_.resize(size); return;
    case PhysicalType::kBytes:
      ends_.resize(size);
      heap_.resize(size == 0 ? 0 : ends_.back());
      return;
  }
}

void ColumnVector::Select(std::span<const uint32_t> selection) {
  if (selection.size() == nulls_.size()) {
    return;
  }
  if (type_ == PhysicalType::kBytes) {
    size_t to = 0;
    for (const uint32_t row : selection) {
      const size_t start = row == 0 ? 0 : ends_[row - 1];
      const size_t length = ends_[row] - start;
      // A selected row never moves to the right, so bytes still to be read are never overwritten.
      std::memmove(heap_.data() + to, heap_.data() + start, length);
      to += length;
      selected_ends_.push_back(to);
    }
    ends_.swap(selected_ends_);
    selected_ends_.clear();
    heap_.resize(to);
  }
  SelectInPlace(selection, &nulls_);
  switch (type_) {
    case PhysicalType::kBool: SelectInPlace(selection, &bools_); return;
    case PhysicalType::kInt64: SelectInPlace(selection, &int64s_); return;
    case PhysicalType::kInt128: SelectInPlace(selection, &int128s_); return;
    case PhysicalType::kFloat64: SelectInPlace(selection, &float64s_); return;
    case PhysicalType::kBytes: return;
  }
}

void ColumnBatch::Reset(std::span<const PhysicalType> types) {
  num_rows_ = 0;
  while (columns_.size() > types.size()) {
    columns_.pop_back();
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (i == columns_.size()) {
      columns_.emplace_back(types[i]);
    } else if (columns_[i].own.type() != types[i]) {
      columns_[i] = Column(types[i]);
    } else {
      columns_[i].shared.reset();
      columns_[i].own.Clear();
    }
  }
}

void ColumnBatch::ShareColumn(size_t i, std::shared_ptr<const ColumnVector> column) {
  assert(column != nullptr && column->type() == columns_[i].own.type());
  columns_[i].own.Clear();
  columns_[i].shared = std::move(column);
}

void ColumnBatch::MakeOwn(Column* column) {
  column->own.AppendRange(*column->shared, 0, column->shared->size());
  column->shared.reset();
}

void ColumnBatch::Clear() {
  num_rows_ = 0;
  for (Column& column : columns_) {
    column.shared.reset();
    column.own.Clear();
  }
}

void ColumnBatch::SetNumRows(size_t rows) {
  num_rows_ = rows;
#ifndef NDEBUG
  for (size_t i = 0; i < columns_.size(); ++i) {
    assert(column(i).size() == rows);
  }
#endif
}

void ColumnBatch::Select(std::span<const uint32_t> selection) {
  for (Column& column : columns_) {
    if (column.shared == nullptr) {
      column.own.Select(selection);
    } else if (selection.size() != column.shared->size()) {  // else all of them, in their order
      column.own.AppendSelected(*column.shared, selection);
      column.shared.reset();
    }
  }
  num_rows_ = selection.size();
}

void ColumnBatch::Truncate(size_t rows) {
  for (Column& column : columns_) {
    if (column.shared == nullptr) {
      column.own.Truncate(rows);
    } else if (rows != column.shared->size()) {
      column.own.AppendRange(*column.shared, 0, rows);
      column.shared.reset();
    }
  }
  num_rows_ = rows;
}

void ColumnBatch::DropColumnsFrom(size_t first) {
  while (columns_.size() > first) {
    columns_.pop_back();
  }
}

}  // namespace varve

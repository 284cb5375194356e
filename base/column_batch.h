// Columns of values: the unit of work of scans.
//
// A ColumnVector is one column of a batch: a dense array of physical values, a byte per row that
// says NULL, and for bytes a heap with end offsets. A ColumnBatch is several of them, equally long.
// Batches are reused: Clear keeps the memory.
//
// A column of a batch is the batch's own, or one that others have too (a decoded pack of the cache)
// and nobody may change: the batch makes a copy of its own before it changes one.
//
// Thread-safety: none; shared columns may be read from any thread. Ownership: a vector owns its
// values; datums read from it borrow them until the next change. A batch owns its own columns and a
// share in the others.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/datum.h"
#include "base/type.h"

namespace varve {

class ColumnVector {
 public:
  explicit ColumnVector(PhysicalType type) : type_(type) {}

  PhysicalType type() const { return type_; }
  size_t size() const { return nulls_.size(); }
  bool is_null(size_t row) const { return nulls_[row] != 0; }

  // Whole-vector access for hot loops. The value at a NULL row is zero (empty for bytes) unless
  // SetNull made it NULL. Require: the vector has that type.
  std::span<const uint8_t> nulls() const { return nulls_; }
  std::span<const uint8_t> bools() const { return bools_; }
  std::span<const int64_t> int64s() const { return int64s_; }
  std::span<const int128_t> int128s() const { return int128s_; }
  std::span<const double> float64s() const { return float64s_; }
  std::string_view bytes(size_t row) const {
    const size_t start = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(heap_).substr(start, ends_[row] - start);
  }
  // The heap of a bytes vector: the values one after the other, and where each ends in it.
  std::string_view heap() const { return heap_; }
  size_t heap_size() const { return heap_.size(); }
  std::span<const size_t> ends() const { return ends_; }

  Datum at(size_t row) const;

  void Clear();
  void Append(const Datum& value);  // requires: NULL or this vector's type
  void AppendNull();
  void AppendBool(bool v) {
    bools_.push_back(v ? 1 : 0);
    nulls_.push_back(0);
  }
  void AppendInt64(int64_t v) {
    int64s_.push_back(v);
    nulls_.push_back(0);
  }
  void AppendInt128(int128_t v) {
    int128s_.push_back(v);
    nulls_.push_back(0);
  }
  void AppendFloat64(double v) {
    float64s_.push_back(v);
    nulls_.push_back(0);
  }
  void AppendBytes(std::string_view v) {
    heap_.append(v);
    ends_.push_back(heap_.size());
    nulls_.push_back(0);
  }

  // Marks a row NULL and keeps the value under it, which the whole-vector views still show (a
  // columnar file keeps the begin of a delete marker this way).
  void SetNull(size_t row) { nulls_[row] = 1; }

  // Whole-vector appends: `rows` new rows that are not NULL and hold zero, to be written through
  // the span. The span lives until the next append. Require: the vector has that type.
  std::span<uint8_t> GrowBools(size_t rows) { return Grow(rows, &bools_); }
  std::span<int64_t> GrowInt64s(size_t rows) { return Grow(rows, &int64s_); }
  std::span<int128_t> GrowInt128s(size_t rows) { return Grow(rows, &int128s_); }
  std::span<double> GrowFloat64s(size_t rows) { return Grow(rows, &float64s_); }
  // For bytes, both parts are to be written: the values one after the other, and for each new row
  // where its value ends, counted from the start of the whole heap (heap_start + end in `heap`).
  struct GrownBytes {
    std::span<size_t> ends;
    std::span<char> heap;
    size_t heap_start = 0;
  };
  GrownBytes GrowBytes(size_t rows, size_t heap_bytes);
  // The NULL marks of all rows, 0 or 1 each.
  std::span<uint8_t> mutable_nulls() { return nulls_; }

  // Appends the rows of another vector named by `selection` (any order). Requires: the same type,
  // not this vector.
  void AppendSelected(const ColumnVector& other, std::span<const uint32_t> selection);

  // … `count` of them from number `from` on.
  void AppendRange(const ColumnVector& other, size_t from, size_t count);

  // Drops rows from the end until `size` remain. Requires: size <= size().
  void Truncate(size_t size);
  // Keeps the rows named by `selection` (ascending row numbers), in that order.
  void Select(std::span<const uint32_t> selection);

 private:
  template <typename T>
  std::span<T> Grow(size_t rows, std::vector<T>* values) {
    const size_t old_size = nulls_.size();
    nulls_.resize(old_size + rows);
    values->resize(old_size + rows);
    return std::span<T>(*values).subspan(old_size);
  }

  PhysicalType type_;
  std::vector<uint8_t> nulls_;
  std::vector<uint8_t> bools_;
  std::vector<int64_t> int64s_;
  std::vector<int128_t> int128s_;
  std::vector<double> float64s_;
  std::vector<size_t> ends_;           // end of each value in heap_
  std::vector<size_t> selected_ends_;  // scratch of Select
  std::string heap_;
};

class ColumnBatch {
 public:
  ColumnBatch() = default;
  explicit ColumnBatch(std::span<const PhysicalType> types) { Reset(types); }

  // Makes the batch empty with the given columns; keeps memory where the types agree.
  void Reset(std::span<const PhysicalType> types);

  size_t num_columns() const { return columns_.size(); }
  size_t num_rows() const { return num_rows_; }
  const ColumnVector& column(size_t i) const {
    const Column& column = columns_[i];
    return column.shared != nullptr ? *column.shared : column.own;
  }
  // A shared column is copied first; the reference lives until the column is shared again, or
  // dropped.
  ColumnVector& mutable_column(size_t i) {
    Column& column = columns_[i];
    if (column.shared != nullptr) {
      MakeOwn(&column);
    }
    return column.own;
  }

  // Makes a column the one given, without a copy. Requires: not null, the type of the column.
  void ShareColumn(size_t i, std::shared_ptr<const ColumnVector> column);
  // Null: the column is the batch's own.
  const std::shared_ptr<const ColumnVector>& shared_column(size_t i) const {
    return columns_[i].shared;
  }

  void Clear();
  // Every column must hold `rows` values; a batch without columns carries its row count alone.
  void SetNumRows(size_t rows);
  void Select(std::span<const uint32_t> selection);
  void Truncate(size_t rows);
  // Drops the columns from position `first` on. Requires: first <= num_columns().
  void DropColumnsFrom(size_t first);

 private:
  struct Column {
    explicit Column(PhysicalType type) : own(type) {}
    ColumnVector own;                            // empty while another one is shared
    std::shared_ptr<const ColumnVector> shared;  // null: own counts
  };

  static void MakeOwn(Column* column);

  std::vector<Column> columns_;
  size_t num_rows_ = 0;
};

}  // namespace varve

// A row that owns its bytes.
//
// Thread-safety: a value type, no sharing. Invariant: the bytes of every kBytes datum set through
// SetBytes/Set live in this row, and stay valid when the row is moved.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/datum.h"

namespace varve {

class Row {
 public:
  Row() = default;
  explicit Row(size_t num_columns) : values_(num_columns) {}
  explicit Row(std::span<const Datum> values) : values_(values.size()) {
    for (size_t i = 0; i < values.size(); ++i) {
      Set(i, values[i]);
    }
  }
  Row(Row&&) = default;
  Row& operator=(Row&&) = default;
  Row(const Row& other) : Row(std::span<const Datum>(other.values_)) {}
  Row& operator=(const Row& other) {
    if (this != &other) {
      *this = Row(other);
    }
    return *this;
  }
  ~Row() = default;

  size_t size() const { return values_.size(); }
  const Datum& operator[](size_t column) const { return values_[column]; }
  std::span<const Datum> values() const { return values_; }

  // Sets a column, copying bytes into the row.
  void Set(size_t column, const Datum& value) {
    if (!value.is_null() && value.physical() == PhysicalType::kBytes) {
      SetBytes(column, value.bytes());
    } else {
      values_[column] = value;
    }
  }
  void SetBytes(size_t column, std::string_view bytes) {
    storage_.push_back(std::make_unique<std::string>(bytes));
    values_[column] = Datum::Bytes(*storage_.back());
  }
  // Sets a column without copying: the bytes must lie in memory given to Keep, or be static.
  void SetBorrowed(size_t column, const Datum& value) { values_[column] = value; }
  // Takes over a buffer that borrowed datums point into; returns the kept buffer.
  const std::string& Keep(std::string buffer) {
    storage_.push_back(std::make_unique<std::string>(std::move(buffer)));
    return *storage_.back();
  }

  friend bool operator==(const Row& a, const Row& b) { return a.values_ == b.values_; }

 private:
  std::vector<Datum> values_;
  std::vector<std::unique_ptr<std::string>> storage_;
};

}  // namespace varve

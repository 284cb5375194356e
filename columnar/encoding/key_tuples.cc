#include "columnar/encoding/key_tuples.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/strings.h"
#include "columnar/encoding/compression.h"

namespace varve {
namespace {

constexpr uint8_t kZeroCode = 0x20;
constexpr size_t kMaxIntegerBytes = 8;

size_t SignificantBytes(uint64_t number) {
  return (static_cast<size_t>(std::bit_width(number)) + 7) / 8;
}

// Takes one field off the front of `in`; false if there is none, or it is no encoding of its
// number.
bool TakeField(std::string_view* in, int64_t* number) {
  if (in->empty()) {
    return false;
  }
  const auto code = static_cast<uint8_t>(in->front());
  const size_t bytes = size_t{code} - kZeroCode;
  if (code < kZeroCode || bytes > kMaxIntegerBytes || in->size() <= bytes) {
    return false;
  }
  uint64_t value = 0;
  for (size_t i = 1; i <= bytes; ++i) {
    value = value << 8 | static_cast<uint8_t>((*in)[i]);
  }
  if (SignificantBytes(value) != bytes || value > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return false;
  }
  *number = static_cast<int64_t>(value);
  in->remove_prefix(1 + bytes);
  return true;
}

}  // namespace

bool SplitKeyTuples(const ColumnVector& column, size_t from, size_t to,
                    std::vector<ColumnVector>* fields) {
  fields->clear();
  int64_t number = 0;
  for (std::string_view first = column.bytes(from); !first.empty();) {
    if (fields->size() == kMaxTupleFields || !TakeField(&first, &number)) {
      return false;
    }
    fields->emplace_back(PhysicalType::kInt64);
  }
  std::array<std::span<int64_t>, kMaxTupleFields> numbers;
  for (size_t i = 0; i < fields->size(); ++i) {
    numbers[i] = (*fields)[i].GrowInt64s(to - from);
  }
  for (size_t row = from; row < to; ++row) {
    std::string_view value = column.bytes(row);
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!TakeField(&value, &numbers[i][row - from])) {
        return false;
      }
    }
    if (!value.empty()) {
      return false;
    }
  }
  return !fields->empty();
}

absl::Status JoinKeyTuples(std::span<const ColumnVector> fields, size_t stored,
                           ColumnVector* column) {
  const size_t rows = fields[0].size();
  size_t heap_bytes = 0;
  for (const ColumnVector& field : fields) {
    for (const int64_t number : field.int64s()) {
      if (number < 0) {
        return absl::DataLossError(StrCat("key tuples: ", number, " is no field of one"));
      }
      heap_bytes += 1 + SignificantBytes(static_cast<uint64_t>(number));
    }
  }
  if (!ExpansionIsBounded(heap_bytes, stored)) {
    return absl::DataLossError(StrCat("key tuples: a body of ", stored, " bytes would expand to ",
                                      heap_bytes, ", more than any writer writes"));
  }
  const ColumnVector::GrownBytes grown = column->GrowBytes(rows, heap_bytes);
  size_t end = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (const ColumnVector& field : fields) {
      const auto number = static_cast<uint64_t>(field.int64s()[row]);
      const size_t bytes = SignificantBytes(number);
      grown.heap[end++] = static_cast<char>(kZeroCode + bytes);
      for (size_t i = bytes; i-- > 0;) {
        grown.heap[end++] = static_cast<char>(number >> (8 * i));
      }
    }
    grown.ends[row] = grown.heap_start + end;
  }
  return absl::OkStatus();
}

}  // namespace varve

// Columns of many shapes for tests of packs, and their comparison.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/column_batch.h"
#include "base/key_codec.h"
#include "tests/base/random_values.h"

namespace varve {

// How the values of a column follow each other.
enum class Shape {
  kRandom,       // extremes as often as anything
  kConstant,     // one value
  kRuns,         // runs of random length
  kFewDistinct,  // some values in random order
  kAscending,    // small steps up
  kNarrow,       // a random base and a random number of random bits
  kWrapping,     // large steps, modulo the width
  kStretches,    // stretches of random length, each with a base, a multiple and a width of its own
  kRepeating,    // one sequence over and over
};
inline constexpr std::array<Shape, 9> kAllShapes = {
    Shape::kRandom, Shape::kConstant, Shape::kRuns,      Shape::kFewDistinct, Shape::kAscending,
    Shape::kNarrow, Shape::kWrapping, Shape::kStretches, Shape::kRepeating};

// Which rows are NULL.
enum class NullShape { kNone, kAll, kSome };

// Makes columns of a type; the values of one object's columns are related to each other.
class ColumnShapes {
 public:
  explicit ColumnShapes(uint64_t seed) : random_(seed) {}

  RandomValues& random() { return random_; }

  ColumnVector Make(PhysicalType type, Shape shape, NullShape nulls, size_t rows) {
    ColumnVector column(type);
    std::vector<uint128_t> pool;
    const size_t pool_size = 1 + random_.Below(shape == Shape::kConstant ? 1 : 40);
    for (size_t i = 0; i < pool_size; ++i) {
      pool.push_back(Number());
    }
    const uint128_t step = random_.BitsOfAnyLength(shape == Shape::kWrapping ? 128 : 20);
    const int bits = static_cast<int>(random_.Below(70));
    uint128_t number = pool[0];
    size_t left_of_run = 0;
    uint128_t base = 0;
    uint128_t multiple = 1;
    int width = 0;
    const size_t period = 1 + random_.Below(2000);
    std::vector<uint128_t> sequence;
    // As bytes, these two are tuples of keys.
    const bool as_tuples = shape == Shape::kStretches || shape == Shape::kRepeating;
    for (size_t row = 0; row < rows; ++row) {
      switch (shape) {
        case Shape::kRandom: number = Number(); break;
        case Shape::kConstant: break;
        case Shape::kRuns:
          if (left_of_run-- == 0) {
            left_of_run = random_.Below(100);
            number = pool[random_.Below(pool.size())];
          }
          break;
        case Shape::kFewDistinct: number = pool[random_.Below(pool.size())]; break;
        case Shape::kAscending: number += random_.Below(static_cast<uint64_t>(step) + 1); break;
        case Shape::kNarrow: number = pool[0] + random_.BitsOfAnyLength(bits); break;
        case Shape::kWrapping: number += step; break;
        case Shape::kStretches:
          if (left_of_run-- == 0) {
            left_of_run = random_.Below(random_.OneIn(4) ? 5 : 600);
            base = Number();
            multiple = random_.OneIn(2) ? 1 : random_.BitsOfAnyLength(40);
            width = static_cast<int>(random_.Below(random_.OneIn(8) ? 70 : 20));
          }
          number = base + multiple * random_.BitsOfAnyLength(width);
          break;
        case Shape::kRepeating:
          if (sequence.size() < period) {
            sequence.push_back(number + random_.Below(1000));
          }
          number = sequence[row % period];
          break;
      }
      if (as_tuples && type == PhysicalType::kBytes) {
        AppendTuple(number, &column);
      } else {
        AppendNumber(number, &column);
      }
      if (nulls == NullShape::kAll || (nulls == NullShape::kSome && random_.OneIn(3))) {
        column.SetNull(row);
      }
    }
    return column;
  }

 private:
  uint128_t Number() {
    return random_.OneIn(4) ? random_.BitsOfAnyLength(128)
                            : static_cast<uint128_t>(random_.Int128());
  }

  // The number as a value of the column's type; equal numbers give equal values.
  void AppendNumber(uint128_t number, ColumnVector* column) {
    switch (column->type()) {
      case PhysicalType::kBool: column->AppendBool((number & 1) != 0); return;
      case PhysicalType::kInt64: column->AppendInt64(static_cast<int64_t>(number)); return;
      case PhysicalType::kInt128: column->AppendInt128(static_cast<int128_t>(number)); return;
      case PhysicalType::kFloat64: {
        const auto bits = static_cast<uint64_t>(number);
        double value;
        std::memcpy(&value, &bits, sizeof(value));
        column->AppendFloat64(value);
        return;
      }
      case PhysicalType::kBytes: {
        std::string text;
        AppendUInt128(number % 100000, &text);
        text.resize(static_cast<size_t>(number % 23), 'x');
        column->AppendBytes(text);
        return;
      }
    }
  }

  static void AppendTuple(uint128_t number, ColumnVector* column) {
    std::string key;
    AppendKey(Datum::Int64(static_cast<int64_t>(number >> 126)), &key);
    AppendKey(Datum::Int64(static_cast<int64_t>(number % (uint64_t{1} << 50))), &key);
    column->AppendBytes(key);
  }

  RandomValues random_;
};

// Expects that the rows of `got` are the rows `expected_rows` of `expected`: NULLs, and the values
// under them too, compared bit for bit.
inline void ExpectRows(const ColumnVector& expected, const std::vector<size_t>& expected_rows,
                       const ColumnVector& got) {
  ASSERT_EQ(got.type(), expected.type());
  ASSERT_EQ(got.size(), expected_rows.size());
  const auto bits_of = [](double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  size_t heap_size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t row = expected_rows[i];
    ASSERT_EQ(got.is_null(i), expected.is_null(row)) << "row " << row;
    switch (got.type()) {
      case PhysicalType::kBool: ASSERT_EQ(got.bools()[i], expected.bools()[row]); break;
      case PhysicalType::kInt64:
        ASSERT_EQ(got.int64s()[i], expected.int64s()[row]) << "row " << row;
        break;
      case PhysicalType::kInt128:
        ASSERT_TRUE(got.int128s()[i] == expected.int128s()[row]) << "row " << row;
        break;
      case PhysicalType::kFloat64:
        ASSERT_EQ(bits_of(got.float64s()[i]), bits_of(expected.float64s()[row])) << "row " << row;
        break;
      case PhysicalType::kBytes:
        ASSERT_EQ(got.bytes(i), expected.bytes(row)) << "row " << row;
        heap_size += got.bytes(i).size();
        break;
    }
  }
  if (got.type() == PhysicalType::kBytes) {
    ASSERT_EQ(got.heap_size(), heap_size);
  }
}

}  // namespace varve

#include "base/column_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "base/row.h"
#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

// A batch together with the rows it should hold.
struct CheckedBatch {
  ColumnBatch batch;
  std::vector<Row> rows;
};

CheckedBatch RandomBatch(RandomValues* random, size_t num_rows) {
  const std::vector<PhysicalType> types = random->Types(random->Below(6));
  CheckedBatch checked{.batch = ColumnBatch(types)};
  for (size_t r = 0; r < num_rows; ++r) {
    const std::vector<Datum> tuple = random->Tuple(types);
    checked.rows.emplace_back(std::span<const Datum>(tuple));
    for (size_t c = 0; c < types.size(); ++c) {
      checked.batch.mutable_column(c).Append(tuple[c]);
    }
  }
  checked.batch.SetNumRows(num_rows);
  return checked;
}

size_t HeapSize(const std::vector<Row>& rows, size_t column) {
  size_t size = 0;
  for (const Row& row : rows) {
    size += row[column].is_null() ? 0 : row[column].bytes().size();
  }
  return size;
}

void ExpectHolds(const ColumnBatch& batch, const std::vector<Row>& rows) {
  ASSERT_EQ(batch.num_rows(), rows.size());
  for (size_t c = 0; c < batch.num_columns(); ++c) {
    const ColumnVector& column = batch.column(c);
    ASSERT_EQ(column.size(), rows.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      ASSERT_EQ(column.is_null(r), rows[r][c].is_null()) << "row " << r << " column " << c;
      ASSERT_EQ(column.at(r), rows[r][c]) << "row " << r << " column " << c;
    }
    if (column.type() == PhysicalType::kBytes) {
      ASSERT_EQ(column.heap_size(), HeapSize(rows, c));
    }
  }
}

TEST(ColumnVectorTest, DenseViewsHoldZeroAtNulls) {
  ColumnVector bools(PhysicalType::kBool);
  bools.AppendBool(true);
  bools.AppendNull();
  EXPECT_EQ(std::vector<uint8_t>(bools.bools().begin(), bools.bools().end()),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(std::vector<uint8_t>(bools.nulls().begin(), bools.nulls().end()),
            (std::vector<uint8_t>{0, 1}));

  ColumnVector int64s(PhysicalType::kInt64);
  int64s.AppendInt64(-3);
  int64s.AppendNull();
  EXPECT_EQ(std::vector<int64_t>(int64s.int64s().begin(), int64s.int64s().end()),
            (std::vector<int64_t>{-3, 0}));

  ColumnVector int128s(PhysicalType::kInt128);
  int128s.AppendNull();
  int128s.AppendInt128(kInt128Min);
  ASSERT_EQ(int128s.int128s().size(), 2U);
  EXPECT_TRUE(int128s.int128s()[0] == 0);
  EXPECT_TRUE(int128s.int128s()[1] == kInt128Min);

  ColumnVector floats(PhysicalType::kFloat64);
  floats.AppendFloat64(0.5);
  floats.AppendNull();
  EXPECT_EQ(std::vector<double>(floats.float64s().begin(), floats.float64s().end()),
            (std::vector<double>{0.5, 0}));

  ColumnVector bytes(PhysicalType::kBytes);
  bytes.AppendBytes("ab");
  bytes.AppendNull();
  bytes.AppendBytes("");
  bytes.AppendBytes("c");
  EXPECT_EQ(bytes.bytes(0), "ab");
  EXPECT_EQ(bytes.bytes(1), "");
  EXPECT_EQ(bytes.bytes(2), "");
  EXPECT_EQ(bytes.bytes(3), "c");
  EXPECT_TRUE(bytes.is_null(1));
  EXPECT_FALSE(bytes.is_null(2));
  EXPECT_EQ(bytes.heap_size(), 3U);
}

TEST(ColumnVectorTest, AppendedValuesCanComeFromTheVectorItself) {
  ColumnVector column(PhysicalType::kBytes);
  column.AppendBytes("seed");
  for (size_t i = 0; i < 12; ++i) {
    column.Append(column.at(i));
  }
  for (size_t i = 0; i < column.size(); ++i) {
    EXPECT_EQ(column.bytes(i), "seed");
  }
}

TEST(ColumnVectorTest, ClearEmptiesAndTheVectorCanBeFilledAgain) {
  for (const PhysicalType type : kAllPhysicalTypes) {
    RandomValues random(TestSeed());
    ColumnVector column(type);
    for (int round = 0; round < 3; ++round) {
      column.Clear();
      EXPECT_EQ(column.size(), 0U);
      EXPECT_EQ(column.heap_size(), 0U);
      std::vector<Datum> values;
      for (int i = 0; i < 20; ++i) {
        values.push_back(random.Next(type));
        column.Append(values.back());
      }
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(column.at(i), values[i]);
      }
    }
  }
}

TEST(ColumnBatchTest, HoldsWhatWasAppended) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const CheckedBatch checked = RandomBatch(&random, random.Below(60));
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(checked.batch, checked.rows));
  }
}

TEST(ColumnBatchTest, SelectInPlaceEqualsARebuild) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 1'000; ++round) {
    CheckedBatch checked = RandomBatch(&random, random.Below(60));
    // Several selections one after the other, from all rows to none.
    for (int step = 0; step < 3; ++step) {
      const uint64_t keep = random.Below(5);
      std::vector<uint32_t> selection;
      std::vector<Row> kept;
      for (size_t r = 0; r < checked.rows.size(); ++r) {
        if (random.Below(4) < keep) {
          selection.push_back(static_cast<uint32_t>(r));
          kept.push_back(checked.rows[r]);
        }
      }
      checked.batch.Select(selection);
      checked.rows = std::move(kept);
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(checked.batch, checked.rows));
    }
  }
}

TEST(ColumnBatchTest, TruncateDropsRowsFromTheEnd) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 500; ++round) {
    CheckedBatch checked = RandomBatch(&random, random.Below(40));
    const size_t size = random.Below(checked.rows.size() + 1);
    checked.batch.Truncate(size);
    checked.rows.resize(size);
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(checked.batch, checked.rows));
  }
}

TEST(ColumnBatchTest, RowsCanBeAppendedAfterSelectAndTruncate) {
  ColumnBatch batch(std::vector<PhysicalType>{PhysicalType::kBytes});
  ColumnVector& column = batch.mutable_column(0);
  for (const char* text : {"zero", "one", "two", "three"}) {
    column.AppendBytes(text);
  }
  batch.SetNumRows(4);
  batch.Select(std::vector<uint32_t>{1, 3});
  batch.Truncate(1);
  column.AppendBytes("four");
  column.AppendNull();
  batch.SetNumRows(3);
  EXPECT_EQ(column.bytes(0), "one");
  EXPECT_EQ(column.bytes(1), "four");
  EXPECT_TRUE(column.is_null(2));
  EXPECT_EQ(column.heap_size(), 7U);
}

TEST(ColumnBatchTest, WithoutColumnsCarriesItsRowCount) {
  ColumnBatch batch;
  batch.SetNumRows(5);
  EXPECT_EQ(batch.num_rows(), 5U);
  EXPECT_EQ(batch.num_columns(), 0U);
  batch.Select(std::vector<uint32_t>{0, 4});
  EXPECT_EQ(batch.num_rows(), 2U);
  batch.Truncate(1);
  EXPECT_EQ(batch.num_rows(), 1U);
  batch.Clear();
  EXPECT_EQ(batch.num_rows(), 0U);
}

TEST(ColumnBatchTest, ResetTakesOnOtherColumns) {
  RandomValues random(TestSeed());
  ColumnBatch batch;
  for (int round = 0; round < 200; ++round) {
    const std::vector<PhysicalType> types = random.Types(random.Below(6));
    batch.Reset(types);
    ASSERT_EQ(batch.num_rows(), 0U);
    ASSERT_EQ(batch.num_columns(), types.size());
    const size_t num_rows = random.Below(5);
    std::vector<Row> rows;
    for (size_t r = 0; r < num_rows; ++r) {
      const std::vector<Datum> tuple = random.Tuple(types);
      rows.emplace_back(std::span<const Datum>(tuple));
      for (size_t c = 0; c < types.size(); ++c) {
        ASSERT_EQ(batch.column(c).type(), types[c]);
        batch.mutable_column(c).Append(tuple[c]);
      }
    }
    batch.SetNumRows(num_rows);
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(batch, rows));
  }
}

TEST(ColumnBatchTest, ClearKeepsTheColumns) {
  RandomValues random(TestSeed());
  CheckedBatch checked = RandomBatch(&random, 10);
  const size_t num_columns = checked.batch.num_columns();
  checked.batch.Clear();
  EXPECT_EQ(checked.batch.num_columns(), num_columns);
  ExpectHolds(checked.batch, {});
}

// --- Columns that others have, too ---

// Shares the columns of a random batch, some of them or all, with another one.
struct SharedBatch {
  SharedBatch(RandomValues* random, size_t num_rows) : kept(RandomBatch(random, num_rows)) {
    std::vector<PhysicalType> types;
    for (size_t c = 0; c < kept.batch.num_columns(); ++c) {
      types.push_back(kept.batch.column(c).type());
    }
    batch.Reset(types);
    for (size_t c = 0; c < types.size(); ++c) {
      vectors.push_back(std::make_shared<const ColumnVector>(kept.batch.column(c)));
      if (random->Below(4) == 0) {
        batch.mutable_column(c) = *vectors[c];
      } else {
        batch.ShareColumn(c, vectors[c]);
      }
    }
    batch.SetNumRows(num_rows);
  }
  // What was shared is as it was.
  void ExpectUntouched() const {
    ColumnBatch untouched;
    std::vector<PhysicalType> types;
    for (const auto& vector : vectors) {
      types.push_back(vector->type());
    }
    untouched.Reset(types);
    for (size_t c = 0; c < vectors.size(); ++c) {
      untouched.ShareColumn(c, vectors[c]);
    }
    untouched.SetNumRows(kept.rows.size());
    ExpectHolds(untouched, kept.rows);
  }

  CheckedBatch kept;
  std::vector<std::shared_ptr<const ColumnVector>> vectors;
  ColumnBatch batch;
};

TEST(SharedColumnsTest, AreReadInPlace) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const SharedBatch shared(&random, random.Below(60));
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(shared.batch, shared.kept.rows));
    for (size_t c = 0; c < shared.batch.num_columns(); ++c) {
      if (shared.batch.shared_column(c) != nullptr) {
        EXPECT_EQ(&shared.batch.column(c), shared.vectors[c].get());
      }
    }
  }
}

TEST(SharedColumnsTest, NoChangeOfTheBatchReachesThem) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 2'000; ++round) {
    SharedBatch shared(&random, random.Below(40));
    std::vector<Row> rows = shared.kept.rows;
    for (int step = 0; step < 3; ++step) {
      switch (random.Below(4)) {
        case 0: {
          const size_t size = random.Below(rows.size() + 1);
          shared.batch.Truncate(size);
          rows.resize(size);
          break;
        }
        case 1: {
          const uint64_t keep = random.Below(5);
          std::vector<uint32_t> selection;
          std::vector<Row> kept;
          for (size_t r = 0; r < rows.size(); ++r) {
            if (random.Below(4) < keep) {
              selection.push_back(static_cast<uint32_t>(r));
              kept.push_back(rows[r]);
            }
          }
          shared.batch.Select(selection);
          rows = std::move(kept);
          break;
        }
        case 2:
          for (size_t c = 0; c < shared.batch.num_columns(); ++c) {
            shared.batch.mutable_column(c).AppendNull();
          }
          rows.emplace_back(std::span<const Datum>(std::vector<Datum>(shared.batch.num_columns())));
          shared.batch.SetNumRows(rows.size());
          break;
        default:
          if (shared.batch.num_columns() > 0 && !rows.empty()) {
            const size_t column = random.Below(shared.batch.num_columns());
            const size_t row = random.Below(rows.size());
            shared.batch.mutable_column(column).SetNull(row);
            std::vector<Datum> values(rows[row].values().begin(), rows[row].values().end());
            values[column] = Datum();
            // ExpectHolds counts the bytes of values that are not NULL.
            if (shared.batch.column(column).type() == PhysicalType::kBytes) {
              ColumnVector& bytes = shared.batch.mutable_column(column);
              bytes.Clear();
              for (size_t r = 0; r < rows.size(); ++r) {
                bytes.Append(r == row ? Datum() : rows[r][column]);
              }
            }
            rows[row] = Row(values);
          }
          break;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(shared.batch, rows)) << "step " << step;
      ASSERT_NO_FATAL_FAILURE(shared.ExpectUntouched());
    }
  }
}

TEST(SharedColumnsTest, ABatchLetsGoOfThemWhenItIsCleared) {
  const auto vector = std::make_shared<const ColumnVector>(PhysicalType::kInt64);
  const std::vector<PhysicalType> types = {PhysicalType::kInt64};
  ColumnBatch batch(types);
  batch.ShareColumn(0, vector);
  EXPECT_EQ(vector.use_count(), 2);
  batch.Clear();
  EXPECT_EQ(vector.use_count(), 1);
  batch.ShareColumn(0, vector);
  batch.Reset(types);
  EXPECT_EQ(vector.use_count(), 1);
  batch.ShareColumn(0, vector);
  batch.DropColumnsFrom(0);
  EXPECT_EQ(vector.use_count(), 1);
}

}  // namespace
}  // namespace varve

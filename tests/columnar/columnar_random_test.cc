// Tables of any shape, written and read back in every way there is.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "tests/columnar/columnar_test_rows.h"
#include "tests/seed.h"

namespace varve {
namespace {

struct RandomTable {
  ColumnarTableSchema schema;
  ColumnarRows rows;
};

// A file of one to three tables.
std::vector<RandomTable> WriteRandomFile(MemoryFileSystem* file_system, size_t max_rows,
                                         size_t rows_per_pack, RandomValues* random) {
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = rows_per_pack;
  options.table.group_bytes = random->OneIn(2) ? 0 : random->Below(5'000);
  options.table.handle_bloom = random->OneIn(2);
  auto writer = *ColumnarFileWriter::Create(file_system, kTestFile, options);
  std::vector<RandomTable> tables;
  for (uint32_t relation = 0; relation < 1 + random->Below(3); ++relation) {
    RandomTable& table = tables.emplace_back();
    table.schema = RandomSchema(relation, random);
    table.rows = RandomRows(table.schema,
                            {.rows = random->Below(max_rows + 1),
                             .one_in_repeats = random->Below(4),
                             .one_in_ended = random->Below(4),
                             .one_in_erased = random->Below(4)},
                            random);
    EXPECT_TRUE(writer->BeginTable(table.schema).ok());
    for (size_t from = 0; from < table.rows.num_rows();) {
      const size_t to = std::min(table.rows.num_rows(), from + random->Below(max_rows));
      EXPECT_TRUE(writer->Append(table.rows, from, to).ok());
      from = to;
    }
  }
  const auto properties = writer->Finish();
  EXPECT_TRUE(properties.ok()) << properties.status();
  return tables;
}

// What statistics say of every pack, against its rows.
void CheckStatistics(const ColumnarTable& table, const ColumnarRows& rows) {
  ASSERT_TRUE(table.mvcc_stats().has_value());
  ASSERT_TRUE(table.snapshot_bounds().has_value());
  SnapshotId max_version = 0;
  for (size_t pack = 0; pack < table.num_packs(); ++pack) {
    SCOPED_TRACE(StrCat("pack ", pack));
    const size_t first = table.row_offsets()[pack];
    const size_t end = table.row_offsets()[pack + 1];
    const PackSnapshotBounds& bounds = (*table.snapshot_bounds())[pack];
    bool has_delete = false;
    bool repeats = false;
    for (size_t row = first; row < end; ++row) {
      has_delete |= rows.is_erased(row) || rows.ends[row] != kNoEnd;
      repeats |= row > first && rows.handles.at(row) == rows.handles.at(row - 1);
      max_version = std::max(max_version, rows.begins[row]);
    }
    ASSERT_EQ(table.mvcc_stats()->has_delete(pack), has_delete);
    ASSERT_EQ(table.mvcc_stats()->has_multi_version(pack), repeats);
    ASSERT_FALSE(bounds.Contradicts(table.mvcc_stats()->flags(pack)));
    for (SnapshotId at = 0; at < 1'200; at += 7) {
      size_t visible = 0;
      for (size_t row = first; row < end; ++row) {
        visible += !rows.is_erased(row) && IsVisible(rows.begins[row], rows.ends[row], at) ? 1 : 0;
      }
      ASSERT_TRUE(!bounds.ProvesAllVisible(at) || visible == end - first) << "at " << at;
      ASSERT_TRUE(!bounds.ProvesNoneVisible(at) || visible == 0) << "at " << at;
    }
    ASSERT_EQ(table.first_handle(pack), rows.handles.at(first));
    ASSERT_EQ(table.last_handles()->at(pack), rows.handles.at(end - 1));
    ASSERT_TRUE(end == rows.num_rows() || rows.handles.at(end) != rows.handles.at(end - 1))
        << "versions of one handle are split";
  }
  if (rows.num_rows() > 0) {
    ASSERT_EQ(table.max_version(), max_version);
  }
}

void CheckSeeks(const ColumnarTable& table, const ColumnarRows& rows) {
  for (size_t row = 0; row < rows.num_rows(); ++row) {
    const Datum handle = rows.handles.at(row);
    const auto after = std::ranges::upper_bound(table.row_offsets(), row);
    ASSERT_EQ(table.SeekPack(handle), static_cast<size_t>(after - table.row_offsets().begin()) - 1)
        << "row " << row;
    ASSERT_TRUE(table.MayContain(handle)) << "row " << row;
  }
}

// Selections of one column, against the rows.
void CheckSelections(ColumnarTableReader* reader, const RandomTable& table, RandomValues* random) {
  for (size_t pack = 0; pack < reader->num_packs(); ++pack) {
    std::vector<uint32_t> selection;
    for (uint32_t row = 0; row < reader->table().rows_of_pack(pack); ++row) {
      if (random->OneIn(3)) {
        selection.push_back(row);
      }
    }
    for (size_t i = 0; i < table.schema.columns.size(); ++i) {
      const ColumnVector& written = table.rows.columns.column(i);
      ColumnVector values(written.type());
      const absl::Status status = reader->ReadPackSelected(
          pack, ColumnSlot::Data(table.schema.columns[i].id), selection, &values);
      ASSERT_TRUE(status.ok()) << status;
      ColumnVector expected(written.type());
      for (const uint32_t row : selection) {
        expected.Append(written.at(reader->table().row_offsets()[pack] + row));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSameValues(values, expected));
    }
  }
}

TEST(ColumnarRandomTest, WhatWasWrittenIsReadInEveryWay) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(StrCat("round ", round));
    MemoryFileSystem file_system;
    const std::vector<RandomTable> tables =
        WriteRandomFile(&file_system, /*max_rows=*/300, 1 + random.Below(60), &random);
    const auto file = OpenFile(&file_system);
    PackCache cache(rocksdb::NewLRUCache(random.Below(200'000), 0));
    for (const RandomTable& written : tables) {
      const ColumnarTable* table = file->FindTable(written.schema.relation);
      ASSERT_NE(table, nullptr);
      ASSERT_NO_FATAL_FAILURE(CheckStatistics(*table, written.rows));
      ASSERT_NO_FATAL_FAILURE(CheckSeeks(*table, written.rows));
      ReadCounters counters;
      ColumnarTableReader reader(file, table, &counters,
                                 {.cache = random.OneIn(2) ? &cache : nullptr,
                                  .read_ahead_bytes = random.Below(10'000),
                                  .max_read_bytes = random.Below(10'000)});
      const ColumnSlot ahead = random.OneIn(2) ? ColumnSlot::Handle() : ColumnSlot::Data(1);
      ASSERT_TRUE(reader.ReadAhead(0, table->num_packs(), std::span(&ahead, 1)).ok());
      for (int again = 0; again < 2; ++again) {
        const auto rows = ReadTable(&reader, written.schema);
        ASSERT_TRUE(rows.ok()) << rows.status();
        ASSERT_NO_FATAL_FAILURE(ExpectSameRows(*rows, written.rows));
        ASSERT_NO_FATAL_FAILURE(CheckSelections(&reader, written, &random));
      }
    }
  }
}

TEST(ColumnarRandomTest, PacksOfFullSizeComeBack) {
  RandomValues random(TestSeed());
  MemoryFileSystem file_system;
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  const ColumnarRows rows =
      RandomRows(schema, {.rows = 30'000, .one_in_repeats = 2, .one_in_ended = 2}, &random);
  WriteFile(&file_system, schema, rows);
  const auto file = OpenFile(&file_system);
  EXPECT_EQ(file->tables()[0].num_packs(), 4U);
  const auto read = ReadTable(file, schema);
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectSameRows(*read, rows);
}

}  // namespace
}  // namespace varve

#include "columnar/columnar_table_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/strings.h"
#include "columnar/format.h"
#include "tests/columnar/columnar_test_rows.h"

namespace varve {
namespace {

// Three packs: handles 1 to 2, 4 to 6, 9.
constexpr char kRows[] =
    "1 [0,) 10 a | 2 [1,4) 20 b | 2 [4,) 21 b | 4 [2,) ! "
    "| 6 [12,13) NULL NULL | 9 [3,) 90 i";

ColumnarFileWriterOptions TwoRowsAPack() {
  ColumnarFileWriterOptions options;
  options.table.rows_per_pack = 2;
  return options;
}

// A file with the rows above, and a reader of it.
struct World {
  explicit World(HandleType handle, ColumnarFileWriterOptions options = TwoRowsAPack(),
                 ColumnarTableReaderOptions reader_options = {})
      : schema(TestSchema(handle)) {
    WriteFile(&file_system, schema, RowsOf(schema, kRows), options);
    file = OpenFile(&file_system);
    table = file->FindTable(schema.relation);
    reader = std::make_unique<ColumnarTableReader>(file, table, &counters, reader_options);
    file_system.TakeReads();
  }

  MemoryFileSystem file_system;
  ColumnarTableSchema schema;
  std::shared_ptr<const ColumnarFile> file;
  const ColumnarTable* table = nullptr;
  ReadCounters counters;
  std::unique_ptr<ColumnarTableReader> reader;
};

// Leaves one property out, or puts another value in its place.
ColumnarFileWriterOptions WithProperty(std::string_view key, std::optional<std::string> value) {
  ColumnarFileWriterOptions options = TwoRowsAPack();
  options.table.edit_properties = [key, value](std::vector<Property>* properties) {
    const auto it = std::ranges::find(*properties, key, &Property::key);
    ASSERT_NE(it, properties->end());
    if (value.has_value()) {
      it->value = *value;
    } else {
      properties->erase(it);
    }
  };
  return options;
}

TEST(ColumnarTableTest, KnowsPacksHandlesAndStatistics) {
  const World world(HandleType::kInt);
  const ColumnarTable& table = *world.table;
  EXPECT_EQ(table.row_offsets(), (std::vector<uint64_t>{0, 3, 5, 6}));
  EXPECT_EQ(table.first_handle(1), Datum::Int64(4));
  ASSERT_TRUE(table.last_handles().has_value());
  EXPECT_EQ(table.last_handles()->at(0), Datum::Int64(2));
  EXPECT_EQ(table.last_handles()->at(1), Datum::Int64(6));
  EXPECT_EQ(table.mvcc_stats(),
            PackMvccStats({kPackHasDelete | kPackHasMultiVersion, kPackHasDelete, 0}));
  EXPECT_EQ(table.max_version(), 12U);
  ASSERT_TRUE(table.snapshot_bounds().has_value());
  EXPECT_TRUE((*table.snapshot_bounds())[2].ProvesAllVisible(3));
}

TEST(ColumnarTableTest, MinMaxOfHandlesCountsDeleteMarkersAndThatOfValuesDoesNot) {
  const World world(HandleType::kInt);
  const PackMinMax handles = world.table->handle_column().min_max->pack(1);
  EXPECT_EQ(handles.min, Datum::Int64(4)) << "the handle of the marker";
  const PackMinMax sizes = world.table->FindColumn(1)->min_max->pack(1);
  EXPECT_TRUE(sizes.has_null) << "of row 6";
  EXPECT_FALSE(sizes.has_value);
  const PackMinMax first = world.table->FindColumn(1)->min_max->pack(0);
  EXPECT_EQ(first.min, Datum::Int64(10));
  EXPECT_EQ(first.max, Datum::Int64(21));
  EXPECT_FALSE(world.table->version_column().min_max.has_value());
}

TEST(ColumnarTableTest, SeekFindsTheFirstPackThatCanHoldTheHandle) {
  const std::vector<std::pair<int, size_t>> with_last = {{0, 0}, {1, 0}, {2, 0}, {3, 1},
                                                         {4, 1}, {6, 1}, {7, 2}, {9, 2}};
  // Without last handles a gap belongs to the pack before it.
  const std::vector<std::pair<int, size_t>> without = {{0, 0}, {1, 0}, {2, 0}, {3, 0},
                                                       {4, 1}, {6, 1}, {7, 1}, {9, 2}};
  for (const HandleType handle : {HandleType::kInt, HandleType::kCommon}) {
    const World all(handle);
    const World no_last(handle, WithProperty(kPropPackLastHandle, std::nullopt));
    EXPECT_FALSE(no_last.table->last_handles().has_value());
    const auto seek = [handle](const World& world, int key) {
      const std::string bytes = StrCat(key);
      return world.table->SeekPack(handle == HandleType::kInt ? Datum::Int64(key)
                                                              : Datum::Bytes(bytes));
    };
    for (const auto& [key, pack] : with_last) {
      EXPECT_EQ(seek(all, key), pack) << key;
    }
    for (const auto& [key, pack] : without) {
      EXPECT_EQ(seek(no_last, key), pack) << key;
    }
    EXPECT_EQ(
        all.table->SeekPack(handle == HandleType::kInt ? Datum::Int64(10) : Datum::Bytes("99")),
        3U);
  }
}

TEST(ColumnarTableTest, MayContainKnowsMostHandlesThatAreNotThere) {
  const World world(HandleType::kInt);
  for (const int64_t there : {1, 2, 4, 6, 9}) {
    EXPECT_TRUE(world.table->MayContain(Datum::Int64(there))) << there;
  }
  EXPECT_FALSE(world.table->MayContain(Datum::Int64(3))) << "between two packs";
  EXPECT_FALSE(world.table->MayContain(Datum::Int64(10))) << "behind all";

  // One pack over the even numbers to 2,000: between its handles only the filter can tell.
  std::string text;
  for (int i = 0; i <= 2'000; i += 2) {
    StrAppend(&text, i, " [0,) 1 a | ");
  }
  const ColumnarTableSchema schema = TestSchema(HandleType::kInt);
  const auto count_maybes = [&](bool bloom) {
    MemoryFileSystem file_system;
    ColumnarFileWriterOptions options;
    options.table.handle_bloom = bloom;
    WriteFile(&file_system, schema, RowsOf(schema, text), options);
    const auto file = OpenFile(&file_system);
    size_t maybes = 0;
    for (int i = 0; i < 2'000; ++i) {
      const bool maybe = file->tables()[0].MayContain(Datum::Int64(i));
      EXPECT_TRUE(maybe || i % 2 == 1) << i;
      maybes += maybe && i % 2 == 1 ? 1 : 0;
    }
    return maybes;
  };
  EXPECT_LT(count_maybes(true), 100U) << "about one in a hundred of 1,000";
  EXPECT_EQ(count_maybes(false), 1'000U);
}

TEST(ColumnarTableTest, APropertyThatIsAbsentOrDoesNotFitIsIgnored) {
  std::string later = PackMvccStats({0, 0, 0}).Encode() + "more";
  later[0] = 2;
  for (const std::optional<std::string>& value :
       {std::optional<std::string>(), std::optional<std::string>(""),
        std::optional<std::string>(PackMvccStats({0, 0}).Encode()),
        std::optional<std::string>(PackMvccStats({0, 0, 0, 0}).Encode()),
        std::optional<std::string>(later), std::optional<std::string>("garbage")}) {
    for (const std::string_view key : {kPropPackMvccStats, kPropPackSnapshotBounds, kPropMaxVersion,
                                       kPropPackLastHandle, kPropHandleBloom}) {
      SCOPED_TRACE(StrCat(key, ": ", value.value_or("absent")));
      World world(HandleType::kCommon, WithProperty(key, value));
      const ColumnarTable& table = *world.table;
      EXPECT_EQ(table.mvcc_stats().has_value(), key != kPropPackMvccStats);
      EXPECT_EQ(table.snapshot_bounds().has_value(), key != kPropPackSnapshotBounds);
      EXPECT_EQ(table.max_version().has_value(), key != kPropMaxVersion);
      EXPECT_EQ(table.last_handles().has_value(), key != kPropPackLastHandle);
      EXPECT_TRUE(table.MayContain(Datum::Bytes("6")));
      const auto rows = ReadTable(world.reader.get(), world.schema);
      ASSERT_TRUE(rows.ok()) << rows.status();
      EXPECT_EQ(TextOf(*rows), kRows);
    }
  }
}

TEST(ColumnarTableTest, UnknownPropertiesAreIgnored) {
  ColumnarFileWriterOptions options = TwoRowsAPack();
  options.table.edit_properties = [](std::vector<Property>* properties) {
    properties->insert(properties->begin(), {.key = "later", .value = "unknown"});
  };
  World world(HandleType::kInt, options);
  EXPECT_TRUE(world.table->mvcc_stats().has_value());
  EXPECT_EQ(TextOf(*ReadTable(world.reader.get(), world.schema)), kRows);
}

TEST(ColumnarTableReaderTest, AColumnThatIsNotInTheFileReadsAsNull) {
  World world(HandleType::kInt);
  for (const PhysicalType type : {PhysicalType::kInt64, PhysicalType::kBytes}) {
    ColumnVector column(type);
    ASSERT_TRUE(world.reader->ReadPack(0, ColumnSlot::Data(99), &column).ok());
    ASSERT_TRUE(
        world.reader->ReadPackSelected(0, ColumnSlot::Data(99), std::vector<uint32_t>{1}, &column)
            .ok());
    ASSERT_EQ(column.size(), 4U);
    EXPECT_TRUE(std::ranges::all_of(column.nulls(), [](uint8_t null) { return null == 1; }));
  }
  EXPECT_EQ(world.counters.reads, 0U);
}

TEST(ColumnarTableReaderTest, AnotherPhysicalTypeThanTheFilesIsRefused) {
  World world(HandleType::kInt);
  ColumnVector column(PhysicalType::kBytes);
  EXPECT_EQ(world.reader->ReadPack(0, ColumnSlot::Data(1), &column).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(ColumnarTableReaderTest, ADeleteMarkerKeepsItsBeginUnderTheNullMark) {
  World world(HandleType::kInt);
  ColumnVector versions(PhysicalType::kInt64);
  ASSERT_TRUE(world.reader->ReadPack(1, ColumnSlot::Version(), &versions).ok());
  EXPECT_TRUE(versions.is_null(0));
  EXPECT_EQ(versions.int64s()[0], 2);
  EXPECT_FALSE(versions.is_null(1));
  EXPECT_EQ(versions.int64s()[1], 12);
}

TEST(ColumnarTableReaderTest, OnlyThePacksOfTheColumnsAskedForAreRead) {
  World world(HandleType::kInt);
  ColumnVector sizes(PhysicalType::kInt64);
  ASSERT_TRUE(world.reader->ReadPack(2, ColumnSlot::Data(1), &sizes).ok());
  const PackLocation location = world.table->FindColumn(1)->packs[2];
  const auto reads = world.file_system.TakeReads();
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads[0].offset, location.offset);
  EXPECT_EQ(reads[0].size, location.length);
  EXPECT_EQ(world.counters.bytes_read, location.length);
  EXPECT_EQ(world.counters.mvcc_bytes_read, 0U) << "neither handle nor version nor end";
  EXPECT_EQ(world.counters.packs_decoded, 1U);

  ColumnVector versions(PhysicalType::kInt64);
  ASSERT_TRUE(world.reader->ReadPack(2, ColumnSlot::Version(), &versions).ok());
  EXPECT_EQ(world.counters.mvcc_bytes_read, world.table->version_column().packs[2].length);
}

TEST(ColumnarTableReaderTest, NeighboursAreReadInOneGoAndNothingBetweenOthers) {
  ColumnarFileWriterOptions options = TwoRowsAPack();
  options.table.group_bytes = 0;  // handle, version, end, size, path of a pack side by side
  World world(HandleType::kInt, options);
  ColumnVector handles(PhysicalType::kInt64);
  ColumnVector versions(PhysicalType::kInt64);
  ColumnVector sizes(PhysicalType::kInt64);
  // The slots in another order than the file's, one twice.
  const std::vector<ColumnSlot> slots = {ColumnSlot::Data(1), ColumnSlot::Handle(),
                                         ColumnSlot::Version(), ColumnSlot::Handle()};
  const std::vector<ColumnVector*> out = {&sizes, &handles, &versions, &handles};
  ASSERT_TRUE(world.reader->ReadPack(0, slots, out).ok());
  EXPECT_EQ(world.file_system.TakeReads().size(), 2U) << "the end lies between";
  EXPECT_EQ(handles.size(), 6U);
  EXPECT_EQ(world.counters.bytes_read, world.table->handle_column().packs[0].length +
                                           world.table->version_column().packs[0].length +
                                           world.table->FindColumn(1)->packs[0].length);
}

TEST(ColumnarTableReaderTest, ReadAheadReadsPacksOfAColumnInOneGo) {
  World world(HandleType::kInt);
  const std::vector<ColumnSlot> slots = {ColumnSlot::Data(1), ColumnSlot::Data(99)};
  const auto next = world.reader->ReadAhead(0, 3, slots);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(*next, 3U);
  EXPECT_EQ(world.file_system.TakeReads().size(), 1U);
  ColumnVector sizes(PhysicalType::kInt64);
  for (size_t pack = 0; pack < 3; ++pack) {
    ASSERT_TRUE(world.reader->ReadPack(pack, ColumnSlot::Data(1), &sizes).ok());
  }
  EXPECT_EQ(world.file_system.TakeReads().size(), 0U);
  ExpectSameValues(sizes, RowsOf(world.schema, kRows).columns.column(0));
}

TEST(ColumnarTableReaderTest, ReadAheadIsBoundedAndReadsOnePackAtLeast) {
  World world(HandleType::kInt, TwoRowsAPack(), {.read_ahead_bytes = 1});
  const ColumnSlot slot = ColumnSlot::Data(1);
  for (size_t pack = 0; pack < 3; ++pack) {
    const auto next = world.reader->ReadAhead(pack, 3, std::span(&slot, 1));
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(*next, pack + 1);
  }
  EXPECT_EQ(world.counters.reads, 3U);
  EXPECT_EQ(*world.reader->ReadAhead(3, 3, std::span(&slot, 1)), 3U);
}

TEST(ColumnarTableReaderTest, LongPiecesAreReadInSeveral) {
  World world(HandleType::kInt, TwoRowsAPack(), {.max_read_bytes = 1});
  const ColumnSlot slot = ColumnSlot::Data(2);
  ASSERT_TRUE(world.reader->ReadAhead(0, 3, std::span(&slot, 1)).ok());
  EXPECT_EQ(world.counters.reads, 3U);
  EXPECT_EQ(TextOf(*ReadTable(world.reader.get(), world.schema)), kRows);
}

TEST(ColumnarTableReaderTest, ASelectionReadsTheRowsItNames) {
  for (const bool cached : {false, true}) {
    PackCache cache(rocksdb::NewLRUCache(1 << 20));
    World world(HandleType::kInt, TwoRowsAPack(), {.cache = cached ? &cache : nullptr});
    ColumnVector all(PhysicalType::kBytes);
    ASSERT_TRUE(world.reader->ReadPack(0, ColumnSlot::Data(2), &all).ok());
    ColumnVector some(PhysicalType::kBytes);
    ASSERT_TRUE(
        world.reader->ReadPackSelected(0, ColumnSlot::Data(2), std::vector<uint32_t>{0, 2}, &some)
            .ok());
    ASSERT_EQ(some.size(), 2U);
    EXPECT_EQ(some.bytes(0), "a");
    EXPECT_EQ(some.bytes(1), "b");
    ColumnVector versions(PhysicalType::kInt64);
    ASSERT_TRUE(world.reader->ReadPack(1, ColumnSlot::Version(), &versions).ok());
    versions.Clear();
    ASSERT_TRUE(
        world.reader
            ->ReadPackSelected(1, ColumnSlot::Version(), std::vector<uint32_t>{0}, &versions)
            .ok());
    EXPECT_TRUE(versions.is_null(0));
    EXPECT_EQ(versions.int64s()[0], 2) << "the begin under the mark";
    ASSERT_TRUE(world.reader->ReadPackSelected(1, ColumnSlot::Version(), {}, &versions).ok());
    EXPECT_EQ(world.counters.cache_hits, cached ? 2U : 0U);
    EXPECT_EQ(world.counters.reads, cached ? 2U : 4U);
  }
}

TEST(ColumnarTableReaderTest, ACacheSparesReadingAndGivesTheSameRows) {
  PackCache cache(rocksdb::NewLRUCache(1 << 20));
  World world(HandleType::kCommon, TwoRowsAPack(), {.cache = &cache});
  EXPECT_EQ(TextOf(*ReadTable(world.reader.get(), world.schema)), kRows);
  EXPECT_EQ(world.counters.cache_hits, 0U);
  const ReadCounters first = world.counters;
  EXPECT_EQ(TextOf(*ReadTable(world.reader.get(), world.schema)), kRows);
  EXPECT_EQ(world.counters.cache_hits, 15U) << "three packs of five columns";
  EXPECT_EQ(world.counters.bytes_read, first.bytes_read);
  EXPECT_EQ(world.counters.packs_decoded, first.packs_decoded);
  const ColumnSlot slot = ColumnSlot::Data(2);
  EXPECT_EQ(*world.reader->ReadAhead(0, 3, std::span(&slot, 1)), 3U);
  EXPECT_EQ(world.counters.bytes_read, first.bytes_read) << "nothing to read ahead";
}

TEST(ColumnarTableReaderTest, ASharedPackIsThatOfTheCache) {
  PackCache cache(rocksdb::NewLRUCache(1 << 20));
  World world(HandleType::kInt, TwoRowsAPack(), {.cache = &cache});
  const auto read = [&world](ColumnSlot slot) {
    return *world.reader->ReadPackShared(0, slot, PhysicalType::kInt64);
  };
  const auto first = read(ColumnSlot::Data(1));
  EXPECT_EQ(read(ColumnSlot::Data(1)), first);
  EXPECT_EQ(first->size(), 3U);
  EXPECT_TRUE(read(ColumnSlot::Data(99))->is_null(2)) << "a column that is not there";
}

TEST(ColumnarTableReaderTest, WideIntegersThatFitAreReadNarrowed) {
  ColumnarTableSchema schema{.relation = 7, .handle = HandleType::kInt};
  schema.columns.push_back({.id = 1, .name = "fits", .type = TypeKind::kInt128});
  schema.columns.push_back({.id = 2, .name = "does not", .type = TypeKind::kInt128});
  schema.columns.push_back({.id = 3, .name = "narrow", .type = TypeKind::kInt64});
  ColumnarRows rows(schema);
  const std::vector<Datum> fitting = {Datum::Int128(std::numeric_limits<int64_t>::min()), Datum(),
                                      Datum::Int128(std::numeric_limits<int64_t>::max())};
  for (int64_t row = 0; row < 3; ++row) {
    rows.handles.AppendInt64(row);
    rows.begins.push_back(0);
    rows.ends.push_back(kNoEnd);
    rows.columns.mutable_column(0).Append(fitting[static_cast<size_t>(row)]);
    rows.columns.mutable_column(1).AppendInt128(int128_t{row} << 63);
    rows.columns.mutable_column(2).AppendInt64(row);
  }
  rows.columns.SetNumRows(3);
  MemoryFileSystem file_system;
  WriteFile(&file_system, schema, rows);
  const auto file = OpenFile(&file_system);
  PackCache cache(rocksdb::NewLRUCache(1 << 20));
  ReadCounters counters;
  ColumnarTableReader reader(file, file->FindTable(7), &counters, {.cache = &cache});
  const auto narrowed = reader.ReadPackNarrowed(0, ColumnSlot::Data(1));
  ASSERT_TRUE(narrowed.ok()) << narrowed.status();
  const std::span<const int64_t> values = (*narrowed)->int64s();
  EXPECT_EQ(values[0], std::numeric_limits<int64_t>::min());
  EXPECT_TRUE((*narrowed)->is_null(1));
  EXPECT_EQ(values[2], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(*reader.ReadPackNarrowed(0, ColumnSlot::Data(1)), *narrowed) << "out of the cache";
  EXPECT_EQ((*reader.ReadPackShared(0, ColumnSlot::Data(1), PhysicalType::kInt128))->type(),
            PhysicalType::kInt128)
      << "both forms are kept";
  EXPECT_TRUE(absl::IsDataLoss(reader.ReadPackNarrowed(0, ColumnSlot::Data(2)).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.ReadPackNarrowed(0, ColumnSlot::Data(3)).status()));
  EXPECT_TRUE((*reader.ReadPackNarrowed(0, ColumnSlot::Data(99)))->is_null(2));
}

TEST(ColumnarTableReaderTest, AFileIsReadByManyThreads) {
  PackCache cache(rocksdb::NewLRUCache(1 << 20));
  World world(HandleType::kCommon);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&] {
      ReadCounters counters;
      ColumnarTableReader reader(world.file, world.table, &counters, {.cache = &cache});
      for (int round = 0; round < 50; ++round) {
        text = TextOf(*ReadTable(&reader, world.schema));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& text : texts) {
    EXPECT_EQ(text, kRows);
  }
}

}  // namespace
}  // namespace varve

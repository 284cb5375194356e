#include "columnar/table_meta.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/strings.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/format.h"

namespace varve {
namespace {

constexpr uint64_t kPacksBegin = 20;
constexpr uint64_t kPacksEnd = 1'000;

TableMeta Example() {
  return {
      .handle = {.info = {.id = kHandleColumnId, .name = "handle", .type = TypeKind::kInt64},
                 .packs = {{.offset = 20, .length = 40}, {.offset = 100, .length = 10}},
                 .min_max = "bounds"},
      .version = {.info = {.id = kVersionColumnId, .name = "version", .type = TypeKind::kInt64},
                  .packs = {{.offset = 60, .length = 20}, {.offset = 110, .length = 10}}},
      .end = {.info = {.id = kEndColumnId, .name = "end", .type = TypeKind::kInt64},
              .packs = {{.offset = 80, .length = 20}, {.offset = 120, .length = 880}}},
      .columns = {{.info = {.id = 4, .name = "price", .type = Type::Decimal(20, 3)},
                   .packs = {{.offset = 20, .length = 8}, {.offset = 992, .length = 8}},
                   .min_max = ""}},
      .row_offsets = {0, 8'192, 9'000},
      .handle_index = "index",
      .properties = {{.key = "k", .value = "v"}, {.key = "empty", .value = ""}},
  };
}

std::string Encoded(const TableMeta& meta) {
  std::string out;
  AppendTableMeta(meta, &out);
  return out;
}

absl::Status Parse(std::string_view in, TableMeta* meta) {
  return ParseTableMeta(in, kPacksBegin, kPacksEnd, meta);
}

TEST(TableMetaTest, RoundTrip) {
  TableMeta meta;
  ASSERT_TRUE(Parse(Encoded(Example()), &meta).ok());
  EXPECT_EQ(meta, Example());
  EXPECT_EQ(meta.num_packs(), 2U);
  ASSERT_NE(meta.FindProperty("empty"), nullptr);
  EXPECT_EQ(*meta.FindProperty("k"), "v");
  EXPECT_EQ(meta.FindProperty("none"), nullptr);
}

// The order and the lengths that the format document gives, byte for byte.
TEST(TableMetaTest, LiesInTheFileAsDocumented) {
  TableMeta meta = Example();
  meta.columns.clear();
  for (ColumnMeta* column : {&meta.handle, &meta.version, &meta.end}) {
    column->packs = {{.offset = 0x0102, .length = 0x0a}};
  }
  meta.row_offsets = {0, 3};
  meta.properties = {{.key = "k", .value = "v"}};
  const auto column = [](std::string_view id, std::string_view name, std::string_view min_max) {
    std::string out("\x01\0\0\0", 4);                                    // num_packs
    out.append(std::string_view("\x02\x01\0\0\0\0\0\0\x0a\0\0\0", 12));  // pack_offsets
    out.append(std::string_view("\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0",
                                16));  // row_offsets
    PutLittleEndian<uint32_t>(&out, static_cast<uint32_t>(4 + 3 + 4 + name.size()));
    out.append(id).append("\xff\xff\xff").append(std::string_view("\x04\0\0", 3));
    PutLengthPrefixed(&out, name);
    PutLengthPrefixed(&out, min_max);
    out.append(4, '\0');  // column_props_len
    return out;
  };
  EXPECT_EQ(Encoded(meta), std::string("\x03\0\0\0", 4) + column("\xff", "handle", "bounds") +
                               column("\xfe", "version", "") + column("\xfd", "end", "") +
                               std::string("\x05\0\0\0index", 9) +
                               std::string("\x0a\0\0\0\x01\0\0\0k\x01\0\0\0v", 14));
}

TEST(TableMetaTest, ColumnPropertiesOfAnyLengthAreSkipped) {
  TableMeta meta = Example();
  meta.columns.clear();
  std::string bytes = Encoded(meta);
  // The lengths of the three columns' properties follow the ends of what is before them.
  const std::string end_of_end =
      std::string("\x03\0\0\0end", 7) + std::string(8, '\0');  // name, min_max_idx_len, props_len
  const size_t at = bytes.find(end_of_end) + end_of_end.size() - 4;
  bytes.replace(at, 4, std::string("\x05\0\0\0later", 9));
  TableMeta parsed;
  ASSERT_TRUE(Parse(bytes, &parsed).ok());
  EXPECT_EQ(parsed, meta);
}

TEST(TableMetaTest, WhatIsCutShortIsRefused) {
  const std::string bytes = Encoded(Example());
  TableMeta meta;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Parse(bytes.substr(0, size), &meta).code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(TableMetaTest, CountsThatTheBytesCannotJustifyAreRefused) {
  std::string bytes = Encoded(Example());
  bytes.replace(4, 4, 4, '\xff');  // packs of the handle column
  TableMeta meta;
  EXPECT_EQ(Parse(bytes, &meta).code(), absl::StatusCode::kDataLoss);
  bytes = Encoded(Example());
  bytes.replace(0, 4, 4, '\xff');  // columns
  EXPECT_EQ(Parse(bytes, &meta).code(), absl::StatusCode::kDataLoss);
}

TEST(TableMetaTest, PacksOutsideTheirPartOfTheFileAreRefused) {
  for (const PackLocation location :
       {PackLocation{.offset = 19, .length = 10}, PackLocation{.offset = 991, .length = 10},
        PackLocation{.offset = 1'001, .length = 8}, PackLocation{.offset = ~0ULL, .length = 10},
        PackLocation{.offset = 20, .length = 7}}) {
    TableMeta meta = Example();
    meta.end.packs[1] = location;
    TableMeta parsed;
    EXPECT_EQ(Parse(Encoded(meta), &parsed).code(), absl::StatusCode::kDataLoss) << location.offset;
  }
}

TEST(TableMetaTest, RowNumbersThatDoNotAscendAreRefused) {
  for (const std::vector<uint64_t>& offsets :
       {std::vector<uint64_t>{0, 5, 5}, std::vector<uint64_t>{1, 5, 6},
        std::vector<uint64_t>{0, 5, 6 + kMaxRowsPerPack}, std::vector<uint64_t>{0, 9, 3}}) {
    TableMeta meta = Example();
    meta.row_offsets = offsets;
    TableMeta parsed;
    EXPECT_EQ(Parse(Encoded(meta), &parsed).code(), absl::StatusCode::kDataLoss);
  }
}

ColumnarFileProperties ExampleProperties() {
  return {.level = 2,
          .kind = ColumnarFileKind::kEnded,
          .max_version = 12,
          .flushed_csn = 99,
          .tables = {{.schema = {.relation = 7,
                                 .columns = {{.id = 1, .name = "a", .type = TypeKind::kUuid}}},
                      .row_count = 3,
                      .smallest_handle = {.int_handle = -5},
                      .largest_handle = {.int_handle = 9},
                      .meta_offset = 100,
                      .meta_length = 20},
                     {.schema = {.relation = 8, .handle = HandleType::kCommon},
                      .row_count = 1,
                      .smallest_handle = {.common_handle = ""},
                      .largest_handle = {.common_handle = "zz"}}},
          .others = {{.key = "later", .value = "kept"}}};
}

TEST(ColumnarFilePropertiesTest, RoundTrip) {
  std::string bytes;
  AppendFileProperties(ExampleProperties(), &bytes);
  ColumnarFileProperties parsed;
  ASSERT_TRUE(ParseFileProperties(bytes, &parsed).ok());
  EXPECT_EQ(parsed, ExampleProperties());
}

TEST(ColumnarFilePropertiesTest, WhatIsAbsentStaysAbsent) {
  ColumnarFileProperties properties = ExampleProperties();
  properties.max_version = std::nullopt;
  properties.flushed_csn = std::nullopt;
  std::string bytes;
  AppendFileProperties(properties, &bytes);
  ColumnarFileProperties parsed;
  ASSERT_TRUE(ParseFileProperties(bytes, &parsed).ok());
  EXPECT_EQ(parsed.max_version, std::nullopt);
  EXPECT_EQ(parsed.flushed_csn, std::nullopt);
}

TEST(ColumnarFilePropertiesTest, WhatIsMissingOrMalformedIsNamed) {
  const auto parse = [](const std::vector<Property>& list) {
    std::string bytes;
    AppendProperties(list, &bytes);
    ColumnarFileProperties parsed;
    return std::string(FromAbsl(ParseFileProperties(bytes, &parsed).message()));
  };
  const Property level{.key = "level", .value = "\x02"};
  const Property kind{.key = "kind", .value = "\x01"};
  const Property tables{.key = "tables", .value = std::string(4, '\0')};
  EXPECT_EQ(parse({level, kind, tables}), "");
  EXPECT_EQ(parse({level, kind}), "file property tables is missing or malformed");
  EXPECT_EQ(parse({kind, tables}), "file property level is missing or malformed");
  EXPECT_EQ(parse({{.key = "level", .value = "\x03"}, kind, tables}),
            "file property level is missing or malformed");
  EXPECT_EQ(parse({level, {.key = "kind", .value = "\x03"}, tables}),
            "file property kind is missing or malformed");
  EXPECT_EQ(parse({level, kind, tables, {.key = "max_version", .value = "short"}}),
            "file property max_version is missing or malformed");
}

TEST(ColumnarFilePropertiesTest, WhatIsCutShortIsRefused) {
  ColumnarFileProperties properties = ExampleProperties();
  properties.others.clear();
  std::string bytes;
  AppendFileProperties(properties, &bytes);
  ColumnarFileProperties parsed;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParseFileProperties(bytes.substr(0, size), &parsed).code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
}

}  // namespace
}  // namespace varve

#include "catalog/relation.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Columns of the 28 relations, in the order of DuckLake 1.0's DDL (specification, tables).
// B bigint, V varchar, BO boolean, TZ timestamp with time zone, U uuid; ! must not be NULL.
constexpr std::string_view kColumns = R"(
1 ducklake_metadata: key V!, value V!, scope V, scope_id B
2 ducklake_snapshot: snapshot_id B!, snapshot_time TZ, schema_version B, next_catalog_id B, next_file_id B
3 ducklake_snapshot_changes: snapshot_id B!, changes_made V, author V, commit_message V, commit_extra_info V
4 ducklake_schema: schema_id B!, schema_uuid U, begin_snapshot B, end_snapshot B, schema_name V, path V, path_is_relative BO
5 ducklake_table: table_id B, table_uuid U, begin_snapshot B, end_snapshot B, schema_id B, table_name V, path V, path_is_relative BO
6 ducklake_view: view_id B, view_uuid U, begin_snapshot B, end_snapshot B, schema_id B, view_name V, dialect V, sql V, column_aliases V
7 ducklake_tag: object_id B, begin_snapshot B, end_snapshot B, key V, value V
8 ducklake_column_tag: table_id B, column_id B, begin_snapshot B, end_snapshot B, key V, value V
9 ducklake_data_file: data_file_id B!, table_id B, begin_snapshot B, end_snapshot B, file_order B, path V, path_is_relative BO, file_format V, record_count B, file_size_bytes B, footer_size B, row_id_start B, partition_id B, encryption_key V, mapping_id B, partial_max B
10 ducklake_file_column_stats: data_file_id B, table_id B, column_id B, column_size_bytes B, value_count B, null_count B, min_value V, max_value V, contains_nan BO, extra_stats V
11 ducklake_file_variant_stats: data_file_id B, table_id B, column_id B, variant_path V, shredded_type V, column_size_bytes B, value_count B, null_count B, min_value V, max_value V, contains_nan BO, extra_stats V
12 ducklake_delete_file: delete_file_id B!, table_id B, begin_snapshot B, end_snapshot B, data_file_id B, path V, path_is_relative BO, format V, delete_count B, file_size_bytes B, footer_size B, encryption_key V, partial_max B
13 ducklake_column: column_id B, begin_snapshot B, end_snapshot B, table_id B, column_order B, column_name V, column_type V, initial_default V, default_value V, nulls_allowed BO, parent_column B, default_value_type V, default_value_dialect V
14 ducklake_table_stats: table_id B, record_count B, next_row_id B, file_size_bytes B
15 ducklake_table_column_stats: table_id B, column_id B, contains_null BO, contains_nan BO, min_value V, max_value V, extra_stats V
16 ducklake_partition_info: partition_id B, table_id B, begin_snapshot B, end_snapshot B
17 ducklake_partition_column: partition_id B, table_id B, partition_key_index B, column_id B, transform V
18 ducklake_file_partition_value: data_file_id B, table_id B, partition_key_index B, partition_value V
19 ducklake_files_scheduled_for_deletion: data_file_id B, path V, path_is_relative BO, schedule_start TZ
20 ducklake_inlined_data_tables: table_id B, table_name V, schema_version B
21 ducklake_column_mapping: mapping_id B, table_id B, type V
22 ducklake_name_mapping: mapping_id B, column_id B, source_name V, target_field_id B, parent_column B, is_partition BO
23 ducklake_schema_versions: begin_snapshot B, schema_version B, table_id B
24 ducklake_macro: schema_id B, macro_id B, macro_name V, begin_snapshot B, end_snapshot B
25 ducklake_macro_impl: macro_id B, impl_id B, dialect V, sql V, type V
26 ducklake_macro_parameters: macro_id B, impl_id B, column_id B, parameter_name V, parameter_type V, default_value V, default_value_type V
27 ducklake_sort_info: sort_id B, table_id B, begin_snapshot B, end_snapshot B
28 ducklake_sort_expression: sort_id B, table_id B, sort_key_index B, expression V, dialect V, sort_direction V, null_order V
)";

// How rows are identified and versioned. Kind of handle: int or common; "declared" a primary key in
// DuckLake's DDL, "repeats" equal keys in real catalogs; versions: interval, begin(COLUMN),
// via(PARENT: its handle's columns here) or none; "unique(COLUMN)" has an index entry.
constexpr std::string_view kHandles = R"(
metadata: key, scope, scope_id; common repeats; none
snapshot: snapshot_id; int declared; begin(snapshot_id)
snapshot_changes: snapshot_id; int declared; begin(snapshot_id)
schema: schema_id; int declared; interval
table: table_id; int; interval
view: view_id; int; interval
tag: object_id, key; common; interval
column_tag: table_id, column_id, key; common; interval
data_file: table_id, data_file_id; common declared unique(data_file_id); interval
file_column_stats: table_id, column_id, data_file_id; common; via(data_file: table_id, data_file_id)
file_variant_stats: table_id, column_id, data_file_id, variant_path; common; via(data_file: table_id, data_file_id)
delete_file: table_id, delete_file_id; common declared unique(delete_file_id); interval
column: table_id, column_id; common; interval
table_stats: table_id; int; none
table_column_stats: table_id, column_id; common; none
partition_info: partition_id; int; interval
partition_column: partition_id, partition_key_index; common; via(partition_info: partition_id)
file_partition_value: table_id, partition_key_index, data_file_id; common repeats; via(data_file: table_id, data_file_id)
files_scheduled_for_deletion: data_file_id; int; none
inlined_data_tables: table_id, schema_version; common; none
column_mapping: mapping_id; int; none
name_mapping: mapping_id, column_id; common; none
schema_versions: table_id, schema_version, begin_snapshot; common repeats; begin(begin_snapshot)
macro: macro_id; int; interval
macro_impl: macro_id, impl_id; common; via(macro: macro_id)
macro_parameters: macro_id, impl_id, column_id; common; via(macro: macro_id)
sort_info: sort_id; int; interval
sort_expression: sort_id, sort_key_index; common; via(sort_info: sort_id)
)";

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      lines.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string TypeLetter(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kInt64: return "B";
    case TypeKind::kVarchar: return "V";
    case TypeKind::kBoolean: return "BO";
    case TypeKind::kTimestampTz: return "TZ";
    case TypeKind::kUuid: return "U";
    default: return StrCat("?", TypeName(type));
  }
}

std::string ColumnNames(const RelationSchema& relation, const std::vector<size_t>& columns) {
  std::vector<std::string> names;
  for (const size_t column : columns) {
    names.push_back(relation.columns.column(column).name);
  }
  return StrJoin(names, ", ");
}

std::string DescribeColumns(const RelationSchema& relation) {
  std::vector<std::string> columns;
  for (const ColumnSchema& column : relation.columns.columns()) {
    columns.push_back(
        StrCat(column.name, " ", TypeLetter(column.type), column.nullable ? "" : "!"));
  }
  return StrCat(relation.id, " ", relation.name, ": ", StrJoin(columns, ", "));
}

std::string DescribeHandle(const RelationSchema& relation) {
  std::string text =
      StrCat(relation.short_name(), ": ", ColumnNames(relation, relation.handle), "; ");
  text += relation.handle_kind == HandleKind::kInt      ? "int"
          : relation.handle_kind == HandleKind::kCommon ? "common"
                                                        : "row number";
  text += relation.declared_key ? " declared" : "";
  text += relation.repeats ? " repeats" : "";
  if (relation.unique_column.has_value()) {
    StrAppend(&text, " unique(", relation.columns.column(*relation.unique_column).name, ")");
  }
  text += "; ";
  switch (relation.versioning) {
    case Versioning::kUnversioned: return text + "none";
    case Versioning::kInterval: return text + "interval";
    case Versioning::kBeginOnly:
      return StrCat(text, "begin(", relation.columns.column(*relation.begin_column).name, ")");
    case Versioning::kViaParent:
      return StrCat(text, "via(", BuiltinRelationById(relation.parent)->short_name(), ": ",
                    ColumnNames(relation, relation.parent_handle), ")");
  }
  return text;
}

TEST(Relation, The28RelationsHaveTheColumnsOfTheSpecification) {
  std::vector<std::string> actual;
  for (const RelationRef& relation : BuiltinRelations()) {
    actual.push_back(DescribeColumns(*relation));
  }
  EXPECT_EQ(actual, Lines(kColumns));
}

TEST(Relation, HandlesAndVersioningAreThoseEstablishedByReplay) {
  std::vector<std::string> actual;
  for (const RelationRef& relation : BuiltinRelations()) {
    actual.push_back(DescribeHandle(*relation));
  }
  EXPECT_EQ(actual, Lines(kHandles));
}

TEST(Relation, TheElevenVersionedRelationsNameTheirBeginAndEnd) {
  int versioned = 0;
  for (const RelationRef& relation : BuiltinRelations()) {
    if (relation->versioning != Versioning::kInterval) {
      EXPECT_FALSE(relation->end_column.has_value()) << relation->name;
      continue;
    }
    ++versioned;
    EXPECT_EQ(relation->begin_column, relation->columns.Find("begin_snapshot")) << relation->name;
    EXPECT_EQ(relation->end_column, relation->columns.Find("end_snapshot")) << relation->name;
  }
  EXPECT_EQ(versioned, 11);
}

// A field number is on disk: it may never change, and column i of the DDL has number i + 1.
TEST(Relation, FieldNumbersFollowTheColumnOrder) {
  for (const RelationRef& relation : BuiltinRelations()) {
    for (size_t i = 0; i < relation->columns.num_columns(); ++i) {
      EXPECT_EQ(relation->columns.column(i).field, i + 1) << relation->name;
    }
  }
}

TEST(Relation, ConstantsNameTheRelationsTheyNumber) {
  EXPECT_EQ(BuiltinRelationById(kMetadata)->name, "ducklake_metadata");
  EXPECT_EQ(BuiltinRelationById(kSnapshot)->name, "ducklake_snapshot");
  EXPECT_EQ(BuiltinRelationById(kTable)->name, "ducklake_table");
  EXPECT_EQ(BuiltinRelationById(kDataFile)->name, "ducklake_data_file");
  EXPECT_EQ(BuiltinRelationById(kDeleteFile)->name, "ducklake_delete_file");
  EXPECT_EQ(BuiltinRelationById(kFilePartitionValue)->name, "ducklake_file_partition_value");
  EXPECT_EQ(BuiltinRelationById(kSchemaVersions)->name, "ducklake_schema_versions");
  EXPECT_EQ(BuiltinRelationById(kSortExpression)->name, "ducklake_sort_expression");
}

TEST(Relation, PayloadHoldsWhatIsNeitherHandleNorBeginNorEnd) {
  const RelationSchema& file = *BuiltinRelationById(kDataFile);
  std::set<std::string> outside;
  for (size_t i = 0; i < file.columns.num_columns(); ++i) {
    if (!file.in_payload[i]) {
      outside.insert(file.columns.column(i).name);
    }
  }
  EXPECT_EQ(outside,
            (std::set<std::string>{"data_file_id", "table_id", "begin_snapshot", "end_snapshot"}));
}

// --- Dynamic relations ---------------------------------------------------------------------------

ColumnSchema Column(std::string name, Type type) {
  return {.name = std::move(name), .type = type};
}

std::vector<ColumnSchema> InlinedColumns(std::string prefix = "") {
  return {Column(prefix + "row_id", TypeKind::kInt64),
          Column(prefix + "begin_snapshot", TypeKind::kInt64),
          Column(prefix + "end_snapshot", TypeKind::kInt64), Column("name", TypeKind::kBlob),
          Column("price", Type::Decimal(12, 2))};
}

TEST(Relation, InlinedRowsAreVersionedByRowId) {
  const auto relation = MakeDynamicRelation("ducklake_inlined_data_3_7", InlinedColumns(), {});
  ASSERT_TRUE(relation.ok()) << relation.status();
  EXPECT_EQ(DescribeHandle(*relation), "inlined_data_3_7: row_id; int; interval");
  EXPECT_TRUE(relation->dynamic);
  EXPECT_TRUE(relation->may_repeat());
  EXPECT_EQ(relation->columns.column(4).field, 5U);
}

TEST(Relation, InlinedRowsOfCatalog1_1HaveRenamedColumns) {
  const auto relation =
      MakeDynamicRelation("ducklake_inlined_data_3_7", InlinedColumns("_ducklake_"), {});
  ASSERT_TRUE(relation.ok()) << relation.status();
  EXPECT_EQ(DescribeHandle(*relation), "inlined_data_3_7: _ducklake_row_id; int; interval");
}

TEST(Relation, InlinedDeletesHaveABeginOnly) {
  const auto relation =
      MakeDynamicRelation("ducklake_inlined_delete_3",
                          {Column("file_id", TypeKind::kInt64), Column("row_id", TypeKind::kInt64),
                           Column("begin_snapshot", TypeKind::kInt64)},
                          {});
  ASSERT_TRUE(relation.ok()) << relation.status();
  EXPECT_EQ(DescribeHandle(*relation),
            "inlined_delete_3: file_id, row_id; common; begin(begin_snapshot)");
}

TEST(Relation, AnyOtherTableHasItsPrimaryKeyOrARowNumber) {
  const std::vector<ColumnSchema> columns = {Column("a", TypeKind::kVarchar),
                                             Column("b", TypeKind::kInt32)};
  EXPECT_EQ(DescribeHandle(*MakeDynamicRelation("notes", columns, {"b"})),
            "notes: b; int declared; none");
  EXPECT_EQ(DescribeHandle(*MakeDynamicRelation("notes", columns, {"b", "a"})),
            "notes: b, a; common declared; none");
  EXPECT_EQ(DescribeHandle(*MakeDynamicRelation("notes", columns, {"a"})),
            "notes: a; common declared; none");
  const auto heap = MakeDynamicRelation("notes", columns, {});
  EXPECT_EQ(DescribeHandle(*heap), "notes: ; row number; none");
  EXPECT_FALSE(heap->may_repeat());
}

TEST(Relation, InlinedTablesWithoutTheirMandatoryColumnsAreRefused) {
  for (size_t missing = 0; missing < 3; ++missing) {
    std::vector<ColumnSchema> columns = InlinedColumns();
    const std::string name = columns[missing].name;
    columns.erase(columns.begin() + static_cast<ptrdiff_t>(missing));
    const auto relation = MakeDynamicRelation("ducklake_inlined_data_3_7", columns, {});
    ASSERT_EQ(relation.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(MessageOf(relation.status()).find(StrCat("'", name, "'")), std::string_view::npos)
        << relation.status();
  }
  std::vector<ColumnSchema> columns = InlinedColumns();
  columns[1].type = TypeKind::kVarchar;
  EXPECT_FALSE(MakeDynamicRelation("ducklake_inlined_data_3_7", columns, {}).ok());
  EXPECT_FALSE(MakeDynamicRelation("notes", {Column("a", TypeKind::kInt64)}, {"b"}).ok());
}

// --- The relation directory's bytes --------------------------------------------------------------

void ExpectSame(const RelationSchema& a, const RelationSchema& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(DescribeHandle(a), DescribeHandle(b));
  EXPECT_EQ(a.dynamic, b.dynamic);
  EXPECT_EQ(a.absent, b.absent);
  EXPECT_EQ(a.in_payload, b.in_payload);
  ASSERT_EQ(a.columns.num_columns(), b.columns.num_columns());
  for (size_t i = 0; i < a.columns.num_columns(); ++i) {
    const ColumnSchema& x = a.columns.column(i);
    const ColumnSchema& y = b.columns.column(i);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type) << x.name;
    EXPECT_EQ(x.field, y.field) << x.name;
    EXPECT_EQ(x.nullable, y.nullable) << x.name;
    EXPECT_EQ(x.wire, y.wire) << x.name;
    EXPECT_EQ(x.SqlType(), y.SqlType()) << x.name;
    EXPECT_EQ(a.IsAbsentColumn(i), b.IsAbsentColumn(i)) << x.name;
  }
}

void ExpectRoundTrip(const RelationSchema& relation) {
  const auto parsed = ParseRelation(SerializeRelation(relation));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectSame(*parsed, relation);
}

TEST(Relation, BuiltinRelationsRoundTrip) {
  for (const RelationRef& relation : BuiltinRelations()) {
    ExpectRoundTrip(*relation);
  }
}

TEST(Relation, DynamicRelationsOfEveryTypeRoundTrip) {
  std::vector<ColumnSchema> columns = InlinedColumns();
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kText); ++kind) {
    if (static_cast<TypeKind>(kind) != TypeKind::kDecimal) {
      columns.push_back(Column(StrCat("c", kind), static_cast<TypeKind>(kind)));
    }
  }
  columns.push_back(Column("wide", Type::Decimal(38, 10)));
  columns.back().nullable = false;
  columns.push_back(Column("list", TypeKind::kText));
  columns.back().declared_type = "varchar[]";
  auto relation = MakeDynamicRelation("ducklake_inlined_data_3_7", columns, {});
  ASSERT_TRUE(relation.ok()) << relation.status();
  relation->id = 1055;
  ExpectRoundTrip(*relation);

  auto keyed = MakeDynamicRelation("notes", columns, {"wide", "name"});
  ASSERT_TRUE(keyed.ok()) << keyed.status();
  keyed->id = 1056;
  ExpectRoundTrip(*keyed);
}

TEST(Relation, ExtraAndAbsentColumnsRoundTrip) {
  RelationSchema relation = WithExtraColumns(
      *BuiltinRelationById(kDataFile),
      {Column("row_group_count", TypeKind::kInt64), Column("note", TypeKind::kVarchar)});
  ASSERT_EQ(relation.columns.num_columns(), 18U);
  EXPECT_EQ(relation.columns.column(16).field, kFirstExtraField);
  EXPECT_EQ(relation.columns.column(17).field, kFirstExtraField + 1);
  EXPECT_TRUE(relation.in_payload[17]);
  relation.absent_columns.assign(18, false);
  relation.absent_columns[*relation.columns.Find("partial_max")] = true;
  ExpectRoundTrip(relation);

  RelationSchema absent = *BuiltinRelationById(kMacro);
  absent.absent = true;
  ExpectRoundTrip(absent);
}

TEST(Relation, MoreExtraColumnsGetFurtherFields) {
  const RelationSchema once =
      WithExtraColumns(*BuiltinRelationById(kTable), {Column("a", TypeKind::kInt64)});
  const RelationSchema twice = WithExtraColumns(once, {Column("b", TypeKind::kInt64)});
  EXPECT_EQ(twice.columns.column(twice.columns.num_columns() - 1).field, kFirstExtraField + 1);
}

TEST(Relation, GarbageIsAnErrorOrARelationNeverACrash) {
  google::protobuf::LogSilencer quiet;  // about texts that are no UTF-8
  auto relation = MakeDynamicRelation("ducklake_inlined_data_3_7", InlinedColumns(), {});
  relation->id = 1055;
  RelationSchema extended =
      WithExtraColumns(*BuiltinRelationById(kTable), {Column("a", TypeKind::kInt64)});
  extended.absent_columns.assign(extended.columns.num_columns(), true);
  std::mt19937_64 random(TestSeed());
  for (const std::string& bytes : {SerializeRelation(*relation), SerializeRelation(extended)}) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      ParseRelation(std::string_view(bytes).substr(0, length)).status().IgnoreError();
    }
    for (int round = 0; round < 3000; ++round) {
      std::string garbled = bytes;
      for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
        garbled[random() % garbled.size()] = static_cast<char>(random());
      }
      const auto parsed = ParseRelation(garbled);
      if (parsed.ok()) {
        EXPECT_EQ(parsed->in_payload.size(), parsed->columns.num_columns());
        EXPECT_TRUE(parsed->id >= kFirstDynamicRelation ||
                    (parsed->id >= 1 && parsed->id <= BuiltinRelations().size()));
      }
    }
  }
  EXPECT_EQ(ParseRelation("\xff\xff").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseRelation("").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace varve

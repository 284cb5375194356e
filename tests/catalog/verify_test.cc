#include "catalog/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/verify/rules.h"
#include "tests/catalog/temp_dir.h"
#include "tests/catalog/verify_catalog_text.h"

namespace varve {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

// A lake with one of everything, as a client would have left it: table 2 with data files 0 and 1,
// delete file 2, inlined rows and deletes; view 3, macro 4, partitioning 5, sort order 6; column 2
// renamed at snapshot 11. Ids from 20 and file ids from 10 are free.
constexpr std::string_view kCleanLake = R"(
  metadata key=version value=1.0
  metadata key=data_path value=/lake/
  metadata key=data_inlining_row_limit value=5 scope=table scope_id=2
  snapshot snapshot_id=0 snapshot_time='2026-01-01 00:00:00+00' schema_version=0 next_catalog_id=1 next_file_id=0
  snapshot snapshot_id=1 snapshot_time='2026-01-01 00:00:01+00' schema_version=1 next_catalog_id=2 next_file_id=0
  snapshot snapshot_id=2 snapshot_time='2026-01-01 00:00:02+00' schema_version=2 next_catalog_id=3 next_file_id=0
  snapshot snapshot_id=3 snapshot_time='2026-01-01 00:00:03+00' schema_version=2 next_catalog_id=3 next_file_id=1
  snapshot snapshot_id=4 snapshot_time='2026-01-01 00:00:04+00' schema_version=2 next_catalog_id=3 next_file_id=2
  snapshot snapshot_id=5 snapshot_time='2026-01-01 00:00:05+00' schema_version=2 next_catalog_id=3 next_file_id=3
  snapshot snapshot_id=6 snapshot_time='2026-01-01 00:00:06+00' schema_version=3 next_catalog_id=4 next_file_id=3
  snapshot snapshot_id=7 snapshot_time='2026-01-01 00:00:07+00' schema_version=4 next_catalog_id=5 next_file_id=3
  snapshot snapshot_id=8 snapshot_time='2026-01-01 00:00:08+00' schema_version=5 next_catalog_id=6 next_file_id=3
  snapshot snapshot_id=9 snapshot_time='2026-01-01 00:00:09+00' schema_version=6 next_catalog_id=7 next_file_id=3
  snapshot snapshot_id=10 snapshot_time='2026-01-01 00:00:10+00' schema_version=6 next_catalog_id=7 next_file_id=4
  snapshot snapshot_id=11 snapshot_time='2026-01-01 00:00:11+00' schema_version=7 next_catalog_id=20 next_file_id=9
  snapshot snapshot_id=12 snapshot_time='2026-01-01 00:00:12+00' schema_version=7 next_catalog_id=20 next_file_id=10
  snapshot_changes snapshot_id=0 changes_made='created_schema:"main"'
  snapshot_changes snapshot_id=1 changes_made='created_schema:"a, b:c"'
  snapshot_changes snapshot_id=2 changes_made='created_table:"s"."odd ""name"", altered_table:1"'
  snapshot_changes snapshot_id=3 changes_made=inserted_into_table:2
  snapshot_changes snapshot_id=4 changes_made=inserted_into_table:2
  snapshot_changes snapshot_id=5 changes_made=deleted_from_table:2
  snapshot_changes snapshot_id=6 changes_made='created_view:"s"."v"'
  snapshot_changes snapshot_id=7 changes_made='created_scalar_macro:"s"."m"'
  snapshot_changes snapshot_id=8 changes_made=altered_table:2
  snapshot_changes snapshot_id=9 changes_made=altered_table:2
  snapshot_changes snapshot_id=10 changes_made=inlined_insert:2
  snapshot_changes snapshot_id=11 changes_made=altered_table:2
  snapshot_changes snapshot_id=12 changes_made=inlined_delete:2
  schema_versions begin_snapshot=2 schema_version=2 table_id=2
  schema_versions begin_snapshot=11 schema_version=7 table_id=2
  schema schema_id=0 begin_snapshot=0 schema_name=main path=main/
  schema schema_id=1 begin_snapshot=1 schema_name=s path=s/
  table table_id=2 begin_snapshot=2 schema_id=1 table_name=t path=t/
  view view_id=3 begin_snapshot=6 schema_id=1 view_name=v sql='SELECT 1'
  macro macro_id=4 begin_snapshot=7 schema_id=1 macro_name=m
  macro_impl macro_id=4 impl_id=0 sql=a type=scalar
  macro_parameters macro_id=4 impl_id=0 column_id=0 parameter_name=a
  tag object_id=2 begin_snapshot=11 key=comment value=x
  tag object_id=3 begin_snapshot=7 end_snapshot=9 key=comment value=y
  column_tag table_id=2 column_id=1 begin_snapshot=11 key=comment value=z
  column table_id=2 column_id=1 begin_snapshot=2 column_order=1 column_name=id column_type=int32
  column table_id=2 column_id=2 begin_snapshot=2 end_snapshot=11 column_order=2 column_name=b column_type=varchar
  column table_id=2 column_id=2 begin_snapshot=11 column_order=2 column_name=c column_type=varchar
  column table_id=2 column_id=3 begin_snapshot=2 column_order=3 column_name=l column_type=list
  column table_id=2 column_id=4 begin_snapshot=2 column_order=4 column_name=element column_type=float64 parent_column=3
  data_file data_file_id=0 table_id=2 begin_snapshot=3 path=a.parquet file_format=parquet record_count=100 file_size_bytes=1000 row_id_start=0
  data_file data_file_id=1 table_id=2 begin_snapshot=4 path=b.parquet file_format=parquet record_count=50 file_size_bytes=500 row_id_start=100
  delete_file delete_file_id=2 table_id=2 begin_snapshot=5 data_file_id=0 path=d.parquet format=parquet delete_count=7
  file_column_stats data_file_id=0 table_id=2 column_id=1 value_count=100 null_count=0 min_value=-9 max_value=99
  file_column_stats data_file_id=0 table_id=2 column_id=2 value_count=90 null_count=10 min_value=a max_value=k
  file_column_stats data_file_id=0 table_id=2 column_id=4 value_count=300 null_count=0 min_value=0.5 max_value=nan
  file_column_stats data_file_id=1 table_id=2 column_id=1 value_count=50 null_count=0 min_value=100 max_value=149
  table_stats table_id=2 record_count=152 next_row_id=152 file_size_bytes=1500
  table_column_stats table_id=2 column_id=1 min_value=-9 max_value=149
  table_column_stats table_id=2 column_id=2 min_value=a max_value=z
  partition_info partition_id=5 table_id=2 begin_snapshot=8
  partition_column partition_id=5 table_id=2 partition_key_index=0 column_id=1 transform=bucket(4)
  sort_info sort_id=6 table_id=2 begin_snapshot=9
  sort_expression sort_id=6 table_id=2 sort_key_index=0 expression=id
  inlined_data_tables table_id=2 table_name=ducklake_inlined_data_2_6 schema_version=6
  inlined_data_2_6 row_id=150 begin_snapshot=10 id=1
  inlined_data_2_6 row_id=151 begin_snapshot=10 end_snapshot=12 id=2
  inlined_delete_2 file_id=0 row_id=4 begin_snapshot=12
)";

TextCatalog CleanLake() {
  TextCatalog lake;
  lake.Declare("ducklake_inlined_data_2_6", {"row_id", "begin_snapshot", "end_snapshot", "id"});
  lake.Declare("ducklake_inlined_delete_2", {"file_id", "row_id", "begin_snapshot"});
  lake.AddRows(kCleanLake);
  return lake;
}

// "error rule relation | key", in the order reported.
std::vector<std::string> FindingsOf(const Catalog& catalog) {
  std::vector<std::string> findings;
  uint64_t errors = 0;
  const ReadView view = catalog.Current();
  const absl::StatusOr<VerifySummary> summary = Verify(view, {}, [&](const Finding& finding) {
    EXPECT_FALSE(finding.message.empty());
    EXPECT_EQ(finding.message.find('\n'), std::string::npos) << finding.message;
    errors += finding.severity == Severity::kError ? 1 : 0;
    findings.push_back(StrCat(finding.severity == Severity::kError ? "error " : "note ",
                              finding.rule, " ", finding.relation, " | ", finding.key));
  });
  EXPECT_TRUE(summary.ok()) << summary.status();
  if (summary.ok()) {
    EXPECT_EQ(summary->errors, errors);
    EXPECT_EQ(summary->errors + summary->notes, findings.size());
  }
  return findings;
}

std::unique_ptr<Catalog> MustOpen(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path);
  EXPECT_TRUE(catalog.ok()) << catalog.status();
  return catalog.ok() ? *std::move(catalog) : nullptr;
}

std::string HandleOf(RelationId relation_id, std::string_view row) {
  const RelationRef relation = BuiltinRelationById(relation_id);
  std::string handle;
  EXPECT_TRUE(
      AppendHandleOfRow(*relation, TextCatalog::MakeRow(*relation, row).values(), &handle).ok());
  return handle;
}

// What only a damaged store, or a program with a bug, could have written.
class RawStore {
 public:
  explicit RawStore(RowStore* store) : store_(store) {}
  void Put(Family family, const std::string& key, const std::string& value) {
    ASSERT_TRUE(store_->db().Put({}, store_->family(family), key, value).ok());
  }
  void Delete(Family family, const std::string& key) {
    ASSERT_TRUE(store_->db().Delete({}, store_->family(family), key).ok());
  }
  void PutTag(std::string_view handle, SnapshotId begin, SnapshotId end, Csn csn = 1) {
    std::string value;
    AppendEndedValue(end, csn, "", &value);
    Put(Family::kEnded, EndedKey(kTag, HandleOf(kTag, handle), begin), value);
  }

 private:
  RowStore* store_;
};

struct Case {
  std::string name;
  std::vector<std::string> edits;
  std::vector<std::string> findings;
  std::function<void(RawStore*)> damage;  // after loading
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

std::vector<Case> StoreCases() {
  return {
      {"MalformedPair",
       {},
       {"error corruption ducklake_view | 0x00000006"
        "8000000000000009"},
       [](RawStore* store) {
         store->Put(Family::kLive, LiveKey(kView, HandleOf(kView, "view_id=9")), "");
       }},
      {"MalformedPayload",
       {},
       {"error corruption ducklake_view | view_id=9"},
       [](RawStore* store) {
         std::string value;
         AppendLiveValue(6, 1, "\xff\xff", &value);
         store->Put(Family::kLive, LiveKey(kView, HandleOf(kView, "view_id=9")), value);
       }},
      {"RelationNumberNobodyKnows",
       {},
       {"error unknown-relation  | relation 999"},
       [](RawStore* store) { store->Put(Family::kLive, LiveKey(999, "x"), "y"); }},
      {"BeginInKeyAndValueDiffer",
       {},
       {"error key-mismatch ducklake_schema_versions | "
        "table_id=2 schema_version=2 begin_snapshot=2"},
       [](RawStore* store) {
         std::string value;
         AppendLiveValue(3, 1, "", &value);
         store->Put(
             Family::kLive,
             LiveKey(kSchemaVersions,
                     HandleOf(kSchemaVersions, "table_id=2 schema_version=2 begin_snapshot=2")),
             value);
       }},
      {"EqualKeysWhereTheyMayRepeat",
       {"+ file_partition_value data_file_id=0 table_id=2 partition_key_index=0 partition_value=1",
        "+ file_partition_value data_file_id=0 table_id=2 partition_key_index=0 partition_value=1"},
       {"note repeated-key ducklake_file_partition_value | "
        "table_id=2 partition_key_index=0 data_file_id=0 #1"}},
      {"EqualKeysWhereTheyMayNot",
       {"+ table_column_stats table_id=2 column_id=2 min_value=a max_value=z"},
       {"error repeated-key ducklake_table_column_stats | table_id=2 column_id=2 #1"}},
      {"EndOnAnUnversionedRow",
       {},
       {"error unexpected-interval ducklake_files_scheduled_for_deletion | data_file_id=7",
        "error missing-value ducklake_files_scheduled_for_deletion | data_file_id=7",
        "error missing-value ducklake_files_scheduled_for_deletion | data_file_id=7"},
       [](RawStore* store) {
         std::string value;
         AppendEndedValue(2, 1, "", &value);
         store->Put(Family::kEnded,
                    EndedKey(kFilesScheduledForDeletion,
                             HandleOf(kFilesScheduledForDeletion, "data_file_id=7"), 0),
                    value);
       }},
      {"EndAtBegin",
       {},
       {"error empty-interval ducklake_tag | object_id=3 key=k"},
       [](RawStore* store) { store->PutTag("object_id=3 key=k", 8, 8); }},
      {"EndBeforeBegin",
       {},
       {"error empty-interval ducklake_tag | object_id=3 key=k"},
       [](RawStore* store) { store->PutTag("object_id=3 key=k", 9, 7); }},
      {"OverlapKeptByALoad",
       {"+ tag object_id=3 begin_snapshot=8 end_snapshot=10 key=comment"},
       {"error overlapping-intervals ducklake_tag | object_id=3 key=comment #1"}},
      {"OverlapOfEndedVersions",
       {},
       {"error overlapping-intervals ducklake_tag | object_id=3 key=comment"},
       [](RawStore* store) { store->PutTag("object_id=3 key=comment", 8, 10); }},
      {"LiveVersionBeginsBeforeAnEndedOneEnds",
       {},
       {"error overlapping-intervals ducklake_tag | object_id=2 key=comment"},
       [](RawStore* store) { store->PutTag("object_id=2 key=comment", 10, 12); }},
      {"EndAboveTheLastSnapshot",
       {},
       {"error beyond-last-snapshot ducklake_tag | object_id=3 key=k"},
       [](RawStore* store) { store->PutTag("object_id=3 key=k", 8, 99); }},
      {"CsnAboveTheLastCommit",
       {},
       {"error csn-beyond-last ducklake_tag | object_id=3 key=k"},
       [](RawStore* store) { store->PutTag("object_id=3 key=k", 8, 9, 1'000'000); }},
      {"LastSnapshotRowGone",
       {},
       {"error last-snapshot-mismatch ducklake_snapshot | snapshot_id=12",
        "error changes-without-snapshot ducklake_snapshot_changes | snapshot_id=12"},
       [](RawStore* store) {
         store->Delete(Family::kLive, LiveKey(kSnapshot, HandleOf(kSnapshot, "snapshot_id=12")));
       }},
      {"RowWithoutIndexEntry",
       {},
       {"error index-missing ducklake_data_file | table_id=2 data_file_id=1"},
       [](RawStore* store) { store->Delete(Family::kLive, IndexKey(kDataFile, 1)); }},
      {"IndexEntryOfAnotherRow",
       {},
       {"error index-mismatch ducklake_data_file | table_id=2 data_file_id=1",
        "error index-mismatch ducklake_data_file | data_file_id=1"},
       [](RawStore* store) {
         store->Put(Family::kLive, IndexKey(kDataFile, 1),
                    HandleOf(kDataFile, "table_id=2 data_file_id=0"));
       }},
      {"IndexEntryOfNoRow",
       {},
       {"error index-dangling ducklake_data_file | data_file_id=8"},
       [](RawStore* store) {
         store->Put(Family::kLive, IndexKey(kDataFile, 8),
                    HandleOf(kDataFile, "table_id=2 data_file_id=8"));
       }},
      {"NameMissing",
       {"= view view_id=3 : view_name=NULL"},
       {"error missing-value ducklake_view | view_id=3"}},
      {"NegativeSize",
       {"= data_file data_file_id=1 : file_size_bytes=-1"},
       {"error negative-count ducklake_data_file | table_id=2 data_file_id=1"}},
  };
}

std::vector<Case> AxisCases() {
  return {
      {"EqualTimes",
       {"= snapshot snapshot_id=12 : snapshot_time='2026-01-01 00:00:11+00'"},
       {"note snapshot-time-order ducklake_snapshot | snapshot_id=12"}},
      {"SchemaVersionFalls",
       {"= snapshot snapshot_id=12 : schema_version=6"},
       {"error schema-version-order ducklake_snapshot | snapshot_id=12"}},
      {"SchemaVersionRisesByTwo",
       {"= snapshot snapshot_id=12 : schema_version=9"},
       {"error schema-version-order ducklake_snapshot | snapshot_id=12"}},
      {"SchemaVersionRisesWithData",
       {"= snapshot snapshot_id=12 : schema_version=8"},
       {"error schema-version-cause ducklake_snapshot | snapshot_id=12"}},
      {"SchemaVersionStaysWithAnAlteration",
       {"= snapshot_changes snapshot_id=12 : changes_made=altered_table:2"},
       {"error schema-version-cause ducklake_snapshot | snapshot_id=12"}},
      {"NextFileIdFalls",
       {"= snapshot snapshot_id=12 : next_file_id=5"},
       {"error next-id-order ducklake_snapshot | snapshot_id=12"}},
      {"NextCatalogIdFalls",
       {"= snapshot snapshot_id=12 : next_catalog_id=19"},
       {"error next-id-order ducklake_snapshot | snapshot_id=12"}},
      {"NoChangesRow",
       {"- snapshot_changes snapshot_id=12"},
       {"error snapshot-without-changes ducklake_snapshot | snapshot_id=12"}},
      {"NoSnapshotRow",
       {"- snapshot snapshot_id=10"},
       {"error changes-without-snapshot ducklake_snapshot_changes | snapshot_id=10"}},
      {"UnknownChange",
       {"= snapshot_changes snapshot_id=12 : changes_made=painted_table:2"},
       {"error changes-malformed ducklake_snapshot_changes | snapshot_id=12"}},
      {"ChangeWithoutValue",
       {"= snapshot_changes snapshot_id=12 : changes_made=inlined_delete"},
       {"error changes-malformed ducklake_snapshot_changes | snapshot_id=12"}},
      {"QuoteNotClosed",
       {"= snapshot_changes snapshot_id=6 : changes_made='created_view:\"s\".\"v'"},
       {"error changes-malformed ducklake_snapshot_changes | snapshot_id=6"}},
      {"SchemaVersionsOfAnotherSnapshot",
       {"= schema_versions begin_snapshot=2 : schema_version=5"},
       {"error schema-versions-mismatch ducklake_schema_versions | "
        "table_id=2 schema_version=5 begin_snapshot=2"}},
      {"NoDataPath",
       {"- metadata key=data_path"},
       {"error metadata-missing ducklake_metadata | key=data_path"}},
      {"UnknownScope",
       {"= metadata scope=table : scope=planet"},
       {"error metadata-scope ducklake_metadata | "
        "key=data_inlining_row_limit scope=planet scope_id=2"}},
      {"ScopeWithoutId",
       {"= metadata scope=table : scope_id=NULL"},
       {"error metadata-scope ducklake_metadata | "
        "key=data_inlining_row_limit scope=table scope_id=NULL"}},
      {"DataPathIsNoDirectory",
       {"= metadata key=data_path : value=/lake"},
       {"error path-not-a-directory ducklake_metadata | key=data_path scope=NULL scope_id=NULL"}},
  };
}

std::vector<Case> IdCases() {
  return {
      {"ViewWithTheIdOfAMacro",
       {"= view view_id=3 : view_id=4", "- tag object_id=3"},
       {"error catalog-id-shared ducklake_macro | macro_id=4"}},
      {"CatalogIdNotReserved",
       {"= view view_id=3 : view_id=20", "- tag object_id=3"},
       {"error catalog-id-beyond-next ducklake_view | view_id=20"}},
      {"DeleteFileWithTheIdOfADataFile",
       {"= delete_file delete_file_id=2 : delete_file_id=1"},
       {"error file-id-shared ducklake_delete_file | table_id=2 delete_file_id=1"}},
      {"FileIdNotReserved",
       {"= delete_file delete_file_id=2 : delete_file_id=10"},
       {"error file-id-beyond-next ducklake_delete_file | table_id=2 delete_file_id=10"}},
      {"MappingIdInNeitherDomain",
       {"+ column_mapping mapping_id=20 table_id=2 type=map_by_name"},
       {"error file-id-beyond-next ducklake_column_mapping | mapping_id=20"}},
      {"ScheduledDataFileStillThere",
       {"+ files_scheduled_for_deletion data_file_id=1 path=b.parquet "
        "schedule_start='2026-01-01 00:00:00+00'"},
       {"error scheduled-file-in-use ducklake_files_scheduled_for_deletion | data_file_id=1"}},
      {"ViewIdUsedAgain",
       {"= view view_id=3 : end_snapshot=9",
        "+ view view_id=3 begin_snapshot=11 schema_id=1 view_name=w sql='SELECT 2'"},
       {"error id-reused ducklake_view | view_id=3"}},
      {"ColumnIdUsedAgain",
       {"= column column_id=2 begin_snapshot=2 : end_snapshot=10"},
       {"error id-reused ducklake_column | table_id=2 column_id=2"}},
      {"RowIdsNotReserved",
       {"= data_file data_file_id=1 : row_id_start=103"},
       {"error row-id-beyond-next ducklake_data_file | table_id=2 data_file_id=1"}},
      {"InlinedRowIdNotReserved",
       {"= inlined_data_2_6 row_id=151 : row_id=152"},
       {"error row-id-beyond-next ducklake_inlined_data_2_6 | row_id=152"}},
  };
}

std::vector<Case> ObjectCases() {
  return {
      {"TableInNoSchema",
       {"= table table_id=2 : schema_id=8"},
       {"error outside-parent ducklake_table | table_id=2"}},
      {"ViewOutlivesItsSchema",
       {"+ schema schema_id=7 begin_snapshot=1 end_snapshot=8 schema_name=gone path=gone/",
        "= view view_id=3 : schema_id=7"},
       {"error outside-parent ducklake_view | view_id=3"}},
      {"TagOfNothing",
       {"= tag object_id=2 : object_id=19"},
       {"error outside-parent ducklake_tag | object_id=19 key=comment"}},
      {"ColumnOfADroppedTable",
       {"+ table table_id=9 begin_snapshot=2 end_snapshot=5 schema_id=1 table_name=x path=x/",
        "+ column table_id=9 column_id=1 begin_snapshot=2 column_order=1 column_name=a "
        "column_type=int32"},
       {"error outside-parent ducklake_column | table_id=9 column_id=1"}},
      {"FieldOfADroppedColumn",
       {"= column column_id=3 : end_snapshot=8"},
       {"error outside-parent ducklake_column | table_id=2 column_id=4"}},
      {"DataFileOlderThanItsTable",
       {"= data_file data_file_id=1 : begin_snapshot=1"},
       {"error outside-parent ducklake_data_file | table_id=2 data_file_id=1"}},
      {"DeleteFileOfNoDataFile",
       {"= delete_file delete_file_id=2 : data_file_id=7"},
       {"error outside-parent ducklake_delete_file | table_id=2 delete_file_id=2"}},
      {"DeleteFileOutlivesItsDataFile",
       {"= data_file data_file_id=0 : end_snapshot=9"},
       {"error outside-parent ducklake_delete_file | table_id=2 delete_file_id=2"}},
      {"SortOrderOfNoTable",
       {"= sort_info sort_id=6 : table_id=19"},
       {"error outside-parent ducklake_sort_info | sort_id=6"}},
      {"StatisticsOfNoFile",
       {"+ file_column_stats data_file_id=7 table_id=2 column_id=1"},
       {"note orphan ducklake_file_column_stats | table_id=2 column_id=1 data_file_id=7"}},
      {"StatisticsOfNoColumn",
       {"+ table_column_stats table_id=2 column_id=9"},
       {"note orphan ducklake_table_column_stats | table_id=2 column_id=9"}},
      {"VariantStatisticsOfNoFile",
       {"+ file_variant_stats data_file_id=7 table_id=2 column_id=1 variant_path=p"},
       {"note orphan ducklake_file_variant_stats | "
        "table_id=2 column_id=1 data_file_id=7 variant_path=p"}},
      {"PartitionValueOfNoFile",
       {"+ file_partition_value data_file_id=7 table_id=2 partition_key_index=0"},
       {"note orphan ducklake_file_partition_value | "
        "table_id=2 partition_key_index=0 data_file_id=7"}},
      {"ParameterOfNoImplementation",
       {"= macro_parameters macro_id=4 : impl_id=1"},
       {"note orphan ducklake_macro_parameters | macro_id=4 impl_id=1 column_id=0"}},
      {"PartitionColumnOfNoPartitioning",
       {"= partition_column partition_id=5 : partition_id=8"},
       {"note orphan ducklake_partition_column | partition_id=8 partition_key_index=0"}},
      {"NameMappingOfNoMapping",
       {"+ name_mapping mapping_id=8 column_id=0 source_name=a target_field_id=1"},
       {"note orphan ducklake_name_mapping | mapping_id=8 column_id=0"}},
      {"InlinedDeleteOfNoFile",
       {"= inlined_delete_2 file_id=0 : file_id=7"},
       {"note orphan ducklake_inlined_delete_2 | file_id=7 row_id=4"}},
      {"PartitioningOfNoTable",
       {"= data_file data_file_id=1 : partition_id=8"},
       {"error dangling-reference ducklake_data_file | table_id=2 data_file_id=1"}},
      {"MappingThatIsNotThere",
       {"= data_file data_file_id=1 : mapping_id=8"},
       {"error dangling-reference ducklake_data_file | table_id=2 data_file_id=1"}},
      {"ViewNamedLikeATable",
       {"= view view_id=3 : view_name=T"},
       {"error name-repeated ducklake_view | view_id=3"}},
      {"SchemasOfOneName",
       {"+ schema schema_id=9 begin_snapshot=4 schema_name=MAIN path=m2/"},
       {"error name-repeated ducklake_schema | schema_id=9"}},
      {"ColumnsOfOneName",
       {"= column column_id=2 begin_snapshot=11 : column_name=ID"},
       {"error name-repeated ducklake_column | table_id=2 column_id=2"}},
      {"TableWithoutColumns",
       {"+ table table_id=9 begin_snapshot=2 schema_id=1 table_name=x path=x/"},
       {"error table-without-columns ducklake_table | table_id=9"}},
      {"ColumnsInOnePlace",
       {"= column column_id=2 begin_snapshot=11 : column_order=1"},
       {"error column-order-repeated ducklake_column | table_id=2 column_id=2"}},
      {"FilesInOnePlace",
       {"= data_file data_file_id=0 : file_order=3", "= data_file data_file_id=1 : file_order=3"},
       {"note file-order-repeated ducklake_data_file | table_id=2 data_file_id=1"}},
      {"TablePathIsNoDirectory",
       {"= table table_id=2 : path=t"},
       {"error path-not-a-directory ducklake_table | table_id=2"}},
      {"UnknownTransform",
       {"= partition_column partition_id=5 : transform=bucket(0)"},
       {"error unknown-transform ducklake_partition_column | partition_id=5 "
        "partition_key_index=0"}},
      {"UnknownDeleteFormat",
       {"= delete_file delete_file_id=2 : format=orc"},
       {"error unknown-format ducklake_delete_file | table_id=2 delete_file_id=2"}},
      {"InlinedTableMissing",
       {"+ inlined_data_tables table_id=2 table_name=ducklake_inlined_data_2_7 schema_version=7"},
       {"error inlined-table-missing ducklake_inlined_data_tables | table_id=2 schema_version=7"}},
      {"InlinedTableUnregistered",
       {"- inlined_data_tables table_id=2"},
       {"note inlined-table-unregistered ducklake_inlined_data_2_6 | "}},
  };
}

std::vector<Case> FileCases() {
  return {
      {"TwoDeleteFiles",
       {"+ delete_file delete_file_id=3 table_id=2 begin_snapshot=8 data_file_id=0 path=e.parquet "
        "format=parquet delete_count=1"},
       {"error delete-files-overlap ducklake_delete_file | table_id=2 delete_file_id=3"}},
      {"MoreDeletedThanThere",
       {"= delete_file delete_file_id=2 : delete_count=101"},
       {"error delete-count-above-records ducklake_delete_file | table_id=2 delete_file_id=2"}},
      {"PartialMaxBeforeBegin",
       {"= data_file data_file_id=1 : partial_max=3"},
       {"error partial-max-out-of-range ducklake_data_file | table_id=2 data_file_id=1"}},
      {"NoTableStatistics",
       {"- table_stats table_id=2"},
       {"error table-stats-missing ducklake_table_stats | table_id=2",
        "error table-stats-missing ducklake_table_stats | table_id=2"}},
      {"MoreValuesThanRows",
       {"= file_column_stats data_file_id=1 : value_count=51"},
       {"error stats-count-above-records ducklake_file_column_stats | "
        "table_id=2 column_id=1 data_file_id=1"}},
      {"BoundIsNoInteger",
       {"= file_column_stats data_file_id=1 : min_value=1e2"},
       {"error bound-not-of-type ducklake_file_column_stats | "
        "table_id=2 column_id=1 data_file_id=1"}},
      {"BoundsReversed",
       {"= table_column_stats column_id=2 : min_value=zz"},
       {"error bounds-reversed ducklake_table_column_stats | table_id=2 column_id=2",
        "error table-bounds-too-narrow ducklake_file_column_stats | "
        "table_id=2 column_id=2 data_file_id=0"}},
      {"FileBoundsReversedAsNumbersNotAsText",
       {"= file_column_stats data_file_id=1 : min_value=120 max_value=13"},
       {"error bounds-reversed ducklake_file_column_stats | "
        "table_id=2 column_id=1 data_file_id=1"}},
      {"TableBoundsTooNarrow",
       {"= table_column_stats column_id=1 : max_value=148"},
       {"error table-bounds-too-narrow ducklake_file_column_stats | "
        "table_id=2 column_id=1 data_file_id=1"}},
  };
}

class VerifyRuleTest : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyRuleTest, FindsExactlyWhatIsBroken) {
  const Case& c = GetParam();
  const TempDir dir;
  TextCatalog lake = CleanLake();
  for (const std::string& edit : c.edits) {
    lake.Edit(edit);
  }
  const absl::Status built = lake.Build(dir / "lake");
  ASSERT_TRUE(built.ok()) << built;
  if (c.damage != nullptr) {
    const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
    ASSERT_NE(catalog, nullptr);
    RawStore store(&catalog->store());
    c.damage(&store);
  }
  const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(FindingsOf(*catalog), UnorderedElementsAreArray(c.findings));
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Store, VerifyRuleTest, ::testing::ValuesIn(StoreCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Axis, VerifyRuleTest, ::testing::ValuesIn(AxisCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Ids, VerifyRuleTest, ::testing::ValuesIn(IdCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Objects, VerifyRuleTest, ::testing::ValuesIn(ObjectCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Files, VerifyRuleTest, ::testing::ValuesIn(FileCases()), NameOf);

// Builds the lake after the edits and verifies it.
std::vector<std::string> FindingsAfter(const std::vector<std::string>& edits) {
  const TempDir dir;
  TextCatalog lake = CleanLake();
  for (const std::string& edit : edits) {
    lake.Edit(edit);
  }
  const absl::Status built = lake.Build(dir / "lake");
  EXPECT_TRUE(built.ok()) << built;
  const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
  return catalog == nullptr ? std::vector<std::string>{"not opened"} : FindingsOf(*catalog);
}

TEST(VerifyTest, ACleanLakeHasNoFindings) {
  EXPECT_THAT(FindingsAfter({}), IsEmpty());
}

TEST(VerifyTest, ANewCatalogHasNoFindings) {
  const TempDir dir;
  ASSERT_TRUE(Catalog::Init(dir / "lake", {.data_path = "/lake/"}).ok());
  const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
  ASSERT_NE(catalog, nullptr);
  EXPECT_THAT(FindingsOf(*catalog), IsEmpty());
}

// Expiry leaves gaps: rows begin and end at snapshots that are gone, and versions in between too.
TEST(VerifyTest, WhatExpiryLeavesBehindIsClean) {
  EXPECT_THAT(FindingsAfter({"- snapshot snapshot_id=4", "- snapshot_changes snapshot_id=4",
                             "- snapshot snapshot_id=10", "- snapshot_changes snapshot_id=10",
                             "= column column_id=2 begin_snapshot=2 : end_snapshot=10"}),
              IsEmpty());
}

TEST(VerifyTest, AMergedFileMayHoldMoreRowsThanRowIds) {
  EXPECT_THAT(FindingsAfter({"= data_file data_file_id=1 : row_id_start=150 partial_max=9"}),
              IsEmpty());
}

TEST(VerifyTest, BoundsOfADroppedColumnAreNotHeldAgainstTheTable) {
  EXPECT_THAT(
      FindingsAfter({"= column column_id=2 begin_snapshot=11 : end_snapshot=12",
                     "- column_tag column_id=1", "= table_column_stats column_id=2 : max_value=b"}),
      IsEmpty());
}

TEST(VerifyTest, BoundsWrittenBeforeAWideningAreReadByTheOldType) {
  EXPECT_THAT(FindingsAfter({"= column column_id=1 : end_snapshot=11",
                             "+ column table_id=2 column_id=1 begin_snapshot=11 column_order=1 "
                             "column_name=id column_type=varchar"}),
              IsEmpty());
}

TEST(VerifyTest, ADamagedRelationLeavesOutTheChecksThatNeedIt) {
  const TempDir dir;
  ASSERT_TRUE(CleanLake().Build(dir / "lake").ok());
  {
    const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
    ASSERT_NE(catalog, nullptr);
    RawStore store(&catalog->store());
    store.Put(Family::kLive, LiveKey(kTable, HandleOf(kTable, "table_id=2")), "");
  }
  const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
  ASSERT_NE(catalog, nullptr);
  // Not: every column, file and tag of table 2 is outside its parent.
  EXPECT_THAT(FindingsOf(*catalog), ElementsAre("error corruption ducklake_table | 0x00000005"
                                                "8000000000000002"));
}

TEST(VerifyTest, AFlippedByteInAFileIsCorruptionAndNothingElse) {
  const TempDir dir;
  ASSERT_TRUE(CleanLake().Build(dir / "lake").ok());
  // The largest file holds the live rows; with the one of the catalog's own records damaged, the
  // catalog would not open at all.
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "lake")) {
    if (entry.path().extension() == ".sst" &&
        (largest.empty() || entry.file_size() > std::filesystem::file_size(largest))) {
      largest = entry.path();
    }
  }
  ASSERT_FALSE(largest.empty());
  {
    constexpr std::streamoff kInFirstBlock = 20;
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(kInFirstBlock);
    const char flipped = static_cast<char>(file.get() ^ 0x40);
    file.seekp(kInFirstBlock);
    file.put(flipped);
    ASSERT_TRUE(file.good());
  }
  const std::unique_ptr<Catalog> catalog = MustOpen(dir / "lake");
  ASSERT_NE(catalog, nullptr);
  const std::vector<std::string> findings = FindingsOf(*catalog);
  EXPECT_THAT(findings, Not(IsEmpty()));
  EXPECT_THAT(findings, Each(StartsWith("error corruption ")));
}

TEST(VerifyTest, EveryRuleIsBrokenBySomeTest) {
  std::set<std::string> broken;
  for (const auto& cases : {StoreCases(), AxisCases(), IdCases(), ObjectCases(), FileCases()}) {
    for (const Case& c : cases) {
      for (const std::string& finding : c.findings) {
        const size_t start = finding.find(' ') + 1;
        broken.insert(finding.substr(start, finding.find(' ', start) - start));
      }
    }
  }
  // Columnar files are broken by verify_columnar_test.cc.
  broken.merge(std::set<std::string>{
      "columnar-manifest", "columnar-damaged", "columnar-file-missing", "pack-statistics-wrong",
      "pack-statistics-missing", "columnar-row-repeated", "columnar-row-missing",
      "columnar-row-unknown", "columnar-row-differs"});
  for (const RuleInfo& info : AllRules()) {
    EXPECT_TRUE(broken.contains(std::string(info.name))) << info.name;
  }
  EXPECT_EQ(broken.size(), AllRules().size());
}

// Rows of the table begin with "| `name` |", and have the severity in their fourth column.
TEST(VerifyTest, TheDocumentedRulesAreTheRules) {
  std::ifstream file(StrCat(VARVE_SOURCE_DIR, "/docs/verify-rules.md"));
  ASSERT_TRUE(file.is_open());
  std::vector<std::string> documented;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("| `")) {
      std::vector<std::string> cells;
      for (size_t at = 0; at != std::string::npos && at + 1 < line.size();) {
        const size_t end = line.find(" | ", at + 2);
        cells.push_back(line.substr(at + 2, end == std::string::npos ? end : end - at - 2));
        at = end == std::string::npos ? end : end + 1;
      }
      ASSERT_GE(cells.size(), 5U) << line;
      documented.push_back(StrCat(cells[0], " ", cells[3]));
    }
  }
  std::vector<std::string> rules;
  for (const RuleInfo& info : AllRules()) {
    rules.push_back(StrCat("`", info.name, "` ",
                           info.rule == Rule::kRepeatedKey     ? "error, note where keys may repeat"
                           : info.severity == Severity::kError ? "error"
                                                               : "note"));
  }
  EXPECT_EQ(documented, rules);
}

}  // namespace
}  // namespace varve

// What the catalog knows of a relation: its columns, its handle, and how its rows are versioned.
//
// Built-in relations come from the annotated messages of entities.proto; dynamic relations
// (inlined rows and deletes, tables a catalog brought along) and extra columns of built-in ones are
// data, kept in the relation directory.
//
// Thread-safety: immutable once built; shared by shared_ptr<const RelationSchema>.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/schema.h"
#include "mvcc/visibility.h"

namespace varve {

using RelationId = uint32_t;

// The built-in relations, by the number in entities.proto.
enum BuiltinRelation : RelationId {
  kMetadata = 1,
  kSnapshot = 2,
  kSnapshotChanges = 3,
  kSchema = 4,
  kTable = 5,
  kView = 6,
  kTag = 7,
  kColumnTag = 8,
  kDataFile = 9,
  kFileColumnStats = 10,
  kFileVariantStats = 11,
  kDeleteFile = 12,
  kColumn = 13,
  kTableStats = 14,
  kTableColumnStats = 15,
  kPartitionInfo = 16,
  kPartitionColumn = 17,
  kFilePartitionValue = 18,
  kFilesScheduledForDeletion = 19,
  kInlinedDataTables = 20,
  kColumnMapping = 21,
  kNameMapping = 22,
  kSchemaVersions = 23,
  kMacro = 24,
  kMacroImpl = 25,
  kMacroParameters = 26,
  kSortInfo = 27,
  kSortExpression = 28,
};

// Dynamic relations are numbered from here; the index of relation r has number r | kIndexRelation.
inline constexpr RelationId kFirstDynamicRelation = 1024;
inline constexpr RelationId kIndexRelation = 0x8000'0000;

// Extra columns of built-in relations have field numbers from here.
inline constexpr uint32_t kFirstExtraField = 1000;

enum class Versioning : uint8_t {
  kUnversioned = 0,  // no begin, no end: overwritten in place
  kInterval = 1,     // begin_snapshot and end_snapshot
  kBeginOnly = 2,    // a begin, never an end
  kViaParent = 3,    // visible while its parent is
};

enum class HandleKind : uint8_t {
  kInt = 0,        // one integer column: 8 bytes
  kCommon = 1,     // an encoded tuple
  kRowNumber = 2,  // no column identifies a row: a hidden number does, in order of insertion
};

struct RelationSchema {
  RelationId id = 0;
  std::string name;  // "ducklake_table"
  Schema columns;
  Versioning versioning = Versioning::kUnversioned;
  HandleKind handle_kind = HandleKind::kCommon;
  std::vector<size_t> handle;  // column indexes, in key order; empty for kRowNumber
  bool declared_key = false;   // a duplicate is an error whatever the caller allows
  bool repeats = false;        // equal handles are accepted, kept apart by the ordinal
  bool dynamic = false;        // described by the directory, not by entities.proto
  // Index of the begin column: kInterval and kBeginOnly. Of the end column: kInterval.
  std::optional<size_t> begin_column;
  std::optional<size_t> end_column;
  // kViaParent: the parent and the columns here that hold its handle, in the parent's key order.
  RelationId parent = 0;
  std::vector<size_t> parent_handle;
  // A column that is unique without being the handle.
  std::optional<size_t> unique_column;
  // Columns and relations a catalog of an older version has not got: read as NULL (empty), left out
  // of exports so that an export is what came in.
  std::vector<bool> absent_columns;  // empty: none
  bool absent = false;
  std::string since;  // first catalog version with this relation; empty: all

  // Derived by Finish: is column i kept in the payload (neither handle, begin nor end)?
  std::vector<bool> in_payload;
  void Finish();

  bool IsHandleColumn(size_t column) const;
  bool IsAbsentColumn(size_t column) const {
    return column < absent_columns.size() && absent_columns[column];
  }
  // Handles of this relation may end in an ordinal.
  bool may_repeat() const { return !declared_key && handle_kind != HandleKind::kRowNumber; }
  // "table" for "ducklake_table".
  std::string_view short_name() const;
};

using RelationRef = std::shared_ptr<const RelationSchema>;

// The built-in relations, ordered by id; built once from the protobuf descriptors.
const std::vector<RelationRef>& BuiltinRelations();
RelationRef BuiltinRelationById(RelationId id);  // requires: a built-in id

// The schema a dynamic relation has by its name and columns: inlined rows (int handle row_id,
// versioned), inlined deletes (handle (file_id, row_id), begin only), anything else with `key`
// columns as handle, or a row number when there are none. The columns' fields are set to 1, 2, ….
// Errors: inlined tables without their mandatory columns.
absl::StatusOr<RelationSchema> MakeDynamicRelation(std::string name,
                                                   std::vector<ColumnSchema> columns,
                                                   const std::vector<std::string>& key);

// A built-in relation with extra columns (fields from 1000, in order) appended.
RelationSchema WithExtraColumns(const RelationSchema& relation, std::vector<ColumnSchema> extra);

// Descriptions as stored in the relation directory.
std::string SerializeRelation(const RelationSchema& relation);
absl::StatusOr<RelationSchema> ParseRelation(std::string_view bytes);

}  // namespace varve

// One operation of a transaction as a value: it can be performed, written down with what came of
// it, and be told to a model of the lake later.
//
// Thread-safety: a value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "catalog/transaction/transaction.h"

namespace varve {

// A row by column names, values as canonical text; NULLs are left out.
using LakeRow = std::map<std::string, std::string>;

// A version of an inlined row: what names it.
struct InlinedVersion {
  int64_t row_id = 0;
  SnapshotId begin = 0;
};

struct LakeOperation {
  enum class Kind : uint8_t {
    kCreateSchema,          // name, place
    kDropSchema,            // object
    kCreateTable,           // into, name, columns, place
    kRenameTable,           // object, name
    kMoveTable,             // object, into
    kDropTable,             // object
    kAddColumn,             // object, columns[0], parent
    kDropColumn,            // object, column
    kRenameColumn,          // object, column, name
    kReorderColumns,        // object, ids
    kSetColumnType,         // object, column, name
    kSetColumnDefault,      // object, column, value
    kSetColumnNullable,     // object, column, flag
    kSetPartitioning,       // object, partition_keys
    kSetSortOrder,          // object, sort_keys
    kCreateView,            // into, name, view
    kRenameView,            // object, name
    kDropView,              // object
    kCreateMacro,           // into, name, flag: a table macro, implementations
    kDropMacro,             // object
    kSetTag,                // object, name, value
    kSetColumnTag,          // object, column, name, value
    kSetOption,             // scope, object, name, value
    kCreateNameMapping,     // object, mappings
    kRegisterDataFiles,     // object, files
    kRegisterDeleteFiles,   // object, delete_files
    kEndDataFiles,          // object, ids
    kMergeFiles,            // object, ids, files[0]
    kRewriteFile,           // object, ids[0], files[0]
    kRemoveScheduledFiles,  // ids
    kInsertInlined,         // object, rows
    kDeleteInlined,         // object, ids
    kUpdateInlined,         // object, ids[0], rows[0]
    kDeleteFromFile,        // object, column: the data file, ids
    kFlushInlined,          // object, files[0], delete_files, versions
  };

  Kind kind = Kind::kCreateSchema;
  int64_t object = 0;  // the schema, table, view or macro it is about
  int64_t into = 0;    // the schema something is put into
  int64_t column = 0;
  std::optional<int64_t> parent;
  std::string name;
  NullableText value;
  bool flag = false;
  OptionScope scope = OptionScope::kGlobal;
  ObjectOptions place;
  std::vector<ColumnDefinition> columns;
  ViewDefinition view;
  std::vector<MacroImplementation> implementations;
  std::vector<PartitionKey> partition_keys;
  std::vector<SortKey> sort_keys;
  std::vector<NameMapping> mappings;
  std::vector<DataFile> files;
  std::vector<DeleteFile> delete_files;
  std::vector<int64_t> ids;
  std::vector<std::vector<NullableText>> rows;
  std::vector<InlinedVersion> versions;  // what a flush moves

  // --- What came of it ---

  // The ids it made: the object, its files, the first inlined row, the layout.
  std::vector<int64_t> made;
  // What the table's partitioning is: files are registered under it.
  std::optional<int64_t> partition_id;
};

// Performs it. What came of it is noted in `operation`: also what the catalog chose where it had a
// choice (a random UUID, the sort keys after a column was renamed).
absl::Status Perform(LakeOperation* operation, Transaction* transaction);

// Puts the ids that the commit gave in place of the provisional ones.
void ResolveIds(const CommitResult& result, LakeOperation* operation);

// For messages: `RenameTable object=4 name="b" -> ...`.
std::string ToText(const LakeOperation& operation);

// The rows of a relation that are visible to the view or transaction, in handle order. Of those
// with a prefix of the handle, if one is given. Errors fail the running test.
std::vector<LakeRow> ReadRows(const ReadView& view, const RelationRef& relation,
                              ScanRows rows = ScanRows::kVisible);
std::vector<LakeRow> ReadRows(const Transaction& transaction, const RelationRef& relation);

// "a=1 b=x": one line.
std::string LineOf(const LakeRow& row);
// A number in a row; -1 when it is NULL.
int64_t NumberOf(const LakeRow& row, const std::string& column);
std::string TextOf(const LakeRow& row, const std::string& column);

}  // namespace varve

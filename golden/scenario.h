// The scenario language: what a person writes into golden/scenarios/<name>/script.txt.
//
// A script is a list of blocks; each is one commit and normally makes one snapshot. Its statements
// speak of the lake (create a table, rename a column, add a file) or, for odd cases, of single
// rows. Parsing ends here, in the structs below: what a statement means for the rows of the catalog
// is the business of whoever executes a block (golden/block_writer.h). golden/README.md describes
// the language.
//
// Thread-safety: value types. Errors: one line, "script.txt:12: …".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "mvcc/visibility.h"

namespace varve::golden {

// A value as written; nullopt is NULL.
using Literal = std::optional<std::string>;

struct Assignment {
  std::string column;
  Literal value;
};

// schema.object
struct ObjectName {
  std::string schema;
  std::string name;
};

// schema.table.column.field…; an empty path is the table itself.
struct ColumnPath {
  ObjectName table;
  std::vector<std::string> path;
};

// A column or field. A nested type has its parts as fields: the fields of a struct, "element" of a
// list, "key" and "value" of a map.
struct ColumnSpec {
  std::string name;
  std::string type;
  std::vector<ColumnSpec> fields;
  bool not_null = false;
  Literal default_value;
};

struct CreateSchema {
  std::string name;
};
struct DropSchema {
  std::string name;
};
struct CreateTable {
  ObjectName table;
  std::vector<ColumnSpec> columns;
};
struct CreateView {
  ObjectName view;
  std::string sql;
  std::vector<std::string> aliases;
};
struct MacroParameter {
  std::string name;
  std::optional<Literal> default_value;
};
struct MacroImplementation {
  std::vector<MacroParameter> parameters;
  std::string sql;
};
struct CreateMacro {
  ObjectName macro;
  bool table_macro = false;
  std::vector<MacroImplementation> implementations;
};

enum class ObjectKind : uint8_t { kTable, kView, kMacro, kColumn };
struct DropObject {
  ObjectKind kind = ObjectKind::kTable;
  ObjectName object;
};
struct RenameObject {
  ObjectKind kind = ObjectKind::kTable;
  ObjectName object;
  std::string to;
};
struct MoveTable {
  ObjectName table;
  std::string to_schema;
};

struct AddColumn {
  ColumnPath parent;
  ColumnSpec column;
};
struct DropColumn {
  ColumnPath column;
};
struct RenameColumn {
  ColumnPath column;
  std::string to;
};
struct AlterColumn {
  ColumnPath column;
  std::optional<std::string> type;
  std::optional<Literal> default_value;
  std::optional<bool> not_null;
};

struct SetTag {
  ObjectKind kind = ObjectKind::kTable;
  ColumnPath target;
  std::string key;
  std::optional<Literal> value;  // nullopt: the tag ends without a successor
};
struct PartitionKey {
  std::string column;
  std::string transform;
};
struct PartitionBy {
  ObjectName table;
  std::vector<PartitionKey> keys;
};
struct SortKey {
  std::string expression;
  std::string direction;
  std::string null_order;
};
struct SortBy {
  ObjectName table;
  std::vector<SortKey> keys;  // none: the order ends without a successor
};

// Inlined rows.
struct InsertRows {
  ObjectName table;
  std::vector<std::vector<Literal>> rows;
};
struct UpdateRow {
  ObjectName table;
  int64_t row_id = 0;
  std::vector<Assignment> values;
};
struct DeleteRows {
  ObjectName table;
  std::vector<int64_t> row_ids;
};

// Files go by a label: the file's path is the label with ".parquet".
struct FileStatistics {
  std::string column;
  Literal min;
  Literal max;
  int64_t nulls = 0;
};
struct AddFile {
  std::string label;
  ObjectName table;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::vector<Literal> partition;
  std::vector<FileStatistics> statistics;
  std::optional<SnapshotId> begin;
  std::optional<SnapshotId> partial_max;
};
struct AddDeleteFile {
  std::string label;
  std::string data_file;
  int64_t deletes = 0;
  int64_t bytes = 0;
};
struct DeleteInFile {
  std::string data_file;
  std::vector<int64_t> row_ids;
};
struct RemoveFile {
  std::string label;
};
struct MergeFiles {
  std::vector<std::string> labels;
  std::string into;
};

struct SetOption {
  std::string key;
  std::string value;
  std::optional<ObjectName> table;
};
struct ExpireSnapshots {
  std::vector<SnapshotId> snapshots;
};

// Single rows, for what no lake operation makes. The begin of an inserted row is the block's
// snapshot unless given.
struct RowStatement {
  enum class Kind : uint8_t { kInsert, kPut, kEnd, kErase };
  Kind kind = Kind::kInsert;
  std::string relation;
  std::vector<Assignment> values;      // kInsert, kPut
  std::vector<Literal> key;            // kEnd, kErase: the handle
  std::optional<SnapshotId> snapshot;  // kEnd: the end (the block's); kErase: the begin (0)
};
struct CreateRelation {
  std::string name;
  std::vector<ColumnSpec> columns;
  std::vector<std::string> key;
};
struct DropRelation {
  std::string name;
};

struct Statement {
  int line = 0;
  std::variant<CreateSchema, DropSchema, CreateTable, CreateView, CreateMacro, DropObject,
               RenameObject, MoveTable, AddColumn, DropColumn, RenameColumn, AlterColumn, SetTag,
               PartitionBy, SortBy, InsertRows, UpdateRow, DeleteRows, AddFile, AddDeleteFile,
               DeleteInFile, RemoveFile, MergeFiles, SetOption, ExpireSnapshots, RowStatement,
               CreateRelation, DropRelation>
      operation;
};

struct Block {
  int line = 0;
  bool makes_snapshot = true;    // false: upkeep, which changes rows without a snapshot
  std::optional<SnapshotId> id;  // nullopt: the last one plus 1
  Literal message;
  Literal author;
  Literal extra;
  std::vector<Statement> statements;
};

struct Scenario {
  std::vector<Block> blocks;
};

// `file` names the script in messages.
absl::StatusOr<Scenario> ParseScenario(std::string_view file, std::string_view text);

}  // namespace varve::golden

// One thing a transaction did to one object: what snapshots list in changes_made, what conflicts
// are found by.
//
// Thread-safety: values and functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve {

// In the order in which DuckLake lists them in changes_made.
enum class Operation : uint8_t {
  kDropSchema,
  kDropTable,
  kDropView,
  kCreateSchema,
  kCreateTable,
  kRenameTable,  // gives a table a name, a schema, or both; DuckLake lists it as a table created
  kCreateView,
  kRenameView,
  kCreateScalarMacro,
  kCreateTableMacro,
  kDropScalarMacro,
  kDropTableMacro,
  kInsert,         // registers data files
  kDelete,         // registers delete files, or ends data files
  kAlterTable,     // columns, tags, partitioning, sort order
  kAlterView,      // tags
  kInlinedInsert,  // inserts inlined rows
  kInlinedDelete,  // deletes inlined rows, or rows of data files without a delete file
  kFlushInlined,   // moves inlined rows to data files
  kMergeAdjacent,  // replaces data files by one with the same rows
  kRewriteDelete,  // replaces data files by some without the deleted rows
  kCompactTable,   // merged or rewrote: what catalogs before 1.0 say
};
inline constexpr size_t kNumOperations = static_cast<size_t>(Operation::kCompactTable) + 1;

// Stands among the files of an action for the rows of the table that are inlined.
inline constexpr int64_t kInlinedRows = -1;

struct Action {
  Operation operation = Operation::kInsert;
  // The schema's, table's, view's or macro's id; provisional (provisional_ids.h) if the transaction
  // made it itself. Creations: the new id, by which Footprint knows it again when it is dropped.
  int64_t id = 0;
  // Creations and renames: the schema the object is in afterwards; -1 when only its name is known.
  int64_t schema_id = -1;
  std::string schema_name;
  // Creations and renames: the name from now on, as written. Otherwise the object's name where it
  // is known: conflicts are reported with it.
  std::string name;
  // Renames: the names before, where they are known; likewise.
  std::string old_schema_name;
  std::string old_name;
  // Deletes, merges, rewrites, flushes: the data files whose rows are deleted or moved, or
  // kInlinedRows; ascending, each once.
  std::vector<int64_t> files;
  // There are others, not known which: any of the table's.
  bool all_files = false;
  // Whatever registers files: hashes of their paths (path_index.h); ascending, each once.
  std::vector<uint64_t> paths;

  bool operator==(const Action&) const = default;
};

// Whether the object is told by schema and name (a creation) rather than by id.
bool IsCreation(Operation operation);
bool IsDrop(Operation operation);
bool IsRename(Operation operation);
// Whether it deletes or moves rows that are there, so that `files` says which.
bool TouchesFiles(Operation operation);

// The word of changes_made: "created_table". A rename has that of a creation.
std::string_view TokenOf(Operation operation);

// `"name"`, quotes within doubled.
std::string QuoteName(std::string_view name);
// The same for messages: on one line whatever it holds, shortened when it is long.
std::string ShownName(std::string_view name);

// Whether the name is known of what was there before the action, if anything was.
bool KnowsName(const Action& action);
// For messages, on one line: `table "sales"."orders"`, `table 4` when the name is not known.
std::string ObjectText(const Action& action);
// What was done to the object: `insert into OBJECT`, `rename of OBJECT to "sales"."orders"`.
std::string ActionText(const Action& action, std::string_view object);
// The same where the object has been named: `the insert into it`.
std::string ActionOnItText(const Action& action);

}  // namespace varve

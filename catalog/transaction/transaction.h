// Writing to the catalog: an optimistic transaction with the operations of a lakehouse catalog.
//
// A transaction reads the state it began at and its own changes. Nothing is written and nobody is
// kept waiting until Commit, which checks that no transaction committed since then did what this
// one cannot follow (docs/transactions.md has the matrix; the first committer wins), and makes one
// snapshot of all of it, or none.
//
// Every operation keeps the invariants of a DuckLake catalog: names are unique among the live
// objects of a schema, a live table has a column, a drop takes what hangs on the object with it,
// schema versions, table statistics and changes_made are maintained. An operation that fails
// changes nothing, and the transaction can go on.
//
// Ids that are counted over the whole catalog are provisional until Commit (provisional_ids.h).
//
// Thread-safety: one thread at a time. Ownership: a transaction borrows its Catalog, which must
// outlive it; destroying it without Commit leaves no trace.
//
// Errors of operations: NotFound (an object that is not there, or no longer), AlreadyExists (a
// name, a path), InvalidArgument (what can never be right: a type, a transform, a name, UTF-8),
// FailedPrecondition (what is not right now: a schema that is not empty, a transaction that has
// ended).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/row.h"
#include "catalog/read_view.h"
#include "catalog/transaction/provisional_ids.h"

namespace varve {

class Catalog;

// --- What operations take ---

// A text that may be NULL.
using NullableText = std::optional<std::string>;

struct ColumnDefinition {
  std::string name;
  // DuckLake's name of the type: "int64", "decimal(12,2)", "varchar"; "struct", "list" or "map"
  // with `fields` (DuckLake 1.0 specification, data types).
  std::string type;
  std::vector<ColumnDefinition> fields;
  bool nullable = true;
  // What rows written before the column came read as.
  NullableText initial_default;
  NullableText default_value;
  std::string default_value_type = "literal";  // "literal" or "expression"
  std::string default_value_dialect = "duckdb";
};

// Where an object keeps its files. Unset: the name if it is plain (letters, digits, - and _), else
// its UUID, relative to what it lies in.
struct ObjectOptions {
  NullableText path;
  bool path_is_relative = true;
  std::string uuid;  // empty: a random one
};

struct ViewDefinition {
  std::string sql;
  std::string dialect = "duckdb";
  std::vector<std::string> column_aliases;
  std::string uuid;  // empty: a random one
};

struct MacroParameter {
  std::string name;
  std::string type = "unknown";
  NullableText default_value;
  std::string default_value_type = "unknown";
};
struct MacroImplementation {
  std::string sql;
  std::string dialect = "duckdb";
  std::vector<MacroParameter> parameters;
};
enum class MacroKind : uint8_t { kScalar, kTable };

struct PartitionKey {
  int64_t column_id = 0;
  // "identity", "year", "month", "day", "hour", "bucket(N)" (DuckLake 1.0 specification,
  // ducklake_partition_column).
  std::string transform = "identity";
};
struct SortKey {
  std::string expression;
  std::string dialect = "duckdb";
  bool ascending = true;
  bool nulls_first = false;
};

// Statistics of a column in a file. Counts in values; unset: unknown.
struct ColumnStatistics {
  int64_t column_id = 0;
  std::optional<int64_t> column_size_bytes;
  std::optional<int64_t> value_count;
  std::optional<int64_t> null_count;
  NullableText min_value;  // bounds, as text of the column's type
  NullableText max_value;
  std::optional<bool> contains_nan;
  NullableText extra_stats;
};
struct VariantStatistics {
  std::string variant_path;
  std::string shredded_type;
  ColumnStatistics statistics;  // column_id: of the VARIANT column
};

struct DataFile {
  std::string path;
  bool path_is_relative = true;
  std::string format = "parquet";
  int64_t record_count = 0;
  int64_t file_size_bytes = 0;
  int64_t footer_size = 0;
  NullableText encryption_key;
  std::optional<int64_t> mapping_id;
  std::optional<int64_t> file_order;
  // The row id of the first row; the others follow. Given where rows keep the ids they have, and
  // the file may hold them. Unset: the next ones of the table (new files); none, the file holds
  // them all (RewriteFile, and MergeFiles unless those of the sources follow one another).
  std::optional<int64_t> row_id_start;
  std::vector<ColumnStatistics> columns;
  std::vector<VariantStatistics> variants;
  // One a key of the table's live partitioning, in key order; empty where there is none.
  std::vector<NullableText> partition_values;
};

struct DeleteFile {
  int64_t data_file_id = 0;
  std::string path;
  bool path_is_relative = true;
  std::string format = "parquet";
  int64_t delete_count = 0;
  int64_t file_size_bytes = 0;
  int64_t footer_size = 0;
  NullableText encryption_key;
  // For deletes of committed snapshots in one file, each with its snapshot: the first of them, and,
  // if there are several, the last. Then the file takes the place of all delete files that its data
  // file has had from there on; they are erased and scheduled for deletion. Unset: deletes of this
  // transaction, and all those before.
  std::optional<SnapshotId> begin_snapshot;
  std::optional<SnapshotId> partial_max;
  // The file also holds the deletes that are inlined for its data file, which are erased. Requires
  // begin_snapshot.
  bool holds_inlined_deletes = false;
};

// The columns of foreign files, by name.
struct NameMapping {
  int64_t column_id = 0;  // within the mapping
  std::string source_name;
  int64_t target_field_id = 0;  // the table's column
  std::optional<int64_t> parent_column;
  bool is_partition = false;
};

enum class OptionScope : uint8_t { kGlobal, kSchema, kTable };

// --- Committing ---

struct TransactionOptions {
  // The time the snapshot gets, but always later than the last one's. Unset: now.
  std::optional<absl::Time> time;
};

struct CommitMessage {
  NullableText author;
  NullableText message;
  NullableText extra_info;
};

struct CommitResult {
  SnapshotId snapshot = 0;
  Csn csn = 0;
  IdResolution ids;
  // The real id of what the transaction made.
  int64_t Resolve(int64_t id, int64_t table_id = 0) const { return ids.Resolve(id, table_id); }
};

class Transaction {
 public:
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;
  ~Transaction();

  // The state it began at.
  const ReadView& base() const;
  bool is_open() const;

  // --- Reading: the base with the transaction's own changes ---

  // As ReadView::Get and Scan of visible rows. Rows it made carry provisional ids and begin at
  // base().last_snapshot() + 1, whatever snapshot they will become. Statistics of tables include
  // what the transaction adds. ducklake_snapshot and ducklake_snapshot_changes are those of the
  // base.
  absl::StatusOr<std::optional<VersionedRow>> Get(const RelationSchema& relation,
                                                  std::span<const Datum> key) const;
  absl::StatusOr<std::unique_ptr<RowScan>> Scan(const RelationRef& relation,
                                                const ScanOptions& options) const;

  // By its whole name, case-insensitive, also one that the transaction made; nullptr: there is
  // none.
  RelationRef FindRelation(std::string_view name) const;

  // Ids by name, case-insensitive. NotFound, with the nearest name.
  absl::StatusOr<int64_t> FindSchema(std::string_view name) const;
  absl::StatusOr<int64_t> FindTable(int64_t schema_id, std::string_view name) const;
  absl::StatusOr<int64_t> FindView(int64_t schema_id, std::string_view name) const;
  absl::StatusOr<int64_t> FindMacro(int64_t schema_id, std::string_view name) const;
  // A live column: {"s", "a"} is field a of column s.
  absl::StatusOr<int64_t> FindColumn(int64_t table_id, std::span<const std::string> path) const;

  // --- Schemas ---

  absl::StatusOr<int64_t> CreateSchema(std::string_view name, const ObjectOptions& options = {});
  // The schema must be empty.
  absl::Status DropSchema(int64_t schema_id);

  // --- Tables ---

  // Column ids count up from 1, a column before its fields.
  absl::StatusOr<int64_t> CreateTable(int64_t schema_id, std::string_view name,
                                      std::span<const ColumnDefinition> columns,
                                      const ObjectOptions& options = {});
  absl::Status RenameTable(int64_t table_id, std::string_view name);
  absl::Status MoveTable(int64_t table_id, int64_t schema_id);
  absl::Status DropTable(int64_t table_id);

  // Adds a column, or a field of the column `parent`; returns its id, never one used before.
  absl::StatusOr<int64_t> AddColumn(int64_t table_id, const ColumnDefinition& column,
                                    std::optional<int64_t> parent = std::nullopt);
  // With its fields. The last column of a table stays.
  absl::Status DropColumn(int64_t table_id, int64_t column_id);
  absl::Status RenameColumn(int64_t table_id, int64_t column_id, std::string_view name);
  // Gives the columns of the table (top level) this order. Requires: each of them once.
  absl::Status ReorderColumns(int64_t table_id, std::span<const int64_t> column_ids);
  absl::Status SetColumnType(int64_t table_id, int64_t column_id, std::string_view type);
  absl::Status SetColumnDefault(int64_t table_id, int64_t column_id, const NullableText& value,
                                std::string_view value_type = "literal");
  absl::Status SetColumnNullable(int64_t table_id, int64_t column_id, bool nullable);

  // No keys: no longer partitioned, or sorted.
  absl::Status SetPartitioning(int64_t table_id, std::span<const PartitionKey> keys);
  absl::Status SetSortOrder(int64_t table_id, std::span<const SortKey> keys);

  // --- Views and macros ---

  absl::StatusOr<int64_t> CreateView(int64_t schema_id, std::string_view name,
                                     const ViewDefinition& definition);
  absl::Status RenameView(int64_t view_id, std::string_view name);
  absl::Status DropView(int64_t view_id);
  absl::StatusOr<int64_t> CreateMacro(int64_t schema_id, std::string_view name, MacroKind kind,
                                      std::span<const MacroImplementation> implementations);
  absl::Status DropMacro(int64_t macro_id);

  // --- Tags and options ---

  // Of a table or a view. nullopt removes the tag.
  absl::Status SetTag(int64_t object_id, std::string_view key, const NullableText& value);
  absl::Status SetColumnTag(int64_t table_id, int64_t column_id, std::string_view key,
                            const NullableText& value);
  // Options make no snapshot of themselves, and are the same at every snapshot. nullopt removes it.
  absl::Status SetOption(OptionScope scope, int64_t scope_id, std::string_view key,
                         const NullableText& value);

  // --- Files ---

  absl::StatusOr<int64_t> CreateNameMapping(int64_t table_id, std::span<const NameMapping> columns);
  // Appends files; returns their ids, in order.
  absl::StatusOr<std::vector<int64_t>> RegisterDataFiles(int64_t table_id,
                                                         std::span<const DataFile> files);
  // Each ends the delete file it replaces.
  absl::StatusOr<std::vector<int64_t>> RegisterDeleteFiles(int64_t table_id,
                                                           std::span<const DeleteFile> files);
  // Files none of whose rows remain; their delete files end with them.
  absl::Status EndDataFiles(int64_t table_id, std::span<const int64_t> file_ids);
  // Merges files of one partition: `merged` holds the rows of all of them in the order of their
  // begins and row ids, each with its snapshot, and takes their place at every snapshot: it begins
  // where the first of them began, its partial_max is where the last one did, and they are erased
  // and scheduled for deletion. Column statistics that it leaves out are combined from theirs;
  // partition values are theirs. Makes a snapshot that says so. FailedPrecondition: a source has,
  // or had, deletes, lies in another partition, or was written with columns that were changed
  // since.
  absl::StatusOr<int64_t> MergeFiles(int64_t table_id, std::span<const int64_t> source_ids,
                                     const DataFile& merged);
  // Rewrites a file without its deleted rows: it ends, with its delete file, and `rewritten`, with
  // the ids of its rows, begins in the same partition. The rows are no longer counted.
  absl::StatusOr<int64_t> RewriteFile(int64_t table_id, int64_t source_id,
                                      const DataFile& rewritten);
  // Rows of files_scheduled_for_deletion whose files are gone. FailedPrecondition when a reader
  // may still need one (retention.h).
  absl::Status RemoveScheduledFiles(std::span<const int64_t> file_ids);

  // --- Inlined rows ---

  // One value a live top-level column, in column order, as canonical text of its type
  // (base/text.h). Returns the provisional id of the first; the others follow.
  absl::StatusOr<int64_t> InsertInlined(int64_t table_id,
                                        std::span<const std::vector<NullableText>> rows);
  absl::Status DeleteInlined(int64_t table_id, std::span<const int64_t> row_ids);
  // A new version of the row, same id. Values as in InsertInlined.
  absl::Status UpdateInlined(int64_t table_id, int64_t row_id,
                             const std::vector<NullableText>& values);
  // Deletes of rows of a committed data file, by their position in it from 0, kept inline.
  absl::Status DeleteFromFile(int64_t table_id, int64_t data_file_id,
                              std::span<const int64_t> row_ids);
  // `file` holds every version of every inlined row of the table, ended ones too, each with its row
  // id and snapshot; `deletes` those of them that had ended (its data_file_id and snapshots are
  // ignored). They are erased; the file begins where the first of them did, the delete file where
  // the first one ended. Relations of inlined rows of earlier schemas go. Rows are not counted
  // again. In a partitioned table the file may have no partition values: it lies in no partition
  // then. FailedPrecondition: the transaction itself has changed inlined rows of the table.
  absl::StatusOr<int64_t> FlushInlined(int64_t table_id, const DataFile& file,
                                       const std::optional<DeleteFile>& deletes);

  // --- The past (restore.h) ---

  // Makes the object what it was at `snapshot` again. docs/transactions.md says what that means.
  absl::Status RestoreTable(int64_t table_id, SnapshotId snapshot);
  absl::Status RestoreSchema(int64_t schema_id, SnapshotId snapshot);
  absl::Status RestoreAll(SnapshotId snapshot);

  // --- The end ---

  // Aborted ("… conflict …") when another transaction got there first: nothing of this one remains,
  // begin again. Whatever is returned, the transaction has ended, unless the message itself is
  // wrong (InvalidArgument). A transaction without changes makes no snapshot and returns that of
  // its base. One that only sets options or removes scheduled files makes none either.
  absl::StatusOr<CommitResult> Commit(const CommitMessage& message = {});
  // Forgets the changes.
  void Abort();

  struct State;

 private:
  friend class Catalog;
  explicit Transaction(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How often a transaction is begun again after a conflict, and how long one waits: the n-th wait is
// random between half and the whole of first_wait × factor^n. The defaults are those of DuckLake's
// client.
struct RetryPolicy {
  int max_retries = 10;
  absl::Duration first_wait = absl::Milliseconds(100);
  double factor = 1.5;
  absl::Duration max_wait = absl::Seconds(5);
};

// Begins a transaction, lets `work` fill it, and commits it; after a conflict once more from the
// beginning. The error of `work`, or the last conflict, is returned.
absl::StatusOr<CommitResult> RunInTransaction(Catalog* catalog,
                                              const std::function<absl::Status(Transaction&)>& work,
                                              const CommitMessage& message = {},
                                              const RetryPolicy& policy = {});

}  // namespace varve

// A lake catalog as simple as it can be: each relation is a list of rows with the snapshots between
// which they are true, searched from end to end. It is told every committed transaction, operation
// by operation and in the order of commits, and says what the real catalog must show at every
// snapshot. It knows nothing of handles, encodings, batches or locks.
//
// Relations go by their names, inlined rows of table 4 by "inlined rows 4", whatever schema version
// they were written under. Not modelled: snapshot_time and schedule_start, next_catalog_id and
// next_file_id (their bounds are), created_by, ducklake_inlined_data_tables.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/catalog/lake_operation.h"

namespace varve {

class LakeModel {
 public:
  // A lake as InitOptionsForTest makes it.
  LakeModel();

  // --- Telling it ---

  // A transaction that makes `snapshot`, if it makes one. Provisional: it is open still, so the ids
  // of its operations are provisional, and the model is thrown away afterwards.
  void Begin(SnapshotId snapshot, bool provisional);
  void Apply(const LakeOperation& operation);
  // The end of it. Whether it made a snapshot.
  bool Commit(const CommitMessage& message);

  // What was told that cannot be: a name given twice, an id used again. Empty if all is well.
  std::vector<std::string> problems() const;

  // --- Asking it ---

  SnapshotId last_snapshot() const { return last_snapshot_; }
  // Every relation that has or had rows.
  std::vector<std::string> Relations() const;
  // Rows visible at a snapshot as lines (LineOf), sorted.
  std::vector<std::string> Rows(const std::string& relation, SnapshotId at) const;
  std::vector<LakeRow> LiveRows(const std::string& relation) const;

  // Ids below these were given out by now.
  int64_t next_catalog_id() const { return next_catalog_id_; }
  int64_t next_file_id() const { return next_file_id_; }

  // Words that the changes_made of the last snapshot must hold, and the ids that it may speak of.
  const std::set<std::string>& words() const { return words_; }
  const std::set<int64_t>& touched() const { return touched_; }

  // What is wrong with a row of ducklake_table_column_stats; empty: nothing.
  std::string CheckColumnStats(const LakeRow& row) const;
  // What is wrong with the row ids of data files and inlined rows that are live; empty: nothing.
  std::string CheckRowIds() const;

 private:
  struct Version {
    LakeRow row;  // without begin_snapshot and end_snapshot where both are columns
    SnapshotId begin = 0;
    SnapshotId end = kNoEnd;
    bool gone = false;  // removed when the operation is over
    // Inlined rows: whether they follow the columns of the table until the end of the transaction.
    bool follows_columns = false;
  };
  using Where = std::vector<std::pair<std::string, std::string>>;
  using Kind = LakeOperation::Kind;

  // Values that came to a column of a table.
  struct Values {
    std::string type;
    bool required = true;  // the statistics must take them in; otherwise they may
    bool any = true;       // other than NULL
    std::optional<bool> nulls;
    NullableText min;
    NullableText max;
  };

  void ApplyToObjects(const LakeOperation& operation);
  void ApplyToColumns(const LakeOperation& operation);
  void ApplyToFiles(const LakeOperation& operation);
  void ApplyToInlined(const LakeOperation& operation);

  // --- Rows ---
  std::vector<Version*> Live(const std::string& relation, const Where& where);
  std::vector<const Version*> Live(const std::string& relation, const Where& where) const;
  // The one there must be; nullptr, and a problem, when there is none.
  Version* Find(const std::string& relation, const Where& where);
  void Insert(const std::string& relation, LakeRow row);
  void InsertAt(const std::string& relation, LakeRow row, SnapshotId begin);
  void End(Version* version);
  void EndAll(const std::string& relation, const Where& where);
  void Replace(const std::string& relation, Version* version, const LakeRow& changes);
  void Erase(const std::string& relation, const Where& where);
  void Sweep();
  void Problem(const std::string& text);

  // --- Objects ---
  void CheckNameIsFree(int64_t schema, const std::string& name, bool is_macro);
  void GiveCatalogId(int64_t id);
  void GiveFileId(int64_t id);
  void DropTable(int64_t table);
  void NoteAltered(int64_t table, bool schema_version = true);
  static std::string QuotedName(std::string_view name);
  std::string QualifiedName(int64_t schema, const std::string& name) const;
  std::string PathOf(const LakeOperation& operation) const;
  std::string PathAfterMove(const Version& table, int64_t schema) const;
  LakeRow ColumnRow(const LakeOperation& operation, const ColumnDefinition& column, int64_t id,
                    std::optional<int64_t> parent) const;
  void AddColumns(const LakeOperation& operation, const ColumnDefinition& column,
                  std::optional<int64_t> parent);
  void SetSortOrder(const LakeOperation& operation);

  // --- Files ---
  int64_t TakeRowIds(int64_t table, int64_t count);
  void CountInTable(int64_t table, int64_t rows, int64_t row_ids, int64_t bytes);
  void AddDataFile(const LakeOperation& operation, const DataFile& file, int64_t id,
                   SnapshotId begin, std::optional<int64_t> row_id_start, LakeRow more);
  std::vector<NullableText> PartitionValues(int64_t file) const;
  void NoteStatistics(int64_t table, const DataFile& file, bool required);
  void NoteStatisticsOfDroppedColumns(int64_t table, const DataFile& file);
  void EndDataFile(int64_t table, int64_t file);
  void AddDeleteFile(const LakeOperation& operation, const DeleteFile& file, int64_t id);
  void Schedule(const LakeRow& file, const std::string& id_column);
  void ErasePartsOfFile(int64_t file);
  LakeRow InlinedValues(int64_t table, const std::vector<NullableText>& values);

  // Lists: what is found stays where it is while more is put in.
  std::map<std::string, std::list<Version>> relations_;
  std::map<std::pair<int64_t, int64_t>, std::vector<Values>> values_;  // by table and column
  std::map<int64_t, int64_t> last_column_id_;                          // by table
  std::set<int64_t> catalog_ids_;                                      // that were ever given
  std::set<int64_t> file_ids_;
  int64_t next_catalog_id_ = 1;
  int64_t next_file_id_ = 0;
  int64_t schema_version_ = 0;
  SnapshotId last_snapshot_ = 0;
  static constexpr int64_t kNoObject = -1;
  std::multimap<int64_t, std::string> problems_;  // by the object of the operation

  // The transaction being told.
  SnapshotId now_ = 0;
  bool provisional_ = false;
  std::string current_;  // the operation, for problems
  int64_t object_ = kNoObject;
  std::map<int64_t, int64_t> provisional_row_ids_;
  std::list<Version> stats_before_;
  std::map<std::pair<int64_t, int64_t>, std::vector<Values>> values_before_;
  std::tuple<std::set<int64_t>, std::set<int64_t>, int64_t, int64_t> ids_before_;
  std::set<int64_t> made_;     // objects of the transaction itself
  std::set<int64_t> renamed_;  // tables and views
  std::set<int64_t> altered_;  // tables that get a schema version
  std::set<std::string> words_;
  std::set<int64_t> touched_;
};

}  // namespace varve

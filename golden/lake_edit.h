// The rows of the lake while one block is executed: a copy of the model that statements change, and
// the change set that leads from the model to the copy.
//
// Changes of one row within a block collapse of themselves: a row that begins and ends in the block
// was never there.
//
// Thread-safety: none. Ownership: copies the model; LakeRows are valid until their row is removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/change_set.h"
#include "golden/model.h"
#include "golden/scenario.h"

namespace varve::golden {

// A row of the lake that is there now.
struct LakeRow {
  const ModelRelation* relation = nullptr;
  uint64_t number = 0;

  const ModelRow& row() const { return relation->rows.at(number); }
  // The canonical text of a column. Requires: the relation has it.
  Literal Text(std::string_view column) const;
  int64_t Id(std::string_view column) const;  // requires: a bigint that is not NULL
};

class LakeEdit {
 public:
  // `makes_snapshot` false: rows are changed at the last snapshot.
  static absl::StatusOr<LakeEdit> Begin(const Model& model, const Block& block);

  SnapshotId snapshot() const { return snapshot_; }
  const std::string& snapshot_time() const { return snapshot_time_; }
  const Model& lake() const { return after_; }

  // --- Rows ---

  // The rows without an end that have these values, in order of insertion.
  std::vector<LakeRow> Live(std::string_view relation,
                            const std::vector<NamedText>& where = {}) const;
  // All such rows, ended or not.
  std::vector<LakeRow> All(std::string_view relation,
                           const std::vector<NamedText>& where = {}) const;
  // The only one such live row; the error says that there is no `what`.
  absl::StatusOr<LakeRow> One(std::string_view relation, const std::vector<NamedText>& where,
                              std::string_view what) const;

  // begin_snapshot is the block's snapshot unless given.
  absl::Status Insert(std::string_view relation, std::vector<NamedText> columns);
  // Unversioned relations: overwrites these columns of the row with this handle, or inserts it.
  absl::Status Put(std::string_view relation, const std::vector<NamedText>& columns);
  void End(const LakeRow& row) { EndAt(row, snapshot_); }
  void EndAt(const LakeRow& row, SnapshotId end);
  void EndAll(std::string_view relation, const std::vector<NamedText>& where);
  // Ends the row and inserts its successor with these columns changed.
  absl::Status Replace(const LakeRow& row, const std::vector<NamedText>& changes);
  void Erase(const LakeRow& row);
  void EraseAll(std::string_view relation, const std::vector<NamedText>& where);

  absl::Status CreateRelation(RelationSchema schema) {
    return after_.CreateRelation(std::move(schema));
  }
  absl::Status DropRelation(std::string_view name) { return after_.DropRelation(name); }

  // --- The snapshot ---

  int64_t NewCatalogId() { return next_catalog_id_++; }
  int64_t NewFileId() { return next_file_id_++; }
  // The snapshot changes the schema: its schema version is the next one.
  void ChangesSchema() { schema_changed_ = true; }
  // … and it is this table that gets a new version.
  absl::Status ChangesSchemaOf(int64_t table_id);
  // A token of changes_made, "altered_table:4".
  void Note(std::string_view token);

  // Writes the snapshot's own rows and returns the changes from the model to here.
  absl::StatusOr<ChangeSet> Finish(const Model& model, const Block& block);

 private:
  explicit LakeEdit(const Model& model) : after_(model) {}
  int64_t schema_version() const { return schema_version_ + (schema_changed_ ? 1 : 0); }
  std::string ChangesMade() const;

  Model after_;
  SnapshotId snapshot_ = 0;
  std::string snapshot_time_;
  int64_t schema_version_ = 0;  // before the block
  bool schema_changed_ = false;
  int64_t next_catalog_id_ = 0;
  int64_t next_file_id_ = 0;
  std::vector<std::string> tokens_;
};

// The text of a number, for NamedText.
inline std::string Num(int64_t value) {
  return std::to_string(value);
}

}  // namespace varve::golden

// The rows an open transaction sees and changes: the base view overlaid with its own versions.
//
// Operations are written against this: they read rows, and insert, end, replace, put and erase
// them. What was changed lies in memory, by handle, until the transaction commits. Changes of one
// row collapse: what begins and ends in the transaction was never there.
//
// A change can be taken back to a mark: every operation of a transaction does all it has to do, or
// nothing.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/store/version_group.h"

namespace varve {

// Relations an open transaction has made are numbered from here.
inline constexpr RelationId kFirstProvisionalRelation = 0x4000'0000;

class TransactionRows {
 public:
  explicit TransactionRows(ReadView base);

  const ReadView& base() const { return base_; }
  // The snapshot rows of the transaction begin and end at, until it commits.
  SnapshotId pending_snapshot() const { return base_.last_snapshot() + 1; }

  // --- Relations ---

  // Built-in, of the base, or made by the transaction. nullptr when there is none.
  RelationRef relation(RelationId id) const;
  RelationRef FindRelation(std::string_view name) const;  // case-insensitive
  // Makes a dynamic relation. Its id is provisional: from kFirstProvisionalRelation up.
  absl::StatusOr<RelationRef> CreateRelation(RelationSchema relation);
  // Drops one, with its rows.
  absl::Status DropRelation(const RelationRef& relation);

  // --- Reading ---

  // The row with this handle that is visible to the transaction; of several, the first.
  absl::StatusOr<std::optional<VersionedRow>> Get(const RelationRef& relation,
                                                  std::span<const Datum> key) const;
  // The rows visible to the transaction whose key begins with `prefix`, in handle order. Rows must
  // not be changed in `visit` (collect their keys first). An error of `visit` ends it.
  absl::Status ForEach(const RelationRef& relation, std::span<const Datum> prefix,
                       const std::function<absl::Status(const VersionedRow&)>& visit) const;
  // The same, collected.
  absl::StatusOr<std::vector<VersionedRow>> Rows(const RelationRef& relation,
                                                 std::span<const Datum> prefix) const;
  // All versions of one handle, in begin order: those of the base as the transaction leaves them
  // and its own.
  absl::StatusOr<std::vector<VersionedRow>> Versions(const RelationRef& relation,
                                                     std::span<const Datum> key) const;
  absl::StatusOr<std::unique_ptr<RowScan>> Scan(const RelationRef& relation,
                                                const ScanOptions& options) const;

  // --- Changing ---

  // `row`, here and in Put, has a value for every column; those that a catalog has beyond
  // DuckLake's may be missing at its end and are NULL then.
  //
  // A new version. A NULL begin column becomes the pending snapshot; an earlier begin is kept
  // (back-dated). AlreadyExists when the handle has a visible
  // row and the relation's rows may not repeat.
  absl::Status Insert(const RelationRef& relation, Row row);
  // Ends the visible version of the handle at the pending snapshot. NotFound.
  absl::Status End(const RelationRef& relation, std::span<const Datum> key);
  // Ends it and inserts a successor that `change` makes of its values.
  absl::Status Replace(const RelationRef& relation, std::span<const Datum> key,
                       const std::function<void(Row*)>& change);
  // Removes the version that begins there. NotFound.
  absl::Status Erase(const RelationRef& relation, std::span<const Datum> key, SnapshotId begin);
  // Unversioned and child relations: overwrites or inserts.
  absl::Status Put(const RelationRef& relation, Row row);

  // --- Taking back ---

  // Everything changed after Mark is undone by Rollback; Forget accepts it. Marks do not nest.
  void Mark();
  void Rollback();
  void Forget();

  // --- For the commit ---

  struct Change {
    VersionGroup group;
    bool fresh = false;       // the handle holds a provisional id: the base has no such row
    bool in_payload = false;  // so do payloads of its new versions
    uint64_t mark = 0;        // under which its state before was last kept
  };
  // By handle, without ordinal.
  using Changes = std::map<std::string, Change, std::less<>>;
  const std::map<RelationId, Changes>& changes() const { return changes_; }
  std::map<RelationId, Changes>* mutable_changes() { return &changes_; }
  struct DynamicChange {
    std::vector<RelationRef> created;
    std::vector<RelationRef> dropped;
  };
  const DynamicChange& dynamic() const { return dynamic_; }
  bool empty() const;

 private:
  friend class TransactionScan;

  // The changed handle, read from the base when it is touched first.
  absl::StatusOr<Change*> Touch(const RelationRef& relation, std::span<const Datum> key,
                                SnapshotId from);
  absl::Status CheckRelation(const RelationRef& relation) const;
  const Change* Find(RelationId relation, std::string_view handle) const;
  bool HasChanges(RelationId relation) const;
  absl::StatusOr<VersionedRow> ToRow(const RelationRef& relation, const VersionGroup& group,
                                     const GroupVersion& version) const;
  // Whether the transaction sees this version of a changed handle.
  static bool IsSeen(const GroupVersion& version) {
    return !version.erased && IsCurrent(version.end);
  }
  // Child relations: whether the row's parent is visible to the transaction.
  absl::StatusOr<bool> ParentIsVisible(const RelationRef& relation,
                                       std::span<const Datum> key) const;

  ReadView base_;
  std::map<RelationId, Changes> changes_;
  DynamicChange dynamic_;

  struct Undo {
    RelationId relation = 0;
    std::string handle;
    std::unique_ptr<Change> before;  // null: the handle was untouched
  };
  uint64_t mark_ = 0;  // counts up; 0: nothing is marked
  uint64_t last_mark_ = 0;
  std::vector<Undo> undo_;
  DynamicChange dynamic_before_;
};

}  // namespace varve

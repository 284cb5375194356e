// Commits, and the groups they are written in.
//
// The versions of every handle a commit touches are read once, changed in memory, checked as a
// whole, and what differs from the store is written. So changes of one identity collapse, and the
// order of changes inside a commit does not matter for what is checked (an inlined row's new
// version may be inserted before its old one is ended).
//
// Commits that wait for each other's sync share one: a CommitGroup applies them one on top of
// another, each with a csn of its own, and writes them in one batch with one sync. A commit that is
// refused leaves the group as it was.
//
// Thread-safety: none; the caller holds the commit lock (commit_queue.h).
#pragma once

#include <rocksdb/write_batch.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "catalog/change_set.h"
#include "catalog/store/change_record.h"
#include "catalog/store/row_store.h"
#include "catalog/store/version_group.h"
#include "catalog/tiers/memory_set.h"

namespace varve {

class CommitGroup;
class Footprint;

// A commit, for the transactions that were open when it came.
struct CommitFootprint {
  Csn csn = 0;
  SnapshotId snapshot = 0;  // the last one with the commit
  std::shared_ptr<const Footprint> footprint;
};

// One commit while it is put together: on top of the group's base and the group's earlier commits.
class Commit {
 public:
  Csn csn() const { return csn_; }
  // The latest published state. What earlier commits of the group did is not in it.
  const StoreState& base() const;
  const std::shared_ptr<const StoreState>& base_state() const;
  // Whether the base is the whole truth: nothing precedes this commit in its group.
  bool is_first() const;
  // What the group's commits before this one did.
  const std::vector<CommitFootprint>& earlier() const;

  // As they stand with the earlier commits and with what this one did so far.
  const RelationDirectory& directory() const { return *directory_; }
  SnapshotId last_snapshot() const { return last_snapshot_; }
  SnapshotId retain_from() const { return retain_from_; }
  const PinSet& pins() const { return *pins_; }

  // --- Rows ---

  // Adds the changes. Errors: InvalidArgument (a row of the wrong shape, an interval that is none),
  // NotFound (what is to be ended or erased is not there, an unknown relation), and those of
  // VersionGroup::Settle when the commit is finished.
  absl::Status Apply(const ChangeSet& changes);

  // The versions of one handle, to be changed; `from` as in VersionGroup::Load. Owned by the
  // commit.
  absl::StatusOr<VersionGroup*> Group(const RelationRef& relation, std::string handle,
                                      SnapshotId from);
  // The same of a handle that certainly has no versions: nothing is read.
  VersionGroup* NewGroup(const RelationRef& relation, std::string handle);

  // Erases one stored version, named by its handle with ordinal, begin and end, without reading the
  // handle's other versions: for removing many rows that nobody can see. false: the store does not
  // hold that version (any more). No commit joins the group behind this one. Requires: is_first(),
  // and no Group of the handle in this commit. FailedPrecondition for a snapshot that must stay.
  absl::StatusOr<bool> EraseStored(const RelationRef& relation, std::string_view handle,
                                   SnapshotId begin, SnapshotId end);

  // --- Relations ---

  // Adds a dynamic relation and returns it with its id. AlreadyExists when the name is taken.
  absl::StatusOr<RelationRef> CreateRelation(RelationSchema relation);
  // Drops a dynamic relation with all its rows. Requires is_first(), else Internal.
  absl::Status DropRelation(std::string_view name);

  // --- Everything else ---

  // A text pair of the `default` family, written with the commit. nullopt deletes.
  void PutDefault(std::string key, std::optional<std::string> value);
  // … as earlier commits of the group and this one leave it.
  absl::StatusOr<std::optional<std::string>> GetDefault(std::string_view key) const;
  // Raises the floor of retention. Requires: not below retain_from().
  void SetRetainFrom(SnapshotId snapshot);
  // What the next state's pins are; writing their keys is the caller's business (PutDefault).
  void SetPins(std::shared_ptr<const PinSet> pins) { pins_ = std::move(pins); }
  // What the next state's columnar files are. Their manifest is written with the commit.
  void SetColumnar(std::shared_ptr<const ColumnarSet> columnar);
  // Removes a range of keys of the `changes` family.
  void DeleteChanges(std::string_view from_key, std::string_view to_key);

  // What later transactions check for conflicts with. Without one, it is read from the
  // snapshot_changes row that the commit inserts, if any.
  void SetFootprint(std::shared_ptr<const Footprint> footprint) {
    footprint_ = std::move(footprint);
  }

 private:
  friend class CommitGroup;
  explicit Commit(CommitGroup* group);

  absl::Status ApplyOne(const RowChange& change);
  absl::StatusOr<std::string> HandleOf(const RowChange& change, const RelationRef& relation);
  // A counter of the `default` family. One that is missing must not begin again: numbers are never
  // reused.
  template <typename Number>
  absl::StatusOr<Number> Counter(std::string_view key) const;
  absl::StatusOr<int64_t> NextRowNumber();

  // Checks the commit as a whole and adds it to the group's batch.
  absl::Status Finish();
  absl::Status Check();
  // Whether a snapshot's row may go: it is not the last one, and not pinned.
  absl::Status CheckSnapshotMayGo(SnapshotId snapshot) const;
  absl::Status NoteIndex(const VersionGroup& group);
  absl::Status WriteIndex();
  absl::Status WriteGroups();
  // Whether changes of the version need its pre-image recorded.
  bool NeedsPreImage(RelationId relation, std::string_view handle, SnapshotId begin) const;
  void WriteVersion(const VersionGroup& group, const GroupVersion& version);
  void EraseVersion(const VersionGroup& group, const GroupVersion& version);
  absl::Status DeriveFootprint();
  rocksdb::WriteBatch& batch();
  rocksdb::ColumnFamilyHandle* family(Family family) const;

  CommitGroup* group_;
  Csn csn_;
  SnapshotId last_snapshot_;
  SnapshotId retain_from_;
  std::shared_ptr<const PinSet> pins_;
  std::shared_ptr<const ColumnarSet> columnar_;
  std::shared_ptr<const RelationDirectory> directory_;
  std::vector<std::unique_ptr<VersionGroup>> groups_;
  absl::flat_hash_map<std::string, VersionGroup*> group_of_key_;
  std::map<std::string, std::optional<std::string>, std::less<>> defaults_;
  std::map<std::string, std::string> index_puts_;  // index key -> handle
  absl::flat_hash_set<std::string> index_deletes_;
  ChangeRecorder recorder_;
  std::vector<CommittedChanges> changes_;  // what was recorded, when finished
  bool closes_group_ = false;
  std::shared_ptr<const Footprint> footprint_;
};

// What puts a commit together.
using PrepareCommit = std::function<absl::Status(Commit& commit)>;

class CommitGroup {
 public:
  explicit CommitGroup(std::shared_ptr<const StoreState> base);

  // Puts the next commit of the group together. On error nothing of it remains.
  absl::Status Add(const PrepareCommit& prepare);

  bool empty() const { return commits_ == 0; }
  // Whether a commit must not be added behind those there are.
  bool closed() const { return closed_; }
  size_t bytes() const { return batch_.GetDataSize(); }

  // Of the group's commits so far, in csn order.
  const std::vector<CommitFootprint>& footprints() const { return footprints_; }
  // What they did, in the order of the `changes` family.
  const std::vector<CommittedChanges>& changes() const { return changes_; }

  // Writes the batch, `sync` with a sync of the log, and returns the state after it. Requires: not
  // empty. After an error the commits may turn out to be there when the catalog is opened again.
  absl::StatusOr<std::shared_ptr<StoreState>> Write(bool sync);

 private:
  friend class Commit;

  std::shared_ptr<const StoreState> base_;
  size_t commits_ = 0;
  bool closed_ = false;
  Csn names_csn_;
  Csn definitions_csn_;
  rocksdb::WriteBatch batch_;
  // What the commits so far leave.
  Csn csn_;
  SnapshotId last_snapshot_;
  SnapshotId retain_from_;
  std::shared_ptr<const PinSet> pins_;
  std::shared_ptr<const ColumnarSet> columnar_;
  std::shared_ptr<const RelationDirectory> directory_;
  absl::flat_hash_map<std::string, std::unique_ptr<VersionGroup>> settled_;
  std::map<std::string, std::optional<std::string>, std::less<>> defaults_;
  std::map<std::string, std::optional<std::string>> index_;
  std::vector<CommitFootprint> footprints_;
  std::vector<CommittedChanges> changes_;
};

}  // namespace varve

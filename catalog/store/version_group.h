// The versions of one handle while a commit works on them.
//
// A group starts with what the store holds, takes changes in any order, and is then settled: equal
// keys get their ordinals, intervals are checked. Only what differs from the store is written. Of a
// long history only what the changes can meet is read.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "catalog/relation.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {

struct GroupVersion {
  uint32_t ordinal = 0;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  Csn csn = 0;  // of the commit that wrote it; 0 for a new one
  std::string payload;
  bool stored = false;                        // the store has it …
  SnapshotId stored_end = kNoEnd;             // … with this end
  std::optional<std::string> stored_payload;  // … and this payload, if that was changed
  bool changed = false;                       // new, or its end or payload differs from the store's
  bool erased = false;

  // Overwrites the payload; the store's is kept.
  void SetPayload(std::string other);
};

class VersionGroup {
 public:
  VersionGroup(RelationRef relation, std::string handle)
      : relation_(std::move(relation)), handle_(std::move(handle)) {}

  const RelationRef& relation() const { return relation_; }
  const std::string& handle() const { return handle_; }  // without ordinal
  const std::vector<GroupVersion>& versions() const { return versions_; }
  // To change stored versions; `changed` says that one differs.
  std::vector<GroupVersion>* mutable_versions() { return &versions_; }
  // A stored version; nullptr when there is none.
  GroupVersion* Find(uint32_t ordinal, SnapshotId begin);
  std::string HandleOf(const GroupVersion& version) const;  // with ordinal

  // Reads the versions the store holds: the live ones and those that end after `from`. May be
  // called again with a smaller `from`. Relations with a declared or otherwise unique key are read
  // whole. Changes need the versions that end after the smallest begin they name.
  absl::Status Load(const StoreState& state, SnapshotId from);

  void Insert(SnapshotInterval interval, std::string payload);
  // Overwrites the row, or inserts it.
  void Put(std::string payload);
  // Ends the live version; of several (a successor was inserted before), the oldest.
  absl::Status End(SnapshotId end);
  absl::Status Erase(SnapshotId begin);

  // Gives new versions their ordinals and checks the whole: no begin or end above `last_snapshot`,
  // no two versions visible together (unless the relation's keys may repeat), no second version of
  // a declared key.
  absl::Status Settle(SnapshotId last_snapshot);

  // After settling and writing: what the group holds is what the store has.
  void TakeAsStored(Csn csn);

  // Of the versions read:
  bool IsEmpty() const;   // no version remains
  bool WasEmpty() const;  // the store had none
  bool HadVersion(SnapshotId begin) const;

 private:
  absl::Status Error(absl::StatusCode code, std::string_view message) const;
  absl::Status LoadLive(const StoreState& state);
  absl::Status LoadEnded(const StoreState& state, SnapshotId from);
  absl::Status Take(const StoredVersion& stored);
  absl::Status PlaceVersion(size_t index);
  bool Clashes(size_t index, uint32_t ordinal) const;

  RelationRef relation_;
  std::string handle_;
  std::vector<GroupVersion> versions_;
  bool live_loaded_ = false;
  SnapshotId ended_loaded_from_ = kNoEnd;  // ended versions that end after it have been read
};

// Checks that a row has a value of the right type for every column, and none missing that must be.
absl::Status CheckRowShape(const RelationSchema& relation, std::span<const Datum> row);

// "[3, 7)" or "[3, …)", for messages.
std::string DescribeInterval(SnapshotId begin, SnapshotId end);

// The interval a row's begin and end columns give it: [0, kNoEnd) for rows without. Errors: a NULL
// or negative begin, an end at or before the begin.
absl::StatusOr<SnapshotInterval> IntervalOfRow(const RelationSchema& relation,
                                               std::span<const Datum> row);

}  // namespace varve

// The MemRowSets of a catalog state: what commits changed since the last flush.
//
//   MemorySet of a state      relation -> RelationMemory -> MemRowSet
//        |  older
//   frozen sets               the same, under way into columnar files
//
// Every image in a set is a whole row: a change to a version that the set has not got brings the
// version's pre-image along, with the csn it was written at (rule 3 of the design). So a row of a
// newer set hides that of an older one and of every lower tier, and none of them is needed to
// complete it.
//
// MemRowSets grow while states hold them. A reader at a state's csn sees none of what came later.
//
// Thread-safety: a MemorySet is immutable, what it points to may be read by any thread;
// MemoryWriter needs the commit lock. Ownership: states share sets, sets share MemRowSets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/tiers/memory_format.h"
#include "mvcc/memrowset.h"

namespace varve {

class RelationDirectory;
struct ChangeRecord;

struct RelationMemory {
  MemoryFormat format;
  std::shared_ptr<MemRowSet> rows;

  explicit RelationMemory(RelationRef relation);
};

struct MemorySet {
  // The changes of csns after it are here (or in newer sets).
  Csn from = 0;
  absl::flat_hash_map<RelationId, std::shared_ptr<const RelationMemory>> relations;
  // The next older set, frozen; null: there is none.
  std::shared_ptr<const MemorySet> older;

  // Of this set alone. nullptr: nothing of the relation was changed.
  const RelationMemory* Find(RelationId relation) const;
  // Whether this set alone has an image of the version.
  bool Holds(RelationId relation, std::string_view handle, SnapshotId begin) const;
  uint64_t bytes() const;  // of this set alone
};

// What one commit did to one relation: an entry of the `changes` family.
struct CommittedChanges {
  Csn csn = 0;
  RelationId relation = 0;
  std::string records;
};

// Applies commits to the newest set, in csn order.
class MemoryWriter {
 public:
  // `from`: changes of later csns will come.
  explicit MemoryWriter(Csn from);

  // Changes up to it have been applied.
  Csn applied() const { return applied_; }
  const std::shared_ptr<const MemorySet>& set() const { return set_; }

  // Applies entries; `directory`: has the relations they are of, as they are after the last of
  // them. What an entry says of a relation that is not there any more is left out. DataLoss: an
  // entry is malformed, or speaks of a version nobody knows; the set is of no use then.
  absl::Status Apply(const std::vector<CommittedChanges>& entries,
                     const RelationDirectory& directory);
  // The same for one entry; nothing before `csn` will come any more.
  absl::Status ApplyEntry(Csn csn, RelationId relation, std::string_view records,
                          const RelationDirectory& directory);
  void SetApplied(Csn csn) { applied_ = csn; }

  // The set is complete: a new one, empty, takes what comes, with this one behind it.
  void Freeze();
  // Lets go of sets behind the newest one: changes up to `csn` are in columnar files.
  void DropFlushed(Csn csn);

 private:
  const RelationMemory* Open(RelationId relation, const RelationDirectory& directory);
  void Drop(RelationId relation);
  absl::Status ApplyRecord(Csn csn, const ChangeRecord& record, const RelationMemory& memory);
  absl::Status Update(Csn csn, const ChangeRecord& record, const RelationMemory& memory);

  std::shared_ptr<const MemorySet> set_;
  Csn applied_;
  // Buffers reused from record to record.
  std::string key_;
  std::string change_;
  std::vector<Datum> cells_;
  DecodedHandle scratch_;
};

}  // namespace varve

// The `changes` family: what each commit did, row by row, in csn order.
//
// One entry holds changes of one relation in one commit; large ones are cut into chunks. An entry's
// value is a sequence of records:
//
//   kind u8 | handle length varint | handle | begin varint | image | pre-image
//
//   kind                            image
//   1 insert, 2 update              end + 1 varint (0: none) | payload length varint | payload
//   3 erase                         nothing
//   4 the relation is dropped       nothing (handle empty, begin 0)
//   5 the commit itself             nothing (handle empty; begin: the last snapshot with the
//                                   commit)
//
// The image is the whole version after the commit. Records of kind 2 and 3 with 128 added have a
// pre-image, the whole version before the commit:
//
//   csn varint of the commit that wrote it | end + 1 varint | payload length + 1 varint | payload
//
// A payload length of 0 there says that the payload is the image's. The pre-image may be left out
// where memory has the version (catalog/tiers): it is what a MemRowSet that begins with this
// change begins with.
//
// Each commit's entries begin with its own, under relation number 0, even if it changed no row: so
// it can be told of any csn which snapshot was the last then. A bulk load writes that entry alone.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/store/version_group.h"

namespace varve {

enum class ChangeKind : uint8_t {
  kInsert = 1,
  kUpdate = 2,
  kErase = 3,
  kDropRelation = 4,
  kCommit = 5,
};

// The relation number of the entry of a commit itself.
inline constexpr RelationId kCommitEntry = 0;

// A version as it was before a change.
struct PreImage {
  Csn csn = 0;  // of the commit that wrote it
  SnapshotId end = kNoEnd;
  std::string_view payload;
};

struct ChangeRecord {
  ChangeKind kind = ChangeKind::kInsert;
  std::string_view handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  std::string_view payload;
  std::optional<PreImage> before;
};

// Collects the records of one commit.
class ChangeRecorder {
 public:
  // `with_before`: with its pre-image, if the store has the version.
  void Record(const VersionGroup& group, const GroupVersion& version, bool with_before);
  // A stored version is erased; `handle` with its ordinal. `before` null: without a pre-image.
  void RecordErase(RelationId relation, std::string_view handle, SnapshotId begin,
                   const PreImage* before);
  void DropRelation(RelationId relation);
  // The entries to write: keys of the `changes` family with their values, in key order.
  // `last_snapshot`: the last one with the commit.
  std::vector<std::pair<std::string, std::string>> Finish(Csn csn, SnapshotId last_snapshot);

 private:
  std::string* Open(RelationId relation);
  std::map<RelationId, std::vector<std::string>> chunks_;
};

// The value of a commit's own entry.
std::string CommitEntry(SnapshotId last_snapshot);

// Reads the records of an entry's value. DataLoss when malformed. The records borrow from `value`.
absl::StatusOr<std::vector<ChangeRecord>> ParseChanges(std::string_view value);

}  // namespace varve

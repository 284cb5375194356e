// The change feed: what commits did to rows, in the order of their csns.
//
// A change belongs to the clock of csns, not to that of begins and ends: a merge inserts rows that
// begin at older snapshots, expiry erases rows without making a snapshot, statistics are
// overwritten. A window of csns is (from, to]. A position is a csn: all changes up to it are
// known. So a reader may stop behind any whole commit and go on from there later, also after the
// catalog was closed and opened again.
//
//   kind              what happened                      row
//   inserted          a version was added, live or with  the whole version
//                     its end set
//   ended             a version got its end              the whole version
//   updated in place  a row was overwritten              the whole row
//   erased            a version was physically removed   its key and begin; the rest is NULL
//   relation dropped  a dynamic relation went, with all  nothing (empty handle, all NULL)
//                     its rows
//
// Relations of interval versioning never change but by a begin, an end and an erasure, so a version
// that was rewritten appears as erased and inserted by one commit, in this order. A bulk load (an
// import, a new catalog) writes no changes: the feed begins at its csn.
//
// What was dropped since is typed by the description that the drop kept for the feed.
//
// Thread-safety: free functions; a ChangeReader belongs to one thread. Ownership: a reader holds
// the state of the view it came from: it sees what the view sees, whatever is committed or
// truncated meanwhile, and never half a commit.
#pragma once

#include <rocksdb/iterator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "catalog/payload_codec.h"
#include "catalog/read_view.h"
#include "catalog/store/change_record.h"

namespace varve {

enum class FeedKind : uint8_t { kInserted, kEnded, kUpdated, kErased, kRelationDropped };

// "inserted", "ended", "updated", "erased", "relation dropped".
std::string_view FeedKindName(FeedKind kind);

// Consecutive changes of one relation in one commit. Row i of each member is change i.
struct ChangeBatch {
  Csn csn = 0;
  RelationRef relation;
  std::vector<FeedKind> kinds;
  std::vector<std::string> handles;  // with their ordinals (handle.h)
  std::vector<SnapshotId> begins;    // 0 where rows have none
  std::vector<SnapshotId> ends;      // kNoEnd where there is none
  ColumnBatch columns;               // those asked for, in that order
  size_t num_rows() const { return kinds.size(); }
};

struct ChangeFeedOptions {
  // Changes of these relations only. Empty: of all.
  std::vector<RelationId> relations;
  // Column indexes to decode. nullopt: all. Empty: none, whatever the relation. Other lists require
  // exactly one relation.
  std::optional<std::vector<size_t>> columns;
  // Rows a batch holds at most. Range: 1 … 65,536.
  uint32_t batch_rows = 1024;
};

class ChangeReader {
 public:
  ~ChangeReader();
  ChangeReader(const ChangeReader&) = delete;
  ChangeReader& operator=(const ChangeReader&) = delete;

  // Fills the next batch; false at the end (the batch is then empty). Changes come in csn order,
  // within a commit by relation number, and of one version in the order they are to be applied.
  // DataLoss when an entry is malformed.
  absl::StatusOr<bool> Next(ChangeBatch* batch);

  // Every change asked for up to this csn was returned, and none behind it but those of a commit
  // that Next is in the middle of: where to go on from. The end of the window once Next returned
  // false.
  Csn position() const { return position_; }

 private:
  friend absl::StatusOr<std::unique_ptr<ChangeReader>> Changes(const ReadView& view, Csn from,
                                                               Csn to, ChangeFeedOptions options);

  // How rows of a relation are read.
  struct Decoding {
    RelationRef relation;
    std::unique_ptr<RowDecoder> decoder;
  };

  ChangeReader(ReadView view, Csn from, Csn to, ChangeFeedOptions options);
  // Goes to the next entry asked for, from where the iterator stands, and reads it.
  absl::Status ReadEntry();
  bool WantsRelation(RelationId relation) const;
  absl::StatusOr<const Decoding*> DecodingOf(RelationId relation);
  absl::Status Append(const Decoding& decoding, const ChangeRecord& record, ChangeBatch* batch);

  ReadView view_;
  Csn to_;
  Csn position_;
  ChangeFeedOptions options_;  // relations ascending
  std::string upper_;
  rocksdb::Slice upper_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;
  absl::flat_hash_map<RelationId, Decoding> decodings_;
  absl::flat_hash_map<RelationId, RelationRef> dropped_;
  bool dropped_loaded_ = false;

  // The entry being returned, and what of it is still to come.
  Csn csn_ = 0;
  RelationId relation_ = 0;
  std::string value_;
  std::vector<ChangeRecord> records_;
  size_t next_record_ = 0;
  bool started_ = false;

  DecodedHandle scratch_;
  std::vector<Datum> values_;
};

// The changes of the csns in (from, to]. Errors: InvalidArgument (from above to, a projection of
// several relations), OutOfRange (the feed begins after `from`: what lies before has expired or was
// loaded in bulk, and a follower restarts from a scan; or the window reaches beyond the view's
// csn).
absl::StatusOr<std::unique_ptr<ChangeReader>> Changes(const ReadView& view, Csn from, Csn to,
                                                      ChangeFeedOptions options = {});

// What was done after the commit that made snapshot `from`, up to and including the one that made
// snapshot `to`: the csns (CsnOfSnapshot(from), CsnOfSnapshot(to)]. That is a window of the csn
// clock: back-dated rows written in it are there, whatever they begin at, and so are changes of
// commits in between that made no snapshot; what was done after `to` to rows that `to` shows (their
// end, their erasure, rows dated back to before it) is not.
// Errors: InvalidArgument (from above to), those of CsnOfSnapshot.
absl::StatusOr<std::unique_ptr<ChangeReader>> ChangesBetween(const ReadView& view, SnapshotId from,
                                                             SnapshotId to,
                                                             ChangeFeedOptions options = {});

// The lowest csn that a window may begin at.
absl::StatusOr<Csn> FeedBegin(const StoreState& state);

// The csn of the commit that made a snapshot, at or after FeedBegin; the snapshot may have expired
// since. Errors: NotFound (it lies in the future, or no commit made it the last one), OutOfRange
// (the feed begins after it).
absl::StatusOr<Csn> CsnOfSnapshot(const ReadView& view, SnapshotId snapshot);

// The last csn at which no snapshot above `snapshot` had been made yet; nullopt when the feed
// begins after it. Every version that begins or ends above `snapshot` was written after that csn,
// because a commit accepts no begin or end above the last snapshot.
absl::StatusOr<std::optional<Csn>> LastCsnUpTo(const ReadView& view, SnapshotId snapshot);

}  // namespace varve

#include "catalog/inspect/diff.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/feed/touched_handles.h"
#include "catalog/inspect/diff_paths.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

// What looking a handle up at two snapshots costs, as stored bytes that are scanned at both in that
// time. A look-up takes 5 us in memory and some 30 us from compressed files, a scanned row 3 us;
// and rows take about 100 bytes in memory, and a tenth of that in files.
constexpr uint64_t kBytesPerLookUp = 128;
// Relations up to this size are not worth estimating.
constexpr uint64_t kSmallBytes = 64 << 10;

absl::StatusOr<uint64_t> ApproximateBytes(const RowStore& store, Family family,
                                          const std::string& first, const std::string& end) {
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  const rocksdb::Range range(first, end);
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(store.db().GetApproximateSizes(options, store.family(family), &range, 1, &bytes),
                  "estimating sizes"));
  return bytes;
}

absl::StatusOr<uint64_t> RelationBytes(const RowStore& store, RelationId relation) {
  const std::string first = RelationPrefix(relation);
  const std::string end = RelationPrefix(relation + 1);
  VARVE_ASSIGN_OR_RETURN(const uint64_t live, ApproximateBytes(store, Family::kLive, first, end));
  VARVE_ASSIGN_OR_RETURN(const uint64_t ended, ApproximateBytes(store, Family::kEnded, first, end));
  return live + ended;
}

// A comparison while it runs.
class Diff {
 public:
  Diff(const ReadView& from, const ReadView& to, DiffPath path)
      : from_(from), to_(to), path_(path) {}

  // Reads the feed, if it is to be used.
  absl::Status Prepare(std::span<const RelationRef> relations);
  absl::Status Run(const RelationRef& relation, const RowDiffVisitor& visit, DiffStats* stats);

 private:
  absl::StatusOr<bool> FeedIsWorthReading(Csn from, std::span<const RelationRef> relations) const;
  absl::Status RunByFeed(const RelationRef& relation, const RowDiffVisitor& visit, bool* done);

  const ReadView& from_;
  const ReadView& to_;
  DiffPath path_;
  std::optional<TouchedHandles> touched_;  // nullopt: everything is scanned
};

absl::StatusOr<bool> Diff::FeedIsWorthReading(Csn from,
                                              std::span<const RelationRef> relations) const {
  if (path_ == DiffPath::kFeed) {
    return true;
  }
  const RowStore& store = *from_.state()->store;
  VARVE_ASSIGN_OR_RETURN(
      const uint64_t feed,
      ApproximateBytes(store, Family::kChanges, ChangesKey(from + 1, kCommitEntry, 0),
                       ChangesKey(from_.csn() + 1, kCommitEntry, 0)));
  uint64_t scanned = kSmallBytes;
  for (const RelationRef& relation : relations) {
    VARVE_ASSIGN_OR_RETURN(const uint64_t bytes, RelationBytes(store, relation->id));
    scanned += bytes;
  }
  return feed <= scanned;
}

absl::Status Diff::Prepare(std::span<const RelationRef> relations) {
  if (path_ == DiffPath::kScan) {
    return absl::OkStatus();
  }
  const SnapshotId earlier = std::min(from_.snapshot(), to_.snapshot());
  VARVE_ASSIGN_OR_RETURN(const std::optional<Csn> csn, LastCsnUpTo(from_, earlier));
  if (!csn.has_value()) {
    return path_ == DiffPath::kAuto
               ? absl::OkStatus()
               : absl::OutOfRangeError(StrCat("the change feed begins after snapshot ", earlier,
                                              " was made; a diff from there has to scan"));
  }
  VARVE_ASSIGN_OR_RETURN(const bool worth_it, FeedIsWorthReading(*csn, relations));
  if (!worth_it) {
    return absl::OkStatus();
  }
  std::vector<RelationId> wanted;
  for (const RelationRef& relation : relations) {
    wanted.push_back(relation->versioning == Versioning::kViaParent ? relation->parent
                                                                    : relation->id);
  }
  VARVE_ASSIGN_OR_RETURN(touched_,
                         TouchedHandles::Collect(from_, *csn, from_.csn(), std::move(wanted)));
  return absl::OkStatus();
}

absl::Status Diff::RunByFeed(const RelationRef& relation, const RowDiffVisitor& visit, bool* done) {
  *done = true;
  if (relation->versioning == Versioning::kUnversioned) {
    return absl::OkStatus();
  }
  const bool is_child = relation->versioning == Versioning::kViaParent;
  const std::span<const std::string> touched =
      touched_->Of(is_child ? relation->parent : relation->id);
  uint64_t max_look_ups = std::numeric_limits<uint64_t>::max();
  if (path_ == DiffPath::kAuto) {
    VARVE_ASSIGN_OR_RETURN(const uint64_t bytes,
                           RelationBytes(*from_.state()->store, relation->id));
    max_look_ups = (bytes + kSmallBytes) / kBytesPerLookUp;
  }
  if (touched.size() > max_look_ups) {
    *done = false;
    return absl::OkStatus();
  }
  return is_child ? DiffOfChildren(from_, to_, relation, touched, max_look_ups, visit, done)
                  : DiffOfHandles(from_, to_, relation, touched, visit);
}

absl::Status Diff::Run(const RelationRef& relation, const RowDiffVisitor& visit, DiffStats* stats) {
  if (touched_.has_value()) {
    bool done = false;
    VARVE_RETURN_IF_ERROR(RunByFeed(relation, visit, &done));
    if (done) {
      ++stats->by_feed;
      return absl::OkStatus();
    }
  }
  ++stats->scanned;
  return DiffByScan(from_, to_, relation, visit);
}

}  // namespace

absl::Status DiffRelations(const ReadView& from, const ReadView& to,
                           std::span<const RelationRef> relations, const DiffOptions& options,
                           const DiffVisitor& visit, DiffStats* stats) {
  if (from.state()->store != to.state()->store || from.csn() != to.csn()) {
    return absl::InvalidArgumentError(
        StrCat("a diff of two views from different states of the catalog (csn ", from.csn(),
               " and ", to.csn(), "); make both from one state"));
  }
  DiffStats unasked;
  Diff diff(from, to, options.path);
  VARVE_RETURN_IF_ERROR(diff.Prepare(relations));
  for (const RelationRef& relation : relations) {
    VARVE_RETURN_IF_ERROR(diff.Run(
        relation, [&](const RowDiff& difference) { return visit(relation, difference); },
        stats != nullptr ? stats : &unasked));
  }
  return absl::OkStatus();
}

absl::Status DiffRelation(const ReadView& from, const ReadView& to, const RelationRef& relation,
                          const std::function<absl::Status(const RowDiff&)>& visit,
                          const DiffOptions& options) {
  return DiffRelations(
      from, to, {&relation, 1}, options,
      [&](const RelationRef&, const RowDiff& difference) { return visit(difference); });
}

}  // namespace varve

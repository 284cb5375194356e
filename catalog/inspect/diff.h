// What changed between two snapshots, as they look from one state of the catalog.
//
// There are two ways to find out, which give the same differences in the same order:
//
// *By scanning.* Both snapshots are scanned and merged by handle. Always possible; the cost is that
// of the relation, however little changed.
//
// *By the change feed* (catalog/feed/). Let S1 < S2 be the two snapshots, whichever is compared
// with which, and C the last csn at which no snapshot above S1 existed. A row that looks different
// at S1 and S2 has a version that is visible at one of them only, so one whose begin or end lies in
// (S1, S2]. No commit accepts a begin or end above the last snapshot, so that begin or end was
// written after C; whatever was done to the version since, the commit that wrote it left its handle
// in the feed. So the handles of the feed in (C, csn of the state] are all that need be looked up
// at both snapshots. That holds for back-dated rows (their begin lies where it lies, their handle
// is in the feed all the more) and for erased ones (looked up in vain at both). Rows without a
// begin and end of their own look different only if their parent is visible at one snapshot and not
// at the other: for child relations the parents are looked up, and the children of those found by
// their keys. Unversioned rows never differ. The cost is that of the feed from C on, and a few
// look-ups a touched handle.
//
// Thread-safety: free functions; the views may be shared.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "catalog/read_view.h"

namespace varve {

enum class DiffKind : uint8_t { kAdded, kRemoved, kChanged };

// One difference, matched by handle. `before` and `after` hold every column.
struct RowDiff {
  DiffKind kind = DiffKind::kAdded;
  std::optional<Row> before;            // kRemoved, kChanged
  std::optional<Row> after;             // kAdded, kChanged
  std::vector<size_t> changed_columns;  // kChanged; begin and end columns are not counted
};

enum class DiffPath : uint8_t {
  kAuto,  // by the feed where it reaches back far enough and looks cheaper, else by scanning
  kScan,
  kFeed,  // OutOfRange where the feed does not reach back far enough
};

struct DiffOptions {
  DiffPath path = DiffPath::kAuto;
};

// Which way was taken, per relation asked for.
struct DiffStats {
  uint64_t scanned = 0;
  uint64_t by_feed = 0;
};

using DiffVisitor = std::function<absl::Status(const RelationRef& relation, const RowDiff& diff)>;

// Calls `visit` for each difference between the two views, relation by relation as they are given,
// in key order within one. A row whose version changed but whose values are the same (begin and end
// aside) is no difference. The views must come from one state. Memory does not grow with a scanned
// relation; the feed's handles are held in memory. The visitor's error ends the walk and is
// returned. `stats` may be null.
absl::Status DiffRelations(const ReadView& from, const ReadView& to,
                           std::span<const RelationRef> relations, const DiffOptions& options,
                           const DiffVisitor& visit, DiffStats* stats = nullptr);

// The same of one relation.
absl::Status DiffRelation(const ReadView& from, const ReadView& to, const RelationRef& relation,
                          const std::function<absl::Status(const RowDiff&)>& visit,
                          const DiffOptions& options = {});

}  // namespace varve

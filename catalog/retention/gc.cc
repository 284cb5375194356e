#include "catalog/retention/gc.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/feed/changes_truncation.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/commit_queue.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/flush.h"

namespace varve {
namespace {

struct SnapshotRow {
  SnapshotId id = 0;
  std::optional<absl::Time> time;
};

absl::StatusOr<std::vector<SnapshotRow>> ReadSnapshots(
    const std::shared_ptr<const StoreState>& state) {
  const ReadView view(state, state->last_snapshot);
  std::vector<SnapshotRow> rows;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kSnapshot, {"snapshot_id", "snapshot_time"}, {}, [&](const RowReader& row) {
        rows.push_back({.id = static_cast<SnapshotId>(row.Int(0)),
                        .time = row.IsNull(1) ? std::nullopt
                                              : std::optional(absl::FromUnixMicros(row.Int(1)))});
      }));
  return rows;
}

absl::Status CheckRequest(const GcRequest& request) {
  const int ways = (request.keep_last.has_value() ? 1 : 0) +
                   (request.older_than.has_value() ? 1 : 0) +
                   (request.retain_from.has_value() ? 1 : 0);
  if (ways > 1) {
    return absl::InvalidArgumentError(
        "keep-last, older-than and retain-from exclude each other; give one of them");
  }
  if (ways == 0 && request.changes.keeps_all()) {
    return absl::InvalidArgumentError(
        "nothing says what to give up: give keep-last, older-than or retain-from");
  }
  if (request.keep_last == 0U) {
    return absl::InvalidArgumentError("keep-last is 0; the last snapshot always stays");
  }
  if (request.older_than.has_value() && *request.older_than < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("older-than is negative");
  }
  if (request.changes.commits.has_value() && request.changes.duration.has_value()) {
    return absl::InvalidArgumentError("changes are kept by commits or by time, not by both");
  }
  return absl::OkStatus();
}

// The first snapshot, in id order, that is not older than the time; all before it are. The last one
// if all are. A snapshot without a time is as new as can be.
SnapshotId FirstNotOlder(const std::vector<SnapshotRow>& snapshots, absl::Time than) {
  for (const SnapshotRow& snapshot : snapshots) {
    if (!snapshot.time.has_value() || *snapshot.time >= than) {
      return snapshot.id;
    }
  }
  return snapshots.back().id;
}

absl::StatusOr<SnapshotId> ChooseFloor(const StoreState& state,
                                       const std::vector<SnapshotRow>& snapshots,
                                       const GcRequest& request) {
  if (request.retain_from.has_value()) {
    const SnapshotId floor = *request.retain_from;
    if (floor > state.last_snapshot) {
      return absl::NotFoundError(
          StrCat("snapshot ", floor, " lies in the future: the last one is ", state.last_snapshot));
    }
    if (floor < state.retain_from) {
      return absl::InvalidArgumentError(
          StrCat("retain-from is ", floor, ", below the present floor ", state.retain_from,
                 ", which never goes down: what was given up may be gone"));
    }
    return floor;
  }
  SnapshotId floor = state.retain_from;
  if (request.keep_last.has_value() && *request.keep_last <= snapshots.size()) {
    floor = snapshots[snapshots.size() - *request.keep_last].id;
  } else if (request.older_than.has_value()) {
    floor = FirstNotOlder(snapshots, request.now - *request.older_than);
  }
  return std::max(floor, state.retain_from);
}

absl::StatusOr<Csn> ChooseChangesFrom(const std::shared_ptr<const StoreState>& state,
                                      const std::vector<SnapshotRow>& snapshots,
                                      const GcRequest& request, Csn before) {
  const ChangesRetention& keep = request.changes;
  if (keep.commits.has_value()) {
    return std::max(before, state->csn - std::min<Csn>(*keep.commits, state->csn));
  }
  if (!keep.duration.has_value()) {
    return before;
  }
  const SnapshotId first = FirstNotOlder(snapshots, request.now - *keep.duration);
  const auto it = std::find_if(snapshots.begin(), snapshots.end(),
                               [&](const SnapshotRow& snapshot) { return snapshot.id == first; });
  if (it == snapshots.begin()) {
    return before;
  }
  const ReadView view(state, state->last_snapshot);
  const absl::StatusOr<Csn> csn = CsnOfSnapshot(view, (it - 1)->id);
  if (absl::IsOutOfRange(csn.status())) {
    return before;  // the feed begins later
  }
  VARVE_RETURN_IF_ERROR(csn.status());
  return std::max(before, *csn);
}

void DescribeHeldBack(const StoreState& state, std::span<const SnapshotId> held, absl::Time now,
                      GcPlan* plan) {
  for (const auto& [name, pin] : *state.pins) {
    if (!IsExpired(pin, now) && pin.snapshot < plan->floor) {
      plan->held_back.push_back(
          {.what = StrCat(pin.expires.has_value() ? "lease '" : "pin '", name, "'"),
           .snapshot = pin.snapshot,
           .expires = pin.expires});
    }
  }
  for (const SnapshotId snapshot : held) {
    if (snapshot < plan->floor) {
      plan->held_back.push_back({.what = "a reader of this process", .snapshot = snapshot});
    }
  }
}

// Everything of a plan but the counts.
absl::StatusOr<GcPlan> Decide(const std::shared_ptr<const StoreState>& state,
                              std::span<const SnapshotId> held, const GcRequest& request) {
  VARVE_RETURN_IF_ERROR(CheckRequest(request));
  VARVE_ASSIGN_OR_RETURN(const std::vector<SnapshotRow> snapshots, ReadSnapshots(state));
  GcPlan plan;
  plan.floor_before = state->retain_from;
  VARVE_ASSIGN_OR_RETURN(plan.floor, ChooseFloor(*state, snapshots, request));
  VARVE_ASSIGN_OR_RETURN(plan.changes_before, FeedBegin(*state));
  VARVE_ASSIGN_OR_RETURN(plan.changes_from,
                         ChooseChangesFrom(state, snapshots, request, plan.changes_before));
  for (const SnapshotRow& snapshot : snapshots) {
    if (snapshot.id >= plan.floor_before && snapshot.id < plan.floor &&
        HolderOf(*state->pins, snapshot.id, request.now).empty()) {
      plan.given_up.push_back(snapshot.id);
    }
  }
  DescribeHeldBack(*state, held, request.now, &plan);
  return plan;
}

std::string DescribeGc(const GcPlan& plan) {
  std::vector<std::string> parts;
  if (plan.floor != plan.floor_before) {
    parts.push_back(StrCat("retained from ", plan.floor, ", was ", plan.floor_before, "; gave up ",
                           plan.given_up.size(), " snapshots"));
  }
  if (plan.changes_from != plan.changes_before) {
    parts.push_back(
        StrCat("change feed begins at csn ", plan.changes_from, ", was ", plan.changes_before));
  }
  return StrJoin(parts, "; ");
}

absl::Status PrepareGc(const GcPlan& plan, absl::Time now, Commit* commit) {
  if (plan.floor > commit->retain_from()) {
    commit->SetRetainFrom(plan.floor);
  }
  if (plan.changes_from > plan.changes_before) {
    VARVE_ASSIGN_OR_RETURN(ChangesTruncation truncation,
                           TruncateChanges(commit->base(), plan.changes_from));
    if (!truncation.end_key.empty()) {
      commit->DeleteChanges(truncation.first_key, truncation.end_key);
    }
    for (auto& [key, value] : truncation.defaults) {
      commit->PutDefault(std::move(key), std::move(value));
    }
  }
  DropExpiredLeases(commit, now);
  AuditEntry entry{.time = now, .actor = ThisActor(), .action = "gc", .detail = DescribeGc(plan)};
  if (!plan.given_up.empty()) {
    entry.first_snapshot = plan.given_up.front();
    entry.last_snapshot = plan.given_up.back();
  }
  return AppendAudit(commit, entry);
}

}  // namespace

absl::StatusOr<GcPlan> PlanGc(const Catalog& catalog, const GcRequest& request,
                              const std::function<void(uint64_t versions)>& on_progress) {
  const std::shared_ptr<const StoreState> state = catalog.LatestState();
  const std::vector<SnapshotId> held = catalog.views().HeldSnapshots();
  VARVE_ASSIGN_OR_RETURN(GcPlan plan, Decide(state, held, request));
  std::vector<RetainedSnapshots> sets(2);
  VARVE_ASSIGN_OR_RETURN(sets[0], FindRetained(*state, held, request.now));
  VARVE_ASSIGN_OR_RETURN(sets[1], FindRetained(*state, held, request.now, plan.floor));
  VARVE_ASSIGN_OR_RETURN(
      std::vector<ReclaimableCounts> counts,
      CountReclaimable({.state = state, .sets = sets, .on_progress = on_progress}));
  plan.already = std::move(counts[0]);
  plan.becoming = std::move(counts[1]);
  for (const auto& [relation, rows] : plan.already.rows) {
    plan.becoming.rows[relation] -= rows;
  }
  std::erase_if(plan.becoming.rows, [](const auto& count) { return count.second == 0; });
  plan.becoming.files -= plan.already.files;
  return plan;
}

absl::StatusOr<GcPlan> ApplyGc(Catalog* catalog, const GcRequest& request) {
  std::optional<Csn> changes_from;  // decided before memory was flushed, which is a commit, too
  while (true) {
    const std::shared_ptr<const StoreState> state = catalog->LatestState();
    VARVE_ASSIGN_OR_RETURN(GcPlan plan, Decide(state, catalog->views().HeldSnapshots(), request));
    // MemRowSets are rebuilt from changes that were not flushed: those stay.
    const Csn flushed_csn = state->columnar->flushed_csn();
    if (!changes_from.has_value() && plan.changes_from > plan.changes_before &&
        plan.changes_from > flushed_csn) {
      changes_from = plan.changes_from;
      VARVE_RETURN_IF_ERROR(
          FlushMemory(*catalog, {.changes_retention = std::numeric_limits<Csn>::max()}).status());
      continue;
    }
    if (changes_from.has_value()) {
      plan.changes_from = std::max(plan.changes_before, std::min(*changes_from, flushed_csn));
    }
    if (plan.changes_nothing()) {
      return plan;
    }
    VARVE_FAILPOINT("gc/before_floor");
    bool overtaken = false;
    const CommitRequest commit_request{
        .prepare =
            [&](Commit& commit) {
              // Another one raised the floor since: decide anew.
              overtaken = commit.retain_from() != plan.floor_before;
              return overtaken ? absl::AbortedError("the floor was raised meanwhile")
                               : PrepareGc(plan, request.now, &commit);
            },
        .reads_widely = true};
    const absl::Status status = catalog->Commit(commit_request);
    if (overtaken) {
      continue;
    }
    VARVE_RETURN_IF_ERROR(status);
    VARVE_FAILPOINT("gc/after_floor");
    return plan;
  }
}

}  // namespace varve

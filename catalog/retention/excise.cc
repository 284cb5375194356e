#include "catalog/retention/excise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/retention.pb.h"
#include "catalog/retention/file_paths.h"
#include "catalog/retention/pins.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/commit_queue.h"

namespace varve {
namespace {

constexpr std::string_view kExciseKey = "excise";

// How often an excision begins anew because the change feed was truncated under it.
constexpr int kMaxRestarts = 3;

absl::StatusOr<std::optional<proto::ExciseProgress>> ParseProgress(
    const std::optional<std::string>& text, const std::string& path) {
  if (!text.has_value()) {
    return std::nullopt;
  }
  proto::ExciseProgress progress;
  if (!progress.ParseFromString(*text)) {
    return absl::DataLossError(
        StrCat("catalog ", path, ": the record of the excision under way cannot be read"));
  }
  return progress;
}

ExciseResult ToResult(const proto::ExciseProgress& progress) {
  ExciseResult result{.steps = progress.steps(),
                      .scheduled_files = progress.scheduled_files(),
                      .shared_files = progress.shared_files(),
                      .lost_files = progress.lost_files(),
                      .resumed = progress.resumed_by_size() > 0};
  for (const proto::RowCount& count : progress.rows()) {
    result.rows[count.relation()] += count.rows();
  }
  return result;
}

void AddRows(const RowCounts& counts, proto::ExciseProgress* progress) {
  RowCounts sum = counts;
  for (const proto::RowCount& count : progress->rows()) {
    sum[count.relation()] += count.rows();
  }
  progress->clear_rows();
  for (const auto& [relation, rows] : sum) {
    proto::RowCount* const count = progress->add_rows();
    count->set_relation(relation);
    count->set_rows(rows);
  }
}

void CountSnapshot(SnapshotId snapshot, proto::ExciseProgress* progress) {
  progress->set_first_snapshot(progress->has_first_snapshot()
                                   ? std::min<SnapshotId>(progress->first_snapshot(), snapshot)
                                   : snapshot);
  progress->set_last_snapshot(progress->has_last_snapshot()
                                  ? std::max<SnapshotId>(progress->last_snapshot(), snapshot)
                                  : snapshot);
}

std::string Counted(uint64_t n, std::string_view what) {
  return StrCat(n, " ", what, n == 1 ? "" : "s");
}

// A row the walk found, until a step erases it.
struct Victim {
  RelationRef relation;
  std::string handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  bool whole_relation = false;
  uint64_t rows = 1;
  // Data and delete files: the id, and the whole path where it could be composed.
  bool is_file = false;
  int64_t file_id = 0;
  std::optional<std::string> path;
};

class ExciseRun {
 public:
  ExciseRun(Catalog* catalog, const ExciseOptions& options, absl::Time now)
      : catalog_(catalog), options_(options), now_(now), actor_(ThisActor()) {}

  // One pass over what is reclaimable now.
  absl::Status Pass();
  // Writes the audit entry.
  absl::StatusOr<ExciseResult> Close();

  uint64_t rows() const { return rows_; }

 private:
  absl::Status Add(const ReclaimableRow& row);
  absl::Status Step();
  absl::Status PrepareStep(Commit* commit);
  absl::StatusOr<proto::ExciseProgress> LoadProgress(const Commit& commit);
  absl::Status EraseOne(const Victim& victim, Commit* commit, RowCounts* erased_rows,
                        proto::ExciseProgress* progress);
  absl::Status ScheduleFile(const Victim& victim, Commit* commit, proto::ExciseProgress* progress);

  Catalog* catalog_;
  const ExciseOptions& options_;
  const absl::Time now_;
  const std::string actor_;

  std::optional<PathsInUse> paths_;
  std::optional<FileRowReader> data_files_;
  std::optional<FileRowReader> delete_files_;
  std::vector<Victim> victims_;
  uint64_t weight_ = 0;  // of victims_: rows erased and written
  uint64_t step_rows_ = 0;
  uint64_t rows_ = 0;  // erased by this run
  uint64_t versions_ = 0;
  bool stepped_ = false;
};

absl::Status ExciseRun::Pass() {
  // What has expired holds nothing from here on, whatever clocks do.
  if (HasExpiredLeases(*catalog_->LatestState()->pins, now_)) {
    VARVE_RETURN_IF_ERROR(catalog_->Commit({.prepare = [&](Commit& commit) {
      DropExpiredLeases(&commit, now_);
      return absl::OkStatus();
    }}));
  }
  const std::shared_ptr<const StoreState> state = catalog_->LatestState();
  VARVE_ASSIGN_OR_RETURN(const RetainedSnapshots retained, RetainedOf(*catalog_, *state, now_));
  VARVE_ASSIGN_OR_RETURN(paths_, PathsInUse::Find(state, retained));
  data_files_.emplace(state->directory->FindById(kDataFile));
  delete_files_.emplace(state->directory->FindById(kDeleteFile));
  victims_.clear();
  weight_ = 0;
  VARVE_RETURN_IF_ERROR(ForEachReclaimable({.state = state,
                                            .sets = {&retained, 1},
                                            .on_progress =
                                                [&](uint64_t versions) {
                                                  versions_ = versions;
                                                  if (options_.on_progress != nullptr) {
                                                    options_.on_progress(rows_, versions_);
                                                  }
                                                },
                                            .stop = options_.stop},
                                           [&](const ReclaimableRow& row) { return Add(row); }));
  return victims_.empty() ? absl::OkStatus() : Step();
}

absl::Status ExciseRun::Add(const ReclaimableRow& row) {
  Victim victim{.relation = row.relation,
                .handle = std::string(row.handle),
                .begin = row.begin,
                .end = row.end,
                .whole_relation = row.whole_relation,
                .rows = row.rows};
  if (row.relation->id == kDataFile || row.relation->id == kDeleteFile) {
    FileRowReader& reader = row.relation->id == kDataFile ? *data_files_ : *delete_files_;
    VARVE_ASSIGN_OR_RETURN(const FileRowReader::File file, reader.Read(row));
    victim.is_file = true;
    victim.file_id = file.id;
    victim.path = paths_->directories().Resolve(file.table_id, file.path, file.is_relative);
  }
  // Dropping a relation costs no more than erasing a row, however many it has.
  weight_ += victim.is_file ? 2 : 1;
  victims_.push_back(std::move(victim));
  return weight_ >= options_.rows_per_step && !row.with_next ? Step() : absl::OkStatus();
}

absl::Status ExciseRun::Step() {
  if (stepped_) {
    VARVE_FAILPOINT("excise/between_steps");
    if (options_.stop != nullptr && options_.stop()) {
      return absl::CancelledError("stopped");
    }
  }
  VARVE_FAILPOINT("excise/before_step");
  // Most of what has come since, outside the lock.
  VARVE_RETURN_IF_ERROR(paths_->CatchUp(catalog_->LatestState()));
  VARVE_RETURN_IF_ERROR(catalog_->Commit(
      {.prepare = [&](Commit& commit) { return PrepareStep(&commit); }, .reads_widely = true}));
  stepped_ = true;
  rows_ += step_rows_;
  victims_.clear();
  weight_ = 0;
  if (options_.on_progress != nullptr) {
    options_.on_progress(rows_, versions_);
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::ExciseProgress> ExciseRun::LoadProgress(const Commit& commit) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text, commit.GetDefault(kExciseKey));
  VARVE_ASSIGN_OR_RETURN(std::optional<proto::ExciseProgress> progress,
                         ParseProgress(text, catalog_->path()));
  if (!progress.has_value()) {
    progress.emplace();
    progress->set_started(absl::ToUnixMicros(now_));
    progress->set_actor(actor_);
  } else if (!stepped_) {
    progress->add_resumed_by(actor_);
  }
  return *std::move(progress);
}

absl::Status ExciseRun::PrepareStep(Commit* commit) {
  VARVE_RETURN_IF_ERROR(paths_->CatchUp(commit->base_state()));
  VARVE_ASSIGN_OR_RETURN(proto::ExciseProgress progress, LoadProgress(*commit));
  RowCounts erased;
  for (const Victim& victim : victims_) {
    VARVE_RETURN_IF_ERROR(EraseOne(victim, commit, &erased, &progress));
  }
  AddRows(erased, &progress);
  step_rows_ = TotalRows(erased);
  progress.set_steps(progress.steps() + 1);
  commit->PutDefault(std::string(kExciseKey), progress.SerializeAsString());
  return absl::OkStatus();
}

absl::Status ExciseRun::EraseOne(const Victim& victim, Commit* commit, RowCounts* erased_rows,
                                 proto::ExciseProgress* progress) {
  if (victim.whole_relation) {
    const absl::Status status = commit->DropRelation(victim.relation->name);
    if (absl::IsNotFound(status)) {
      return absl::OkStatus();
    }
    VARVE_RETURN_IF_ERROR(status);
  } else {
    VARVE_ASSIGN_OR_RETURN(const bool erased, commit->EraseStored(victim.relation, victim.handle,
                                                                  victim.begin, victim.end));
    if (!erased) {
      return absl::OkStatus();
    }
  }
  if (victim.rows > 0) {  // not for the relation of a table that never had inlined rows
    (*erased_rows)[victim.relation->name] += victim.rows;
  }
  if (victim.relation->id == kSnapshot) {
    CountSnapshot(victim.begin, progress);
  }
  return victim.is_file ? ScheduleFile(victim, commit, progress) : absl::OkStatus();
}

absl::Status ExciseRun::ScheduleFile(const Victim& victim, Commit* commit,
                                     proto::ExciseProgress* progress) {
  if (!victim.path.has_value()) {
    progress->set_lost_files(progress->lost_files() + 1);
    return absl::OkStatus();
  }
  if (!paths_->Take(*victim.path)) {
    progress->set_shared_files(progress->shared_files() + 1);
    return absl::OkStatus();
  }
  const RelationRef relation = commit->directory().FindById(kFilesScheduledForDeletion);
  const ScheduledPath path = paths_->directories().ToScheduled(*victim.path);
  std::vector<Datum> row(relation->columns.num_columns());
  const auto set = [&](std::string_view column, Datum value) {
    row[*relation->columns.Find(column)] = value;
  };
  set("data_file_id", Datum::Int64(victim.file_id));
  set("path", Datum::Bytes(path.path));
  set("path_is_relative", Datum::Bool(path.is_relative));
  set("schedule_start", Datum::Int64(absl::ToUnixMicros(now_)));
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandleOfRow(*relation, row, &handle));
  VARVE_ASSIGN_OR_RETURN(VersionGroup* const group, commit->Group(relation, std::move(handle), 0));
  std::string payload;
  AppendPayload(*relation, row, &payload);
  group->Put(std::move(payload));
  progress->set_scheduled_files(progress->scheduled_files() + 1);
  return absl::OkStatus();
}

absl::StatusOr<ExciseResult> ExciseRun::Close() {
  VARVE_ASSIGN_OR_RETURN(
      const std::optional<std::string> under_way,
      catalog_->LatestState()->store->GetDefault(kExciseKey, catalog_->LatestState()->snapshot));
  if (!under_way.has_value()) {
    return ExciseResult();
  }
  VARVE_FAILPOINT("excise/before_audit");
  ExciseResult result;
  VARVE_RETURN_IF_ERROR(catalog_->Commit({.prepare = [&](Commit& commit) -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text, commit.GetDefault(kExciseKey));
    VARVE_ASSIGN_OR_RETURN(const std::optional<proto::ExciseProgress> progress,
                           ParseProgress(text, catalog_->path()));
    if (!progress.has_value()) {
      return absl::OkStatus();  // another excision closed it
    }
    result = ToResult(*progress);
    AuditEntry entry{
        .time = absl::Now(),
        .actor = progress->actor(),
        .action = "excise",
        .rows = result.rows,
        .detail =
            StrCat("retained from ", commit.retain_from(), "; ", Counted(result.steps, "step"),
                   ", ", Counted(result.scheduled_files, "file"), " scheduled for deletion")};
    if (progress->has_first_snapshot()) {
      entry.first_snapshot = progress->first_snapshot();
      entry.last_snapshot = progress->last_snapshot();
    }
    if (result.shared_files > 0) {
      StrAppend(&entry.detail, ", ", result.shared_files, " kept because other rows name them");
    }
    if (result.lost_files > 0) {
      StrAppend(&entry.detail, ", ", result.lost_files, " whose path is not known");
    }
    for (const std::string& actor : progress->resumed_by()) {
      StrAppend(&entry.detail, "; resumed by ", actor);
    }
    commit.PutDefault(std::string(kExciseKey), std::nullopt);
    return AppendAudit(&commit, entry);
  }}));
  return result;
}

absl::Status CompactStore(const RowStore& store) {
  for (const Family family : {Family::kLive, Family::kEnded}) {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    VARVE_RETURN_IF_ERROR(FromRocksDb(
        store.db().CompactRange(options, store.family(family), nullptr, nullptr), "compacting"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RetainedSnapshots> RetainedOf(const Catalog& catalog, const StoreState& state,
                                             absl::Time now) {
  // After the state was taken: see view_registry.h.
  return FindRetained(state, catalog.views().HeldSnapshots(), now);
}

absl::StatusOr<ExciseResult> Excise(Catalog* catalog, const ExciseOptions& options) {
  if (options.rows_per_step < 1 || options.rows_per_step > kMaxRowsPerStep) {
    return absl::InvalidArgumentError(
        StrCat("a step of ", options.rows_per_step, " rows: expected 1 to ", kMaxRowsPerStep));
  }
  if (catalog->store().read_only()) {
    return absl::FailedPreconditionError(StrCat(
        "catalog ", catalog->path(), " is open read-only; open it for writing to change it"));
  }
  ExciseRun run(catalog, options, absl::Now());
  absl::Status status = run.Pass();
  for (int restarts = 0; absl::IsOutOfRange(status) && restarts < kMaxRestarts; ++restarts) {
    status = run.Pass();
  }
  if (absl::IsCancelled(status)) {
    return absl::CancelledError(StrCat("excision stopped after ", run.rows(),
                                       " rows; they are gone, and another excision goes on with "
                                       "the rest"));
  }
  VARVE_RETURN_IF_ERROR(status);
  VARVE_ASSIGN_OR_RETURN(ExciseResult result, run.Close());
  if (options.compact) {
    VARVE_RETURN_IF_ERROR(CompactStore(catalog->store()));
  }
  return result;
}

absl::StatusOr<ExcisePlan> PlanExcise(const Catalog& catalog,
                                      const std::function<void(uint64_t versions)>& on_progress) {
  const std::shared_ptr<const StoreState> state = catalog.LatestState();
  ExcisePlan plan;
  plan.retain_from = state->retain_from;
  VARVE_ASSIGN_OR_RETURN(const RetainedSnapshots retained,
                         RetainedOf(catalog, *state, absl::Now()));
  plan.retained_snapshots = retained.snapshots().size();
  VARVE_ASSIGN_OR_RETURN(
      std::vector<ReclaimableCounts> counts,
      CountReclaimable({.state = state, .sets = {&retained, 1}, .on_progress = on_progress}));
  plan.reclaimable = std::move(counts.front());
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         state->store->GetDefault(kExciseKey, state->snapshot));
  VARVE_ASSIGN_OR_RETURN(const std::optional<proto::ExciseProgress> progress,
                         ParseProgress(text, catalog.path()));
  if (progress.has_value()) {
    plan.interrupted = ToResult(*progress);
  }
  return plan;
}

}  // namespace varve
